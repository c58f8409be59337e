"""What an operator may tell a contract lane, and what each word does."""

from laneway.core.limits import NAME_BYTES_MAX
from laneway.core.outcome import AttemptWord
from laneway.core.reason import clip
from laneway.core.records import Decision as CoreDecision
from laneway.core.rows import Command, taken
from laneway.lanes.contract.lane import ContractLane
from laneway.lanes.contract.tries import (
    NOTHING,
    Decision,
    halt_lifted,
    halted,
    may_land,
    open_attempts,
    settled,
)
from laneway.lanes.contract.values import (
    AttemptDoubted,
    AttemptRefused,
    CommandRefused,
    IntentDropped,
    ModeChanged,
    Record,
    RetryPlanned,
    Slot,
)

TO_SETTLE = "look at the chain, then `laneway tx settle ID executed` or `not_executed`"


def judge_command(lane: ContractLane, command: Command, now_ms: int) -> Decision:
    match command.verb:
        case "pause":
            return CoreDecision((mode_changed("paused", command, now_ms),))
        case "drain":
            return drain(lane, command, now_ms)
        case "resume":
            return resume_lane(lane, command, now_ms)
        case "cancel":
            return cancel(lane, command, now_ms)
        case "settle":
            return settle_by_hand(lane, command, now_ms)
        case "put_aside":
            return put_aside(lane, command, now_ms)
        case _:
            return refuse(command, now_ms, f"a contract lane has no command {command.verb!r}")


def drain(lane: ContractLane, command: Command, now_ms: int) -> Decision:
    """Finish the queue as it stands, or only what runs, and start nothing more."""
    match command.word:
        case "queue":
            # Sequences have no gaps, so those that are not final yet are easily counted.
            seq = max(command.seq, lane.head.cancelled_seq, *lane.head.cursors)
            left = seq - lane.head.settled_count
        case "running":
            seq = left = 0
        case _:
            return refuse(command, now_ms, "a lane drains its 'queue' or what is 'running'")
    if lane.slot is None and left == 0:
        return CoreDecision((mode_changed("paused", command, now_ms),))
    return CoreDecision((mode_changed("draining", command, now_ms, seq, left),))


def mode_changed(
    mode: str, command: Command, now_ms: int, drain_seq: int = 0, drain_left: int = 0
) -> ModeChanged:
    reason, by = clip(command.reason), clip(command.by, NAME_BYTES_MAX)
    return ModeChanged(mode, reason, by, now_ms, drain_seq, drain_left)


def resume_lane(lane: ContractLane, command: Command, now_ms: int) -> Decision:
    running = mode_changed("running", command, now_ms)
    if not lane.head.halted:
        return CoreDecision((running,))
    if may_land(lane):
        return refuse(command, now_ms, f"its outcome is unknown; {TO_SETTLE}")
    assert lane.slot is not None
    again = RetryPlanned(lane.slot.id, now_ms, told_by(command), failed=False, afresh=True)
    return CoreDecision((*halt_lifted(lane, told_by(command), now_ms), running, again))


def cancel(lane: ContractLane, command: Command, now_ms: int) -> Decision:
    slot = lane.slot
    if command.intent is None:
        return refuse(command, now_ms, "it names no intent")
    if command.word:
        # The store tells each word on an intent once; two cancels must not differ by theirs.
        return refuse(command, now_ms, "a cancel takes no word")
    if slot is not None and slot.intent == command.intent:
        if may_land(lane):
            unknown = f"it may have run; {TO_SETTLE}"
            executing = "it is executing; an execution cannot be called back"
            return refuse(command, now_ms, unknown if lane.head.halted else executing)
        # It waits for another try, and none of those it had can land.
        return CoreDecision(settled(lane, "cancelled", now_ms, reason=command.reason))
    if command.seq <= taken(lane.head.cursors, command.priority):
        return refuse(command, now_ms, "it is final already")
    dropped = IntentDropped(
        intent=command.intent,
        seq=command.seq,
        priority=command.priority,
        size=command.size,
        status="cancelled",
        reason=clip(command.reason),
        at_ms=now_ms,
        passed=False,
    )
    return CoreDecision((dropped,))


def settle_by_hand(lane: ContractLane, command: Command, now_ms: int) -> Decision:
    """A person who looked knows what no call can tell."""
    slot = lane.slot
    if slot is None or slot.intent != command.intent or not lane.head.halted:
        return refuse(command, now_ms, "the lane is not halted over this intent")
    reason = told_by(command)
    match command.word:
        case "executed" if may_land(lane):
            return CoreDecision(settled(lane, "confirmed", now_ms, reason=reason))
        case "not_executed" if may_land(lane):
            return CoreDecision(not_executed(lane, slot, reason, now_ms))
        case "skip" if not may_land(lane):
            return CoreDecision(settled(lane, "dead", now_ms, reason=reason))
        case _:
            words = "say 'executed' or 'not_executed' of a doubt, 'skip' of an exhausted one"
            return refuse(command, now_ms, words)


def put_aside(lane: ContractLane, command: Command, now_ms: int) -> Decision:
    """A bug about this intent stopped the lane. What of it may have run is never tried again, and
    the lane waits for the chain or a person; anything else is taken back by the cancel after it."""
    slot = lane.slot
    if slot is None or slot.intent != command.intent or not may_land(lane):
        return NOTHING
    reason = clip(command.reason)
    doubts = [
        AttemptDoubted(slot.id, attempt.number, False, reason, now_ms, False, aside=True)
        for attempt in open_attempts(lane)
    ]
    found = f"{slot.intent} may have run when a bug stopped the lane; {TO_SETTLE}; {reason}"
    return CoreDecision((*doubts, halted(found, now_ms)))


def not_executed(lane: ContractLane, slot: Slot, reason: str, now_ms: int) -> tuple[Record, ...]:
    dropped = [
        AttemptRefused(slot.id, attempt.number, AttemptWord.DROPPED, reason, now_ms)
        for attempt in open_attempts(lane)
    ]
    if slot.final_reason is not None:
        # Nothing can land any more, and a try was refused for good: that is the answer.
        return (*dropped, *settled(lane, "refused", now_ms, reason=slot.final_reason))
    again = RetryPlanned(slot.id, now_ms, reason, failed=False)
    return (*dropped, *halt_lifted(lane, reason, now_ms), again)


def told_by(command: Command) -> str:
    by = clip(command.by, NAME_BYTES_MAX) or "an operator"
    return clip(f"told by {by}: {command.reason}")


def refuse(command: Command, now_ms: int, reason: str) -> Decision:
    verb = clip(command.verb, NAME_BYTES_MAX)
    return CoreDecision((CommandRefused(verb, command.intent, clip(reason), now_ms),))
