"""What an answer of the host proves. Each test is a story: a lane, an event, what came of it."""

from collections.abc import Callable
from itertools import product

import msgspec
import pytest
from msgspec import Struct
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

from laneway.core.outcome import AttemptWord, Outcome
from laneway.lanes.common.values import ModeChanged
from laneway.lanes.contract import values as v
from laneway.lanes.contract.answers import absence_row
from laneway.lanes.contract.settings import ContractSettings
from laneway.lanes.limits import ATTEMPTS_KEPT_MAX, ATTEMPTS_OPEN_MAX

CALL = intent(1).payload


# The height.


def test_an_execution_begins_on_the_height_that_was_read() -> None:
    stage = Stage()
    stage.offer(intent(1))
    decision = stage.read(5)
    deadline_ms = stage.now_ms + stage.settings.execution_ms_max
    assert [type(record) for record in decision.records] == [v.AttemptOffered]
    assert decision.effects == (v.Execute(1, 1, CALL, 5, deadline_ms),)


def test_a_host_that_cannot_tell_its_height_is_asked_again_after_a_while() -> None:
    stage = Stage()
    stage.offer(intent(1))
    decision = stage.read(None, "connection refused")
    assert decision.records == (v.RetryPlanned(1, 2_000, "connection refused", failed=True),)
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
    assert decision.records == (v.RetryPlanned(1, stage.now_ms, "", failed=False),)
    assert stage.deadline is None
    stage.tell("resume")
    stage.tick()
    stage.read(5)
    assert len(stage.attempts) == 1


def test_a_height_that_comes_late_or_for_another_slot_is_let_go() -> None:
    stage = executing()
    assert stage.read(9).records == (), "an attempt is out already"
    assert stage.apply(v.HeightRead(1, 77, 9)).records == ()
    stage.accept(6)
    assert stage.apply(v.HeightRead(1, 1, 9)).records == ()


# Accepted.


def test_an_accepted_execution_is_confirmed_with_its_block() -> None:
    stage = executing()
    decision = stage.accept(6)
    assert decision.records == (v.SlotSettled(1, "confirmed", 1, 6, "", stage.now_ms, FIRST),)
    assert decision.effects == ()
    assert stage.result(1).number == 6


def test_an_answer_that_comes_twice_settles_once() -> None:
    stage = executing()
    answer = v.ExecutionReturned(1, 1, 1, Outcome.ACCEPTED, 6)
    stage.apply(answer)
    assert stage.apply(answer).records == ()
    stage.offer(intent(2))
    assert stage.apply(answer).records == (), "it is not the next slot's answer"


def test_a_late_acceptance_confirms_what_was_in_doubt_and_lifts_the_halt() -> None:
    stage = halting()
    decision = stage.accept(6)
    assert decision.records == (
        v.SlotSettled(1, "confirmed", 1, 6, "", stage.now_ms, FIRST),
        ModeChanged("running", "its outcome is known", "laneway", stage.now_ms, halt=True),
    )
    assert stage.wants == 1


def test_a_host_that_says_it_ran_is_believed_whatever_we_believed_before() -> None:
    stage = executing()
    stage.refuse()
    decision = stage.accept(6, attempt=1)
    assert decision.records == (v.SlotSettled(1, "confirmed", 1, 6, "", stage.now_ms, FIRST),)


def test_a_host_that_says_a_forgotten_try_ran_is_believed_too() -> None:
    stage = executing()
    for _ in range(ATTEMPTS_KEPT_MAX + 1):
        stage.refuse()
        stage.tick()
        stage.read(5)
    assert 1 not in stage.lane.attempts
    decision = stage.accept(6, attempt=1)
    assert decision.records == (v.SlotSettled(1, "confirmed", None, 6, "", stage.now_ms, FIRST),)


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
        v.AttemptDoubted(1, 1, False, "the line broke", stage.now_ms, True),
        v.SearchPlanned(1, None),
    )
    assert decision.effects == (v.FindExecution(1, 1, CALL, 5),)
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
        v.AttemptDoubted(1, 1, True, "sequence missing", stage.now_ms, False),
        v.SearchPlanned(1, None),
    )
    assert decision.effects == (v.FindExecution(1, 1, CALL, 5),)
    stage.search(6, block=6)
    assert stage.result(1).status == "confirmed"


def test_a_moved_parent_is_no_failure_of_the_host() -> None:
    stage = executing()
    stage.refuse(stale=True)
    assert stage.lane.head.failures == 0


