"""A bundle lane for people."""

import pytest
from tests.lanes.bundle.scenes import aged, two
from tests.lanes.bundle.stage import SLOT_MS, Stage, queued, replace, submitted

from laneway.core.outcome import Status
from laneway.lanes.bundle import show
from laneway.lanes.bundle import values as v
from laneway.lanes.bundle.lane import OPEN_BYTES_FULL
from laneway.lanes.bundle.limits import (
    OVERTAKEN_MIN,
    SLOTS_OPEN_MAX,
    STUCK_TRIES_MIN,
    TELLS_OWED_MAX,
    UNSEEN_LOOKS_MIN,
)
from laneway.lanes.bundle.rows import BundleHead, Fact, FactKind
from laneway.lanes.bundle.show import describe, picture, read_head, sight, wait_reason
from laneway.lanes.common.heads import encode
from laneway.lanes.common.values import ModeChanged


def test_a_lanes_state_is_read_from_its_head_alone() -> None:
    assert describe(b"").word == "idle"
    stage = submitted()
    assert describe(stage.head).word == "running"
    assert describe(stage.head).running == 1
    stage.tell("pause")
    told = describe(stage.head)
    assert (told.word, told.reason, told.by) == ("paused", "why", "ann")
    stage.tell("resume")
    stage.run(6)
    told = describe(stage.head)
    assert (told.word, told.executed_count) == ("idle", 1)
    assert read_head(stage.head).tip.number == 1


def test_a_lane_with_a_pool_of_its_own_runs() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    stage.build(t0="deferred")
    assert describe(stage.head).word == "running"


def test_why_the_first_block_waits_stands_in_the_head() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    stage.not_built("no disk")
    assert describe(stage.head).reason == "no disk"


def test_a_lane_that_builds_nothing_for_a_while_is_called_stuck_with_the_reason() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    for _ in range(STUCK_TRIES_MIN):
        assert show.stuck(read_head(stage.head)) == ""
        stage.not_built("no disk; make space")
        stage.tick(60_000)
    assert show.stuck(read_head(stage.head)) == "no block is built: no disk; make space"
    halted = BundleHead(mode="halted", reason="no file; put it back")
    assert show.stuck(halted) == "halted: no file; put it back", "a halt clears the tries"
    overtaken = BundleHead(overtaken=OVERTAKEN_MIN, open_count=1)
    assert "; stop the other deployment" in show.stuck(overtaken)
    assert show.stuck(BundleHead(overtaken=OVERTAKEN_MIN - 1, open_count=1)) == ""
    assert show.stuck(BundleHead(overtaken=OVERTAKEN_MIN)) == "", "nothing waits"
    stage.build()
    assert show.stuck(read_head(stage.head)) == ""


def test_a_lane_that_cannot_see_its_chain_for_a_while_is_called_stuck_with_the_reason() -> None:
    stage = queued()
    blind = "the chain cannot be looked at: nobody answers"
    for _ in range(UNSEEN_LOOKS_MIN):
        assert show.stuck(read_head(stage.head)) == ""
        stage.tick(60_000)
        stage.blind()
        stage.post(v.HeadChanged(stage.now_ms))
    assert show.stuck(read_head(stage.head)) == show.unseen(stage.lane.head) == blind
    stage.look()
    assert show.stuck(read_head(stage.head)) == ""


def test_a_lane_that_others_overtake_again_and_again_says_so_in_its_state() -> None:
    head = BundleHead(overtaken=OVERTAKEN_MIN, open_count=1, waits="no gap")
    assert describe(encode(head)).reason == show.starved(head) == show.stuck(head)
    unseen = replace(head, look_reason="nobody answers")
    assert describe(encode(unseen)).reason == show.unseen(unseen)


def test_a_lane_at_one_of_its_bounds_names_the_bound_and_what_to_do() -> None:
    """Callbacks that are owed are their own story below."""
    assert show.filled(BundleHead()) == ""
    many = BundleHead(open_count=SLOTS_OPEN_MAX)
    assert show.filled(many).startswith(f"finality_stands_still: {SLOTS_OPEN_MAX} blocks are open;")
    wide = BundleHead(waits=OPEN_BYTES_FULL)
    assert show.filled(wide) == f"{OPEN_BYTES_FULL}; see why the chain ends none"
    owed = BundleHead(owed_count=TELLS_OWED_MAX, tell_reason="busy")
    assert show.filled(owed) == "callbacks_owed: busy"


