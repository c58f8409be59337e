"""The one function that changes a contract lane."""

import pytest
from tests.lanes.contract.stage import LANE, intent

from laneway.core.outcome import AttemptWord
from laneway.core.rows import Result, RowKey, Table, Touched
from laneway.lanes.common.values import CommandRefused, IntentDropped, ModeChanged
from laneway.lanes.contract import values as v
from laneway.lanes.contract.fold import evolve
from laneway.lanes.contract.lane import ContractLane, decode_history, open_slot
from laneway.lanes.contract.settings import ContractSettings
from laneway.lanes.limits import ATTEMPTS_KEPT_MAX


def empty(settings: ContractSettings | None = None) -> ContractLane:
    return ContractLane(LANE, settings or ContractSettings())


def slot(seq: int = 1) -> v.Slot:
    return v.Slot(id=seq, intent=intent(seq).id, seq=seq, size=6, accepted_ms=10, claimed_ms=20)


def attempt(number: int, parent: int = 5, *, bound: bool = True) -> v.Attempt:
    return v.Attempt(1, number, parent, offered_ms=20, deadline_ms=90, bound=bound)


def claimed(settings: ContractSettings | None = None, tries: int = 1) -> ContractLane:
    lane = empty(settings)
    evolve(lane, v.SlotClaimed(slot(), 0, None))
    for number in range(1, tries + 1):
        evolve(lane, v.AttemptOffered(attempt(number)))
    return lane


def doubted(number: int = 1, *, stale: bool = False, failed: bool = True) -> v.AttemptDoubted:
    return v.AttemptDoubted(1, number, stale, "the line broke", 30, failed)


def refused(
    number: int = 1, word: AttemptWord = AttemptWord.REFUSED, *, final: bool = False
) -> v.AttemptRefused:
    return v.AttemptRefused(1, number, word, "no", 30, final)


def settled(
    status: str = "confirmed", number: int | None = 1, block: int | None = 6
) -> v.SlotSettled:
    return v.SlotSettled(1, status, number, block, "", 40)


# A slot is claimed.


def test_a_claim_takes_the_intent_and_counts_it_as_started() -> None:
    lane = empty()
    touched = evolve(lane, v.SlotClaimed(slot(3), 0, None))
    assert [type(row).__name__ for row in touched] == ["RowPut"]
    assert lane.head.cursors == (3,)
    assert lane.head.slot_next == 4
    assert lane.head.started_count == 1
    assert lane.head.running_since_ms == 20


def test_a_claim_at_a_known_height_brings_its_first_attempt() -> None:
    lane = empty()
    touched = evolve(lane, v.SlotClaimed(slot(), 0, attempt(1)))
    assert len(touched) == 2
    assert lane.attempts == {1: attempt(1)}
    assert lane.head.floor == 5


# Attempts come and go.


def test_an_offer_ends_all_waiting() -> None:
    lane = claimed(tries=0)
    evolve(lane, v.RetryPlanned(1, 99, "down", failed=True))
    evolve(lane, v.SearchPlanned(1, 98))
    assert lane.head.waiting
    evolve(lane, v.AttemptOffered(attempt(1, parent=7)))
    assert lane.slot is not None
    assert (lane.slot.retry_ms, lane.slot.search_ms, lane.slot.attempt_next) == (None, None, 2)
    assert (lane.head.height, lane.head.floor, lane.head.waiting) == (7, 7, False)


def test_an_offer_on_an_older_block_does_not_lower_the_floor() -> None:
    lane = claimed()
    evolve(lane, v.AttemptOffered(attempt(2, parent=3)))
    assert (lane.head.height, lane.head.floor) == (3, 5)


def test_a_doubt_counts_toward_the_breaker_only_when_it_is_a_failure() -> None:
    lane = claimed()
    evolve(lane, doubted(failed=False))
    assert lane.head.failures == 0
    evolve(lane, doubted())
    assert lane.head.failures == 1
    assert lane.head.doubted
    assert lane.head.wait_reason == "the line broke"
    assert lane.attempts[1].doubted
    assert lane.attempts[1].may_land()


def test_a_try_that_was_told_stale_once_stays_so() -> None:
    lane = claimed()
    evolve(lane, doubted(stale=True))
    evolve(lane, doubted())
    assert lane.attempts[1].stale


def test_a_refusal_that_may_pass_is_a_failure_and_one_for_good_is_an_answer() -> None:
    lane = claimed(tries=2)
    evolve(lane, refused(1))
    assert lane.head.failures == 1
    evolve(lane, refused(2, final=True))
    assert lane.head.failures == 1
    assert lane.slot is not None
    assert lane.slot.final_reason == "no"


