"""Laws of the line: in whatever order they come, blocks have their effect once and in order."""

from collections.abc import Iterable, Sequence
from itertools import permutations
from random import Random

import pytest
from msgspec import Struct
from msgspec.structs import replace
from tests.jam.service.stage import GENESIS, GENESIS_ROOT, Line, claim, line, named, operand

from laneway.jam.hashing import keccak
from laneway.jam.mmr import Mountains, super_peak
from laneway.jam.report import Ok, WorkError
from laneway.jam.service.commitment import (
    AUTHORIZERS_KEY,
    STRANGERS,
    Stand,
    authorizer_records,
    block_of,
    genesis_records,
    head_of,
    leaf,
    number_of,
    peaks_of,
    refusal_count_of,
    refusal_of,
    refused_at,
    rivals_of,
)
from laneway.jam.service.interface import Accumulation, Operand
from laneway.jam.service.limits import (
    EARLY_COUNT_MAX,
    HELD_SLOTS_MAX,
    OPERAND_GAS,
    REFUSAL_COUNT_MAX,
    RIVAL_COUNT_MAX,
    STRANGER_COUNT_MAX,
)
from laneway.jam.service.sequencing import Sequenced, accumulate
from laneway.jam.service.values import Claim, NoEffectReason

ONE, TWO, THREE, FOUR = line(4)


def names(done: Sequenced) -> list[int]:
    return [block.claim.number for block in done.applied]


def reasons(done: Sequenced) -> list[NoEffectReason]:
    return [refused.refusal.reason for refused in done.refused]


def test_blocks_that_come_in_order_are_applied_as_they_come() -> None:
    stage = Line()
    yields = [stage.take(operand(f"p{n.number}", n)).yield_hash for n in (ONE, TWO, THREE)]
    assert len(set(yields)) == 3
    head = head_of(stage.view)
    assert head is not None
    assert (head.number, head.block, head.state_root) == (3, THREE.block, THREE.post_root)


def test_an_early_block_waits_for_its_parent() -> None:
    stage = Line()
    early = stage.take(operand("p3", THREE), operand("p2", TWO))
    assert (names(early), early.yield_hash, reasons(early)) == ([], None, [])
    done = stage.take(operand("p1", ONE), slot=9)
    assert names(done) == [1, 2, 3]
    assert done.yield_hash == super_peak(peaks_of(stage.view), keccak)
    record = block_of(stage.view, 3)
    assert record is not None
    assert (record.package_hash, record.slot) == (named("p3"), 9)
    assert rivals_of(stage.view, 2) == rivals_of(stage.view, 3) == ()


def test_what_a_rollup_says_behind_its_claim_waits_with_it() -> None:
    stage = Line()
    stage.take(operand("p2", TWO, tail=b"two"))
    done = stage.take(operand("p1", ONE, tail=b"one"))
    assert [block.tail for block in done.applied] == [b"one", b"two"]


# The rows of the table.


def started(*packages: tuple[str, Claim]) -> Line:
    stage = Line()
    stage.take(*(operand(name, block) for name, block in packages))
    return stage


OWN, STRANGER = named("our authorizer"), named("another authorizer")


def closed(records: dict[bytes, bytes] | None = None) -> Line:
    """A line that one authorizer may move."""
    before = genesis_records(GENESIS, GENESIS_ROOT) if records is None else records
    return Line({**before, **authorizer_records([OWN])})


