"""What a look at the chain makes of the lane."""

import pytest
from tests.lanes.bundle.chain import digest
from tests.lanes.bundle.scenes import aged, fork, reported, show, two
from tests.lanes.bundle.stage import Stage, queued, replace, submitted

from laneway.core.jam import (
    Accumulated,
    BlockRef,
    BlockSeen,
    BlocksSeen,
    Failed,
    Finalised,
    Head,
    May,
    PackageKind,
    PackageSeen,
    Ready,
    Reportable,
    ServiceRefused,
)
from laneway.lanes.bundle.rows import Kind
from laneway.lanes.bundle.values import (
    ChainLooked,
    ChainSeen,
    Counted,
    LookAtChain,
    LookEnded,
    SlotChanged,
    SlotNumbered,
    VersionChanged,
    VersionDiscarded,
)


def kinds(stage: Stage, number: int = 1, version: int = 1) -> list[str]:
    return [one.kind for one in stage.version(number, version).facts]


# Looks.


def test_a_look_tells_the_clock_and_the_blocks_behind_the_known_ones() -> None:
    stage = queued()
    head = stage.lane.head
    assert (head.looking, head.look_ms) == (False, stage.now_ms - 1 + 1_000)
    assert head.clock is not None
    height = head.height
    stage.chain.produce()
    stage.chain.produce()
    stage.look()
    assert (head.height, head.best) == (height + 2, stage.chain.best.ref)
    stage.look()
    assert not any(isinstance(one, ChainSeen) for one in stage.told)


def test_a_look_that_does_not_tell_all_is_followed_by_another_at_once() -> None:
    stage = queued()
    for _ in range(3):
        stage.chain.produce()
    stage.look(limit=1)
    assert stage.lane.head.looking
    stage.look(limit=64)
    assert stage.lane.head.best == stage.chain.best.ref
    assert not stage.lane.head.looking


def test_a_look_that_failed_is_repeated() -> None:
    stage = submitted()
    stage.tick(1_000)
    stage.blind()
    assert stage.lane.head.look_ms == stage.now_ms + 1_000
    clock = stage.lane.head.clock
    assert clock is not None, "what it knew it still knows"
    stage.blind()
    assert stage.told == []


def test_a_look_from_a_block_that_is_gone_says_nothing() -> None:
    stage = submitted()
    stage.tick(1_000)
    (order,) = stage.take(LookAtChain)
    seen = replace(stage.chain.look(order.known, ()), after=BlockRef(digest("gone"), 1))
    stage.post(ChainLooked(stage.now_ms, seen, None))
    assert stage.told == [LookEnded(stage.now_ms + 1_000)]
    stage.post(ChainLooked(stage.now_ms, seen, None))
    assert stage.told == []


def test_what_is_final_never_goes_back() -> None:
    stage = submitted()
    for _ in range(3):
        stage.slot()
    stage.chain.finalise()
    stage.look()
    finalised = stage.lane.head.finalised
    assert finalised == stage.chain.best.ref
    stage.chain.final = stage.chain.states[stage.chain.best.parent]
    stage.look()
    assert stage.lane.head.finalised == finalised


# Facts.


def test_each_fact_is_kept_with_its_block() -> None:
    stage = submitted()
    show(stage, (1, 1, Reportable(5)))
    (fact,) = stage.version(1).facts
    assert (fact.kind, fact.block) == (Kind.REPORTABLE, stage.chain.best.ref)
    assert fact.number == stage.lane.head.height + 5
    show(stage, (1, 1, Reportable(4)))
    assert not any(isinstance(one, VersionChanged) for one in stage.told), "it ends in one block"
    show(stage, (1, 1, reported(stage)))
    assert kinds(stage) == [Kind.REPORTED]
    here = stage.chain.best.ref
    show(stage, (1, 1, Ready(here, 0, b"", here)))
    assert kinds(stage) == [Kind.REPORTED, Kind.READY]
    show(stage, (1, 1, Ready(here, 0, b"", here)), (1, 1, Accumulated(None)))
    assert kinds(stage) == [Kind.REPORTED, Kind.READY, Kind.ACCUMULATED]
    show(stage, (1, 1, Accumulated(None)))
    assert stage.named(1).word == "guaranteed"
    show(stage, (1, 1, Accumulated(1)))
    assert stage.named(1).word == "accumulated"
    show(stage, (1, 1, Accumulated(None)))
    assert stage.named(1).word == "accumulated"