def test_the_doubt_lasts_while_any_try_is_doubted() -> None:
    lane = claimed(tries=2)
    evolve(lane, doubted(1))
    evolve(lane, doubted(2))
    evolve(lane, refused(2))
    assert lane.head.doubted
    evolve(lane, refused(1))
    assert not lane.head.doubted


def test_when_the_last_try_is_dead_nothing_is_searched_for() -> None:
    lane = claimed(tries=2)
    evolve(lane, v.SearchPlanned(1, 98))
    evolve(lane, refused(1, AttemptWord.DROPPED))
    assert open_slot(lane).search_ms == 98
    evolve(lane, refused(2, AttemptWord.DROPPED))
    assert open_slot(lane).search_ms is None
    assert lane.head.failures == 0


def test_a_passed_parent_counts_once_however_many_tries_it_had() -> None:
    lane = claimed(tries=3)
    for number in (1, 2, 3):
        evolve(lane, refused(number, AttemptWord.STALE))
    assert lane.slot is not None
    assert lane.slot.stale_count == 1
    assert lane.head.height is None


def test_a_slot_keeps_its_latest_attempts_and_forgets_no_open_one() -> None:
    lane = claimed(tries=1)
    evolve(lane, doubted(1))
    touched: Touched = ()
    for number in range(2, ATTEMPTS_KEPT_MAX + 3):
        touched = evolve(lane, v.AttemptOffered(attempt(number)))
        evolve(lane, refused(number))
    assert touched[-1] == RowKey(Table.ATTEMPT, "3")
    assert len(lane.attempts) == ATTEMPTS_KEPT_MAX
    assert list(lane.attempts)[:2] == [1, 4]


def test_attempts_that_may_all_land_are_all_kept() -> None:
    lane = claimed(tries=ATTEMPTS_KEPT_MAX + 2)
    assert len(lane.attempts) == ATTEMPTS_KEPT_MAX + 2


# Waiting.


def test_a_plan_without_words_keeps_the_reason_there_was() -> None:
    lane = claimed()
    evolve(lane, refused())
    evolve(lane, v.RetryPlanned(1, 99, "", failed=False))
    assert (lane.head.wait_reason, lane.head.waiting, lane.head.failures) == ("no", True, 1)
    evolve(lane, v.RetryPlanned(1, None, "", failed=True))
    assert (lane.head.waiting, lane.head.failures) == (False, 2)


def test_a_person_who_wants_it_tried_again_forgets_what_counted_against_it() -> None:
    lane = claimed()
    evolve(lane, refused(1, AttemptWord.STALE))
    evolve(lane, v.RetryPlanned(1, 99, "", failed=False))
    assert lane.slot is not None
    assert lane.slot.stale_count == 1
    evolve(lane, v.RetryPlanned(1, 99, "told", failed=False, afresh=True))
    assert lane.slot.stale_count == 0


# The end of a slot.


def test_a_settled_slot_leaves_its_result_with_its_history_and_nothing_else() -> None:
    lane = claimed(tries=2)
    lane.intents[intent(1).id] = intent(1)
    evolve(lane, doubted(1))
    touched = evolve(lane, settled(number=2))
    result = touched[0]
    assert isinstance(result, Result)
    assert (result.status, result.number, result.settled_ms) == ("confirmed", 6, 40)
    kept = decode_history(result.history)
    assert kept.slot.claimed_ms == 20
    assert [tried.word.value for tried in kept.attempts] == ["offered", "accepted"]
    assert touched[1:] == (
        RowKey(Table.SLOT, "1"),
        RowKey(Table.ATTEMPT, "1"),
        RowKey(Table.ATTEMPT, "2"),
    )
    assert (lane.slot, lane.attempts, lane.intents) == (None, {}, {})


def test_a_settled_slot_closes_the_breaker_and_the_account() -> None:
    lane = claimed()
    evolve(lane, doubted())
    evolve(lane, v.RetryPlanned(1, 99, "down", failed=True))
    evolve(lane, settled())
    head = lane.head
    assert (head.failures, head.doubted, head.waiting, head.wait_reason) == (0, False, False, "")
    assert (head.settled_count, head.settled_bytes, head.running_since_ms) == (1, 6, None)


def test_a_refused_execution_marks_its_attempt_refused() -> None:
    lane = claimed()
    (result, *_) = evolve(lane, settled("refused", block=None))
    assert isinstance(result, Result)
    assert decode_history(result.history).attempts[0].word is AttemptWord.REFUSED


# The height of the next execution.