RIVAL_ONE = claim("1 rival")
ON_RIVAL = claim("2 on rival", RIVAL_ONE)
FAR = claim("far", number=1 + EARLY_COUNT_MAX + 1)
NEARER = claim("nearer", number=1 + EARLY_COUNT_MAX)
ROWS: list[tuple[str, Line, Operand, NoEffectReason | Stand]] = [
    ("a", closed(), operand("p", ONE, authorizer=STRANGER), NoEffectReason.NOT_AUTHORISED),
    ("b", Line(), operand("p", WorkError.OUT_OF_GAS), NoEffectReason.REFINE_FAILED),
    ("c", Line(), operand("p", Ok(b"")), NoEffectReason.MALFORMED_CLAIM),
    ("d", Line(), operand("p", ONE, gas=OPERAND_GAS - 1), NoEffectReason.GAS_TOO_LOW),
    ("e", Line({}), operand("p", ONE), NoEffectReason.NOT_STARTED),
    ("f", started(("p", ONE)), operand("p", TWO), NoEffectReason.PACKAGE_SPENT),
    ("g", started(("q", ONE)), operand("p", ONE), NoEffectReason.SAME_BLOCK_APPLIED),
    ("h", started(("q", ONE)), operand("p", RIVAL_ONE), NoEffectReason.OTHER_BLOCK_APPLIED),
    ("h", Line(), operand("p", claim("0", number=0)), NoEffectReason.OTHER_BLOCK_APPLIED),
    ("i", Line(), operand("p", ONE), Stand.APPLIED),
    ("j", started(("q", ONE)), operand("p", ON_RIVAL), NoEffectReason.WRONG_PARENT),
    ("j", Line(), operand("p", replace(ONE, pre_root=TWO.pre_root)), NoEffectReason.WRONG_PARENT),
    ("j", Line(), operand("p", replace(ONE, parent=TWO.parent)), NoEffectReason.WRONG_PARENT),
    ("k", Line(), operand("p", FAR), NoEffectReason.TOO_EARLY),
    ("l", started(("q", TWO)), operand("p", TWO), NoEffectReason.SAME_BLOCK_HELD),
    (
        "m",
        started(*((f"q{n}", claim(f"{n}", number=2)) for n in range(RIVAL_COUNT_MAX))),
        operand("p", TWO),
        NoEffectReason.NO_ROOM,
    ),
    ("n", Line(), operand("p", NEARER), Stand.HELD),
    ("n", started(("q", ON_RIVAL)), operand("p", TWO), Stand.HELD),
]


@pytest.mark.parametrize(("row", "stage", "item", "fate"), ROWS, ids=[row[0] for row in ROWS])
def test_every_row_of_the_table_fires(
    row: str, stage: Line, item: Operand, fate: NoEffectReason | Stand
) -> None:
    stage = Line(dict(stage.records))
    head = head_of(stage.view)
    done = stage.take(item)
    standing = stage.standing("p", number=claimed_number(item))
    if isinstance(fate, NoEffectReason):
        assert reasons(done) == [fate]
        assert done.applied == ()
        assert done.yield_hash is None
        assert head_of(stage.view) == head
        refusal = refusal_of(stage.view, named("p"))
        assert refusal is not None
        assert refusal.reason is fate
        assert standing.stand is (Stand.APPLIED if row == "f" else Stand.REFUSED)
    else:
        assert reasons(done) == []
        assert standing.stand is fate


def claimed_number(item: Operand) -> int:
    if isinstance(item.result, Ok) and item.result.output:
        return int.from_bytes(item.result.output[1:9], "little")
    return 0


def test_gas_is_asked_for_each_item_and_a_refusal_costs_the_same() -> None:
    done = Line().take(operand("p1", ONE), operand("p2", WorkError.PANIC), operand("p3", THREE))
    assert done.gas_used == 3 * OPERAND_GAS
    assert Line().take() == Sequenced()


# Who may move the line.


@pytest.mark.parametrize(("row", "stage", "item", "fate"), ROWS, ids=[row[0] for row in ROWS])
def test_a_strangers_item_is_refused_before_every_other_row_and_nothing_of_it_is_kept(
    row: str, stage: Line, item: Operand, fate: NoEffectReason | Stand
) -> None:
    stage = closed(stage.records)
    before = dict(stage.records)
    done = stage.take(replace(item, authorizer_hash=STRANGER))
    assert (reasons(done), done.applied) == ([NoEffectReason.NOT_AUTHORISED], ())
    refusal = refusal_of(stage.view, named("p"))
    assert refusal is not None
    assert (refusal.index, refusal.number) == (0, 0)
    written = {key for key, value in stage.records.items() if before.get(key) != value}
    assert written == {b"x" + named("p"), b"u", b"u" + bytes(4)}


@pytest.mark.parametrize(("row", "stage", "item", "fate"), ROWS[1:], ids=[r[0] for r in ROWS[1:]])
def test_where_authorizers_are_listed_the_rows_are_the_same_for_those(
    row: str, stage: Line, item: Operand, fate: NoEffectReason | Stand
) -> None:
    open_to_all, listed = Line(dict(stage.records)), closed(stage.records)
    assert listed.take(replace(item, authorizer_hash=OWN)) == open_to_all.take(item)
    del listed.records[AUTHORIZERS_KEY]
    assert listed.records == open_to_all.records


def test_a_service_of_an_earlier_release_takes_every_authorizer() -> None:
    """It has no list, and an empty one would say the same."""
    for more in ({}, {AUTHORIZERS_KEY: b"\0"}):
        stage = Line({**genesis_records(GENESIS, GENESIS_ROOT), **more})
        assert names(stage.take(operand("p", ONE, authorizer=STRANGER))) == [1]


