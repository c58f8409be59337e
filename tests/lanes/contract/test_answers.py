"""What an answer of the host proves. Each test is a story: a lane, an event, what came of it."""

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

from laneway.core.outcome import AttemptWord, Outcome
from laneway.lanes.contract.settings import ContractSettings
from laneway.lanes.contract.values import (
    AttemptDoubted,
    AttemptOffered,
    AttemptRefused,
    Execute,
    ExecutionReturned,
    FindExecution,
    HeightRead,
    ModeChanged,
    RetryPlanned,
    SearchPlanned,
    SlotSettled,
)
from laneway.lanes.limits import ATTEMPTS_KEPT_MAX

CALL = intent(1).payload


# The height.


def test_an_execution_begins_on_the_height_that_was_read() -> None:
    stage = Stage()
    stage.offer(intent(1))
    decision = stage.read(5)
    deadline_ms = stage.now_ms + stage.settings.execution_ms_max
    assert [type(record) for record in decision.records] == [AttemptOffered]
    assert decision.effects == (Execute(1, 1, CALL, 5, deadline_ms),)


def test_a_host_that_cannot_tell_its_height_is_asked_again_after_a_while() -> None:
    stage = Stage()
    stage.offer(intent(1))
    decision = stage.read(None, "connection refused")
    assert decision.records == (RetryPlanned(1, 2_000, "connection refused", failed=True),)
    assert decision.effects == ()
    assert stage.lane.head.failures == 1
    assert stage.read(None).records == (), "a second answer to one question adds nothing"


def test_a_node_that_lags_cannot_send_the_lane_back_below_a_block_it_knows() -> None:
    stage = executing()
    stage.accept(None)
    stage.offer(intent(2))
    stage.read(3)
    assert stage.attempts[-1].parent == 6


def test_a_height_that_arrives_while_paused_begins_nothing() -> None:
    stage = Stage()
    stage.offer(intent(1))
    stage.tell("pause")
    decision = stage.read(5)
    assert decision.records == (RetryPlanned(1, stage.now_ms, "", failed=False),)
    assert stage.deadline is None
    stage.tell("resume")
    stage.tick()
    stage.read(5)
    assert len(stage.attempts) == 1


def test_a_height_that_comes_late_or_for_another_slot_is_let_go() -> None:
    stage = executing()
    assert stage.read(9).records == (), "an attempt is out already"
    assert stage.apply(HeightRead(1, 77, 9)).records == ()
    stage.accept(6)
    assert stage.apply(HeightRead(1, 1, 9)).records == ()


# Accepted.


def test_an_accepted_execution_is_confirmed_with_its_block() -> None:
    stage = executing()
    decision = stage.accept(6)
    assert decision.records == (SlotSettled(1, "confirmed", 1, 6, "", stage.now_ms, FIRST),)
    assert decision.effects == ()
    assert stage.result(1).number == 6


def test_an_answer_that_comes_twice_settles_once() -> None:
    stage = executing()
    answer = ExecutionReturned(1, 1, 1, Outcome.ACCEPTED, 6)
    stage.apply(answer)
    assert stage.apply(answer).records == ()
    stage.offer(intent(2))
    assert stage.apply(answer).records == (), "it is not the next slot's answer"


def test_a_late_acceptance_confirms_what_was_in_doubt_and_lifts_the_halt() -> None:
    stage = halting()
    decision = stage.accept(6)
    assert decision.records == (
        SlotSettled(1, "confirmed", 1, 6, "", stage.now_ms, FIRST),
        ModeChanged("running", "its outcome is known", "laneway", stage.now_ms, halt=True),
    )
    assert stage.wants == 1


def test_a_host_that_says_it_ran_is_believed_whatever_we_believed_before() -> None:
    stage = executing()
    stage.refuse()
    decision = stage.accept(6, attempt=1)
    assert decision.records == (SlotSettled(1, "confirmed", 1, 6, "", stage.now_ms, FIRST),)


