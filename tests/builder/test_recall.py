"""A builder that lost its file when nodes have forgotten the first blocks: it goes on from a state
beside the file that the chain confirms, and from nothing else."""

import logging
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.builder.stage import LEDGER, Hands, Site, hands, story, tell
from tests.builder.test_following import until
from tests.builder.test_sync import Bent
from tests.rollups.log_kind import LogBlock, LogKind, LogRules, LogState

from laneway.builder import opening
from laneway.builder.builder import ChainedBuilder
from laneway.builder.opener import open_builder
from laneway.builder.packages import Authorizer
from laneway.builder.recall import StateUnproven
from laneway.builder.shelf import Shelf
from laneway.builder.snapshots import Snapshots
from laneway.builder.states import StateFiles
from laneway.builder.sync import Source
from laneway.core.errors import BuildFailed
from laneway.devnets.jam.limits import ROLLUP_SERVICE_DEV
from laneway.devnets.jam.model import shards
from laneway.jam.service.commitment import HEAD_KEY, block_key
from laneway.jam.service.values import HEAD
from laneway.rollups.domain import Domain

pytestmark = pytest.mark.slow

KEPT = 3
"""Packages that nodes keep."""
BLOCKS = 8


@pytest.fixture(autouse=True)
def few_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "PACKAGES_KEPT_MAX", KEPT)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "builder.db")


def raw(site: Site, number: int) -> bytes:
    """The transaction of this number, in either kind."""
    return site.transfer(number) if site.kind.name == "ledger" else b"line %d" % number


def wait_for_state(builder: ChainedBuilder[Any, Any], number: int) -> None:
    """Until the thread that writes it is done, unless it was there before. Its name is no sign of
    that: until the folder is on the disk too no other state is begun."""
    if builder._keeper._writing is not None:
        builder._keeper._writing.result(60)
    assert builder._shelf.states.numbers()[:1] == [number]


