"""Where blocks and their versions stand."""

import msgspec
import pytest
from tests.lanes.bundle.chain import digest
from tests.lanes.bundle.stage import Stage, queued, submitted

from laneway.core.jam import JamBlockRef
from laneway.lanes.bundle.lane import BundleLane, index_slot, redraw
from laneway.lanes.bundle.limits import HELD_SLOTS_MAX
from laneway.lanes.bundle.rows import Fact, FactKind, LinePlace, Version
from laneway.lanes.bundle.standing import (
    before,
    current,
    death,
    expires,
    free_cores,
    given_up,
    inflight,
    is_alone_at_fault,
    is_cancelled,
    is_dead_for_good,
    is_eligible,
    is_leant_on,
    is_passed_over,
    is_popped,
    is_stale,
    parent_of,
    payloads_below,
    prerequisites_of,
    queued_count,
    status_of,
)

replace = msgspec.structs.replace
ELSEWHERE = JamBlockRef(digest("elsewhere"), 1)


def put(stage: Stage, number: int, *facts: Fact, which: int = 1, **fields: object) -> Version:
    """A version stands as a test wants it."""
    changed = replace(stage.version(number, which), facts=facts, **fields)
    stage.put(changed)
    return changed


def fact(stage: Stage, kind: str, number: int | None = None, **fields: object) -> Fact:
    best = stage.lane.head.best
    assert best is not None
    found = Fact(kind, best, stage.lane.head.height, number)
    return replace(found, **fields)


def change(stage: Stage, number: int, **fields: object) -> None:
    stage.put(replace(stage.named(number), **fields))


def death_of(lane: BundleLane, version: Version) -> Fact | None:
    """Where the newest block shows how it stands."""
    return death(lane, version, is_shown=True)


def test_a_blocks_word_follows_from_its_facts() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    lane = stage.lane
    assert status_of(lane, stage.named(1)) == "building"
    stage = queued()
    assert status_of(stage.lane, stage.named(1)) == "queued"
    stage = submitted()
    lane = stage.lane
    assert status_of(lane, stage.named(1)) == "submitted"
    change(stage, 1, queued=True)
    assert status_of(lane, stage.named(1)) == "queued"
    change(stage, 1, winner=1)
    assert status_of(lane, stage.named(1)) == "guaranteed"
    put(stage, 1, fact(stage, FactKind.ACCUMULATED))
    assert status_of(lane, stage.named(1)) == "guaranteed"
    put(stage, 1, fact(stage, FactKind.ACCUMULATED, 1))
    assert status_of(lane, stage.named(1)) == "accumulated"
    lane.head.finalised = lane.head.best
    assert status_of(lane, stage.named(1)) == "finalised"


def test_a_block_counts_on_the_winner_or_on_the_newest_version_that_may_land() -> None:
    stage = submitted()
    lane = stage.lane
    assert current(lane, stage.named(1)) == stage.version(1)
    dead = put(stage, 1, fact(stage, FactKind.DEAD))
    assert current(lane, stage.named(1)) is None
    change(stage, 1, winner=1)
    assert current(lane, stage.named(1)) == dead


def test_another_version_is_cancelled_when_one_won() -> None:
    stage = submitted()
    slot, version = stage.named(1), stage.version(1)
    assert not is_cancelled(slot, version)
    assert not is_cancelled(replace(slot, winner=1), version)
    assert is_cancelled(replace(slot, winner=2), version)


def test_a_block_follows_the_open_one_before_it_or_what_is_final() -> None:
    stage = queued(2)
    lane = stage.lane
    assert before(lane, stage.named(1)) is None
    assert before(lane, stage.named(2)) == stage.named(1)
    assert parent_of(lane, stage.named(1)) == lane.head.tip
    assert parent_of(lane, stage.named(2)).root == stage.named(1).post_root