def test_a_host_that_says_a_forgotten_try_ran_is_believed_too() -> None:
    stage = executing()
    for _ in range(ATTEMPTS_KEPT_MAX + 1):
        stage.refuse()
        stage.tick()
        stage.read(5)
    assert 1 not in stage.lane.attempts
    decision = stage.accept(6, attempt=1)
    assert decision.records == (SlotSettled(1, "confirmed", None, 6, "", stage.now_ms, FIRST),)


def test_a_host_that_does_not_say_where_has_its_height_read_again() -> None:
    stage = executing()
    stage.accept(None)
    assert stage.result(1).number is None
    stage.offer(intent(2))
    assert type(stage.effects[-1]).__name__ == "ReadHeight"


# Unknown.


def test_an_unknown_answer_counts_as_sent_and_the_chain_is_asked() -> None:
    stage = executing()
    decision = stage.lose()
    assert decision.records == (
        AttemptDoubted(1, 1, False, "the line broke", stage.now_ms, True),
        SearchPlanned(1, None),
    )
    assert decision.effects == (FindExecution(1, 1, CALL, 5),)
    assert stage.wants == 0
    assert stage.attempts[0].may_land()


def test_doubt_is_recorded_once() -> None:
    stage = doubting()
    assert stage.lose().records == ()
    assert stage.lane.head.failures == 1


def test_foreign_words_are_cut_where_they_enter() -> None:
    stage = executing()
    stage.answer(Outcome.UNKNOWN, reason="ä" * 9_999)
    assert len(stage.attempts[0].reason.encode()) == 300
    stage.refuse(reason="\udcff" * 9_999)
    assert stage.attempts[0].reason == "?" * 300


# Refused because the parent was stale.


def test_a_stale_refusal_is_checked_on_the_chain_first() -> None:
    # A request that was delivered twice lands once and is refused once.
    stage = executing()
    decision = stage.refuse(stale=True, reason="sequence missing")
    assert decision.records == (
        AttemptDoubted(1, 1, True, "sequence missing", stage.now_ms, False),
        SearchPlanned(1, None),
    )
    assert decision.effects == (FindExecution(1, 1, CALL, 5),)
    stage.search(6, block=6)
    assert stage.result(1).status == "confirmed"


def test_a_moved_parent_is_no_failure_of_the_host() -> None:
    stage = executing()
    stage.refuse(stale=True)
    assert stage.lane.head.failures == 0


def test_a_late_stale_word_on_a_doubted_try_is_kept_once() -> None:
    stage = doubting()
    assert [type(record) for record in stage.refuse(stale=True).records] == [
        AttemptDoubted,
        SearchPlanned,
    ]
    assert stage.attempts[0].stale
    assert stage.lane.head.failures == 1
    assert stage.refuse(stale=True).records == ()
    assert stage.lose().records == ()


# Refused.


def test_a_refused_execution_is_final_and_the_next_job_runs() -> None:
    stage = executing()
    decision = stage.refuse(final=True, reason="invalid input")
    assert decision.records == (
        SlotSettled(1, "refused", 1, None, "invalid input", stage.now_ms, FIRST),
    )
    assert stage.result(1).status == "refused"
    assert stage.wants == 1
    stage.offer(intent(2))
    assert isinstance(stage.effects[-1], Execute)
    assert stage.effects[-1].parent == 5


def test_a_refusal_that_may_pass_is_tried_again_later_on_a_fresh_height() -> None:
    stage = executing()
    decision = stage.refuse(reason="no quorum")
    assert decision.records == (
        AttemptRefused(1, 1, AttemptWord.REFUSED, "no quorum", stage.now_ms),
        RetryPlanned(1, stage.now_ms + 1_000, "no quorum", failed=False),
    )
    assert stage.lane.head.failures == 1
    stage.tick()
    assert type(stage.effects[-1]).__name__ == "ReadHeight"
    stage.read(7)
    assert stage.attempts[-1].parent == 7


@pytest.mark.parametrize("outcome", [Outcome.UNKNOWN, Outcome.REFUSED])
def test_a_late_word_on_a_try_that_is_known_not_to_land_adds_nothing(outcome: Outcome) -> None:
    stage = executing()
    stage.refuse()
    assert stage.answer(outcome, attempt=1).records == ()
    assert stage.answer(outcome, attempt=77).records == ()


