"""An operator's word."""

import msgspec
import pytest
from tests.lanes.eoa.stage import (
    World,
    begun,
    chain,
    is_replaced_by,
    later,
    make_all,
    receipt,
    refuse,
    take,
    tx_of,
)

from laneway.core.ids import IntentId, intent_id
from laneway.core.intent import IntentRow
from laneway.core.rows import Command
from laneway.lanes.common.values import CommandRefused
from laneway.lanes.eoa.commands import ResetPlan, judge_command, plan_reset
from laneway.lanes.eoa.lane import decode_history
from laneway.lanes.eoa.limits import ATTEMPTS_MAX, GAP_NUMBERS_MAX
from laneway.lanes.eoa.rows import Purpose
from laneway.lanes.eoa.values import AttemptsMade, HaltJudged, MakeAttempt, NotMade, SlotDropped

replace = msgspec.structs.replace


def told(world: World, verb: str, row: IntentRow | None = None, content: str = "") -> str:
    """Why it was refused; empty if it was not."""
    command = Command(1, world.lane.id, verb, world.now_ms, "why", "ann", word=content)
    if row is not None:
        command = Command(
            1, world.lane.id, verb, world.now_ms, "why", "ann", row.id, row.seq, 0, row.size()
        )
        command = replace(command, payload=f"{row.id}!{content}".encode())
    decision = judge_command(world.lane, command, world.now_ms)
    refusals = [one.reason for one in decision.records if isinstance(one, CommandRefused)]
    if not refusals:
        world.tell(verb, row, content)
    return refusals[0] if refusals else ""


def first(world: World) -> IntentRow:
    return next(iter(world.accepted.values()))


def test_a_paused_lane_says_by_whom_and_goes_on_when_told() -> None:
    world = begun(0)
    assert told(world, "pause") == ""
    assert (world.lane.head.mode, world.lane.head.by) == ("paused", "ann")
    assert told(world, "resume") == ""
    assert world.lane.head.mode == "running"
    assert "dance" in told(world, "dance")


def test_who_waits_is_taken_back_without_a_number() -> None:
    world = begun(17)
    last = list(world.accepted.values())[-1]
    assert told(world, "cancel", last) == ""
    assert world.results[last.id].status == "cancelled"


def test_who_was_returned_is_taken_back() -> None:
    world = begun(2)
    make_all(world)
    refuse(world, 1, 1)
    row = first(world)
    assert told(world, "cancel", row) == ""
    assert world.results[row.id].status == "cancelled"
    assert world.lane.returned == {}


def test_what_was_never_offered_falls_out() -> None:
    world = begun(2)
    row = first(world)
    assert told(world, "cancel", row) == ""
    assert world.results[row.id].status == "cancelled"
    assert list(world.lane.nonces) == [0]


def test_what_is_out_is_taken_back_by_a_no_op_at_its_number() -> None:
    world = begun(1)
    make_all(world)
    take(world, 1)
    assert "nothing" in told(
        world, "bump", IntentRow(IntentId("x"), world.lane.id, 9, 0, 0, None, None, "", b"", b"")
    )
    assert told(world, "cancel", first(world)) == ""
    assert "already" in told(world, "cancel", first(world))
    make_all(world)
    assert [one.purpose for one in world.lane.attempts[1].values()] == ["intent", "cancel"]
    chain(world, 1, 1, receipt(world, 1, 2, 1))
    chain(world, 1, 9)
    assert world.results[first(world).id].status == "cancelled"


def test_what_is_being_made_dearer_is_taken_back_and_those_bytes_are_passed_over() -> None:
    world = begun(1)
    make_all(world)
    take(world, 1)
    assert told(world, "bump", first(world)) == ""
    assert "being made" in told(world, "bump", first(world))
    dearer = [effect for effect in world.out if isinstance(effect, MakeAttempt)]
    assert told(world, "cancel", first(world)) == ""
    for effect in dearer:
        world.post(AttemptsMade(world.now_ms, (world.make(effect),)))
    assert list(world.lane.attempts[1]) == [1]
    make_all(world)
    assert {number: one.purpose for number, one in world.lane.attempts[1].items()} == {
        1: "intent",
        3: "cancel",
    }


def test_what_is_parked_is_taken_back_or_made_dearer() -> None:
    """A making that is only put off, by a cap or for want of funds, holds no word up."""
    for verb, purpose in (("cancel", "cancel"), ("bump", "intent")):
        world = begun(1)
        make_all(world)
        take(world, 1)
        world.lane.settings = replace(world.settings, fee_wei_max=210)
        assert told(world, "bump", first(world)) == ""
        make_all(world)
        assert world.lane.slots[1].wait_reason == "parked_by_cap"
        world.lane.settings = world.settings
        assert told(world, verb, first(world)) == ""
        make_all(world)
        assert [one.purpose for one in world.lane.attempts[1].values()] == ["intent", purpose]


