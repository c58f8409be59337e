"""What every event ends with, and when the lane must be woken."""

import pytest
from tests.lanes.bundle.chain import digest
from tests.lanes.bundle.stage import LANE, SLOT_MS, Stage, queued, replace, submitted

from laneway.lanes.bundle.lane import BundleLane
from laneway.lanes.bundle.limits import LOOK_PAUSE_MS, WATCHED_MAX
from laneway.lanes.bundle.records import BlockDue, LookEnded
from laneway.lanes.bundle.rounds import deadline, look, within
from laneway.lanes.bundle.settings import BundleSettings
from laneway.lanes.bundle.values import BuildVersion, HeadChanged, LookAtChain


def test_an_idle_lane_sleeps() -> None:
    stage = Stage()
    assert deadline(stage.lane) is None
    stage.tick()
    assert stage.told == []


def test_the_chain_is_looked_at_while_a_block_is_open() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    assert [type(one) for one in stage.out if isinstance(one, LookAtChain)] == [LookAtChain]
    stage.run(6)
    assert (stage.lane.slots, stage.lane.head.look_ms) == ({}, None)
    assert not stage.lane.head.looking
    assert any(isinstance(one, LookEnded) and one.look_ms is None for one in stage.all)
    stage.tick(6_000)
    assert (deadline(stage.lane), stage.wake_ms) == (None, None)


def test_the_pause_between_looks_is_a_setting() -> None:
    stage = queued(poll_ms=250)
    assert stage.lane.head.look_ms is not None
    assert stage.lane.head.look_ms - stage.now_ms <= 250


def test_a_look_asks_for_all_that_was_submitted_and_first_for_what_may_land() -> None:
    stage = submitted(2)
    order = look(stage.lane)
    assert [one.package_hash for one in order.packages] == [stage.hash_of(1), stage.hash_of(2)]
    assert {one.service for one in order.packages} == {7}
    assert order.known == tuple(stage.lane.chain.values())
    stage.put(replace(stage.version(1), is_refused=True))
    order = look(stage.lane)
    assert [one.package_hash for one in order.packages] == [stage.hash_of(2), stage.hash_of(1)]


def test_a_look_asks_for_so_many_packages_at_most() -> None:
    stage = submitted()
    lane = BundleLane(LANE, BundleSettings())
    one = stage.version(1)
    for number in range(WATCHED_MAX + 5):
        lane.versions[number] = (replace(one, slot=number, package_hash=digest(number)),)
    assert len(look(lane).packages) == WATCHED_MAX


def test_a_lane_is_woken_when_the_build_window_opens() -> None:
    stage = queued()
    begin = stage.chain.best.ref.slot * SLOT_MS
    assert stage.lane.head.window_ms == begin + 3_000
    stage.until(begin + 2_999)
    assert not stage.lane.of(1)
    stage.now_ms = begin + 3_000
    stage.tick()
    assert [one for one in stage.out if isinstance(one, BuildVersion)]
    assert stage.lane.head.window_ms is None, "the builder's answer wakes it"


def test_a_window_in_which_nothing_could_be_done_is_followed_by_the_next() -> None:
    stage = queued(2, max_inflight=1)
    stage.to_slot(2_500)
    stage.tick()
    window = stage.lane.head.window_ms
    assert window == (stage.chain.best.ref.slot + 2) * SLOT_MS - 3_000


def test_what_is_due_inside_a_window_is_done_then() -> None:
    stage = submitted()
    clock_ms = stage.now_ms
    lane = stage.lane
    open_at = (stage.chain.best.ref.slot + 1) * SLOT_MS
    assert within(lane, clock_ms, open_at - 1_500, 3_000, 1_000) == open_at - 1_500
    assert within(lane, clock_ms, open_at - 500, 3_000, 1_000) == open_at + 3_000
    assert within(lane, clock_ms, clock_ms - 5, 3_000, 1_000) == open_at + 3_000


def test_bytes_that_were_submitted_often_enough_wait_for_no_window() -> None:
    stage = submitted(max_submit_retries=1)
    assert stage.lane.head.window_ms is None


def test_a_lane_that_was_told_to_drain_is_paused_when_it_is_empty() -> None:
    stage = Stage()
    stage.tell("drain", word="running")
    assert stage.lane.head.mode == "paused"


def test_a_paused_lane_waits_for_no_window() -> None:
    stage = queued()
    stage.tell("pause")
    assert stage.lane.head.window_ms is None


def test_all_that_is_due_is_done_by_any_event() -> None:
    stage = submitted()
    stage.now_ms += 60_000
    stage.pull()
    stage.tell("cancel")
    assert BlockDue() in stage.told or stage.lane.head.block_ms is None
    assert stage.lane.head.looking


@pytest.mark.parametrize("retry", [False, True])
def test_a_builder_that_failed_is_asked_again_in_time(retry: bool) -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    stage.look()
    if retry:
        stage.not_built()
        assert deadline(stage.lane) == stage.now_ms + 1_000
    else:
        assert deadline(stage.lane) == stage.lane.head.look_ms


def test_window_open_core_free_and_something_queued_means_a_submission_in_that_window() -> None:
    stage = Stage(block_txs_max=1, cores=(0, 1), max_inflight=2)
    stage.accept(12)
    for _ in range(20):
        queued_before = stage.picture().can_submit
        sent = len(stage.sent)
        stage.to_slot()
        assert not queued_before or len(stage.sent) > sent
        stage.slot_all(2)
    assert stage.statuses() == ["confirmed"] * 12


# Notices of nodes.


def test_a_notice_of_a_node_brings_the_next_look_forward() -> None:
    stage = submitted()
    stage.tick(stage.lane.head.look_ms - stage.now_ms if stage.lane.head.look_ms else 0)
    stage.look()
    due_ms = stage.lane.head.look_ms
    assert due_ms == stage.now_ms + 1_000
    stage.now_ms += 400
    stage.post(HeadChanged(stage.now_ms))
    assert stage.lane.head.looking
    assert [type(one) for one in stage.out] == [LookAtChain]
    stage.post(HeadChanged(stage.now_ms))
    assert stage.told == [], "one look at a time"


def test_notices_without_end_make_no_lane_look_without_end() -> None:
    stage = submitted()
    stage.hear_all()
    stage.until(stage.now_ms + 1)
    if stage.lane.head.looking:
        stage.look()
    begun_ms, looks = stage.now_ms, 0
    while stage.now_ms < begun_ms + 1_000:
        stage.now_ms += 10
        stage.post(HeadChanged(stage.now_ms))
        if stage.lane.head.look_ms == stage.now_ms:
            stage.tick()
        if stage.lane.head.looking:
            looks += 1
            stage.look()
    assert 3 <= looks <= 1_000 // LOOK_PAUSE_MS


def test_a_notice_keeps_what_is_known_of_the_chain() -> None:
    stage = submitted()
    stage.look()
    clock = stage.lane.head.clock
    stage.tick(1_000)
    stage.blind()
    assert stage.lane.head.look_reason
    stage.now_ms += 300
    stage.post(HeadChanged(stage.now_ms))
    assert (stage.lane.head.clock, stage.lane.head.look_reason) == (clock, "nobody answers")


def test_a_notice_wakes_no_lane_that_has_nothing_open() -> None:
    stage = Stage()
    stage.post(HeadChanged(stage.now_ms))
    assert (stage.told, stage.out) == ([], [])