def second_try(settings: ContractSettings | None = None) -> Stage:
    """The first try is in doubt, the second one is out."""
    stage = doubting(settings)
    stage.look()
    assert [attempt.is_out() for attempt in stage.attempts] == [False, True]
    return stage


def test_a_final_refusal_of_a_second_try_does_not_settle_while_the_first_may_land() -> None:
    stage = second_try()
    decision = stage.refuse(final=True, reason="invalid input")
    assert decision.records == (
        AttemptRefused(1, 2, AttemptWord.REFUSED, "invalid input", stage.now_ms, True),
        SearchPlanned(1, None),
    )
    assert decision.effects == (FindExecution(1, 2, CALL, 5),)
    stage.search(6, block=6)
    assert stage.result(1).status == "confirmed", "the first one had landed"


def test_a_final_refusal_is_the_answer_once_no_other_try_can_land() -> None:
    stage = second_try()
    stage.refuse(final=True, reason="invalid input")
    decision = stage.refuse(attempt=1, reason="the round failed")
    assert decision.records == (
        AttemptRefused(1, 1, AttemptWord.REFUSED, "the round failed", stage.now_ms),
        SlotSettled(1, "refused", None, None, "invalid input", stage.now_ms, FIRST),
    )


def test_a_late_word_on_the_first_try_does_not_hurry_the_second_one() -> None:
    for word in ({"stale": True}, {"final": False}, {"final": True}):
        stage = second_try()
        decision = stage.refuse(attempt=1, **word)
        assert len(decision.records) == 1
        assert decision.effects == (), "the second one's own answer is still to come"
        assert stage.attempts[1].is_out()


def test_a_refusal_while_halted_ends_the_doubt_and_the_lane_goes_on_by_itself() -> None:
    stage = halting()
    decision = stage.refuse(reason="the round failed")
    assert decision.records == (
        AttemptRefused(1, 1, AttemptWord.REFUSED, "the round failed", stage.now_ms),
        ModeChanged("running", "it did not run", "laneway", stage.now_ms, halt=True),
        RetryPlanned(1, stage.now_ms + 2_000, "the round failed", failed=False),
    )
    stage.tick()
    stage.read(5)
    stage.accept(6)
    assert stage.result(1).status == "confirmed"


def test_a_final_refusal_while_halted_is_the_answer_and_lifts_the_halt() -> None:
    stage = halting()
    stage.refuse(final=True)
    assert stage.result(1).status == "refused"
    assert stage.mode == "running"
    assert stage.wants == 1


# The breaker.


def test_the_breaker_opens_after_k_failures_half_opens_after_t_and_closes_on_success() -> None:
    settings = ContractSettings(
        breaker_failures=3, breaker_open_ms=60_000, retry_ms_min=100, takes_parent=False
    )
    stage = executing(settings)
    waits = []
    for _ in range(5):
        before_ms = stage.now_ms
        stage.refuse(reason="consensus failed")
        stage.tick()
        waits.append(stage.now_ms - before_ms)
        stage.read(5)
    # Half-open is one execution; it failed twice, and each time the lane rested again.
    assert waits == [100, 200, 60_000, 60_000, 60_000]
    assert stage.lane.head.failures == 5
    stage.accept(6)
    assert stage.lane.head.failures == 0


def test_failures_of_all_sorts_count_together() -> None:
    stage = Stage(ContractSettings(breaker_failures=3))
    stage.offer(intent(1))
    stage.read(None, "down")
    stage.tick()
    stage.read(5)
    stage.refuse()
    stage.tick()
    stage.read(5)
    stage.lose()
    assert stage.lane.head.failures == 3
    before_ms = stage.now_ms
    stage.look()
    assert stage.now_ms - before_ms == stage.settings.breaker_open_ms


def test_a_host_that_takes_no_parent_is_not_asked_twice_for_one_doubt() -> None:
    stage = doubting(PARENTLESS)
    stage.search(5)
    executions = [effect for effect in stage.effects if isinstance(effect, Execute)]
    assert len(executions) == 1