def test_what_was_never_signed_below_others_leaves_its_number_to_the_next() -> None:
    world = begun(2)
    make_all(world)
    refuse(world, 1, 1)
    later(world, 60_000)
    row = first(world)
    slot = world.lane.slot_of(row.id)
    assert slot is not None
    assert slot.nonce == 0
    assert told(world, "cancel", row) == ""
    assert world.results[row.id].status == "cancelled"
    assert world.lane.free.first(9) == [0]
    later(world, 60_000)
    filler = world.lane.slot_at(0)
    assert filler is not None
    assert filler.purpose == "noop"


def test_what_is_final_is_not_made_final_again() -> None:
    """The word may have been told while the last look was under way."""
    world = begun(1)
    make_all(world)
    take(world, 1)
    chain(world, 1, 1, receipt(world, 1, 1, 1))
    chain(world, 1, 9)
    row = first(world)
    assert world.results[row.id].status == "confirmed"
    assert "final" in told(world, "cancel", row)
    assert "final" in told(world, "replace", row)
    word = Command(1, world.lane.id, "cancel", 0, "", "", row.id, row.seq, word="please")
    (refusal,) = judge_command(world.lane, word, 0).records
    assert isinstance(refusal, CommandRefused)
    assert "no word" in refusal.reason


def test_a_cancel_that_came_too_late_is_none() -> None:
    """What landed decides, not what was wanted last."""
    world = begun(1)
    make_all(world)
    take(world, 1)
    assert told(world, "cancel", first(world)) == ""
    make_all(world)
    chain(world, 1, 1, receipt(world, 1, 1, 1))
    chain(world, 1, 9)
    assert world.results[first(world).id].status == "confirmed"


# Other content.


def said(world: World, number: int) -> list[str]:
    """What the attempts of a slot carry."""
    tries = world.lane.attempts[number].values()
    return [tx_of(world.lane.raw(one)).intent.partition("!")[2] for one in tries]


def test_a_replacement_is_a_further_attempt_at_the_same_number() -> None:
    world = begun(2)
    make_all(world)
    take(world, 1)
    row = first(world)
    world.tell("replace", row, "b")
    make_all(world)
    before, after = world.lane.attempts[1].values()
    assert said(world, 1) == ["", "b"]
    assert is_replaced_by(before.fee, after.fee)
    assert sorted(world.lane.nonces) == [0, 1]
    assert "already" in told(world, "replace", row, "b")
    # After a crash a bump still carries the new content.
    world.crash()
    assert told(world, "bump", row) == ""
    make_all(world)
    assert said(world, 1) == ["", "b", "b"]


@pytest.mark.parametrize(
    ("attempt", "words"),
    [(1, "its first content landed, not its replacement"), (2, "its replacement 1 of 2 landed")],
)
def test_whichever_content_lands_decides_and_the_answer_says_which(
    attempt: int, words: str
) -> None:
    world = begun(1)
    make_all(world)
    take(world, 1)
    row = first(world)
    for content in "bc":
        world.tell("replace", row, content)
        make_all(world)
    chain(world, 1, 1, receipt(world, 1, attempt, 1))
    assert "mined" in told(world, "replace", row)
    chain(world, 1, 9)
    result = world.results[row.id]
    assert (result.status, result.reason) == ("confirmed", words)
    history = decode_history(result.history)
    assert [one.content for one in history.attempts] == [0, 1, 2]
    assert history.payload.endswith(b"!c")
    # Only of a content that is neither the first nor the last the bytes are kept.
    assert [bool(one.raw) for one in history.attempts] == [False, attempt == 2, False]
    assert world.rows == {}


def test_who_waits_is_given_its_number_with_the_new_content_alone() -> None:
    world = begun(17)
    last = list(world.accepted.values())[-1]
    world.tell("replace", last, "b")
    make_all(world)
    world.crash()
    chain(world, 1, 1, receipt(world, 1, 1, 1))
    world.pull()
    make_all(world)
    slot = world.lane.slot_of(last.id)
    assert slot is not None
    assert said(world, slot.id) == ["b"]


def test_who_is_being_signed_is_signed_anew_with_the_new_content() -> None:
    world = begun(1)
    row = first(world)
    world.tell("replace", row, "b")
    make_all(world)
    assert said(world, 1) == ["b"]
    assert told(world, "cancel", row) == ""
    assert "taken back" in told(world, "replace", row)