def test_a_package_names_the_one_before_it_while_that_is_in_flight() -> None:
    stage = queued(2)
    assert prerequisites_of(stage.lane, stage.named(1)) == ()
    assert prerequisites_of(stage.lane, stage.named(2)) is None
    stage = submitted(2)
    lane = stage.lane
    assert prerequisites_of(lane, stage.named(2)) == (stage.hash_of(1),)
    change(stage, 1, winner=1)
    put(stage, 1, fact(stage, FactKind.ACCUMULATED, 1))
    assert prerequisites_of(lane, stage.named(2)) == ()


@pytest.mark.parametrize(("blocks_ago", "is_named"), [(0, True), (7, True), (8, False)])
def test_a_package_reported_more_than_eight_blocks_before_the_next_is_not_named(
    blocks_ago: int, is_named: bool
) -> None:
    stage = submitted(2)
    height = stage.lane.head.height - blocks_ago
    put(stage, 1, fact(stage, FactKind.REPORTED, height=height))
    wanted = (stage.hash_of(1),) if is_named else ()
    assert prerequisites_of(stage.lane, stage.named(2)) == wanted


def test_in_parallel_mode_no_package_names_another() -> None:
    stage = queued(2, order="parallel")
    assert prerequisites_of(stage.lane, stage.named(2)) == ()


def test_blocks_are_counted_where_they_are() -> None:
    stage = queued(3)
    assert (queued_count(stage.lane), inflight(stage.lane)) == (3, 0)
    assert not is_popped(stage.lane, stage.named(1))
    stage.now_ms += 3_000
    stage.tick()
    assert is_popped(stage.lane, stage.named(1))
    assert (queued_count(stage.lane), inflight(stage.lane)) == (3, 1)
    stage.make()
    assert is_popped(stage.lane, stage.named(1)) is False
    assert inflight(stage.lane) == 3
    building = Stage()
    building.accept(1)
    building.pull()
    assert not is_popped(building.lane, building.named(1))


def test_a_version_that_waits_for_its_window_is_in_flight() -> None:
    stage = queued(1, submit_from_ms=1_500)
    stage.to_slot(2_500)
    assert not stage.version(1).is_sent()
    assert is_popped(stage.lane, stage.named(1))
    assert inflight(stage.lane) == 1


@pytest.mark.parametrize(("counts", "flying"), [("submitted", 1), ("submitted_and_guaranteed", 2)])
def test_what_is_guaranteed_is_in_flight_where_the_setting_says_so(
    counts: str, flying: int
) -> None:
    stage = submitted(2, inflight_counts=counts)
    stage.slot(stage.hash_of(1))
    assert inflight(stage.lane) == flying


def test_a_core_is_given_to_one_package_at_a_time() -> None:
    stage = queued(2)
    assert free_cores(stage.lane) == [0, 1, 2, 3]
    stage.now_ms += 3_000
    stage.tick()
    assert free_cores(stage.lane) == [1, 2, 3]
    stage.make()
    assert free_cores(stage.lane) == [2, 3]


def test_a_dead_or_cancelled_package_keeps_no_core() -> None:
    stage = submitted()
    put(stage, 1, fact(stage, FactKind.DEAD))
    assert free_cores(stage.lane) == [0, 1, 2, 3]
    stage = submitted()
    stage.lane.slots[1] = replace(stage.named(1), winner=2)
    assert free_cores(stage.lane) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("reuse", "just_reported", "a_block_later", "five_slots_later"),
    [
        ("guaranteed", True, True, True),
        ("expected", True, False, True),
        ("ready", False, False, True),
    ],
)
def test_a_core_is_free_again_when_its_report_is_available_or_dropped(
    reuse: str, just_reported: bool, a_block_later: bool, five_slots_later: bool
) -> None:
    stage = submitted(core_reuse=reuse)
    stage.slot(stage.hash_of(1))
    lane = stage.lane
    assert (0 in free_cores(lane)) is just_reported
    stage.chain.produce(ready=())
    stage.look()
    assert (0 in free_cores(lane)) is a_block_later
    stage.chain.produce(ready=(), skip=3)
    stage.look()
    assert (0 in free_cores(lane)) is five_slots_later