def test_a_report_counts_from_its_own_block() -> None:
    stage = submitted()
    height, block = stage.lane.head.height, stage.lane.head.best
    assert block is not None
    show(stage, (1, 1, Ready(block, 0, b"", block)))
    fact = stage.version(1).fact(Kind.REPORTED)
    assert fact is not None
    assert (fact.height, fact.number) == (height, block.slot)


def test_what_can_be_reported_again_is_not_reported() -> None:
    stage = submitted()
    show(stage, (1, 1, reported(stage)))
    assert stage.named(1).winner == 1
    show(stage, (1, 1, Reportable(3)))
    assert kinds(stage) == [Kind.REPORTABLE]


@pytest.mark.parametrize(
    ("may", "dies"),
    [
        ((May.REBUILD,), True),
        ((May.DROP,), True),
        ((May.SAME_BYTES, May.REBUILD), False),
        ((May.SAME_BYTES,), False),
        ((), False),
    ],
)
def test_a_failure_counts_when_the_same_bytes_are_of_no_use(
    may: tuple[May, ...], dies: bool
) -> None:
    stage = submitted()
    show(stage, (1, 1, Failed(PackageKind.BAD_SERVICE, "no")), may=may)
    assert stage.version(1).is_dead() is dies


def test_a_failure_that_the_chain_takes_back_is_none() -> None:
    stage = submitted()
    failed = Failed(PackageKind.UNAVAILABLE, "too few")
    show(stage, (1, 1, reported(stage)))
    show(stage, (1, 1, failed), may=(May.REBUILD,))
    assert stage.version(1).is_dead()
    assert stage.named(1).winner == 0
    show(stage, (1, 1, failed), may=(May.REBUILD,))
    assert not any(isinstance(one, VersionChanged) for one in stage.told)
    show(stage, (1, 1, reported(stage)))
    assert not stage.version(1).is_dead()
    assert stage.named(1).winner == 1


def test_what_the_service_took_has_not_failed() -> None:
    stage = submitted()
    show(stage, (1, 1, Failed(PackageKind.UNKNOWN, "?")), may=(May.REBUILD,))
    show(stage, (1, 1, Accumulated(1)))
    assert (stage.named(1).word, stage.version(1).is_dead()) == ("accumulated", False)


def test_what_is_shown_of_a_block_that_had_its_effect_changes_nothing() -> None:
    stage = submitted()
    show(stage, (1, 1, Accumulated(1)))
    show(stage, (1, 1, reported(stage)))
    assert (stage.named(1).word, stage.named(1).winner) == ("accumulated", 1)


def test_a_package_that_is_final_says_so() -> None:
    stage = submitted()
    show(stage, (1, 1, Accumulated(1)))
    best = stage.chain.best.ref
    assert stage.statuses() == [""]
    show(stage, (1, 1, Finalised(best)))
    assert stage.statuses() == ["confirmed"]


def test_what_nobody_asked_about_says_nothing() -> None:
    stage = queued(1, submit_from_ms=1_500)
    stage.to_slot(2_500)
    show(stage, (1, 1, Reportable(3)))
    assert stage.version(1).facts == (), "it was not submitted"
    other = PackageSeen(digest("other"), stage.chain.best.ref, Reportable(1), (), "node")
    stage.tick(1_000)
    (order,) = stage.take(LookAtChain)
    head = Head(stage.chain.best.ref, None, "node")
    block = BlockSeen(stage.chain.produce().ref, b"", (other,))
    seen = BlocksSeen(order.known[-1], (), (block,), head, True)
    stage.post(ChainLooked(stage.now_ms, seen, None))
    assert stage.lane.head.height


# Who may advance.


def test_the_first_version_that_is_guaranteed_wins_and_the_others_are_cancelled() -> None:
    stage = two()
    show(stage, (1, 1, reported(stage)))
    assert stage.named(1).winner == 1
    assert stage.picture().non_winning_versions_cancelled == 1
    show(stage, (1, 2, reported(stage)))
    assert stage.named(1).winner == 1
    picture = stage.picture()
    assert (picture.duplicate_guarantees_rejected, picture.stale) == (1, ("1v2",))
    show(stage, (1, 2, Accumulated(None)))
    assert stage.picture().duplicate_accumulates_rejected == 1
    show(stage, (1, 2, ServiceRefused("same_block_held", 1)))
    assert stage.picture().duplicate_accumulates_rejected == 2
    assert stage.named(1).word == "guaranteed"