def test_a_transaction_is_where_its_block_is() -> None:
    stage = Stage(block_txs_max=1)
    (name,) = stage.accept(1)
    assert sight(stage.lane, name).status is Status.QUEUED
    stage.pull()
    assert sight(stage.lane, name).waits == "being_built"
    stage.build()
    seen = sight(stage.lane, name)
    assert (seen.status, seen.waits) == (Status.QUEUED, "clock_unknown")
    stage.look()
    assert sight(stage.lane, name).waits == "window_closed"
    stage.to_slot(2_500)
    seen = sight(stage.lane, name)
    assert (seen.status, seen.waits) == (Status.SUBMITTED, "not_guaranteed_yet")
    assert seen.versions == stage.lane.of(1)
    stage.slot(stage.hash_of(1))
    seen = sight(stage.lane, name)
    assert (seen.status, seen.waits) == (Status.INCLUDED, "not_accumulated_yet")
    stage.slot()
    seen = sight(stage.lane, name)
    assert (seen.status, seen.waits) == (Status.INCLUDED, "not_final_yet")


def test_a_block_says_why_it_could_not_be_built() -> None:
    stage = Stage()
    (name,) = stage.accept(1)
    stage.pull()
    stage.not_built("no disk")
    assert sight(stage.lane, name).waits == "no disk"


def test_what_the_builder_puts_off_waits_for_what_it_says() -> None:
    stage = Stage(block_interval_ms=0)
    names = stage.accept(2)
    stage.pull()
    stage.build(t1="deferred")
    assert sight(stage.lane, names[1]).waits == "so it is"
    stage.tell("pause")
    assert sight(stage.lane, names[1]).waits == "paused"


def test_a_pool_behind_a_full_queue_says_so() -> None:
    stage = queued(8)
    (name,) = stage.accept(1)
    assert sight(stage.lane, name).waits == "queue_full"
    assert sight(Stage().lane, name).waits == "in_pool"


def waits(stage: Stage, number: int) -> str:
    return wait_reason(stage.lane, stage.named(number))


def test_a_queued_block_says_what_it_waits_for() -> None:
    stage = queued(2)
    assert waits(stage, 2) == "gap_before"
    stage.tell("pause")
    assert waits(stage, 1) == "paused"
    stage.tell("resume")
    stage.skew_ms = 5_000
    stage.look()
    assert waits(stage, 1) == "clock_skewed"
    stage = queued()
    stage.now_ms = (stage.chain.best.ref.slot + 1) * SLOT_MS - 3_000
    stage.tick()
    assert waits(stage, 1) == "being_built"
    stage = queued(1, submit_from_ms=1_500)
    stage.to_slot(2_500)
    assert waits(stage, 1) == "window_closed"


def test_a_block_that_was_tried_before_says_that_the_lane_is_stopped() -> None:
    stage = aged()
    assert waits(stage, 1) == "anchor_not_recent: not recent"
    stage.tell("pause")
    assert waits(stage, 1) == "paused"


def test_a_block_whose_versions_are_dead_waits_for_the_time_of_the_last_one() -> None:
    stage = submitted()
    while not stage.version(1).is_dead():
        stage.slot()
    assert waits(stage, 1) == "rebuild_not_due"


def test_a_chain_that_cannot_be_looked_at_is_why_all_else_waits() -> None:
    stage = submitted(2)
    (name,) = stage.accept(1)
    stage.pull()
    stage.tick(1_000)
    stage.blind()
    why = "the chain cannot be looked at: nobody answers"
    assert [waits(stage, number) for number in (1, 2)] == [why, why]
    assert describe(stage.head).reason == why
    assert sight(stage.lane, name).waits == "being_built", "that needs no chain"
    stage.look()
    assert waits(stage, 1) == "not_guaranteed_yet"
    assert describe(stage.head).reason == ""


def test_the_pool_of_a_lane_that_is_stopped_says_so() -> None:
    stage = queued()
    first, second = stage.accept(2)
    rows = stage.accepted
    for verb, why in (("pause", "paused"), ("resume", "in_pool")):
        stage.tell(verb)
        assert sight(stage.lane, first, rows[first].seq).waits == why
    stage.apply([ModeChanged("halted", "three drops", "", stage.now_ms)])
    assert sight(stage.lane, first, rows[first].seq).waits == "halted: three drops"
    assert waits(stage, 1) == "halted: three drops"
    stage.tell("resume")
    stage.tell("drain", word="queue", seq=rows[first].seq)
    assert sight(stage.lane, first, rows[first].seq).waits == "in_pool"
    assert sight(stage.lane, second, rows[second].seq).waits == "draining"
    stage.tell("drain", word="running")
    assert sight(stage.lane, first, rows[first].seq).waits == "draining"


