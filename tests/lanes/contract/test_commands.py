"""What an operator may tell a contract lane."""

import pytest
from tests.lanes.contract.stage import (
    FIRST,
    PARENTLESS,
    Stage,
    doubting,
    executing,
    exhausting,
    halting,
    intent,
)

from laneway.core.outcome import AttemptWord
from laneway.lanes.common.values import CommandRefused, IntentDropped, ModeChanged
from laneway.lanes.contract import values as v
from laneway.lanes.contract.settings import ContractSettings


def why(stage: Stage) -> str:
    record = stage.records[-1]
    assert isinstance(record, CommandRefused)
    return record.reason


# Pause and resume.


def test_a_paused_lane_finishes_what_runs_and_takes_nothing_more() -> None:
    stage = executing()
    decision = stage.tell("pause", reason="lunch", by="ada")
    assert decision.records == (ModeChanged("paused", "lunch", "ada", stage.now_ms),)
    stage.accept(6)
    assert stage.result(1).status == "confirmed"
    assert stage.wants == 0
    stage.tell("resume")
    assert stage.wants == 1


def test_long_words_of_an_operator_are_cut() -> None:
    stage = Stage()
    stage.tell("pause", reason="r" * 9_999, by="b" * 9_999)
    assert (stage.lane.head.reason, stage.lane.head.by) == ("r" * 300, "b" * 100)
    stage.tell("x" * 9_999)
    assert len(why(stage)) == 300


def test_a_pause_outlives_a_halt() -> None:
    stage = halting()
    stage.tell("pause", reason="lunch", by="ada")
    assert stage.mode == "halted"
    stage.tick()
    stage.search(6, block=6)
    assert stage.mode == "paused"
    assert stage.modes() == ["halted", "paused", "paused"], "the feed says what counts now"
    assert stage.lane.head.reason == "lunch"
    assert stage.wants == 0


def test_a_halt_over_a_paused_lane_leaves_it_paused() -> None:
    stage = doubting(PARENTLESS)
    stage.tell("pause", reason="lunch")
    stage.now_ms = stage.attempts[0].deadline_ms
    stage.search(5)
    assert stage.mode == "halted"
    stage.tell_of(intent(1), "settle", "executed")
    assert stage.mode == "paused"


def test_a_halted_lane_refuses_to_resume_while_in_doubt() -> None:
    stage = halting()
    stage.tell("resume")
    assert "its outcome is unknown" in why(stage)
    assert stage.mode == "halted"


def test_an_exhausted_lane_resumes_with_a_fresh_count() -> None:
    stage = exhausting()
    decision = stage.tell("resume", by="ada", reason="they stopped")
    assert [type(record) for record in decision.records] == [
        ModeChanged,
        ModeChanged,
        v.RetryPlanned,
    ]
    assert stage.mode == "running"
    assert stage.slot.stale_count == 0
    stage.tick()
    assert isinstance(stage.effects[-1], v.ReadHeight)
    stage.read(9)
    stage.accept(10)
    assert stage.result(1).status == "confirmed"


# Drain.


def test_a_drained_queue_ends_in_a_pause_when_its_last_job_is_final() -> None:
    stage = executing()
    stage.tell("drain", "queue", seq=2, by="ada", reason="upgrade")
    assert (stage.mode, stage.lane.head.reason) == ("draining", "upgrade")
    stage.accept(6)
    assert (stage.mode, stage.wants) == ("draining", 1)
    stage.offer(intent(2))
    decision = stage.accept(7)
    assert decision.records[-1] == ModeChanged("paused", "drained", "ada", stage.now_ms)
    assert (stage.mode, stage.wants) == ("paused", 0)


def test_a_drain_of_what_runs_brings_it_to_its_end_and_takes_nothing_more() -> None:
    stage = executing()
    stage.tell("drain", "running")
    assert stage.wants == 0
    stage.refuse()
    stage.tick()
    stage.read(5)
    assert len(stage.attempts) == 2, "a paused lane would not have tried again"
    stage.accept(6)
    assert stage.mode == "paused"