def test_a_core_is_free_when_its_report_is_available_or_accumulated() -> None:
    stage = submitted(core_reuse="ready")
    put(stage, 1, fact(stage, FactKind.REPORTED, 1), fact(stage, FactKind.READY))
    assert free_cores(stage.lane) == [0, 1, 2, 3]
    put(stage, 1, fact(stage, FactKind.ACCUMULATED))
    assert free_cores(stage.lane) == [0, 1, 2, 3]
    put(stage, 1, fact(stage, FactKind.REPORTED, 1))
    stage.lane.head.best = None
    assert free_cores(stage.lane) == [1, 2, 3]


def test_a_package_lives_for_eight_blocks_behind_its_anchor() -> None:
    stage = submitted()
    lane, version = stage.lane, stage.version(1)
    assert lane.head.best is not None
    anchored = replace(version, anchor=lane.head.best)
    assert expires(lane, anchored) == lane.head.height + 8
    unknown = replace(version, anchor=ELSEWHERE, facts=())
    assert expires(lane, unknown) is None
    shown = replace(unknown, facts=(fact(stage, FactKind.REPORTABLE, 9),))
    assert expires(lane, shown) == 9


@pytest.mark.parametrize(("age", "stale"), [(0, False), (6, False), (7, True)])
def test_an_anchor_older_than_six_blocks_is_too_old_to_begin_with(age: int, stale: bool) -> None:
    stage = submitted()
    lane = stage.lane
    unknown = replace(stage.version(1), anchor=ELSEWHERE, born=lane.head.height - age)
    assert is_stale(lane, unknown) is stale
    assert lane.head.best is not None
    known = replace(unknown, anchor=lane.head.best)
    lane.head.height += age
    assert is_stale(lane, known) is stale


def test_a_package_dies_when_its_anchor_is_no_recent_block() -> None:
    stage = submitted()
    lane = stage.lane
    height = lane.head.height
    alive = replace(
        stage.version(1), anchor=ELSEWHERE, facts=(fact(stage, FactKind.REPORTABLE, height + 1),)
    )
    assert death_of(lane, alive) is None
    over = replace(alive, facts=(fact(stage, FactKind.REPORTABLE, height),))
    found = death_of(lane, over)
    assert found is not None
    assert (found.block, found.height) == (lane.head.best, height)
    assert death_of(lane, replace(over, facts=(*over.facts, found))) is None
    reported = (*over.facts, fact(stage, FactKind.REPORTED))
    assert death_of(lane, replace(over, facts=reported)) is None
    held = (*over.facts, fact(stage, FactKind.ACCUMULATED))
    assert death_of(lane, replace(over, facts=held)) is None
    done = (*over.facts, fact(stage, FactKind.ACCUMULATED, 1))
    assert death_of(lane, replace(over, facts=done)) is None
    lane.head.best = None
    assert death_of(lane, over) is None


def test_a_package_dies_when_its_lookup_anchor_is_too_old() -> None:
    stage = submitted()
    best = stage.lane.head.best
    assert best is not None
    old = JamBlockRef(digest("old"), best.slot - 25)
    found = death_of(stage.lane, replace(stage.version(1), lookup_anchor=old))
    assert found is not None
    assert "lookup" in found.words
    still = replace(stage.version(1), lookup_anchor=JamBlockRef(digest("old"), best.slot - 24))
    assert death_of(stage.lane, still) is None


@pytest.mark.parametrize("kind", [FactKind.FAILED, FactKind.REFUSED])
def test_a_package_dies_when_the_chain_or_the_service_says_so(kind: str) -> None:
    stage = submitted()
    shown = fact(stage, kind, words="no", is_hopeless=True)
    found = death_of(stage.lane, replace(stage.version(1), facts=(shown,)))
    assert found is not None
    assert (found.words, found.is_hopeless, found.by_prerequisite) == ("no", True, False)