def test_the_content_of_one_that_was_taken_back_meanwhile_is_forgotten() -> None:
    world = begun(17)
    waits = list(world.accepted.values())[-1]
    world.tell("replace", waits, "b")
    world.tell("cancel", waits)
    assert world.lane.contents == {}
    world.tell("replace", waits, "c")  # It was in the mailbox already, behind the cancel.
    begun_row = IntentRow(
        intent_id(99, bytes(10)), world.lane.id, 18, 0, 0, None, None, "", b"", b"x"
    )
    world.accepted[begun_row.id] = begun_row
    world.backlog.append(begun_row)
    make_all(world)
    chain(world, 1, 1, receipt(world, 1, 1, 1))
    world.pull()
    assert world.lane.contents == {}


# Draining, and going on.


def test_a_drained_lane_finishes_what_it_has_and_pauses() -> None:
    world = begun(1)
    world.accept(1)
    world.tell("drain", None, "running")
    assert world.kind.wants(world.lane) == 0
    make_all(world)
    chain(world, 1, 1, receipt(world, 1, 1, 1))
    chain(world, 1, 9)
    assert world.lane.head.mode == "draining"
    later(world, 1)
    assert (world.lane.head.mode, world.lane.head.by) == ("paused", "ann")
    assert len(world.results) == 1


def test_a_lane_that_drains_its_queue_takes_what_waits_now_and_no_more() -> None:
    world = begun(18)
    waiting = list(world.accepted.values())[-1]
    world.tell("drain", None, "queue")
    assert (world.lane.head.drain_seq, world.lane.head.drain_left) == (18, 2)
    world.tell("cancel", waiting)
    assert world.lane.head.drain_left == 1
    world.accept(1)
    world.backlog.remove(waiting)
    make_all(world)
    chain(world, 16, 1, *(receipt(world, slot, 1, 1) for slot in range(1, 17)))
    world.pull()
    assert world.lane.head.cursors[0] == 17
    assert world.kind.wants(world.lane) == 0
    make_all(world)
    chain(world, 17, 9, receipt(world, 17, 1, 9))
    chain(world, 17, 20)
    later(world, 1)
    assert world.lane.head.mode == "paused"
    assert len(world.results) == 18


def test_nothing_to_drain_is_paused_at_once_and_half_a_word_is_refused() -> None:
    world = begun(0)
    world.tell("drain", None, "queue")
    assert world.lane.head.mode == "paused"
    assert "drains" in told(world, "drain", None, "all")


def is_broke(world: World) -> bool:
    return world.lane.head.broke


def test_a_person_may_say_that_there_are_funds() -> None:
    world = begun(1)
    (effect,) = world.out
    world.out = []
    poor = NotMade(effect.slot, effect.number, final=False, reason="poor", broke=True)
    world.post(AttemptsMade(world.now_ms, (poor,)))
    assert is_broke(world)
    assert told(world, "resume") == ""
    assert not is_broke(world)
    assert world.lane.head.health.threshold == b""
    make_all(world)
    assert len(world.lane.attempts[1]) == 1
    # Without anything that waits for funds there is nothing to make.
    refuse(world, 1, 1, broke=True)
    assert is_broke(world)
    assert told(world, "resume") == ""
    assert not is_broke(world)


def test_what_was_mined_is_neither_taken_back_nor_made_dearer() -> None:
    world = begun(1)
    make_all(world)
    take(world, 1)
    chain(world, 1, 1, receipt(world, 1, 1, 1))
    assert "mined" in told(world, "cancel", first(world))
    assert "mined" in told(world, "bump", first(world))


def test_a_reset_never_goes_below_a_number_that_is_bound() -> None:
    world = World(1)
    assert plan_reset(world.lane) is None
    assert "not read" in told(world, "reset-nonce")
    world = begun(3)
    make_all(world)
    refuse(world, 1, 1)
    plan = plan_reset(world.lane)
    assert plan == ResetPlan(3, 0, 2, 2, 1, 3, 0)
    assert "nonce 2 may still be mined" in plan.why()
    assert told(world, "reset-nonce") == ""
    assert world.lane.head.nonce_next == 3
    assert world.lane.head.looking


def test_a_reset_goes_back_to_the_chain_where_nothing_is_out() -> None:
    world = begun(0)
    world.lane.head.nonce_next = world.lane.head.offered_next = 7
    plan = plan_reset(world.lane)
    assert plan == ResetPlan(7, 0, 0, None, 0, 0, 0)
    assert "counts 0" in plan.why()
    assert told(world, "reset-nonce") == ""
    assert (world.lane.head.nonce_next, len(world.lane.head.health.resets_ms)) == (0, 1)
    # The chain is being looked at already.
    assert told(world, "reset-nonce") == ""
    assert len(world.lane.head.health.resets_ms) == 2