def test_a_version_that_waits_to_be_submitted_is_cancelled_with_its_bytes() -> None:
    stage = aged()
    stage.crash(submit_from_ms=1_500, submit_until_ms=1_000)
    stage.to_slot(2_500)
    assert not stage.version(1, 2).is_sent()
    show(stage, (1, 1, reported(stage)))
    assert stage.lane.version(1, 2) is None
    assert any(isinstance(one, VersionDiscarded) for one in stage.told)
    assert [one.version for one in stage.told if isinstance(one, Counted)] == [2]
    assert (stage.named(1).version, stage.named(1).winner) == (1, 1)


def test_a_version_that_is_wanted_is_wanted_no_more() -> None:
    stage = aged()
    assert stage.named(1).queued
    show(stage, (1, 1, reported(stage)))
    assert not stage.named(1).queued
    assert [one.version for one in stage.told if isinstance(one, Counted)] == [2]


def test_by_the_other_policy_only_the_latest_version_advances() -> None:
    stage = two(winner="latest_version")
    show(stage, (1, 1, reported(stage)))
    assert (stage.named(1).winner, stage.named(1).word) == (0, "submitted")
    show(stage, (1, 2, reported(stage)))
    assert (stage.named(1).winner, stage.named(1).word) == (2, "guaranteed")


def test_what_the_service_wrote_down_outranks_the_first_guarantee() -> None:
    stage = two()
    show(stage, (1, 1, reported(stage)))
    show(stage, (1, 2, Accumulated(1)))
    assert (stage.named(1).winner, stage.named(1).word) == (2, "accumulated")
    assert stage.lane.head.overruled == 1


def test_what_the_service_wrote_down_outranks_the_latest_version() -> None:
    stage = two(winner="latest_version")
    show(stage, (1, 1, Accumulated(1)))
    assert (stage.named(1).winner, stage.named(1).word) == (1, "accumulated")


def test_without_records_the_winner_alone_accumulates() -> None:
    stage = two(keeps_records=False)
    show(stage, (1, 1, reported(stage)))
    show(stage, (1, 2, Accumulated(None)))
    assert stage.named(1).word == "guaranteed"
    assert stage.picture().duplicate_accumulates_rejected == 1
    show(stage, (1, 1, Accumulated(None)))
    assert stage.named(1).word == "accumulated"
    other = two(keeps_records=False, winner="latest_version")
    show(other, (1, 1, Accumulated(None)))
    assert other.named(1).winner == 0
    show(other, (1, 2, Accumulated(None)))
    assert other.named(1).word == "accumulated"


def test_an_accumulation_whose_guarantee_was_missed_wins() -> None:
    stage = submitted()
    show(stage, (1, 1, Accumulated(None)))
    assert (stage.named(1).winner, stage.named(1).word) == (1, "guaranteed")
    show(stage, (1, 1, Accumulated(1)))
    assert stage.named(1).word == "accumulated"
    other = two(winner="latest_version")
    show(other, (1, 1, Accumulated(None)))
    assert other.named(1).winner == 0


def test_a_service_that_refused_the_winner_leaves_the_place_to_another() -> None:
    stage = two()
    show(stage, (1, 1, reported(stage)))
    show(stage, (1, 2, reported(stage)))
    show(stage, (1, 1, ServiceRefused("expired", 1)))
    assert stage.named(1).winner == 2


def test_of_two_that_are_guaranteed_the_earlier_one_takes_the_place() -> None:
    stage = two()
    show(stage, (1, 2, reported(stage)))
    show(stage, (1, 1, reported(stage)))
    assert stage.named(1).winner == 2
    slot = replace(stage.named(1), winner=0)
    stage.apply([SlotChanged(slot, "undecided")])
    show(stage)
    assert stage.named(1).winner == 2


@pytest.mark.parametrize("reason", ["wrong_parent", "OTHER_BLOCK_APPLIED"])
def test_a_block_that_has_no_place_any_more_is_hopeless(reason: str) -> None:
    stage = submitted()
    show(stage, (1, 1, ServiceRefused(reason, 1)))
    fact = stage.version(1).fact(Kind.DEAD)
    assert fact is not None
    assert fact.is_hopeless


