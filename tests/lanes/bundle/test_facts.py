"""What a look at the chain makes of the lane."""

import pytest
from tests.lanes.bundle.chain import digest
from tests.lanes.bundle.scenes import aged, fork, reported, show, two
from tests.lanes.bundle.stage import Stage, queued, replace, submitted

from laneway.core.jam import (
    Accumulated,
    Failed,
    Finalised,
    JamBlockRef,
    JamBlockSeen,
    JamBlocksSeen,
    JamHead,
    May,
    PackageKind,
    PackageSeen,
    Ready,
    Reportable,
    ServiceRefused,
)
from laneway.lanes.bundle import facts
from laneway.lanes.bundle import records as r
from laneway.lanes.bundle.draft import DecisionDraft
from laneway.lanes.bundle.facts import OLDER
from laneway.lanes.bundle.limits import HELD_SLOTS_MAX
from laneway.lanes.bundle.rows import FactKind
from laneway.lanes.bundle.values import ChainLooked, LookAtChain


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
    assert not any(isinstance(one, r.ChainSeen) for one in stage.told)


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
    seen = replace(stage.chain.look(order.known, ()), after=JamBlockRef(digest("gone"), 1))
    stage.post(ChainLooked(stage.now_ms, seen, None))
    assert stage.told == [r.LookEnded(stage.now_ms + 1_000)]
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
    assert (fact.kind, fact.block) == (FactKind.REPORTABLE, stage.chain.best.ref)
    assert fact.number == stage.lane.head.height + 5
    show(stage, (1, 1, Reportable(4)))
    assert not any(isinstance(one, r.OfVersion) for one in stage.told), "it ends in one block"
    show(stage, (1, 1, reported(stage)))
    assert kinds(stage) == [FactKind.REPORTED]
    here = stage.chain.best.ref
    show(stage, (1, 1, Ready(here, 0, b"", here)))
    assert kinds(stage) == [FactKind.REPORTED, FactKind.READY]
    show(stage, (1, 1, Ready(here, 0, b"", here)), (1, 1, Accumulated(None)))
    assert kinds(stage) == [FactKind.REPORTED, FactKind.READY, FactKind.ACCUMULATED]
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
    fact = stage.version(1).fact(FactKind.REPORTED)
    assert fact is not None
    assert (fact.height, fact.number) == (height, block.slot)


def test_what_can_be_reported_again_is_not_reported() -> None:
    stage = submitted()
    show(stage, (1, 1, reported(stage)))
    assert stage.named(1).winner == 1
    show(stage, (1, 1, Reportable(3)))
    assert kinds(stage) == [FactKind.REPORTABLE]


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


def test_what_the_service_was_given_does_not_fail_by_what_the_chain_forgot() -> None:
    """The service holds it for the block before it; were it built again, both could land."""
    stage = submitted()
    here = stage.chain.best.ref
    show(stage, (1, 1, Ready(here, 0, b"", here)), (1, 1, Accumulated(None)))
    failed = Failed(PackageKind.ANCHOR_NOT_RECENT, "not reported in time")
    show(stage, (1, 1, failed), may=(May.REBUILD,))
    assert not stage.version(1).is_dead()
    assert kinds(stage) == [FactKind.REPORTED, FactKind.READY, FactKind.ACCUMULATED]


def test_a_failure_that_the_chain_takes_back_is_none() -> None:
    stage = submitted()
    failed = Failed(PackageKind.UNAVAILABLE, "too few")
    show(stage, (1, 1, reported(stage)))
    show(stage, (1, 1, failed), may=(May.REBUILD,))
    assert stage.version(1).is_dead()
    assert stage.named(1).winner == 0
    show(stage, (1, 1, failed), may=(May.REBUILD,))
    assert not any(isinstance(one, r.OfVersion) for one in stage.told)
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
    head = JamHead(stage.chain.best.ref, None, "node")
    block = JamBlockSeen(stage.chain.produce().ref, b"", (other,))
    seen = JamBlocksSeen(order.known[-1], (), (block,), head, True)
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
    assert any(isinstance(one, r.VersionDiscarded) for one in stage.told)
    assert [one.version for one in stage.told if isinstance(one, r.Counted)] == [2]
    assert (stage.named(1).version, stage.named(1).winner) == (1, 1)