@pytest.mark.parametrize("word", ["queue", "running"])
def test_a_lane_with_nothing_to_drain_is_paused_at_once(word: str) -> None:
    stage = Stage()
    stage.tell("drain", word, seq=0)
    assert stage.mode == "paused"


def test_cancelled_and_expired_jobs_are_drained_too() -> None:
    stage = Stage()
    stage.tell("drain", "queue", seq=3)
    stage.tell_of(intent(3), "cancel")
    assert stage.mode == "draining"
    stage.offer(intent(1, valid_until_ms=1))
    stage.offer(intent(2))
    stage.read(5)
    stage.accept(6)
    assert stage.mode == "paused"


def test_a_cancel_may_end_the_drain() -> None:
    stage = Stage()
    stage.tell("drain", "queue", seq=1)
    stage.tell_of(intent(1), "cancel")
    assert stage.mode == "paused"


def test_a_job_that_was_cancelled_behind_the_drain_does_not_end_it_early() -> None:
    stage = Stage()
    stage.tell_of(intent(4), "cancel")
    stage.tell("drain", "queue", seq=2)
    assert stage.lane.head.drain_left == 3
    for seq in (1, 2, 3):
        assert stage.mode == "draining"
        stage.offer(intent(seq))
        if not stage.attempts:
            stage.read(5)
        stage.refuse(final=True)
    assert stage.mode == "paused"


def test_with_priorities_an_urgent_latecomer_does_not_end_the_drain_early() -> None:
    stage = Stage(ContractSettings(priorities=True))
    stage.offer(intent(1, priority=1))
    stage.read(5)
    stage.tell("drain", "queue", seq=2)
    stage.accept(6)
    stage.offer(intent(3, priority=0))
    stage.accept(7)
    assert (stage.mode, stage.wants) == ("draining", 1), "the second job still waits"
    stage.offer(intent(2, priority=1))
    stage.accept(8)
    assert stage.mode == "paused"


def test_a_drain_goes_on_after_a_halt() -> None:
    stage = doubting(PARENTLESS)
    stage.tell("drain", "queue", seq=2)
    stage.now_ms = stage.attempts[0].deadline_ms
    stage.search(5)
    assert stage.mode == "halted"
    stage.accept(6)
    assert (stage.mode, stage.wants) == ("draining", 1)


def test_the_operators_next_word_ends_the_drain() -> None:
    for verb, mode in (("pause", "paused"), ("resume", "running")):
        stage = executing()
        stage.tell("drain", "queue", seq=2)
        stage.tell(verb)
        stage.accept(6)
        assert stage.mode == mode


def test_a_drain_of_something_else_is_refused() -> None:
    stage = Stage()
    stage.tell("drain", "everything")
    assert "'queue'" in why(stage)


# Cancel.


def test_a_waiting_job_is_cancelled_and_the_cursor_stays() -> None:
    stage = executing()
    decision = stage.tell_of(intent(3), "cancel", reason="not needed")
    assert decision.records == (
        IntentDropped(intent(3).id, 3, 0, 6, "cancelled", "not needed", stage.now_ms, passes=False),
    )
    assert stage.result(3).status == "cancelled"
    assert stage.lane.head.cursors == (1,)


def test_an_executing_job_cannot_be_called_back() -> None:
    for stage in (executing(), doubting()):
        stage.tell_of(intent(1), "cancel")
        assert "it is executing" in why(stage)


def test_a_job_that_waits_for_another_try_can_be_cancelled_since_nothing_of_it_can_land() -> None:
    stage = executing()
    stage.refuse(reason="no quorum, for days")
    decision = stage.tell_of(intent(1), "cancel", reason="enough")
    assert decision.records == (
        v.SlotSettled(1, "cancelled", None, None, "enough", stage.now_ms, FIRST),
    )
    assert stage.wants == 1
    stage = exhausting()
    stage.tell_of(intent(1), "cancel")
    assert stage.result(1).status == "cancelled"
    assert stage.mode == "running"