def test_strangers_push_no_refusal_of_the_rollup_out_of_its_ring() -> None:
    stage = closed()
    stage.take(operand("own", claim("far", number=10_000), authorizer=OWN))
    full = None
    for number in range(REFUSAL_COUNT_MAX + 1):
        stage.take(operand(f"s{number}", ONE, authorizer=STRANGER))
        if number == STRANGER_COUNT_MAX - 1:
            full = len(stage.records)
    assert len(stage.records) == full
    kept = refusal_of(stage.view, named("own"))
    assert kept is not None
    assert (kept.index, kept.reason) == (0, NoEffectReason.TOO_EARLY)
    assert refusal_count_of(stage.view) == 1
    assert refusal_count_of(stage.view, STRANGERS) == REFUSAL_COUNT_MAX + 1
    newest = refused_at(stage.view, REFUSAL_COUNT_MAX, STRANGERS)
    assert newest == named(f"s{REFUSAL_COUNT_MAX}")


def junk(number: int, count: int, authorizer: bytes) -> list[Operand]:
    """Blocks on made-up states."""
    names = [f"junk {number} {place}" for place in range(count)]
    blocks = [claim(name, claim(f"under {name}", number=number - 1)) for name in names]
    return [
        operand(name, block, authorizer=authorizer)
        for name, block in zip(names, blocks, strict=True)
    ]


def test_a_stranger_takes_no_place_of_an_early_block() -> None:
    stage = closed()
    for number in (2, 3):
        stage.take(*junk(number, RIVAL_COUNT_MAX, STRANGER))
    early = stage.take(operand("p3", THREE, authorizer=OWN), operand("p2", TWO, authorizer=OWN))
    assert reasons(early) == []
    assert names(stage.take(operand("p1", ONE, authorizer=OWN))) == [1, 2, 3]


def test_where_all_may_move_the_line_junk_makes_it_slow_and_cannot_stop_it() -> None:
    stage = Line()
    for number in (2, 3):
        stage.take(*junk(number, RIVAL_COUNT_MAX, STRANGER))
    early = stage.take(operand("p3", THREE), operand("p2", TWO))
    assert reasons(early) == [NoEffectReason.NO_ROOM] * 2
    for block in (ONE, TWO, THREE):
        assert names(stage.take(operand(f"{block.number} again", block))) == [block.number]


# What becomes of those that wait.


def test_of_two_rivals_the_one_on_the_applied_parent_is_applied() -> None:
    stage = started(("q2", ON_RIVAL), ("p2", TWO), ("r2", claim("2 again", ONE)))
    done = stage.take(operand("p1", ONE))
    assert [block.package_hash for block in done.applied] == [named("p1"), named("p2")]
    assert reasons(done) == [NoEffectReason.WRONG_PARENT, NoEffectReason.OTHER_BLOCK_APPLIED]


def test_held_blocks_of_one_package_are_applied_once() -> None:
    stage = started(("p", TWO), ("p", THREE))
    done = stage.take(operand("q", ONE))
    assert names(done) == [1, 2]
    assert reasons(done) == [NoEffectReason.PACKAGE_SPENT]
    assert number_of(stage.view, named("p")) == 2


def test_a_block_that_waited_too_long_is_refused_when_its_number_is_touched() -> None:
    stage = started(("p2", TWO))
    late = 1 + HELD_SLOTS_MAX + 1
    done = stage.take(operand("p1", ONE), slot=late)
    assert (names(done), reasons(done)) == ([1], [NoEffectReason.EXPIRED])
    assert rivals_of(stage.view, 2) == ()


def test_a_later_version_takes_the_place_of_one_that_expired() -> None:
    stage = started(("p2", TWO), ("r2", ON_RIVAL))
    stage.take(operand("s2", claim("2 of another", claim("1 other"))), slot=HELD_SLOTS_MAX)
    late = 1 + HELD_SLOTS_MAX + 1
    done = stage.take(operand("q2", TWO), slot=late)
    assert reasons(done) == [NoEffectReason.EXPIRED, NoEffectReason.EXPIRED]
    held = [rival.package_hash for rival in rivals_of(stage.view, 2)]
    assert held == [named("s2"), named("q2")]
    assert names(stage.take(operand("p1", ONE), slot=late)) == [1, 2]


def test_the_line_of_all_cores_may_come_backwards() -> None:
    blocks = line(1 + EARLY_COUNT_MAX)
    stage = Line()
    for block in reversed(blocks[1:]):
        assert reasons(stage.take(operand(f"p{block.number}", block))) == []
    assert names(stage.take(operand("p1", blocks[0]))) == list(range(1, len(blocks) + 1))
    assert not [key for key in stage.records if key.startswith(b"r")]