def test_a_version_that_is_wanted_is_wanted_no_more() -> None:
    stage = aged()
    assert stage.named(1).queued
    show(stage, (1, 1, reported(stage)))
    assert not stage.named(1).queued
    assert [one.version for one in stage.told if isinstance(one, r.Counted)] == [2]


def test_by_the_other_policy_only_the_latest_version_advances() -> None:
    stage = two(winner="latest_version")
    show(stage, (1, 1, reported(stage)))
    assert (stage.named(1).winner, stage.named(1).word) == (0, "submitted")
    show(stage, (1, 2, reported(stage)))
    assert (stage.named(1).winner, stage.named(1).word) == (2, "guaranteed")


@pytest.mark.parametrize(
    ("policy", "winner", "stale"), [("first_guarantee_wins", 2, 1), ("latest_version", 2, 1)]
)
def test_what_a_version_that_may_not_advance_does_is_counted_and_shown_by_either_policy(
    policy: str, winner: int, stale: int
) -> None:
    stage = two(winner=policy)
    if policy == "first_guarantee_wins":
        show(stage, (1, winner, reported(stage)))
    show(stage, (1, stale, reported(stage)))
    picture = stage.picture()
    assert (picture.duplicate_guarantees_rejected, picture.stale) == (1, (f"1v{stale}",))
    show(stage, (1, stale, reported(stage)))
    assert stage.picture().duplicate_guarantees_rejected == 1, "what is known is not counted again"
    show(stage, (1, stale, Accumulated(None)))
    assert stage.picture().duplicate_accumulates_rejected == 1
    assert stage.named(1).winner in (0, winner)
    show(stage, (1, winner, Accumulated(1)))
    assert (stage.named(1).winner, stage.named(1).word) == (winner, "accumulated")
    assert stage.picture().stale == (f"1v{stale}",)


def test_without_records_an_accumulation_of_an_older_version_is_counted_and_no_more() -> None:
    stage = two(winner="latest_version", keeps_records=False)
    show(stage, (1, 1, Accumulated(None)))
    assert stage.picture().duplicate_accumulates_rejected == 1
    assert (stage.named(1).winner, stage.named(1).word) == (0, "submitted")


def test_the_winner_wins_once() -> None:
    stage = submitted()
    show(stage, (1, 1, reported(stage)))
    draft, version = DecisionDraft(stage.lane, stage.now_ms), stage.version(1)
    again = version.fact(FactKind.REPORTED)
    assert again is not None
    facts.judge_fact(draft, stage.named(1), version, again)
    assert draft.decision().records == ()


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
    stage.put(slot)
    show(stage)
    assert stage.named(1).winner == 2


@pytest.mark.parametrize("reason", ["wrong_parent", "OTHER_BLOCK_APPLIED", "not_authorised"])
def test_a_block_that_has_no_place_any_more_is_hopeless(reason: str) -> None:
    stage = submitted()
    show(stage, (1, 1, ServiceRefused(reason, 1)))
    fact = stage.version(1).fact(FactKind.DEAD)
    assert fact is not None
    assert fact.is_hopeless


def test_a_provisional_number_becomes_the_services() -> None:
    stage = submitted(2)
    first, second = stage.named(1), stage.named(2)
    show(stage, (1, 1, Accumulated(5)))
    assert r.SlotNumbered(first.id, 5, 1) in stage.told
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
    assert kinds(stage, 2) == [FactKind.REPORTED, FactKind.READY]
    parent = stage.chain.states[stage.chain.best.parent]
    stage.chain.produce(parent=parent, ready=(), is_best=True)
    stage.look()
    assert kinds(stage, 2) == [FactKind.REPORTED]
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
    stage.chain.produce()
    seen = stage.chain.look((), order.packages)
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
    stage.chain.produce()
    seen = stage.chain.look((), order.packages)
    bare = replace(seen, blocks=tuple(replace(one, seen=()) for one in seen.blocks))
    stage.post(ChainLooked(stage.now_ms, bare, None))
    assert stage.named(1).word == "guaranteed"
    assert kinds(stage, 1) == [FactKind.REPORTED]
    assert stage.lane.head.best == stage.chain.best.ref