def test_a_late_stale_word_on_a_doubted_try_is_kept_once() -> None:
    stage = doubting()
    assert [type(record) for record in stage.refuse(stale=True).records] == [
        v.AttemptDoubted,
        v.SearchPlanned,
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
        v.SlotSettled(1, "refused", 1, None, "invalid input", stage.now_ms, FIRST),
    )
    assert stage.result(1).status == "refused"
    assert stage.wants == 1
    stage.offer(intent(2))
    assert isinstance(stage.effects[-1], v.Execute)
    assert stage.effects[-1].parent == 5


def test_a_refusal_that_may_pass_is_tried_again_later_on_a_fresh_height() -> None:
    stage = executing()
    decision = stage.refuse(reason="no quorum")
    assert decision.records == (
        v.AttemptRefused(1, 1, AttemptWord.REFUSED, "no quorum", stage.now_ms),
        v.RetryPlanned(1, stage.now_ms + 1_000, "no quorum", failed=False),
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
        v.AttemptRefused(1, 2, AttemptWord.REFUSED, "invalid input", stage.now_ms, True),
        v.SearchPlanned(1, None),
    )
    assert decision.effects == (v.FindExecution(1, 2, CALL, 5),)
    stage.search(6, block=6)
    assert stage.result(1).status == "confirmed", "the first one had landed"


