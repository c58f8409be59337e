"""What a contract lane's head says for people, and the seed's counters."""

import msgspec
import pytest
from tests.lanes.contract.stage import (
    LANE,
    Stage,
    doubting,
    executing,
    exhausting,
    halting,
    intent,
)

from laneway.core.outcome import Status
from laneway.core.rows import Head, LaneView, Tail
from laneway.lanes.contract.settings import ContractSettings
from laneway.lanes.contract.show import QueueMetrics, describe, is_proven_dead, queue_metrics
from laneway.lanes.kind import LaneState


def shown(stage: Stage) -> LaneState:
    return describe(stage.state, stage.settings)


def metrics(stage: Stage, accepted: int, *, leased: bool = True) -> QueueMetrics:
    fast = min(accepted, 5)
    tail = Tail(LANE, accepted + 1, accepted, 6 * accepted, fast, accepted - fast)
    head = Head(LANE, settled_count=stage.lane.head.settled_count, state=stage.state)
    return queue_metrics(LaneView(tail, head, leased), stage.settings)


# The word, the reason, since when.


def test_a_lane_that_never_ran_is_idle() -> None:
    assert describe(b"", ContractSettings()) == LaneState("idle", "", 0)
    paused = Stage()
    paused.tell("pause", by="ann", reason="upgrade")
    assert (shown(paused).word, shown(paused).by) == ("paused", "ann")
    paused.tell("resume", by="bob")
    assert (shown(paused).word, shown(paused).by) == ("idle", "")


def test_a_lane_says_what_it_does_and_since_when() -> None:
    stage = executing()
    assert shown(stage) == LaneState("running", "", 1_000, 1, 1_000, 1, 0)
    stage.accept(6)
    assert (shown(stage).word, shown(stage).running, shown(stage).executed_count) == ("idle", 0, 1)


def test_a_lane_in_doubt_is_recovering_and_says_why() -> None:
    state = shown(doubting())
    assert (state.word, state.reason, state.failures) == ("recovering", "the line broke", 1)
    stage = doubting(ContractSettings(takes_parent=False))
    stage.look()
    assert stage.slot.search_ms is not None
    assert shown(stage).next_ms == stage.slot.search_ms


def test_a_lane_that_waits_says_for_what() -> None:
    stage = executing()
    stage.refuse(reason="no quorum")
    assert (shown(stage).word, shown(stage).reason) == ("backing off", "no quorum")
    assert shown(stage).next_ms == stage.slot.retry_ms
    stage.tell("pause")
    assert shown(stage).next_ms is None


def test_a_tripped_breaker_is_shown_with_what_tripped_it() -> None:
    stage = executing(ContractSettings(breaker_failures=1))
    stage.refuse(reason="no quorum")
    assert (shown(stage).word, shown(stage).reason) == ("tripped", "no quorum")


def test_the_operators_word_is_shown_with_its_reason() -> None:
    stage = executing()
    stage.tell("drain", "running", reason="upgrade")
    assert (shown(stage).word, shown(stage).reason) == ("draining", "upgrade")
    stage.now_ms = 7_000
    stage.tell("pause", reason="lunch")
    state = shown(stage)
    assert (state.word, state.reason, state.since_ms) == ("paused", "lunch", 7_000)


def test_a_halt_is_shown_over_everything_with_its_own_reason() -> None:
    stage = halting()
    stage.tell("pause", reason="lunch")
    state = shown(stage)
    assert state.word == "halted"
    assert "is unknown" in state.reason
    assert state.since_ms == stage.attempts[0].deadline_ms
    assert shown(exhausting()).reason == "other writers took its block 1 times"


# The seed's counters (§10).


def test_the_counters_have_the_seeds_names() -> None:
    row = msgspec.json.decode(msgspec.json.encode(metrics(executing(), 8)))
    assert row == {
        "contract": "Qm1",
        "fastQueueLen": 5,
        "slowQueueLen": 2,
        "enqueueCount": 8,
        "executeCount": 1,
        "fastHitCount": 5,
        "slowHitCount": 3,
        "workerRunning": True,
        "droppedCount": 0,
    }


@pytest.mark.parametrize("accepted", range(12))
def test_what_was_enqueued_is_executed_or_waits_fast_or_slow(accepted: int) -> None:
    stage = Stage()
    for seq in range(1, accepted + 1):
        for row in (metrics(stage, accepted),):
            assert row.enqueue_count == row.execute_count + row.fast_queue_len + row.slow_queue_len
            assert row.fast_queue_len <= 5
            assert row.slow_queue_len == 0 or row.fast_queue_len == 5
        stage.offer(intent(seq))
        if not stage.attempts:
            stage.read(seq)
        stage.accept(seq + 1)
    row = metrics(stage, accepted)
    assert (row.execute_count, row.fast_queue_len, row.slow_queue_len) == (accepted, 0, 0)


def test_what_was_cancelled_or_expired_is_told_apart_from_what_was_executed() -> None:
    stage = executing()
    stage.tell_of(intent(4), "cancel")
    stage.accept(6)
    stage.offer(intent(2, valid_until_ms=1))
    row = metrics(stage, 4)
    assert (row.execute_count, row.dropped_count, row.fast_queue_len) == (1, 2, 1)
    assert row.enqueue_count == row.execute_count + row.fast_queue_len + row.dropped_count
    stage.offer(intent(3))
    stage.refuse(final=True)
    row = metrics(stage, 4)
    assert (row.execute_count, row.dropped_count, row.fast_queue_len) == (2, 2, 0)


def test_the_worker_runs_while_the_lane_is_leased_and_not_paused() -> None:
    stage = executing()
    assert metrics(stage, 1).worker_running
    assert not metrics(stage, 1, leased=False).worker_running
    stage.tell("drain", "running")
    assert metrics(stage, 1).worker_running
    stage.tell("pause")
    assert not metrics(stage, 1).worker_running


def test_a_halted_worker_still_looks_and_a_paused_one_under_the_halt_does_not_run() -> None:
    stage = halting()
    assert metrics(stage, 1).worker_running
    stage.tell("pause")
    assert not metrics(stage, 1).worker_running


@pytest.mark.parametrize("status", list(Status))
def test_only_what_can_never_land_is_proven_dead(status: Status) -> None:
    dead = {Status.REFUSED, Status.CANCELLED, Status.EXPIRED, Status.DEAD}
    assert is_proven_dead(status.value) == (status in dead)
