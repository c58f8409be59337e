"""A wall clock that was set back."""

from collections.abc import Callable

import pytest
from tests.lanes.bundle.stage import SLOT_MS, Stage, queued, replace, submitted

from laneway.lanes.bundle import records as r
from laneway.lanes.bundle.clock_back import notice, sooner
from laneway.lanes.bundle.draft import DecisionDraft
from laneway.lanes.bundle.limits import LATE_EVENT_SLOT_SHARE, LOOK_PAUSE_MS
from laneway.lanes.bundle.rows import Deferral
from laneway.lanes.bundle.values import BuildBlock, HeadChanged, LookAtChain

HOUR_MS = 3_600_000


def set_back(stage: Stage, ms: int = HOUR_MS) -> None:
    """The clock of the machine and, as a node's clock is right, the slots as it counts them."""
    stage.now_ms -= ms
    stage.shift_ms -= ms


def test_a_lane_goes_on_when_its_clock_was_set_back_by_an_hour() -> None:
    stage = submitted(2, order="parallel")
    stage.accept(2)
    set_back(stage)
    stage.tick()
    assert len(stage.of(r.ClockSetBack)) == 1
    stage.run(12)
    assert stage.statuses() == ["confirmed"] * 4
    assert len(stage.of(r.ClockSetBack)) == 1, "the clock is right from then on"


def test_what_was_begun_later_than_now_was_begun_now() -> None:
    stage = submitted(2, order="parallel")
    before = stage.version(1)
    stage.put(replace(stage.named(1), overdue_ms=stage.now_ms + 60_000, retry_ms=stage.now_ms + 9))
    set_back(stage)
    stage.apply([r.ClockSetBack(stage.now_ms)])
    now_ms, after = stage.now_ms, stage.version(1)
    assert (after.first_ms, after.last_ms, after.built_ms) == (now_ms, now_ms, now_ms)
    assert (
        replace(after, first_ms=before.first_ms, last_ms=before.last_ms, built_ms=before.built_ms)
        == before
    )
    slot = stage.named(1)
    assert (slot.retry_ms, slot.overdue_ms) == (now_ms, now_ms + 60_000)
    head = stage.lane.head
    times = (head.block_ms, head.look_ms, head.window_ms, head.hear_ms, head.tell_ms)
    assert all(at_ms is None or at_ms <= now_ms for at_ms in times)


def test_what_is_put_off_is_tried_now() -> None:
    stage = Stage()
    (first, _) = stage.accept(2)
    stage.pull()
    stage.build(t0="deferred")
    set_back(stage)
    stage.apply([r.ClockSetBack(stage.now_ms)])
    deferral = stage.lane.returned[first].deferral
    assert deferral is not None
    assert (deferral.since_ms, deferral.again_ms) == (stage.now_ms, stage.now_ms)


def test_what_waits_for_nothing_but_a_block_stays_as_it_is() -> None:
    stage = queued(1)
    stage.apply([r.BlockDropped(1, "why", 1)])
    before = dict(stage.lane.returned)
    stage.apply([r.ClockSetBack(stage.now_ms - HOUR_MS)])
    assert stage.lane.returned == before


def test_a_builder_that_could_not_build_is_asked_again_after_the_clock_was_set_back() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    stage.not_built()
    set_back(stage)
    stage.tick()
    assert len([one for one in stage.out if isinstance(one, BuildBlock)]) == 1


@pytest.mark.parametrize("back_ms", [4_000, 6_000, 20_000, 60_000, 110_000, 130_000, HOUR_MS])
def test_a_clock_that_was_set_back_is_noticed_at_once(back_ms: int) -> None:
    """By whatever more than a look's pause and what answers may be late by."""
    stage = submitted(2, order="parallel")
    stage.accept(2)
    set_back(stage, back_ms)
    stage.tick()
    assert len(stage.of(r.ClockSetBack)) == 1
    assert [one for one in stage.out if isinstance(one, LookAtChain)]
    stage.tick()
    assert len(stage.of(r.ClockSetBack)) == 1, "nothing lies ahead any more"