def revived() -> Stage:
    """A version dies of age, and then a fork is the best chain on which it is young enough."""
    stage = submitted(guarantee_timeout_ms=600_000)
    for _ in range(8):
        stage.slot()
    assert stage.version(1).is_dead()
    parent = stage.chain.best
    for _ in range(5):
        parent = stage.chain.states[parent.parent]
    stage.chain.best = stage.chain.produce(parent=parent, skip=6)
    return stage


def test_a_version_that_a_fork_brings_back_is_alive() -> None:
    stage = revived()
    stage.look()
    assert not stage.version(1).is_dead()


def test_a_look_that_knows_nothing_of_blocks_that_came_since_says_nothing() -> None:
    """The answer to a question that was asked twice: what the newer blocks showed stays."""
    stage = submitted()
    stage.tick(1_000)
    (order,) = stage.take(LookAtChain)
    stage.to_slot()
    stage.chain.produce([stage.hash_of(1)])
    late = stage.chain.look(order.known, order.packages)
    stage.post(ChainLooked(stage.now_ms, late, stage.clock()))
    assert stage.named(1).word == "guaranteed"
    stage.tick(1_000)
    stage.post(ChainLooked(stage.now_ms, late, stage.clock()))
    assert stage.told == [r.LookEnded(stage.now_ms + 1_000)], "it answers an older question"
    assert stage.named(1).word == "guaranteed"


def test_a_package_that_nobody_looked_at_is_not_taken_for_dead() -> None:
    """It was reported while the question was on its way; by the age of its anchor it would be
    dead."""
    stage = submitted(guarantee_timeout_ms=0)
    stage.tick(1_000)
    (order,) = stage.take(LookAtChain)
    for at in range(9):
        stage.chain.produce([stage.hash_of(1)] if at == 3 else [], ready=())
    unasked = stage.chain.look(order.known, ())
    stage.post(ChainLooked(stage.now_ms, unasked, stage.clock()))
    assert not stage.version(1).is_dead()
    stage.chain.produce(ready=())
    stage.look()
    assert stage.named(1).word == "guaranteed"


def test_a_block_that_the_service_has_is_done_whatever_package_brought_it() -> None:
    stage = submitted()
    names = list(stage.accepted)
    show(stage, (1, 1, reported(stage)))
    show(stage, (1, 1, ServiceRefused("same_block_applied", 1)))
    assert stage.named(1).word == "accumulated"
    assert not stage.version(1).is_dead()
    assert stage.lane.head.overruled == 1
    stage.hear_all()
    (told,) = stage.ends()
    assert (told.word, told.package_hash) == ("accumulated", b""), "which one is not known"
    show(stage, (1, 1, ServiceRefused("same_block_applied", 1)))
    assert stage.lane.head.overruled == 1, "it is counted once"
    stage.chain.finalise()
    stage.look()
    assert stage.named(1).word == "accumulated", "the record that names it was not read"
    stage.put(replace(stage.named(1), unnamed_slot=0))
    stage.chain.produce()
    stage.chain.finalise()
    stage.look()
    assert stage.lane.finished[1].package_hash == b""
    assert [stage.results[one].status for one in names] == ["confirmed"]
    assert not stage.lane.returned, "its transactions are in no other block"


def test_such_a_block_outranks_the_version_that_is_guaranteed() -> None:
    stage = two()
    show(stage, (1, 1, reported(stage)))
    show(stage, (1, 2, ServiceRefused("same_block_applied", 1)))
    assert (stage.named(1).winner, stage.named(1).word) == (2, "accumulated")
    assert stage.lane.head.overruled == 1
    show(stage, (1, 1, Accumulated(1)))
    assert stage.named(1).winner == 1, "it was this one"
    stage.hear()
    stage.chain.finalise()
    stage.look()
    assert stage.lane.finished[1].package_hash != b""


def test_a_fork_takes_such_a_block_back() -> None:
    stage = submitted()
    show(stage, (1, 1, ServiceRefused("same_block_applied", 1)))
    assert stage.named(1).word == "accumulated"
    fork(stage, 1)
    stage.look()
    assert stage.named(1).word == "submitted"


def test_a_clock_that_others_go_by_opens_windows_anew() -> None:
    stage = queued(poll_ms=100)
    found = []
    for skew_ms in (0, 5_000, 0):
        stage.skew_ms = skew_ms
        stage.look()
        found.append(stage.lane.head.window_ms is not None)
    assert found == [True, False, True], "it was too far off"