def test_a_package_dies_with_the_one_that_it_names() -> None:
    stage = submitted(2)
    lane = stage.lane
    assert death_of(lane, stage.version(2)) is None
    put(stage, 1, fact(stage, FactKind.DEAD))
    found = death_of(lane, stage.version(2))
    assert found is not None
    assert found.by_prerequisite
    held = replace(stage.version(2), facts=(fact(stage, FactKind.ACCUMULATED),))
    assert death_of(lane, held) is None
    # One that the service refused did accumulate, so those that name it are free.
    put(stage, 1, fact(stage, FactKind.DEAD), fact(stage, FactKind.REFUSED))
    assert death_of(lane, stage.version(2)) is None
    put(stage, 1, is_refused=True)
    assert death_of(lane, stage.version(2)) is not None
    unknown = replace(stage.version(2), prerequisites=(digest("final long ago"),))
    assert death_of(lane, unknown) is None


def test_an_end_is_for_good_when_its_block_is_final_or_nobody_has_the_bytes() -> None:
    stage = submitted()
    lane = stage.lane
    assert not is_dead_for_good(lane, stage.version(1))
    dead = put(stage, 1, fact(stage, FactKind.DEAD))
    assert not is_dead_for_good(lane, dead)
    lane.head.finalised = lane.head.best
    assert is_dead_for_good(lane, dead)
    assert is_dead_for_good(lane, replace(stage.version(1), facts=(), is_refused=True))


def test_a_package_is_dead_by_its_age_only_where_a_block_shows_how_it_stands() -> None:
    stage = submitted()
    over = replace(
        stage.version(1),
        anchor=ELSEWHERE,
        facts=(fact(stage, FactKind.REPORTABLE, stage.lane.head.height),),
    )
    assert death(stage.lane, over, is_shown=True) is not None
    assert death(stage.lane, over, is_shown=False) is None
    failed = replace(over, facts=(fact(stage, FactKind.FAILED, words="no"),))
    assert death(stage.lane, failed, is_shown=False) is not None, "the chain said so"


def test_what_the_service_holds_by_an_unknown_package_is_not_dead_for_good() -> None:
    stage = submitted()
    lane = stage.lane
    refused = fact(stage, FactKind.REFUSED, words="same_block_held")
    dead = put(stage, 1, refused, fact(stage, FactKind.DEAD))
    lane.head.finalised = lane.head.best
    assert not is_dead_for_good(lane, dead)
    assert lane.head.best is not None
    lane.head.finalised = replace(lane.head.best, slot=lane.head.best.slot + HELD_SLOTS_MAX)
    assert not is_dead_for_good(lane, dead)
    lane.head.finalised = replace(lane.head.best, slot=lane.head.best.slot + HELD_SLOTS_MAX + 1)
    assert is_dead_for_good(lane, dead)
    other = replace(dead, facts=(fact(stage, FactKind.REFUSED, words="expired"), dead.facts[1]))
    lane.head.finalised = lane.head.best
    assert is_dead_for_good(lane, other)


def test_a_block_that_accumulated_engages_no_core() -> None:
    stage = submitted(2, cores=(0, 1))
    assert free_cores(stage.lane) == []
    stage.slot(stage.hash_of(1))
    stage.slot()
    assert status_of(stage.lane, stage.named(1)) == "accumulated"
    assert free_cores(stage.lane) == [0]