@pytest.mark.parametrize("lane", [queued, submitted])
@pytest.mark.parametrize("back_ms", range(500, 30_000, 1_500))
def test_no_jump_back_keeps_a_lane_from_looking_for_two_slots(
    lane: Callable[[], Stage], back_ms: int
) -> None:
    stage = lane()
    set_back(stage, back_ms)
    begin_ms = stage.now_ms
    while not any(isinstance(one, LookAtChain) for one in stage.out):
        stage.tick(500)
        assert stage.now_ms - begin_ms <= 2 * SLOT_MS


def test_a_notice_of_a_node_has_the_chain_looked_at_after_a_small_jump_back() -> None:
    stage = submitted(1)
    while any(isinstance(one, LookAtChain) for one in stage.out):
        stage.look()
    set_back(stage, 1_500)
    stage.post(HeadChanged(stage.now_ms))
    assert stage.of(r.ClockSetBack) == []
    stage.tick(LOOK_PAUSE_MS)
    assert [one for one in stage.out if isinstance(one, LookAtChain)]


PAUSES_MS = {
    "block_ms": 6_000,
    "look_ms": 2_000,
    "hear_ms": 32_000,
    "tell_ms": 32_000,
    "window_ms": 2 * SLOT_MS,
    "first_ms": 0,
    "last_ms": 0,
    "built_ms": 0,
    "retry_ms": 32_000,
    "overdue_ms": 60_000,
    "since_ms": 0,
}
"""How far ahead each time may lie by the default settings."""


@pytest.mark.parametrize("is_too_far", [False, True])
@pytest.mark.parametrize("field", PAUSES_MS)
def test_each_time_is_a_sign_of_it_that_lies_further_ahead_than_its_own_pause(
    field: str, is_too_far: bool
) -> None:
    """And by more than an answer may be late."""
    stage = Stage()
    stage.accept(1)
    stage.pull()
    if field in ("first_ms", "last_ms", "built_ms"):
        stage = submitted(1)
        # Nothing is waited for but what this is about.
        head = replace(stage.lane.head, block_ms=None, look_ms=None, window_ms=None)
        stage.lane.head = head
    stage.lane.head.block_ms = None
    late_ms = SLOT_MS // LATE_EVENT_SLOT_SHARE
    ahead_ms = PAUSES_MS[field] + late_ms + is_too_far
    lane, at_ms = stage.lane, stage.now_ms + ahead_ms
    if field == "since_ms":
        stage.apply([r.BlockDropped(1, "why", stage.now_ms)])
        (name, back), *_ = lane.returned.items()
        lane.returned[name] = replace(back, deferral=Deferral(at_ms, 1, at_ms))
    elif field in ("retry_ms", "overdue_ms"):
        lane.slots[1] = replace(lane.slots[1], **{field: at_ms})
    elif field in ("first_ms", "last_ms", "built_ms"):
        lane.versions[1] = (replace(lane.of(1)[0], **{field: at_ms}),)
    else:
        setattr(lane.head, field, at_ms)
    draft = DecisionDraft(lane, stage.now_ms)
    notice(draft)
    assert draft.decision().records == ((r.ClockSetBack(stage.now_ms),) if is_too_far else ())
    again = DecisionDraft(draft.lane, stage.now_ms)
    notice(again)
    assert again.decision().records == (), "nothing lies ahead any more"


def test_the_sooner_of_two_times() -> None:
    assert [sooner(None, 5), sooner(4, 5), sooner(6, 5)] == [None, 4, 5]


def test_a_transaction_that_is_put_off_alone_shows_a_clock_that_was_set_back() -> None:
    stage = Stage(block_interval_ms=0)
    stage.accept(1)
    stage.pull()
    stage.build(t0="deferred")
    set_back(stage)
    stage.tick()
    assert len(stage.of(r.ClockSetBack)) == 1
    assert len([one for one in stage.out if isinstance(one, BuildBlock)]) == 1


def test_settings_with_long_pauses_show_no_clock_that_was_set_back() -> None:
    stage = submitted(1, submit_retry_ms=3_600_000)
    for _ in range(3):
        stage.slot()
    assert stage.of(r.ClockSetBack) == []