def test_what_died_with_the_package_that_it_names_is_not_alive_because_it_is_reported() -> None:
    """On another fork it is reported, and the one that it names is dead there too."""
    stage = submitted(2)
    failed = Failed(PackageKind.UNAVAILABLE, "too few")
    show(stage, (1, 1, reported(stage)))
    show(stage, (1, 1, failed), may=(May.REBUILD,))
    assert stage.version(2).is_dead()
    show(stage, (2, 1, reported(stage)))
    assert stage.version(2).is_dead()
    assert not stage.named(2).winner
    show(stage, (1, 1, reported(stage)))
    assert not stage.version(2).is_dead(), "it lives with the one that it names"
    show(stage, (1, 1, failed), may=(May.REBUILD,))
    show(stage, (2, 1, Accumulated(2)))
    assert not stage.version(2).is_dead(), "it accumulated, so the other one had"


# What a look does not prove.


def test_a_node_that_calls_a_package_known_to_it_shows_nothing() -> None:
    """It is in the pipeline, says the node, and not where: by the age of its anchor alone it would
    be dead, and two versions could land."""
    stage = submitted(guarantee_timeout_ms=0)
    known = Failed(PackageKind.ALREADY_KNOWN, "the same work package hash found in the pipeline")
    for _ in range(12):
        show(stage, (1, 1, known), may=(May.WAIT,))
    assert kinds(stage) == []
    assert len(stage.lane.of(1)) == 1
    show(stage, (1, 1, Failed(PackageKind.ANCHOR_NOT_RECENT, "too old")), may=(May.REBUILD,))
    assert stage.version(1).is_dead()


def test_what_the_service_holds_is_given_up_when_it_holds_it_no_longer() -> None:
    stage = submitted(guarantee_timeout_ms=0, accumulate_timeout_ms=1)
    show(stage, (1, 1, Accumulated(None)))
    held = stage.chain.best.ref.slot
    failed = Failed(PackageKind.ANCHOR_NOT_RECENT, "not reported in time")
    show(stage, (1, 1, failed), may=(May.REBUILD,))
    stage.chain.produce(skip=HELD_SLOTS_MAX - 2)
    stage.look()
    assert stage.chain.best.ref.slot == held + HELD_SLOTS_MAX
    assert not stage.version(1).is_dead(), "it may land with the block before it"
    blank(stage, is_readable=False)
    assert not stage.version(1).is_dead(), "nobody could read what the service wrote down"
    blank(stage)
    assert stage.version(1).is_dead(), "no record, no refusal: it never will be"
    fact = stage.version(1).fact(FactKind.DEAD)
    assert fact is not None
    assert (fact.block, fact.words) == (stage.chain.best.ref, "the service holds it no longer")


def test_what_the_service_holds_is_not_given_up_by_a_look_at_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(facts, "WATCHED_MAX", 0)
    stage = submitted(guarantee_timeout_ms=0)
    show(stage, (1, 1, Accumulated(None)))
    stage.chain.produce(skip=HELD_SLOTS_MAX)
    blank(stage)
    assert not stage.version(1).is_dead()


def test_what_the_service_holds_ends_by_its_refusal() -> None:
    stage = submitted(guarantee_timeout_ms=0)
    show(stage, (1, 1, Accumulated(None)))
    show(stage, (1, 1, ServiceRefused("expired", 1)))
    assert stage.version(1).is_dead()


def blank(stage: Stage, *, is_readable: bool = True) -> None:
    """A new block whose state shows nothing of any package, or cannot be read."""
    stage.chain.produce()
    stage.tick(1_000)
    (order,) = stage.take(LookAtChain)
    seen = stage.chain.look(order.known, ())
    blocks = tuple(replace(one, is_readable=is_readable) for one in seen.blocks)
    stage.post(ChainLooked(stage.now_ms, replace(seen, blocks=blocks), stage.clock()))


def anew(stage: Stage, best: int, finalised: int | None) -> None:
    """A look that has no block in common with what is known."""
    stage.tick(1_000)
    (order,) = stage.take(LookAtChain)
    block = JamBlockRef(digest("elsewhere", best), best)
    last = None if finalised is None else JamBlockRef(digest("final", finalised), finalised)
    seen = JamBlocksSeen(
        None,
        order.known,
        (JamBlockSeen(block, b"", ()),),
        JamHead(block, last, "node"),
        is_whole=True,
    )
    stage.post(ChainLooked(stage.now_ms, seen, stage.clock()))