def test_what_is_final_is_not_taken_back_again() -> None:
    """A cancel may wait in the mailbox while its intent gets its answer."""
    world = begun(1)
    row = first(world)
    assert told(world, "cancel", row) == ""
    assert told(world, "cancel", row) == "it is final already"


def test_a_word_on_an_intent_names_one() -> None:
    world = begun(1)
    assert told(world, "cancel") == "it names no intent"
    assert told(world, "bump") == "it names no intent"
    assert told(world, "replace") == "it names no intent"


def test_a_number_with_all_its_attempts_is_made_no_dearer() -> None:
    world = begun(1)
    make_all(world)
    row = first(world)
    for _ in range(1, ATTEMPTS_MAX):
        assert told(world, "bump", row) == ""
        make_all(world)
    assert told(world, "bump", row) == f"it has {ATTEMPTS_MAX} attempts; no dearer one is made"
    assert "attempts" in told(world, "replace", row, "b")
    assert told(world, "cancel", row) == "", "its number can still be given to a no-op"


def test_a_cancelled_intent_whose_bytes_may_have_used_its_number_is_indeterminate() -> None:
    world = begun(2)
    make_all(world)
    first, second = world.accepted.values()
    world.apply([HaltJudged("nonce 0 is used", world.now_ms, 0)])
    world.tell("cancel", first)
    assert [result.status for result in world.results.values()] == ["indeterminate"]
    assert "no transaction that a node shows" in next(iter(world.results.values())).reason
    assert 0 not in world.lane.nonces
    assert world.lane.free.count == 0, "nobody else may have it"
    world.tell("cancel", second)
    assert world.lane.slot_of(second.id) is not None, "its own number is cancelled by a no-op"


def test_a_cancelled_intent_far_above_the_accounts_count_is_indeterminate() -> None:
    world = begun(1)
    make_all(world)
    (row,) = world.accepted.values()
    slot = world.lane.slots[1]
    far = slot.nonce + GAP_NUMBERS_MAX + 1
    world.lane.nonces[far] = world.lane.nonces.pop(slot.nonce)
    world.lane.slots[1] = replace(slot, nonce=far)
    world.lane.head.halted, world.lane.head.halted_nonce = "a false count", far
    command = Command(
        1, world.lane.id, "cancel", world.now_ms, "why", "ann", row.id, row.seq, 0, row.size()
    )
    (record,) = judge_command(world.lane, command, world.now_ms).records
    assert isinstance(record, SlotDropped)
    assert (record.status, record.recycle) == ("indeterminate", False)
    assert f"its nonce {far} is far above the account's count of 0" in record.reason


def test_a_cancelled_intent_that_was_never_signed_cannot_have_used_its_number() -> None:
    world = begun(1)
    (row,) = world.accepted.values()
    world.apply([HaltJudged("nonce 0 is used", world.now_ms, 0)])
    world.tell("cancel", row)
    assert [result.status for result in world.results.values()] == ["cancelled"]


def halted_at(world: World, nonce: int) -> None:
    world.apply([HaltJudged(f"nonce {nonce} is used", world.now_ms, nonce)])


def test_an_intent_that_is_being_taken_back_is_released_from_a_number_that_was_used() -> None:
    world = begun(1)
    make_all(world)
    (row,) = world.accepted.values()
    world.tell("cancel", row)
    halted_at(world, 0)
    world.tell("reset-nonce")
    assert [result.status for result in world.results.values()] == ["indeterminate"]
    assert not world.lane.nonces


def test_a_no_op_at_a_number_that_was_used_is_released_by_a_reset() -> None:
    world = begun(2)
    make_all(world)
    take(world, 2)
    refuse(world, 1, 1, hopeless=True)
    later(world, world.settings.bump_after_ms)
    noop = world.lane.slots[world.lane.nonces[0]]
    assert (noop.intent, noop.purpose) == (None, Purpose.NOOP)
    make_all(world)
    halted_at(world, 0)
    world.tell("reset-nonce")
    assert [*world.lane.nonces] == [1], "its number is nobody's, and those above stay bound"


def test_a_reset_releases_no_intent_that_can_be_cancelled() -> None:
    world = begun(1)
    make_all(world)
    halted_at(world, 0)
    world.tell("reset-nonce")
    assert [*world.lane.nonces] == [0]
