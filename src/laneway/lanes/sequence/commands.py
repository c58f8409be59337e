"""An operator's commands to a sequence lane."""

from msgspec import Struct

from laneway.core.limits import NAME_BYTES_MAX
from laneway.core.outcome import Status
from laneway.core.reason import clip
from laneway.core.rows import Command
from laneway.lanes.common.commands import (
    FINAL_ALREADY,
    cancelled,
    drained,
    is_taken,
    mode_changed,
    refusal,
    unfit_cancel,
)
from laneway.lanes.sequence.answers import give_up
from laneway.lanes.sequence.belief import Belief, believed_anew, seen_at
from laneway.lanes.sequence.fold import moved
from laneway.lanes.sequence.lane import SequenceLane, is_out, replace
from laneway.lanes.sequence.limits import SEQUENCE_DIGITS_MAX
from laneway.lanes.sequence.rows import Slot
from laneway.lanes.sequence.tries import Decision, decided, make
from laneway.lanes.sequence.values import Record, SequenceSet, SlotsRenumbered


def judge_command(lane: SequenceLane, command: Command, now_ms: int) -> Decision:
    match command.verb:
        case "pause":
            return decided([mode_changed("paused", command, now_ms)])
        case "resume":
            return decided([mode_changed("running", command, now_ms)])
        case "drain":
            begun = len(lane.bound)
            mode = drained(lane.head, command, now_ms, begun=begun, is_idle=not begun)
            return decided([mode])
        case "cancel":
            return cancel(lane, command, now_ms)
        case "set-sequence":
            return set_sequence(lane, command, now_ms)
        case verb:
            return refused(command, f"a sequence lane has no command {verb!r}")


def refused(command: Command, reason: str) -> Decision:
    return decided([refusal(command, reason)])


def cancel(lane: SequenceLane, command: Command, now_ms: int) -> Decision:
    """What no node has is taken back; for the rest a Cosmos node takes nothing else instead."""
    unfit = unfit_cancel(command)
    if unfit is not None:
        return decided([unfit])
    slot = lane.slot_of(command.intent)
    if slot is None:
        if is_taken(lane.head, command):
            return refused(command, FINAL_ALREADY)
        return decided([cancelled(command, now_ms)])
    if is_out(lane, slot, lane.nodes.values()):
        until = last_block(slot)
        return refused(command, f"a node may have it: it is final in block {until + 1} at last")
    status, reason = Status.CANCELLED.value, command.reason
    return give_up(lane, slot, status, reason, now_ms, nodes=lane.nodes.values())


def last_block(slot: Slot) -> int:
    """The last one that may hold bytes of it."""
    past = [one.timeout_height for one in slot.past if not one.proven]
    return max(past if slot.attempt is None else [slot.attempt.timeout_height, *past])


class SequencePlan(Struct, frozen=True):
    """What setting an account's next sequence would do, and why no more."""

    wanted: int | None
    """None: what the chain says."""
    sequence_next: int
    committed: int
    """The account's sequence, as the chain last showed it."""
    bound: int
    """Numbers that an intent or a filler has."""
    bound_highest: int | None
    becomes: int
    held: str = ""
    """Why it is not done: bytes may still land. Empty: it is done."""

    def why(self) -> str:
        if self.held:
            return self.held
        if self.wanted is not None and self.becomes == self.wanted:
            return f"the chain counts {self.committed}, and nothing of ours has it"
        if self.bound_highest is not None and self.becomes == self.bound_highest + 1:
            return (
                f"sequence {self.bound_highest} is bound until its bytes are in a block, or can "
                "land no more"
            )
        return f"the chain counts {self.committed}: what is below is used"


def plan_sequence(lane: SequenceLane, wanted: int | None) -> SequencePlan | None:
    """Where numbers would go on; never at one that is used, or that someone may still use. None:
    the account was not read yet."""
    head = lane.head
    if head.sequence_next is None:
        return None
    highest = max(lane.numbers, default=None)
    if head.halt:
        return plan_anew(lane, wanted, highest, head.halt_ms)
    least = head.committed if highest is None else max(head.committed, highest + 1)
    return SequencePlan(
        wanted=wanted,
        sequence_next=head.sequence_next,
        committed=head.committed,
        bound=len(lane.numbers),
        bound_highest=highest,
        becomes=least if wanted is None else max(least, wanted),
    )


def plan_anew(
    lane: SequenceLane, wanted: int | None, highest: int | None, now_ms: int
) -> SequencePlan:
    """Where a lane goes on whose nodes took back what was believed: where a majority of them counts
    the account now, also below, and only if nothing that is bound can land."""
    head, nodes = lane.head, lane.nodes.values()
    assert head.sequence_next is not None
    belief = believed_anew(head, lane.settings, nodes, now_ms)
    sequence, held = belief.sequence, held_by(lane, belief)
    if sequence is None or belief.number is None:
        sequence, held = head.committed, "too few nodes show the same account"
    return SequencePlan(
        wanted=wanted,
        sequence_next=head.sequence_next,
        committed=sequence,
        bound=len(lane.numbers),
        bound_highest=highest,
        becomes=head.sequence_next if held else max(sequence, wanted or 0),
        held=held,
    )


def held_by(lane: SequenceLane, belief: Belief) -> str:
    """What is bound and may still land; empty: nothing."""
    for slot in lane.in_order():
        last = last_block(slot) if is_out(lane, slot, lane.nodes.values()) else 0
        if last and not belief.is_over(slot.sequence, last):
            return f"sequence {slot.sequence} is bound, and its bytes may land up to block {last}"
    return ""


def set_sequence(lane: SequenceLane, command: Command, now_ms: int) -> Decision:
    word = command.word
    is_number = word.isascii() and word.isdecimal() and len(word) <= SEQUENCE_DIGITS_MAX
    wanted = int(word) if is_number else None
    if word and wanted is None:
        return refused(command, f"{word!r} is no sequence")
    plan = plan_sequence(lane, wanted)
    if plan is None:
        return refused(command, "the account was not read yet")
    if plan.held:
        return refused(command, plan.held)
    reason, by = clip(command.reason), clip(command.by, NAME_BYTES_MAX)
    floor = 0 if wanted is None else plan.becomes
    done = SequenceSet(floor, plan.becomes, now_ms, reason, by)
    return begin_anew(lane, plan, done) if lane.head.halt else decided([done])


def begin_anew(lane: SequenceLane, plan: SequencePlan, done: SequenceSet) -> Decision:
    """All that is bound is given the next numbers, in its order, and made anew."""
    belief = believed_anew(lane.head, lane.settings, lane.nodes.values(), done.at_ms)
    assert belief.number is not None
    seen = seen_at(belief, plan.committed, belief.number, belief.sequence_height)
    records: list[Record] = [replace(done, seen=seen)]
    slots = list(lane.in_order())
    if slots:
        records.append(SlotsRenumbered(plan.becomes, "an operator set the sequence", done.at_ms))
    made = [
        replace(make(lane, moved(slot, number)), height=seen.height, account_number=seen.number)
        for number, slot in enumerate(slots, plan.becomes)
    ]
    return decided(records, made)