@pytest.mark.parametrize(("ahead", "behind"), [(0, 0), (-3, 0), (9, -1)])
def test_a_look_without_a_known_block_is_not_believed_over_what_is_known(
    ahead: int, behind: int
) -> None:
    """It answers an older question, or a node is behind, or its chain is another one."""
    stage = submitted()
    stage.slot(stage.hash_of(1))
    stage.slot()
    stage.chain.finalise()
    stage.look()
    stage.accept(1)
    stage.slot_all()
    head, words = stage.lane.head, stage.words()
    best, finalised = head.best, head.finalised
    assert best is not None
    assert finalised is not None
    anew(stage, best.slot + ahead, finalised.slot + behind)
    assert stage.told == [r.LookEnded(stage.now_ms + 1_000, reason=OLDER)]
    assert (head.best, head.finalised, stage.words()) == (best, finalised, words)


@pytest.mark.parametrize("finalised", [None, 5])
def test_a_look_behind_a_gap_is_believed(finalised: int | None) -> None:
    stage = submitted()
    best = stage.chain.best.ref.slot
    anew(stage, best + 9, None if finalised is None else best + finalised)
    assert stage.lane.head.best == JamBlockRef(digest("elsewhere", best + 9), best + 9)


def test_the_first_look_of_a_lane_that_was_asked_for_twice_comes_too_late() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    stage.build()
    (order,) = stage.take(LookAtChain)
    late = stage.chain.look(order.known, order.packages)
    stage.crash()
    stage.slot()
    stage.run(1)
    height = stage.lane.head.height
    stage.tick(1_000)
    stage.post(ChainLooked(stage.now_ms, late, stage.clock()))
    assert stage.lane.head.height == height
    assert stage.lane.head.best == stage.chain.best.ref


def test_why_a_look_failed_is_remembered_until_one_succeeds() -> None:
    stage = submitted()
    stage.tick(1_000)
    stage.blind()
    assert stage.told == [r.LookEnded(stage.now_ms + 1_000, reason="nobody answers")]
    assert stage.lane.head.look_reason == "nobody answers"
    stage.look()
    assert stage.lane.head.look_reason == ""


# Reasons that are over.


def test_a_report_that_is_taken_back_is_not_overdue() -> None:
    stage = submitted(accumulate_timeout_ms=6_000)
    stage.slot(stage.hash_of(1), ready=())
    for _ in range(3):
        stage.slot(ready=())
    assert stage.named(1).wait_reason == "its accumulation is overdue"
    fork(stage, 4)
    stage.look()
    slot = stage.named(1)
    assert (slot.word, slot.wait_reason) == ("submitted", "")
    assert (slot.overdue, slot.overdue_ms) == (0, None)
    stage.until(stage.now_ms + 7_000)
    assert stage.named(1).wait_reason == ""


def test_an_end_that_is_taken_back_is_not_awaited() -> None:
    stage = submitted(guarantee_timeout_ms=0, max_version_retries=1)
    while not stage.named(1).wait_reason:
        stage.slot()
    assert stage.named(1).wait_reason == "its end is not final yet"
    parent = stage.chain.best
    for _ in range(5):
        parent = stage.chain.states[parent.parent]
    stage.chain.produce(parent=parent, skip=8)
    stage.look()
    assert not stage.version(1).is_dead()
    assert stage.named(1).wait_reason == ""


def test_what_was_wanted_in_vain_leaves_no_reason_behind() -> None:
    stage = aged()
    assert stage.named(1).wait_reason
    show(stage, (1, 1, reported(stage)))
    assert (stage.named(1).word, stage.named(1).wait_reason) == ("guaranteed", "")


def test_a_fork_takes_a_death_back_though_no_node_tells_of_the_package() -> None:
    stage = revived()
    stage.now_ms = max(stage.now_ms, stage.lane.head.look_ms or 0)
    stage.tick()
    (order,) = stage.take(LookAtChain, 1)
    seen = stage.chain.look(order.known, ())
    stage.post(ChainLooked(stage.now_ms, seen, stage.clock()))
    assert not stage.version(1).is_dead()
