"""An operator's or a caller's word to the lane; each is answered by a record."""

from laneway.core.outcome import Status
from laneway.core.rows import Command, taken
from laneway.lanes.eoa.answers import fall_out, falls_out
from laneway.lanes.eoa.lane import EoaLane
from laneway.lanes.eoa.limits import ATTEMPTS_MAX
from laneway.lanes.eoa.timers import bump
from laneway.lanes.eoa.tries import Decision, said
from laneway.lanes.eoa.values import (
    CommandRefused,
    IntentDropped,
    ModeChanged,
    NoncesReset,
    Purpose,
    Slot,
)


def judge_command(lane: EoaLane, command: Command, now_ms: int) -> Decision:
    match command.verb:
        case "pause":
            return said([ModeChanged("paused", command.reason, command.by, now_ms)])
        case "resume":
            return said([ModeChanged("running", command.reason, command.by, now_ms)])
        case "cancel":
            return cancel(lane, command, now_ms)
        case "bump":
            return dearer(lane, command)
        case "reset-nonce":
            return reset(lane, command, now_ms)
        case verb:
            return refused(command, f"an account's lane knows no {verb}")


def refused(command: Command, reason: str) -> Decision:
    return said([CommandRefused(command.verb, reason, command.intent)])


def slot_of(lane: EoaLane, command: Command) -> Slot | None:
    for slot in lane.slots.values():
        if slot.intent == command.intent:
            return slot
    return None


def cancel(lane: EoaLane, command: Command, now_ms: int) -> Decision:
    """Waiting: it never gets a number. Bound: a no-op at its number, never a hole."""
    if command.intent is None:
        return refused(command, "it names no intent")
    slot = slot_of(lane, command)
    if slot is None:
        is_behind = command.seq <= taken(lane.head.cursors, command.priority)
        if is_behind and command.intent not in lane.returned:
            return refused(command, "it is final already")
        return said([waiting_dropped(lane, command, now_ms)])
    if slot.seen is not None:
        return refused(command, f"it was mined in block {slot.seen.block}")
    if slot.purpose == Purpose.CANCEL:
        return refused(command, "it is being taken back already")
    if falls_out(lane, slot):
        return fall_out(lane, slot, command.reason, now_ms, [], status=Status.CANCELLED.value)
    if not lane.tries(slot.id) or slot.making:
        return refused(command, "its bytes are being made; try again in a moment")
    return bump(lane, slot, command.reason, Purpose.CANCEL)


def waiting_dropped(lane: EoaLane, command: Command, now_ms: int) -> IntentDropped:
    assert command.intent is not None
    return IntentDropped(
        intent=command.intent,
        seq=command.seq,
        priority=command.priority,
        size=command.size,
        status=Status.CANCELLED.value,
        reason=command.reason,
        at_ms=now_ms,
        returned=command.intent in lane.returned,
        passes=False,
    )


def dearer(lane: EoaLane, command: Command) -> Decision:
    if command.intent is None:
        return refused(command, "it names no intent")
    slot = slot_of(lane, command)
    if slot is None or not lane.tries(slot.id):
        return refused(command, "nothing of it is out")
    if slot.seen is not None:
        return refused(command, f"it was mined in block {slot.seen.block}")
    if slot.making:
        return refused(command, "a further attempt is being made already")
    if len(lane.tries(slot.id)) >= ATTEMPTS_MAX:
        return refused(command, f"it has {ATTEMPTS_MAX} attempts; no dearer one is made")
    return bump(lane, slot, command.reason)


def reset(lane: EoaLane, command: Command, now_ms: int) -> Decision:
    """Back to what the chain says, and never below a number that someone may still use."""
    head = lane.head
    if head.nonce_next is None:
        return refused(command, "the account was not read yet")
    bound = max(lane.nonces, default=-1)
    return said([NoncesReset(max(head.latest, bound + 1), now_ms)])