# What is remembered of refusals.


def test_the_oldest_refusal_is_forgotten_and_storage_stays_bounded() -> None:
    stage = Line()
    for number in range(REFUSAL_COUNT_MAX + 2):
        stage.take(operand(f"p{number}", WorkError.PANIC))
    assert refusal_count_of(stage.view) == REFUSAL_COUNT_MAX + 2
    assert [refusal_of(stage.view, named(f"p{n}")) is None for n in range(3)] == [True, True, False]
    assert refused_at(stage.view, REFUSAL_COUNT_MAX + 1) == named(f"p{REFUSAL_COUNT_MAX + 1}")
    assert len(stage.records) == 2 + 1 + 2 * REFUSAL_COUNT_MAX


def test_a_package_that_was_refused_again_is_remembered_for_the_last_time() -> None:
    stage = Line()
    stage.take(operand("p", WorkError.PANIC))
    stage.take(operand("p", claim("far", number=10_000)))
    for number in range(REFUSAL_COUNT_MAX - 1):
        stage.take(operand(f"p{number}", WorkError.PANIC))
    kept = refusal_of(stage.view, named("p"))
    assert kept is not None
    assert (kept.index, kept.reason) == (1, NoEffectReason.TOO_EARLY)
    stage.take(operand("last", WorkError.PANIC))
    assert refusal_of(stage.view, named("p")) is None


# The law, against an oracle that keeps everything in one list.


class Arrival(Struct, frozen=True):
    package: str
    claim: Claim
    slot: int


class Oracle:
    """Whenever something comes, whatever fits is applied, the first that came first."""

    def __init__(self) -> None:
        self.applied: list[Arrival] = []
        self.waiting: list[Arrival] = []

    def take(self, arrival: Arrival) -> None:
        number, now = arrival.claim.number, arrival.slot
        self.waiting = [one for one in self.waiting if now <= one.slot + HELD_SLOTS_MAX]
        rivals = [one for one in self.waiting if one.claim.number == number]
        is_next = number == len(self.applied) + 1
        known = any(one.claim == arrival.claim for one in rivals) or self._is_spent(arrival)
        if not known and (is_next or len(rivals) < RIVAL_COUNT_MAX):
            self.waiting.append(arrival)
        while any(self._applies(one) for one in list(self.waiting)):
            pass
        self.waiting = [one for one in self.waiting if one.claim.number > len(self.applied) + 1]

    def _applies(self, one: Arrival) -> bool:
        before = GENESIS, GENESIS_ROOT
        if self.applied:
            before = self.applied[-1].claim.block, self.applied[-1].claim.post_root
        fits = (one.claim.parent, one.claim.pre_root) == before
        if one.claim.number != len(self.applied) + 1 or not fits or self._is_spent(one):
            return False
        self.applied.append(one)
        return True

    def _is_spent(self, one: Arrival) -> bool:
        return any(one.package == done.package for done in self.applied)


def check(stage: Line, oracle: Oracle, arrivals: Iterable[Arrival], slot: int) -> None:
    """The service's storage says what the oracle says, of every block and every package."""
    view = stage.view
    head = head_of(view)
    assert head is not None
    assert head.number == len(oracle.applied)
    mountains = Mountains()
    for number, one in enumerate(oracle.applied, 1):
        record = block_of(view, number)
        assert record is not None
        assert (record.package_hash, record.block) == (named(one.package), one.claim.block)
        assert number_of(view, named(one.package)) == number
        mountains.append(
            leaf(
                package_hash=named(one.package),
                exports_root=named(f"exports {one.package}"),
                number=number,
                block=one.claim.block,
            )
        )
    assert block_of(view, len(oracle.applied) + 1) is None
    assert peaks_of(view) == mountains.peaks()
    # No held block stands on the head by blocks that are there, so none can be preferred for it.
    assert rivals_of(view, head.number + 1) == ()
    applied = {one.package for one in oracle.applied}
    waiting = {one.package for one in oracle.waiting}
    for one in arrivals:
        stand = stage.standing(one.package, number=one.claim.number, slot=slot).stand
        if one.package in applied:
            assert stand is Stand.APPLIED
        elif one.package not in waiting:
            assert stand is Stand.REFUSED


class Played(Struct, frozen=True):
    count: int
    """Of the blocks that were applied."""
    reasons: set[NoEffectReason]