async def grown(site: Site, path: str, blocks: int = BLOCKS) -> Hands:
    """Final blocks, with states after every second; the builder is closed."""
    hand = await hands(site, path, state_blocks=2)
    for number in range(blocks):
        await hand.land(raw(site, number))
        await hand.builder.notified(hand.settle())
        if number % 2 == 0:
            wait_for_state(hand.builder, number + 1)
    await hand.builder.aclose()
    assert StateFiles(path).numbers() == [7, 5][: blocks // 2]
    return hand


def delete(path: str) -> None:
    for end in ("", "-wal", "-shm"):
        Path(path + end).unlink(missing_ok=True)


async def goes_on(site: Site, hand: Hands, path: str, **options: Any) -> None:
    """The builder is opened, has the chain's newest state, and builds on it."""
    builder = await site.builder(path, **options)
    assert builder.lag == ""
    assert builder.heads.final.sealed.number == BLOCKS
    assert builder.rollup.root(builder.heads.final.state) == site.head().state_root
    again = Hands(site, builder, hand.chain)
    again.tip, again.final_count = hand.tip, hand.final_count
    done = await again.land(raw(site, BLOCKS))
    assert site.head().block == done.block
    await builder.aclose()


async def stuck(site: Site, path: str) -> None:
    """Nothing beside the file holds, and the chain has forgotten what is needed."""
    builder = await site.builder(path)
    assert builder.heads.final.sealed.number == 0
    assert "block 1 is final, and no node has the segments of its package" in builder.lag
    assert "put back the builder's file or a state of it" in builder.lag
    await builder.aclose()


@pytest.mark.parametrize("kind", [LEDGER, LogKind()], ids=["ledger", "log"])
def test_a_lost_file_is_made_again_when_the_first_blocks_are_forgotten(
    path: str, kind: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def tale(site: Site) -> None:
        hand = await grown(site, path)
        delete(path)
        await goes_on(site, hand, path)
        again = await site.builder(path)
        for number in range(BLOCKS):
            receipt = await again.receipt(again.rollup.checked(raw(site, number)))
            record = site.record(number + 1)
            assert receipt is not None, "also of blocks that no node has"
            assert record is not None
            assert (receipt.number, receipt.block) == (number + 1, record.block)
            assert (receipt.is_final, receipt.package_hash) == (True, record.package_hash)
        await again.aclose()
        for number in StateFiles(path).numbers():
            Path(StateFiles(path).path(number)).unlink()
        delete(path)
        await stuck(site, path)

    with caplog.at_level(logging.INFO, "laneway.builder"):
        story(tale, rollup=kind)
    assert f"Begun with the state after block 7: {path}-state-7" in caplog.text
    assert "Left out" not in caplog.text


def test_the_genesis_of_an_old_chain_is_known_from_the_states(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "PACKAGES_KEPT_MAX", KEPT + 1)

    async def tale(site: Site) -> None:
        hand = await grown(site, path)
        delete(path)
        Path(StateFiles(path).path(7)).write_bytes(b"torn")
        with pytest.raises(BuildFailed, match="name the hash of the chain's first header"):
            await site.builder(None, genesis=None)
        await goes_on(site, hand, path, genesis=None)

    story(tale)


def rewritten(path: str, at: int, entries: Any = None, **fields: Any) -> None:
    """Change what a state file says, and give it a digest that fits."""
    files = StateFiles(path)
    kept = {one: Path(files.path(one)).read_bytes() for one in files.numbers()}
    saved = replace(files.load(at), **fields)
    found = list(files.entries(at)) if entries is None else entries
    files.save(saved, found, lambda: False)
    kept.pop(saved.number, None)
    for one, raw in kept.items():
        Path(files.path(one)).write_bytes(raw)


def torn(path: str) -> None:
    raw = Path(f"{path}-state-7").read_bytes()
    Path(f"{path}-state-7").write_bytes(raw[: len(raw) // 2])


def flipped(path: str) -> None:
    raw = bytearray(Path(f"{path}-state-7").read_bytes())
    raw[len(raw) // 2] ^= 4
    Path(f"{path}-state-7").write_bytes(raw)


def foreign(path: str) -> None:
    rewritten(path, 7, identity=b"x" * 40)


def of_another_kind(path: str) -> None:
    rewritten(path, 7, kind="log")


def with_other_entries(path: str) -> None:
    entries = list(StateFiles(path).entries(7))
    key, value = entries[0]
    rewritten(path, 7, [(key, value[:-1] + bytes([value[-1] ^ 1])), *entries[1:]])


def with_a_lying_root(path: str) -> None:
    rewritten(path, 7, root=b"r" * 32)


def with_the_block_before(path: str) -> None:
    """A state that holds in itself, under the number of another block."""
    older = StateFiles(path).load(5)
    entries = list(StateFiles(path).entries(5))
    fields = {"block": older.block, "root": older.root, "payload": older.payload}
    rewritten(path, 7, entries, **fields)


def with_the_payload_before(path: str) -> None:
    older = StateFiles(path).load(5)
    rewritten(path, 7, list(StateFiles(path).entries(5)), payload=older.payload, root=older.root)


def with_no_block(path: str) -> None:
    rewritten(path, 7, payload=b"x")


def with_entries_that_the_rules_choke_on(path: str) -> None:
    rewritten(path, 7, [(b"k", b"v")])


def of_the_future(path: str) -> None:
    rewritten(path, 7, number=70)
    torn(path)


DAMAGES = {
    torn: "its digest is that of other bytes",
    flipped: "its digest is that of other bytes",
    foreign: "it is of another rollup",
    of_another_kind: "it is of another rollup (log",
    with_other_entries: "its entries are not the state after block 7",
    with_a_lying_root: "its block is not the block 7 that it names",
    with_the_block_before: "the chain has another block 7",
    with_the_payload_before: "its block is not the block 7 that it names",
    with_no_block: "the payload is no block",
    with_entries_that_the_rules_choke_on: "the rollup's rules raised",
    of_the_future: "the chain's newest final block is 8",
}


@pytest.mark.parametrize("damage", DAMAGES, ids=[one.__name__ for one in DAMAGES])
def test_a_state_that_does_not_hold_is_left_out_and_the_one_before_it_taken(
    path: str, damage: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "PACKAGES_KEPT_MAX", KEPT + 1)

    async def tale(site: Site) -> None:
        hand = await grown(site, path)
        delete(path)
        damage(path)
        await goes_on(site, hand, path)

    with caplog.at_level(logging.INFO, "laneway.builder"):
        story(tale)
    assert "Begun with the state after block 5" in caplog.text
    assert f"Left out the state {path}-state-7" in caplog.text
    assert DAMAGES[damage] in caplog.text


def test_when_no_state_holds_all_is_read_from_the_chain(path: str) -> None:
    async def tale(site: Site) -> None:
        await grown(site, path)
        delete(path)
        for number in (5, 7):
            Path(StateFiles(path).path(number)).write_bytes(b"")
        await stuck(site, path)

    story(tale)


def test_a_state_of_a_chain_that_began_anew_is_left_out(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def first(site: Site) -> None:
        await grown(site, path)

    async def second(site: Site) -> None:
        delete(path)
        with pytest.raises(StateUnproven, match="if the chain began anew, delete it"):
            await site.builder(path)
        assert StateFiles(path).numbers() == [7, 5], "the node may be behind"
        hand = await hands(site)
        await hand.land(site.transfer(0, amount=77))
        hand.settle()
        builder = await site.builder(path)
        assert builder.heads.final.sealed.hash == site.head().block
        wait_for_state(builder, 1)
        await builder.aclose()
        assert StateFiles(path).numbers() == [1], "its own, and none of the other chain"

    story(first)
    with caplog.at_level(logging.WARNING, "laneway.builder"):
        story(second)
    assert "and another one than below it: the chain began anew" in caplog.text


@pytest.mark.parametrize("answer", ["head", "record"])
def test_a_node_that_is_behind_begins_no_builder_anew(path: str, answer: str) -> None:
    """Its states would be pushed out, and the first blocks may be gone. Who asks later has it."""

    async def tale(site: Site) -> None:
        hand = await grown(site, path)
        delete(path)
        bent = Bent(await site.chain())
        record = site.record(3)
        assert record is not None
        old = HEAD.encode(replace(site.head(), number=3, block=record.block))
        hidden = {block_key(number): None for number in (5, 7)}
        bent.values = {HEAD_KEY: old} if answer == "head" else dict(hidden)
        for _ in range(2):
            with pytest.raises(StateUnproven) as unproven:
                await open_builder(LEDGER, bent, ROLLUP_SERVICE_DEV, path, genesis=site.genesis)  # type: ignore[arg-type]
            assert f"{path}-state-7 cannot be compared with the chain" in str(unproven.value)
            assert (unproven.value.retry, unproven.value.changed) == ("later", False)
        await goes_on(site, hand, path)

    story(tale)


@pytest.mark.parametrize("asks", ["at the start", "for a block", "of a notification", "later"])
def test_an_old_file_goes_on_from_a_state_when_no_node_has_the_next_block(
    path: str, tmp_path: Path, asks: str
) -> None:
    """As the error says: a state is put beside it, and whoever asks next is served."""

    async def tale(site: Site) -> None:
        old = await hands(site, path)
        await old.land(site.transfer(0))
        await old.builder.notified(old.settle())
        await old.builder.aclose()
        file = Path(path).read_bytes()
        hand = Hands(site, await site.builder(path, state_blocks=2), old.chain)
        wait_for_state(hand.builder, 1)
        hand.tip, hand.final_count = old.tip, 1
        for number in range(1, BLOCKS):
            await hand.land(site.transfer(number))
            await hand.builder.notified(hand.settle())
            if number % 2 == 0:
                wait_for_state(hand.builder, number + 1)
        await hand.builder.aclose()
        delete(path)
        Path(path).write_bytes(file)
        states = {one: Path(f"{path}-state-{one}") for one in StateFiles(path).numbers()}
        if asks != "at the start":
            for number, state in states.items():
                state.rename(tmp_path / str(number))
        builder = await site.builder(path, slot_ms=20 if asks == "later" else 60_000)
        if asks != "at the start":
            assert builder.heads.final.sealed.number == 1
            assert "block 2 is final, and no node has the segments" in builder.lag
            for number, state in states.items():
                (tmp_path / str(number)).rename(state)
        if asks == "later":
            await until(lambda: builder.lag == "")
        if asks == "for a block":
            order = Hands.order(hand, site.transfer(BLOCKS))
            await builder.execute(order)
        if asks == "of a notification":
            assert hand.tip is not None
            await builder.notified([tell("finalised", hand.tip, BLOCKS)])
        assert builder.lag == ""
        assert builder.heads.final.sealed.number == BLOCKS
        for number in range(BLOCKS):
            receipt = await builder.receipt(builder.rollup.checked(site.transfer(number)))
            assert receipt is not None, "of the file, of the state and of the blocks after it"
            assert receipt.number == number + 1
        await builder.aclose()

    story(tale)


def test_a_file_of_another_line_takes_no_state_in_its_place(path: str) -> None:
    """It is said what is wrong, and the file stays as it is."""

    async def tale(site: Site) -> None:
        await grown(site, path)
        state = Path(f"{path}-state-7").read_bytes()
        delete(path)
        for number in (5, 7):
            Path(f"{path}-state-{number}").unlink()
        other = await hands(site, path)
        builder = other.builder
        base = builder._snapshots.base
        fake = replace(base.sealed, number=2, hash=b"x" * 32)
        builder._snapshots = Snapshots(replace(base, sealed=fake))
        Path(f"{path}-state-7").write_bytes(state)
        problem = BuildFailed("no node has it", needs_help=True)
        with pytest.raises(BuildFailed, match="no node has it"):
            await builder._recall(problem, await builder._source.final(), nullcontext())

    story(tale)


def test_the_head_of_the_service_has_the_last_word_on_the_newest_state(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def tale(site: Site) -> None:
        await grown(site, path, 7)
        delete(path)
        bent = Bent(await site.chain())
        lying = replace(site.head(), state_root=b"r" * 32)
        bent.values = {HEAD_KEY: HEAD.encode(lying)}
        service = ROLLUP_SERVICE_DEV
        builder = await open_builder(LEDGER, bent, service, path, genesis=site.genesis)  # type: ignore[arg-type]
        await builder.aclose()

    with caplog.at_level(logging.WARNING, "laneway.builder"):
        story(tale)
    assert "the chain has another state after block 7" in caplog.text


def test_a_file_that_is_much_older_than_the_newest_state_goes_on_from_that(
    path: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Somebody put back a copy from long ago: nobody is asked for blocks that may be gone."""
    monkeypatch.setattr(opening, "STATE_BLOCKS_DEFAULT", 7)

    async def tale(site: Site) -> None:
        builder = await site.builder(path)
        await builder.aclose()
        old = Path(path).read_bytes()
        hand = await grown(site, path)
        delete(path)
        Path(path).write_bytes(old)
        opened = await opening.opened(
            LEDGER,
            site.domain,
            Shelf(path),
            Source(await site.chain(), ROLLUP_SERVICE_DEV),
            Authorizer(host=ROLLUP_SERVICE_DEV),
        )
        assert opened.snapshots.base.sealed.number == 7
        opened.shelf.close()
        await goes_on(site, hand, path)

    story(tale)


def test_a_file_that_is_newer_than_all_states_is_taken_as_it_is(
    path: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(opening, "STATE_BLOCKS_DEFAULT", 1)

    async def tale(site: Site) -> None:
        hand = await grown(site, path)
        await goes_on(site, hand, path)

    with caplog.at_level(logging.INFO, "laneway.builder"):
        story(tale)
    assert caplog.text == ""


class BackwardsRules(LogRules):
    def entries(self, state: LogState) -> list[tuple[bytes, bytes]]:
        return [*reversed([*super().entries(state)])]

    def changes(self, state: LogState, block: LogBlock) -> Mapping[bytes, bytes]:
        return dict(self.entries(state)[: len(block.lines)])


class Backwards(LogKind):
    def rules(self, domain: Domain) -> LogRules:
        return BackwardsRules(domain)


def test_entries_are_restored_in_the_order_of_their_keys(path: str) -> None:
    """As the builder's file gives them, in whatever order the rules list them."""

    async def tale(site: Site) -> None:
        hand = await grown(site, path)
        delete(path)
        await goes_on(site, hand, path)

    story(tale, rollup=Backwards())