def test_what_had_a_block_before_is_drained_too() -> None:
    stage = Stage()
    (name,) = stage.accept(1)
    stage.pull()
    stage.tell("pause")
    stage.build(t0="deferred")
    assert name in stage.lane.returned
    stage.apply([ModeChanged("draining", "", "", stage.now_ms)])
    assert sight(stage.lane, name, 1).waits == "so it is"


def test_a_pool_that_waits_for_finality_or_for_callbacks_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = submitted()
    (name,) = stage.accept(1)
    monkeypatch.setattr(show, "SLOTS_OPEN_MAX", 1)
    assert sight(stage.lane, name).waits == "finality_stands_still"
    stage.tick(1_000)
    stage.blind()
    assert sight(stage.lane, name).waits == "the chain cannot be looked at: nobody answers"
    monkeypatch.undo()
    monkeypatch.setattr(show, "TELLS_OWED_MAX", 1)
    stage.look()
    stage.lane.head.waits = OPEN_BYTES_FULL
    assert sight(stage.lane, name).waits == OPEN_BYTES_FULL
    stage.lane.head.waits = ""
    assert sight(stage.lane, name).waits == "in_pool"
    stage.slot(stage.hash_of(1))
    stage.to_slot()
    stage.chain.produce()
    stage.look()
    stage.hear(is_done=False)
    (later,) = stage.accept(1)
    assert sight(stage.lane, later).waits == "callbacks_owed: busy"
    assert describe(stage.head).reason == "callbacks_owed: busy"


def test_the_lowest_block_is_parked_by_none_above_it() -> None:
    """The second one was popped before, and the service holds it."""
    stage = queued(2, order="parallel", max_inflight=1, inflight_counts="submitted_and_guaranteed")
    at = (stage.chain.best.ref.slot + 1) * SLOT_MS - 3_000
    stage.put(replace(stage.named(1), retry_ms=at + 900))
    stage.now_ms = at
    stage.tick()
    stage.make()
    stage.send()
    assert stage.words() == {1: "queued", 2: "submitted"}
    assert waits(stage, 1) == "window_closed"


@pytest.mark.parametrize(
    ("settings", "why"),
    [({"max_inflight": 1}, "parked_by_cap"), ({"cores": (0,)}, "no_core_free")],
)
def test_a_queued_block_says_what_there_is_no_room_for(
    settings: dict[str, object], why: str
) -> None:
    stage = submitted(2, **settings)
    assert waits(stage, 2) == why


def test_a_picture_shows_blocks_where_they_are() -> None:
    stage = submitted(4)
    stage.slot(stage.hash_of(1))
    stage.tick()
    shown = stage.picture()
    assert shown.guaranteed == ("1v1",)
    assert shown.submitted == ("2v1", "3v1")
    assert shown.queued == ("4v1",)
    assert (shown.inflight, shown.can_submit) == (2, True)
    stage.run(8)
    assert stage.picture().finalised == ("1v1", "2v1", "3v1", "4v1")


def test_a_picture_shows_the_version_that_a_block_waits_for() -> None:
    stage = aged()
    assert stage.picture().queued == ("1v2",)
    stage.crash(submit_from_ms=1_500)
    stage.to_slot(2_500)
    assert stage.picture().queued == ("1v2",)
    assert stage.lane.version(1, 2) is not None
    building = Stage()
    building.accept(1)
    building.pull()
    assert building.picture().queued == ("1v1",)


def test_a_hash_that_never_advances_is_shown_as_stale() -> None:
    stage = two()
    assert stage.picture().stale == ()
    slot = replace(stage.named(1), winner=2)
    stage.put(slot)
    assert picture(stage.lane).stale == ()


def test_a_hash_that_an_older_version_has_is_stale_where_only_the_newest_may_win() -> None:
    stage = two(winner="latest_version")
    seen = Fact(FactKind.REPORTED, stage.anchor(), stage.lane.head.height, 1)
    stage.put(replace(stage.version(1), facts=(seen,)))
    assert picture(stage.lane).stale == ("1v1",)
    stage.put(replace(stage.named(1), winner=1))
    assert picture(stage.lane).stale == ()


@pytest.mark.parametrize(("tries", "said"), [(3, ""), (4, "no block is built: why")])
def test_a_lane_that_could_build_no_block_for_long_says_why(tries: int, said: str) -> None:
    assert show.stuck(BundleHead(build_tries=tries, waits="why")) == said