@pytest.mark.parametrize(
    ("record", "height", "floor"),
    [
        (settled(block=6), 6, 6),
        (settled(block=None), None, 6),
        (settled("refused", block=None), 5, 5),
        (settled("dead", number=None, block=None), 5, 5),
        (settled(number=None, block=9), 9, 9),
        (settled(number=None, block=None), None, 6),
    ],
)
def test_where_the_parent_is_named_the_next_execution_builds_on_the_block_that_was_made(
    record: v.SlotSettled, height: int | None, floor: int
) -> None:
    lane = claimed()
    evolve(lane, record)
    assert (lane.head.height, lane.head.floor) == (height, floor)


def test_where_the_host_picks_the_parent_the_height_is_always_read_again() -> None:
    lane = claimed(ContractSettings(takes_parent=False))
    evolve(lane, settled(block=6))
    assert (lane.head.height, lane.head.floor) == (None, 6)


def test_the_block_of_a_try_long_forgotten_is_not_guessed_too_high() -> None:
    lane = claimed()
    evolve(lane, refused())
    evolve(lane, settled(number=None, block=None))
    assert (lane.head.height, lane.head.floor) == (None, 5)


@pytest.mark.parametrize(
    ("record", "height"),
    [
        (settled(block=6), 6),
        (settled(block=None), 6),
        (settled(block=1), 6),
        (settled("refused", block=None), 5),
        (settled(number=None, block=None), 6),
    ],
)
def test_without_a_chain_the_lane_counts(record: v.SlotSettled, height: int) -> None:
    lane = claimed(ContractSettings(has_chain=False))
    evolve(lane, record)
    assert lane.head.height == height


# Waiting intents that become final.


def dropped(seq: int, *, passed: bool) -> IntentDropped:
    return IntentDropped(intent(seq).id, seq, 0, 6, "expired", "late", 40, passed)


def test_an_expired_intent_moves_the_cursor_and_a_cancelled_one_does_not() -> None:
    lane = empty()
    lane.intents[intent(2).id] = intent(2)
    (result,) = evolve(lane, dropped(2, passed=True))
    assert isinstance(result, Result)
    assert (result.intent, result.status, result.reason) == (intent(2).id, "expired", "late")
    assert lane.head.cursors == (2,)
    assert lane.intents == {}
    evolve(lane, dropped(9, passed=False))
    evolve(lane, dropped(7, passed=False))
    assert lane.head.cursors == (2,)
    assert lane.head.dropped_seq == 9
    assert (lane.head.settled_count, lane.head.settled_bytes) == (3, 18)


def test_a_drain_counts_only_what_it_was_to_finish() -> None:
    lane = claimed()
    evolve(lane, ModeChanged("draining", "", "", 30, drain_seq=3, drain_left=3))
    evolve(lane, dropped(9, passed=False))
    assert lane.head.drain_left == 3
    evolve(lane, dropped(2, passed=False))
    evolve(lane, settled())
    assert lane.head.drain_left == 1
    evolve(lane, dropped(3, passed=True))
    evolve(lane, dropped(4, passed=True))
    assert lane.head.drain_left == 0


# Modes.


def test_the_operators_word_is_kept_with_its_reason() -> None:
    lane = empty()
    assert evolve(lane, ModeChanged("paused", "lunch", "ada", 30)) == ()
    head = lane.head
    assert (head.mode, head.reason, head.by, head.mode_ms) == ("paused", "lunch", "ada", 30)


def test_a_halt_stands_over_the_operators_word_and_leaves_it_when_it_is_lifted() -> None:
    lane = empty()
    evolve(lane, ModeChanged("paused", "lunch", "ada", 30))
    evolve(lane, ModeChanged("halted", "unknown", "laneway", 40, halt=True))
    assert (lane.head.halted, lane.head.halt_ms) == (True, 40)
    assert (lane.head.wait_reason, lane.head.mode, lane.head.reason) == (
        "unknown",
        "paused",
        "lunch",
    )
    evolve(lane, ModeChanged("paused", "known", "laneway", 50, halt=True))
    assert not lane.head.halted
    assert (lane.head.mode, lane.head.reason, lane.head.by) == ("paused", "lunch", "ada")


def test_a_refused_command_changes_nothing() -> None:
    lane = empty()
    before = lane.head
    assert evolve(lane, CommandRefused("bump", "no such command")) == ()
    assert lane.head == before


def test_a_try_that_was_put_aside_makes_its_reason_the_answer_if_none_lands() -> None:
    lane = claimed(tries=2)
    evolve(lane, doubted(1))
    assert open_slot(lane).final_reason is None
    aside = v.AttemptDoubted(1, 1, False, "put aside", 30, False, aside=True)
    assert [type(row).__name__ for row in evolve(lane, aside)] == ["RowPut", "RowPut"]
    assert open_slot(lane).final_reason == "put aside"
    assert lane.attempts[1].may_land()
    assert (lane.head.wait_reason, lane.head.failures) == ("put aside", 1)