def test_orders_bring_the_payloads_of_the_open_blocks_below() -> None:
    stage = queued(3)
    lane = stage.lane
    payloads = [lane.payloads[one] for one in (1, 2, 3)]
    second, third = stage.named(2), stage.named(3)
    assert payloads_below(lane, 4, third.block) == tuple(payloads)
    assert payloads_below(lane, 3, third.parent) == tuple(payloads[:2])
    assert payloads_below(lane, 1, b"") == ()
    assert payloads_below(lane, 3, digest("another")) == (), "it stands on something else"
    assert payloads_below(lane, 9, third.block) == ()
    # A block that does not stand on the one below it ends the line; those below have their own.
    index_slot(lane, replace(third, parent=digest("another")))
    redraw(lane)
    assert payloads_below(lane, 4, third.block) == (payloads[2],)
    assert payloads_below(lane, 3, second.block) == tuple(payloads[:2])


def test_a_final_block_is_kept_while_a_package_names_a_version_that_did_not_win() -> None:
    stage = submitted(2)
    lane = stage.lane
    assert not is_leant_on(lane, replace(stage.named(1), winner=1)), "it names the winner"
    assert is_leant_on(lane, replace(stage.named(1), winner=2))
    assert not is_leant_on(lane, replace(stage.named(2), winner=2)), "nobody names it"
    put(stage, 1, fact(stage, FactKind.DEAD))
    assert is_leant_on(lane, replace(stage.named(1), winner=2)), "a fork may bring it back"
    lane.head.finalised = lane.head.best
    assert not is_leant_on(lane, replace(stage.named(1), winner=2))


def test_what_a_service_holds_is_given_up_behind_its_time() -> None:
    stage = submitted()
    lane, held = stage.lane, fact(stage, FactKind.ACCUMULATED)
    plain = stage.version(1)
    assert given_up(lane, plain) is None, "the service was not given it"
    waiting = put(stage, 1, held)
    best = lane.head.best
    assert best is not None
    lane.head.best = replace(best, slot=best.slot + HELD_SLOTS_MAX)
    assert given_up(lane, waiting) is None
    lane.head.best = replace(best, slot=best.slot + HELD_SLOTS_MAX + 1)
    found = given_up(lane, waiting)
    assert found is not None
    assert (found.kind, found.block, found.by_prerequisite) == (
        FactKind.DEAD,
        lane.head.best,
        False,
    )
    assert given_up(lane, replace(waiting, facts=(held, found))) is None, "it is dead already"
    assert given_up(lane, replace(waiting, facts=(replace(held, number=1),))) is None
    lane.head.best = None
    assert given_up(lane, waiting) is None


@pytest.mark.parametrize(
    ("policy", "winner", "older", "newest"),
    [
        ("first_guarantee_wins", 0, False, False),
        ("first_guarantee_wins", 1, False, True),
        ("latest_version", 0, True, False),
        ("latest_version", 1, False, True),
        ("latest_version", 2, True, False),
    ],
)
def test_a_version_may_not_advance_when_another_won_or_only_a_newer_one_may(
    policy: str, winner: int, older: bool, newest: bool
) -> None:
    stage = submitted(winner=policy)
    first = stage.version(1)
    second = replace(first, version=2, package_hash=digest("another"))
    change(stage, 1, version=2, winner=winner)
    lane, slot = stage.lane, stage.named(1)
    assert is_passed_over(lane, slot, first) is older
    assert is_passed_over(lane, slot, second) is newest
    assert is_eligible(lane, second)
    assert is_eligible(lane, first) is (policy == "first_guarantee_wins")


def test_a_block_that_the_services_final_line_has_is_final() -> None:
    stage = submitted()
    change(stage, 1, line=LinePlace(digest("a package"), ELSEWHERE))
    assert status_of(stage.lane, stage.named(1)) == "finalised"


def test_a_transaction_is_at_fault_where_its_block_was_begun_for_it_alone() -> None:
    stage = queued()
    slot = stage.named(1)
    assert not is_alone_at_fault(stage.lane, slot), "more would have been taken"
    stage.lane.head.txs_max = 1
    assert is_alone_at_fault(stage.lane, slot)
    assert not is_alone_at_fault(stage.lane, replace(slot, count=2))