def played(arrivals: Sequence[Arrival], *, at_once: bool) -> Played:
    """Give all to a service and to the oracle, and compare."""
    stage, oracle = Line(), Oracle()
    items = [operand(one.package, one.claim) for one in arrivals]
    for one in arrivals:
        oracle.take(one)
    if at_once:
        done = [stage.take(*items, slot=arrivals[0].slot)]
    else:
        done = [stage.take(item, slot=one.slot) for one, item in zip(arrivals, items, strict=True)]
    check(stage, oracle, arrivals, arrivals[-1].slot)
    told = [number for one in done for number in names(one)]
    assert told == list(range(1, len(told) + 1))
    yields = [one.yield_hash for one in done if one.applied]
    assert yields[-1:] == [super_peak(peaks_of(stage.view), keccak)][: len(told)]
    return Played(len(told), {reason for one in done for reason in reasons(one)})


SMALL = (
    ("1 v1", ONE),
    ("1 v2", ONE),
    ("1 rival", RIVAL_ONE),
    ("2 v1", TWO),
    ("2 on rival", ON_RIVAL),
    ("3 v1", THREE),
)


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [False, True], ids=["one a block", "all in a block"])
@pytest.mark.parametrize("doubled", [None, "1 v1", "2 v1", "3 v1"])
def test_in_every_order_each_block_has_its_effect_once_and_in_order(
    at_once: bool, doubled: str | None
) -> None:
    """Versions, rivals, children of both, and a package that accumulates again; all orders."""
    again = [(name, block) for name, block in SMALL if name == doubled]
    seen: set[int] = set()
    for order in permutations((*SMALL, *again)):
        arrivals = [Arrival(name, block, 1) for name, block in order]
        seen.add(played(arrivals, at_once=at_once).count)
    assert seen == {2, 3}


def tree(source: Random) -> list[tuple[str, Claim]]:
    """Packages for a tree of blocks: mostly one line, some rivals with children, and versions."""
    blocks: list[Claim] = []
    for number in range(source.randint(3, 14)):
        near = blocks[-4:] if source.random() < 0.3 else blocks[-1:]
        blocks.append(claim(f"{number}", source.choice(near) if near else None))
    packages = [(f"{block.block.hex()} v1", block) for block in blocks]
    packages += [
        (f"{block.block.hex()} v{version}", block)
        for block in blocks
        for version in range(2, source.choice((2, 2, 3, 4)))
    ]
    if source.random() < 0.2:
        # Two items in one package.
        packages.append((packages[0][0], source.choice(blocks)))
    return packages


def world(seed: int) -> list[Arrival]:
    source = Random(seed)
    packages = tree(source)
    source.shuffle(packages)
    if source.random() < 0.5:
        # Nearly in order, as packages of a chain come.
        packages.sort(key=lambda package: package[1].number + source.random() * 3)
    slot, arrivals = 1, []
    for name, block in packages:
        slot += source.choice((0, 0, 1, 1, 2, HELD_SLOTS_MAX // 2))
        arrivals.append(Arrival(name, block, slot))
    return arrivals


@pytest.mark.parametrize("seed", range(40))
def test_however_late_and_often_packages_come_the_line_is_the_oracles(seed: int) -> None:
    played(world(seed), at_once=False)


@pytest.mark.slow
def test_in_many_worlds_the_line_is_the_oracles_and_every_fate_is_met() -> None:
    met: set[NoEffectReason] = set()
    for seed in range(1_000, 2_500):
        met |= played(world(seed), at_once=False).reasons
    assert met == {
        NoEffectReason.PACKAGE_SPENT,
        NoEffectReason.SAME_BLOCK_APPLIED,
        NoEffectReason.OTHER_BLOCK_APPLIED,
        NoEffectReason.WRONG_PARENT,
        NoEffectReason.SAME_BLOCK_HELD,
        NoEffectReason.EXPIRED,
    }


def test_two_services_that_see_the_same_have_the_same_storage() -> None:
    packages = tree(Random(5))
    stages = Line(), Line()
    for stage in stages:
        for name, block in packages:
            stage.take(operand(name, block))
    assert stages[0].records == stages[1].records


def test_a_rollup_without_records_of_its_own_accumulates_what_the_line_says() -> None:
    found, wanted = Line(), Line()
    operands = (operand("a", ONE), operand("b", THREE))
    done = wanted.take(*operands, slot=7)
    assert done.yield_hash is not None
    assert accumulate(found.view, operands, 7) == Accumulation(
        writes=done.writes, yield_hash=done.yield_hash, gas_used=done.gas_used
    )