def test_a_finished_job_cannot_be_cancelled() -> None:
    stage = executing()
    stage.accept(6)
    stage.tell_of(intent(1), "cancel")
    assert why(stage) == "it is final already"


def test_a_cancel_of_a_class_without_a_cursor_is_understood() -> None:
    stage = Stage()
    stage.tell_of(intent(1, priority=3), "cancel")
    assert stage.result(1).status == "cancelled"


def test_a_cancel_that_names_nobody_is_refused_and_does_not_stop_the_lane() -> None:
    stage = executing()
    stage.tell("cancel")
    assert why(stage) == "it names no intent"


def test_a_cancel_takes_no_word_so_that_the_store_can_tell_it_once() -> None:
    stage = Stage()
    stage.tell_of(intent(1), "cancel", "please")
    assert why(stage) == "a cancel takes no word"
    assert stage.results == {}


# Settle by hand.


def test_a_person_may_say_that_it_was_executed() -> None:
    stage = halting()
    decision = stage.tell_of(intent(1), "settle", "executed", by="ada", reason="block 6")
    assert decision.records == (
        v.SlotSettled(1, "confirmed", None, None, "commanded by ada: block 6", stage.now_ms, FIRST),
        ModeChanged("running", "its outcome is known", "laneway", stage.now_ms, halt=True),
    )
    stage.offer(intent(2))
    assert isinstance(stage.effects[-1], v.ReadHeight)


def test_a_person_may_say_that_it_was_not_executed_and_it_is_tried_anew() -> None:
    stage = halting()
    decision = stage.tell_of(intent(1), "settle", "not_executed")
    told = "commanded by an operator: "
    assert decision.records == (
        v.AttemptRefused(1, 1, AttemptWord.DROPPED, told, stage.now_ms),
        ModeChanged("running", told, "laneway", stage.now_ms, halt=True),
        v.RetryPlanned(1, stage.now_ms, told, failed=False),
    )
    stage.tick()
    assert isinstance(stage.effects[-1], v.ReadHeight)


def halted_with_parents() -> Stage:
    """Eight tries are lost on a host that takes the parent."""
    stage = doubting()
    while stage.mode != "halted":
        stage.look()
        if stage.mode != "halted":
            stage.lose()
    return stage


def test_where_the_parent_is_named_a_person_who_is_wrong_does_no_harm() -> None:
    stage = halted_with_parents()
    stage.tell_of(intent(1), "settle", "not_executed")
    stage.tick()
    effect = stage.effects[-1]
    assert isinstance(effect, v.Execute)
    assert effect.parent == 5, "on the same parent it cannot land twice"
    stage.refuse(stale=True)
    stage.search(6, block=6)
    assert stage.result(1).status == "confirmed"


def test_not_executed_after_a_final_refusal_is_that_refusal() -> None:
    stage = doubting()
    stage.look()
    stage.refuse(final=True, reason="invalid input")
    stage.look()
    assert stage.mode == "halted"
    stage.tell_of(intent(1), "settle", "not_executed")
    assert (stage.result(1).status, stage.result(1).reason) == ("refused", "invalid input")
    assert stage.mode == "running"


def test_what_a_person_settles_while_paused_waits_for_the_resume() -> None:
    stage = halting()
    stage.tell("pause")
    stage.tell_of(intent(1), "settle", "not_executed")
    assert (stage.mode, stage.deadline) == ("paused", None)
    stage.tell("resume")
    stage.tick()
    assert isinstance(stage.effects[-1], v.ReadHeight)


def test_an_exhausted_job_can_be_skipped_as_dead() -> None:
    stage = exhausting()
    stage.tell_of(intent(1), "settle", "skip", by="ada")
    assert stage.result(1).status == "dead"
    assert stage.mode == "running"


