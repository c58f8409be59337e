"""How a try is made, looked for and waited for."""

import pytest
from tests.lanes.contract.stage import (
    FIRST,
    PARENTLESS,
    Stage,
    doubting,
    executing,
    halting,
    intent,
)

from laneway.core.outcome import AttemptWord
from laneway.lanes.common.values import ModeChanged
from laneway.lanes.contract import values as v
from laneway.lanes.contract.settings import ContractSettings
from laneway.lanes.contract.tries import (
    backoff_ms,
    execution,
    find,
    halt_lifted,
    halted,
    is_active,
    may_land,
    new_attempt,
    offer_on,
    open_attempts,
    parent_kept,
    read_height,
    settled,
)


def test_waits_double_up_to_their_limit_and_then_the_breaker_rests() -> None:
    lane = Stage(
        ContractSettings(
            retry_ms_min=100, retry_ms_max=350, breaker_failures=5, breaker_open_ms=9_000
        )
    ).lane
    waits = [backoff_ms(lane, failures) for failures in range(7)]
    assert waits == [0, 100, 200, 350, 350, 9_000, 9_000]


def test_a_breaker_that_takes_a_million_failures_still_waits_a_finite_time() -> None:
    lane = Stage(ContractSettings(breaker_failures=1_000_000)).lane
    assert backoff_ms(lane, 999_999) == lane.settings.retry_ms_max


@pytest.mark.parametrize(("settings", "bound"), [(ContractSettings(), True), (PARENTLESS, False)])
def test_an_attempt_remembers_whether_its_host_was_told_the_parent(
    settings: ContractSettings, bound: bool
) -> None:
    stage = executing(settings)
    attempt = new_attempt(stage.lane, stage.slot.id, stage.slot.attempt_next, 9, 100)
    assert attempt.bound is bound
    assert (attempt.number, attempt.parent) == (2, 9)
    assert attempt.deadline_ms == 100 + settings.execution_ms_max


def test_what_is_executed_is_what_was_recorded() -> None:
    stage = executing()
    decision = offer_on(stage.lane, stage.slot, 9, 100)
    (offered,) = decision.records
    attempt = new_attempt(stage.lane, stage.slot.id, stage.slot.attempt_next, 9, 100)
    assert offered.attempt == attempt  # type: ignore[union-attr]
    body = intent(1).payload
    assert decision.effects == (v.Execute(1, 2, body, 9, attempt.deadline_ms),)
    assert execution(attempt, body) == decision.effects[0]


def test_a_search_is_stamped_with_the_newest_attempt_and_asks_behind_the_parent() -> None:
    stage = doubting()
    stage.look()
    assert find(stage.lane, stage.slot) == v.FindExecution(1, 2, intent(1).payload, 5)


def test_a_height_is_read_for_the_call_that_needs_it() -> None:
    stage = executing()
    assert read_height(stage.lane, stage.slot) == v.ReadHeight(1, intent(1).payload)


def test_open_attempts_are_those_that_may_land() -> None:
    stage = doubting()
    stage.look()
    stage.refuse()
    assert [attempt.number for attempt in open_attempts(stage.lane)] == [1]
    assert may_land(stage.lane)
    stage.refuse(attempt=1)
    assert not may_land(stage.lane)


def test_after_a_persons_word_the_next_tries_stay_on_their_parent_until_it_is_passed() -> None:
    stage = Stage()
    stage.offer(intent(1))
    assert parent_kept(stage.lane) is None
    stage.read(5)
    stage.lose()
    stage.fold(v.AttemptRefused(1, 1, AttemptWord.DROPPED, "told", 1))
    assert parent_kept(stage.lane) == 5
    stage.fold(v.RetryPlanned(1, stage.now_ms, "told", failed=False))
    stage.tick()
    stage.refuse(reason="no quorum")
    assert parent_kept(stage.lane) == 5, "nobody has looked yet"
    stage.tick()
    stage.refuse(stale=True)
    stage.search(6)
    stage.tick()
    stage.read(6)
    assert stage.attempts[-1].parent == 6
    assert parent_kept(stage.lane) is None


def test_where_the_host_picks_the_parent_none_is_kept() -> None:
    stage = halting()
    stage.tell_of(intent(1), "settle", "not_executed")
    assert parent_kept(stage.lane) is None


def test_a_lane_begins_attempts_unless_it_is_paused_or_halted() -> None:
    stage = executing()
    assert is_active(stage.lane)
    stage.tell("drain", "running")
    assert is_active(stage.lane)
    stage.tell("pause")
    assert not is_active(stage.lane)
    assert not is_active(halting().lane)


def test_an_answer_lifts_the_halt_that_was_over_it() -> None:
    running, stopped = executing(), halting()
    assert settled(running.lane, "confirmed", 7, attempt=1, block=6) == (
        v.SlotSettled(1, "confirmed", 1, 6, "", 7, FIRST),
    )
    assert settled(stopped.lane, "dead", 7, reason="x" * 999) == (
        v.SlotSettled(1, "dead", None, None, "x" * 300, 7, FIRST),
        ModeChanged("running", "its outcome is known", "laneway", 7, halt=True),
    )
    assert halt_lifted(running.lane, "known", 7) == ()
    with pytest.raises(AssertionError):
        settled(Stage().lane, "confirmed", 7)


def test_a_halt_is_the_machines_word() -> None:
    assert halted("unknown", 7) == ModeChanged("halted", "unknown", "laneway", 7, halt=True)