def test_a_final_refusal_is_the_answer_once_no_other_try_can_land() -> None:
    stage = second_try()
    stage.refuse(final=True, reason="invalid input")
    decision = stage.refuse(attempt=1, reason="the round failed")
    assert decision.records == (
        v.AttemptRefused(1, 1, AttemptWord.REFUSED, "the round failed", stage.now_ms),
        v.SlotSettled(1, "refused", None, None, "invalid input", stage.now_ms, FIRST),
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
        v.AttemptRefused(1, 1, AttemptWord.REFUSED, "the round failed", stage.now_ms),
        ModeChanged("running", "it did not run", "laneway", stage.now_ms, halt=True),
        v.RetryPlanned(1, stage.now_ms + 2_000, "the round failed", failed=False),
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
    executions = [effect for effect in stage.effects if isinstance(effect, v.Execute)]
    assert len(executions) == 1


# The table.

Facts = tuple[bool, bool, bool, bool, bool]
"""Every try is dead, one was refused for good, another may be made, tries left, a round may run."""

ROWS: dict[str, Callable[[bool, bool, bool, bool, bool], bool]] = {
    "A": lambda dead, good, _try, _left, _run: dead and not good,
    "B": lambda dead, good, _try, _left, _run: dead and good,
    "C": lambda dead, good, may, left, _run: not dead and not good and may and left,
    "D": lambda dead, good, may, left, _run: not dead and not good and may and not left,
    "E": lambda dead, good, may, _left, run: not dead and (good or not may) and run,
    "F": lambda dead, good, may, _left, run: not dead and (good or not may) and not run,
}


@pytest.mark.parametrize("facts", list(product((False, True), repeat=5)))
def test_exactly_one_row_of_the_table_fires(facts: Facts) -> None:
    fits = [letter for letter, fit in ROWS.items() if fit(*facts)]
    dead, for_good, may_try, tries_left, may_run = facts
    row = absence_row(
        dead=dead, for_good=for_good, may_try=may_try, tries_left=tries_left, may_run=may_run
    )
    assert fits == [row]


class Doubt(Struct, frozen=True):
    """All that a lane knows when a look did not find its block."""

    takes_parent: bool
    """The host of now takes the parent."""
    bound: bool
    """The host of then was told it."""
    stale: bool
    for_good: bool
    tries_left: bool
    passed: bool
    over: bool

    def is_dead(self) -> bool:
        return self.passed and (self.bound or self.stale)

    def may_try(self) -> bool:
        return self.takes_parent and self.bound and not self.stale and not self.for_good


def looking(doubt: Doubt) -> Stage:
    """A stage that is in just this doubt."""
    stage = executing(ContractSettings(takes_parent=doubt.bound))
    tries = 2 if doubt.tries_left else ATTEMPTS_OPEN_MAX
    for number in range(1, tries + 1):
        if number > 1:
            attempt = stage.attempts[0]
            stage.fold(v.AttemptOffered(msgspec.structs.replace(attempt, number=number)))
        stage.fold(v.AttemptDoubted(1, number, doubt.stale, "lost", 1, False))
    if doubt.for_good:
        refused = msgspec.structs.replace(stage.attempts[0], number=tries + 1)
        stage.fold(v.AttemptOffered(refused))
        stage.fold(v.AttemptRefused(1, tries + 1, AttemptWord.REFUSED, "invalid", 1, True))
    if doubt.over:
        stage.now_ms = stage.attempts[0].deadline_ms
    stage.restart(ContractSettings(takes_parent=doubt.takes_parent))
    return stage


@pytest.mark.parametrize("facts", list(product((False, True), repeat=7)))
def test_what_a_lane_does_about_an_absence_follows_from_the_facts_alone(
    facts: tuple[bool, ...],
) -> None:
    doubt = Doubt(*facts)
    stage = looking(doubt)
    tries = [attempt.number for attempt in stage.attempts if attempt.may_land()]
    decision = stage.search(6 if doubt.passed else 5)
    dead = [record.attempt for record in decision.records if isinstance(record, v.AttemptRefused)]
    executed = [effect for effect in decision.effects if isinstance(effect, v.Execute)]
    if doubt.is_dead():
        assert dead == tries
        if doubt.for_good:
            assert (stage.result(1).status, stage.result(1).reason) == ("refused", "invalid")
            assert executed == []
        else:
            assert [effect.parent for effect in executed] == [6]
    elif doubt.may_try() and doubt.tries_left:
        assert dead == []
        assert [effect.parent for effect in executed] == [5], "never twice"
    else:
        assert dead == []
        assert executed == []
        assert decision.records[0] == v.SearchPlanned(1, stage.now_ms + 5_000)
        halts = doubt.may_try() or doubt.over
        assert stage.mode == ("halted" if halts else "running")


# Found.


def test_an_unknown_execution_is_settled_by_finding_its_block() -> None:
    stage = doubting()
    decision = stage.search(6, block=6)
    assert decision.records == (
        v.SlotSettled(1, "confirmed", 1, 6, "found on the chain", stage.now_ms, FIRST),
    )
    assert stage.lane.head.height == 6


def test_a_block_that_appears_lifts_the_halt() -> None:
    stage = halting()
    stage.tick()
    assert isinstance(stage.effects[-1], v.FindExecution)
    stage.search(6, block=6)
    assert stage.result(1).status == "confirmed"
    assert stage.mode == "running"
    assert stage.wants == 1


def test_a_block_that_appears_after_a_person_said_otherwise_is_believed() -> None:
    stage = halting()
    stage.tick()
    stage.tell_of(intent(1), "settle", "not_executed")
    stage.search(6, block=6)
    assert stage.result(1).status == "confirmed"


def test_a_block_that_is_found_for_a_slot_without_tries_settles_it_all_the_same() -> None:
    stage = Stage()
    stage.offer(intent(1))
    stage.search(6, block=6, attempt=0)
    assert stage.result(1).status == "confirmed"


def test_a_search_that_comes_late_or_for_another_slot_is_let_go() -> None:
    stage = doubting()
    assert stage.apply(v.SearchReturned(1, 77, 1, 6, 6)).records == ()
    stage.accept(6)
    assert stage.apply(v.SearchReturned(1, 1, 1, 6, 6)).records == ()


def test_an_older_question_cannot_deny_a_newer_attempt() -> None:
    stage = doubting()
    stage.look()
    assert stage.search(6, attempt=1).records == ()
    assert len(stage.attempts) == 2


def test_a_search_after_everything_was_refused_proves_nothing_more() -> None:
    stage = doubting()
    stage.refuse()
    assert stage.search(6, attempt=1).records == ()


def test_a_host_that_cannot_be_asked_is_asked_again() -> None:
    stage = doubting()
    decision = stage.search(None)
    assert decision.records == (v.SearchPlanned(1, stage.now_ms + 5_000),)
    stage.tick()
    assert isinstance(stage.effects[-1], v.FindExecution)


# A: someone else's block is where ours would have gone.


def test_a_passed_parent_kills_the_try_and_the_next_one_is_made_at_once() -> None:
    stage = executing()
    stage.refuse(stale=True)
    decision = stage.search(7)
    assert [type(record) for record in decision.records] == [v.AttemptRefused, v.AttemptOffered]
    assert isinstance(decision.effects[0], v.Execute)
    assert decision.effects[0].parent == 7
    assert stage.slot.stale_count == 1


def test_after_failures_a_passed_parent_waits_as_any_failure_does() -> None:
    stage = doubting()
    decision = stage.search(7)
    assert decision.records[-1] == v.RetryPlanned(1, stage.now_ms + 1_000, "", failed=False)
    assert decision.effects == ()


def test_a_passed_parent_begins_nothing_while_paused() -> None:
    stage = executing()
    stage.tell("pause")
    stage.refuse(stale=True)
    decision = stage.search(7)
    assert decision.effects == ()
    assert stage.deadline is None
    stage.tell("resume")
    stage.tick()
    stage.read(7)
    assert stage.attempts[-1].parent == 7


def test_where_the_host_picks_the_parent_a_stale_word_must_be_seen_on_the_chain() -> None:
    stage = executing(PARENTLESS)
    stage.refuse(stale=True)
    decision = stage.search(5)
    assert decision.records == (v.SearchPlanned(1, stage.now_ms + 5_000),), "its node lags"
    stage.tick()
    decision = stage.search(6)
    assert [type(record) for record in decision.records] == [v.AttemptRefused, v.AttemptOffered]


def test_where_the_host_picks_the_parent_a_passed_parent_alone_proves_nothing() -> None:
    stage = doubting(PARENTLESS)
    assert stage.search(9).records == (v.SearchPlanned(1, stage.now_ms + 5_000),)


def test_a_late_stale_word_while_halted_lifts_the_halt_once_the_chain_shows_it() -> None:
    stage = halting()
    stage.refuse(stale=True)
    stage.search(6)
    assert stage.mode == "running"
    stage.tick()
    stage.read(6)
    stage.accept(7)
    assert stage.result(1).status == "confirmed"


def test_stale_retries_end_in_a_halt_by_default() -> None:
    stage = exhausting()
    assert stage.mode == "halted"
    assert stage.lane.head.wait_reason == "other writers took its block 1 times"
    assert stage.deadline is None, "the next attempt waits for a person"
    assert stage.wants == 0


def test_stale_retries_may_skip_the_intent_as_dead_and_go_on() -> None:
    stage = exhausting(exhausted="skip")
    assert stage.result(1).status == "dead"
    assert stage.mode == "running"
    assert stage.wants == 1


def test_stale_retries_are_counted_over_the_slots_whole_life() -> None:
    stage = executing(ContractSettings(stale_retries_max=3))
    for height in (6, 7):
        stage.refuse(stale=True)
        stage.search(height)
        assert stage.mode == "running"
    stage.refuse(stale=True)
    stage.search(8)
    assert stage.mode == "halted"
    assert [attempt.parent for attempt in stage.attempts] == [5, 6, 7]


# B: refused for good, and dead.


def test_a_final_refusal_settles_when_the_other_tries_are_proven_dead() -> None:
    stage = doubting()
    stage.look()
    stage.refuse(final=True, reason="invalid input")
    decision = stage.search(6)
    assert decision.records == (
        v.AttemptRefused(1, 1, AttemptWord.STALE, "its parent was passed", stage.now_ms),
        v.SlotSettled(1, "refused", None, None, "invalid input", stage.now_ms, FIRST),
    )


# C: the same parent again.


def test_an_unknown_execution_is_retried_only_on_the_same_parent() -> None:
    stage = doubting()
    decision = stage.search(5)
    assert decision.records == (
        v.RetryPlanned(1, stage.now_ms + 1_000, "", failed=False),
        v.SearchPlanned(1, stage.now_ms + 1_000),
    )
    stage.tick()
    assert isinstance(stage.effects[-1], v.FindExecution), "the chain is asked right before"
    decision = stage.search(5)
    assert [type(record) for record in decision.records] == [v.AttemptOffered]
    assert isinstance(decision.effects[0], v.Execute)
    assert decision.effects[0].parent == 5
    assert {attempt.parent for attempt in stage.attempts} == {5}


def test_a_restart_is_no_failure_and_the_second_try_is_made_at_once() -> None:
    stage = executing()
    (effect,) = stage.restart()
    assert effect == v.FindExecution(1, 1, intent(1).payload, 5)
    decision = stage.search(5)
    assert decision.records[0] == v.AttemptDoubted(
        1, 1, False, "the process restarted", stage.now_ms, False
    )
    assert isinstance(decision.records[1], v.AttemptOffered)
    assert stage.lane.head.failures == 0


def test_the_chain_is_looked_at_more_often_than_it_is_tried() -> None:
    stage = doubting(ContractSettings(breaker_failures=1, breaker_open_ms=60_000))
    begun_ms = stage.now_ms
    looks = 0
    while not stage.search(5).effects:
        stage.tick()
        looks += 1
    assert stage.now_ms == begun_ms + 60_000
    assert looks == 12
    assert len(stage.attempts) == 2


def test_a_search_that_is_answered_twice_makes_one_try() -> None:
    stage = doubting()
    first = stage.search(5)
    second = stage.search(5)
    assert [type(record) for record in first.records] == [v.RetryPlanned, v.SearchPlanned]
    assert [type(record) for record in second.records] == [v.SearchPlanned]
    stage.tick()
    stage.search(5)
    assert stage.search(5, attempt=1).records == ()
    assert len(stage.attempts) == 2


def test_no_second_try_is_made_while_paused_and_the_look_goes_on() -> None:
    stage = doubting()
    stage.tell("pause")
    for _ in range(5):
        assert stage.search(5).effects == ()
        stage.tick()
        assert isinstance(stage.effects[-1], v.FindExecution)
    assert len(stage.attempts) == 1
    stage.tell("resume")
    assert isinstance(stage.search(5).effects[0], v.Execute)


def test_a_host_that_says_stale_but_shows_no_newer_block_is_not_tried_again_in_a_hurry() -> None:
    stage = executing()
    stage.refuse(stale=True)
    assert stage.search(5).records == (v.SearchPlanned(1, stage.now_ms + 5_000),)
    assert len(stage.attempts) == 1


def test_a_call_that_was_refused_for_good_is_not_tried_again_and_again() -> None:
    stage = doubting()
    stage.look()
    stage.refuse(final=True)
    decision = stage.look()
    assert stage.mode == "halted"
    assert decision.effects == ()
    assert len(stage.attempts) == 2


def test_a_refusal_between_two_doubts_waits_like_every_failure() -> None:
    # It once did not: refused, looked for, tried again at once, without end.
    stage = doubting()
    stage.look()
    waits = []
    for _ in range(4):
        before_ms = stage.now_ms
        stage.refuse()
        stage.look()
        waits.append(stage.now_ms - before_ms)
    assert waits == [2_000, 4_000, 8_000, 60_000]


# D, E, F: nothing is left but to look.


def test_eight_lost_answers_halt_the_lane_and_the_look_goes_on() -> None:
    stage = doubting()
    for _ in range(ATTEMPTS_OPEN_MAX - 1):
        stage.look()
        stage.lose()
    decision = stage.look()
    assert stage.mode == "halted"
    assert decision.records[-1] == ModeChanged(
        "halted", stage.lane.head.wait_reason, "laneway", stage.now_ms, halt=True
    )
    assert intent(1).id in stage.lane.head.wait_reason
    assert len(stage.attempts) == ATTEMPTS_OPEN_MAX
    stage.tick()
    stage.search(6, block=6)
    assert stage.result(1).status == "confirmed"


def test_absence_proves_nothing_while_the_round_may_still_run() -> None:
    stage = doubting(PARENTLESS)
    while stage.now_ms < stage.attempts[0].deadline_ms - stage.settings.search_ms:
        decision = stage.search(5)
        assert decision.records == (v.SearchPlanned(1, stage.now_ms + 5_000),)
        stage.tick()
    assert stage.mode == "running"
    stage.search(5)
    stage.tick()
    stage.search(5)
    assert stage.mode == "halted"


def test_where_no_parent_is_named_the_lane_halts_as_unknown_and_says_why() -> None:
    stage = halting()
    assert stage.lane.head.wait_reason.startswith(f"the outcome of {intent(1).id} is unknown")
    assert len(stage.attempts) == 1
    assert stage.wants == 0
    assert stage.deadline == stage.now_ms + stage.settings.search_ms
    stage.tick()
    assert len(stage.search(5).records) == 1, "it halts once"


def test_a_restart_is_a_doubt_like_any_other_where_no_parent_is_named() -> None:
    stage = executing(PARENTLESS)
    stage.restart()
    decision = stage.search(5)
    assert [type(record) for record in decision.records] == [v.AttemptDoubted, v.SearchPlanned]
    assert stage.lane.head.doubted
    assert stage.restart() == (), "the timer asks"


def test_tries_of_another_kind_of_host_are_judged_as_what_they_were() -> None:
    # The lane restarts on a host that takes the parent; the old try was not told one.
    stage = doubting(PARENTLESS)
    stage.restart(ContractSettings())
    assert stage.search(9).effects == ()
    assert len(stage.attempts) == 1
    # And the other way round: the new host could put a second try anywhere.
    stage = doubting()
    stage.restart(PARENTLESS)
    assert stage.search(5).effects == ()
    stage.tick()
    decision = stage.search(6)
    assert decision.records[0] == v.AttemptRefused(
        1, 1, AttemptWord.STALE, "its parent was passed", stage.now_ms
    )