@pytest.mark.parametrize(
    ("word", "stage"),
    [
        ("skip", halting()),
        ("executed", exhausting()),
        ("not_executed", exhausting()),
        ("", halting()),
    ],
    ids=["skip-a-doubt", "executed-exhausted", "not-executed-exhausted", "nothing"],
)
def test_a_word_that_does_not_fit_the_halt_is_refused(word: str, stage: Stage) -> None:
    stage.tell_of(intent(1), "settle", word)
    assert why(stage).startswith("say 'executed'")


def test_only_what_the_lane_is_halted_over_can_be_settled() -> None:
    for stage, row in ((Stage(), intent(1)), (executing(), intent(1)), (halting(), intent(2))):
        stage.tell_of(row, "settle", "executed")
        assert why(stage) == "the lane is not halted over this intent"


def test_a_word_that_contract_lanes_do_not_know_is_refused_with_its_reason() -> None:
    stage = Stage()
    stage.tell("bump")
    assert why(stage) == "a contract lane has no command 'bump'"


# Put aside, because a bug about it stopped the lane.

EVIDENCE = "put aside by ada: poison; it stopped its lane: KeyError"


@pytest.mark.parametrize("settings", [ContractSettings(), PARENTLESS])
def test_what_may_have_run_when_a_bug_stopped_the_lane_waits_for_a_person(
    settings: ContractSettings,
) -> None:
    stage = executing(settings)
    decision = stage.tell_of(intent(1), "put_aside", reason=EVIDENCE, by="ada")
    assert decision.effects == ()
    assert stage.mode == "halted"
    assert "laneway tx settle ID executed" in stage.lane.head.wait_reason
    assert "KeyError" in stage.lane.head.wait_reason
    stage.tell_of(intent(1), "cancel")
    assert "look at the chain" in why(stage)
    assert [type(effect) for effect in stage.restart()] == [v.FindExecution]
    executed = [effect for effect in stage.effects if isinstance(effect, v.Execute)]
    for _ in range(9):
        stage.search(5)
        stage.tick()
    assert [effect for effect in stage.effects if isinstance(effect, v.Execute)] == executed
    assert "laneway tx settle" in stage.lane.head.wait_reason


def test_a_person_says_of_what_was_put_aside_that_it_ran() -> None:
    stage = executing()
    stage.tell_of(intent(1), "put_aside", reason=EVIDENCE)
    stage.tell_of(intent(1), "settle", "executed", reason="block 6 has it", by="ada")
    assert stage.result(1).status == "confirmed"
    assert (stage.mode, stage.wants) == ("running", 1)


def test_what_was_put_aside_and_did_not_run_is_given_up_with_the_evidence() -> None:
    stage = executing()
    stage.tell_of(intent(1), "put_aside", reason=EVIDENCE)
    stage.tell_of(intent(1), "settle", "not_executed", reason="it ends at 5", by="ada")
    assert (stage.result(1).status, stage.result(1).reason) == ("refused", EVIDENCE)
    assert (stage.mode, stage.wants) == ("running", 1)


def test_what_was_put_aside_and_landed_is_confirmed_by_its_block() -> None:
    stage = executing()
    stage.tell_of(intent(1), "put_aside", reason=EVIDENCE)
    stage.search(6, 6)
    assert stage.result(1).status == "confirmed"
    assert stage.mode == "running"


def test_a_block_of_others_where_it_would_have_gone_ends_what_was_put_aside() -> None:
    stage = executing()
    stage.tell_of(intent(1), "put_aside", reason=EVIDENCE)
    stage.search(6)
    assert (stage.result(1).status, stage.result(1).reason) == ("refused", EVIDENCE)


def test_only_an_execution_that_may_land_halts_the_lane_that_puts_it_aside() -> None:
    stage = executing()
    stage.refuse()
    for row in (intent(1), intent(2)):
        assert stage.tell_of(row, "put_aside", reason=EVIDENCE).records == ()
        stage.tell_of(row, "cancel", reason=EVIDENCE)
        assert stage.results[row.id].status == "cancelled"
    assert stage.tell_of(intent(1), "put_aside").records == ()
    assert stage.mode == "running"