def test_a_provisional_number_becomes_the_services() -> None:
    stage = submitted(2)
    first, second = stage.named(1), stage.named(2)
    show(stage, (1, 1, Accumulated(5)))
    assert SlotNumbered(first.id, 5) in stage.told
    assert stage.named(5).id == first.id
    assert stage.named(5).is_canonical
    assert stage.named(6).id == second.id
    assert stage.version(6).package_hash == stage.version(6).package_hash
    assert replace(stage.named(6), number=2, word=second.word) == second


# What is taken back.


def test_facts_go_with_their_blocks() -> None:
    stage = submitted()
    one = stage.hash_of(1)
    stage.slot(one)
    stage.slot()
    assert stage.named(1).word == "accumulated"
    fork(stage, 2)
    stage.look()
    assert stage.named(1).word == "submitted"
    assert (stage.named(1).winner, stage.version(1).sends) == (0, 0)
    stage.to_slot(2_500)
    assert {hash_ for _, hash_ in stage.sent} == {one}, "the same bytes again"
    stage.slot(one)
    stage.slot()
    assert stage.named(1).word == "accumulated"


def test_facts_of_blocks_that_stay_are_kept() -> None:
    stage = submitted(2)
    stage.slot(stage.hash_of(1))
    stage.slot()
    stage.slot(stage.hash_of(2))
    assert stage.words() == {1: "accumulated", 2: "guaranteed"}
    fork(stage, 1)
    stage.look()
    assert stage.words() == {1: "accumulated", 2: "submitted"}


def test_a_report_and_a_readiness_that_go_apart_are_told_apart() -> None:
    stage = submitted(2)
    stage.slot(stage.hash_of(1), stage.hash_of(2))
    stage.to_slot()
    stage.chain.produce(ready=[stage.hash_of(2)])
    stage.look()
    assert kinds(stage, 2) == [Kind.REPORTED, Kind.READY]
    parent = stage.chain.states[stage.chain.best.parent]
    stage.chain.produce(parent=parent, ready=(), is_best=True)
    stage.look()
    assert kinds(stage, 2) == [Kind.REPORTED]
    assert stage.version(2).sends == 1
    assert stage.named(2).winner == 1


def test_behind_a_gap_the_newest_block_shows_all_anew() -> None:
    stage = submitted()
    stage.slot(stage.hash_of(1))
    stage.slot()
    height = stage.lane.head.height
    stage.tick(1_000)
    (order,) = stage.take(LookAtChain)
    stage.chain.produce()
    seen = stage.chain.look((), order.packages)
    assert seen.after is None
    stage.post(ChainLooked(stage.now_ms, seen, None))
    assert stage.lane.head.height > height + 100
    assert list(stage.lane.chain.values()) == [stage.chain.best.ref]
    assert stage.named(1).word == "accumulated"
    stage.tick(1_000)
    stage.take(LookAtChain)
    bare = replace(seen, blocks=tuple(replace(one, seen=()) for one in seen.blocks))
    stage.post(ChainLooked(stage.now_ms, bare, None))
    assert stage.named(1).word == "submitted", "nobody shows it"


def test_behind_a_gap_what_is_final_stays() -> None:
    stage = submitted(2)
    stage.slot(stage.hash_of(1))
    stage.chain.finalise()
    stage.look()
    stage.tick(1_000)
    (order,) = stage.take(LookAtChain)
    seen = stage.chain.look((), order.packages)
    bare = replace(seen, blocks=tuple(replace(one, seen=()) for one in seen.blocks))
    stage.post(ChainLooked(stage.now_ms, bare, None))
    assert stage.named(1).word == "guaranteed"
    assert kinds(stage, 1) == [Kind.REPORTED]


def test_a_version_that_a_fork_brings_back_is_alive() -> None:
    stage = submitted(guarantee_timeout_ms=600_000)
    for _ in range(8):
        stage.slot()
    assert stage.version(1).is_dead()
    parent = stage.chain.best
    for _ in range(5):
        parent = stage.chain.states[parent.parent]
    stage.chain.best = stage.chain.produce(parent=parent, skip=6)
    stage.look()
    assert not stage.version(1).is_dead()
