"""The commands of an operator to a contract lane, and what each does."""

from laneway.core.limits import NAME_BYTES_MAX
from laneway.core.outcome import AttemptWord
from laneway.core.reason import clip
from laneway.core.records import Decision as CoreDecision
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
from laneway.lanes.contract import values as v
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

TO_SETTLE = "look at the chain, then `laneway tx settle ID executed` or `not_executed`"


def judge_command(lane: ContractLane, command: Command, now_ms: int) -> Decision:
    match command.verb:
        case "pause":
            return CoreDecision((mode_changed("paused", command, now_ms),))
        case "drain":
            is_idle = lane.slot is None
            mode = drained(lane.head, command, now_ms, begun=0, is_idle=is_idle)
            return CoreDecision((mode,))
        case "resume":
            return resume_lane(lane, command, now_ms)
        case "cancel":
            return cancel(lane, command, now_ms)
        case "settle":
            return settle_by_hand(lane, command, now_ms)
        case "put_aside":
            return put_aside(lane, command, now_ms)
        case _:
            return refuse(command, f"a contract lane has no command {command.verb!r}")


def resume_lane(lane: ContractLane, command: Command, now_ms: int) -> Decision:
    running = mode_changed("running", command, now_ms)
    if not lane.head.halted:
        return CoreDecision((running,))
    if may_land(lane):
        return refuse(command, f"its outcome is unknown; {TO_SETTLE}")
    assert lane.slot is not None
    again = v.RetryPlanned(lane.slot.id, now_ms, commanded_by(command), failed=False, afresh=True)
    return CoreDecision((*halt_lifted(lane, commanded_by(command), now_ms), running, again))


def cancel(lane: ContractLane, command: Command, now_ms: int) -> Decision:
    slot = lane.slot
    unfit = unfit_cancel(command)
    if unfit is not None:
        return CoreDecision((unfit,))
    if slot is not None and slot.intent == command.intent:
        if may_land(lane):
            unknown = f"it may have run; {TO_SETTLE}"
            executing = "it is executing; an execution cannot be called back"
            return refuse(command, unknown if lane.head.halted else executing)
        # It waits for another try, and none of those it had can land.
        return CoreDecision(settled(lane, "cancelled", now_ms, reason=command.reason))
    if is_taken(lane.head, command):
        return refuse(command, FINAL_ALREADY)
    return CoreDecision((cancelled(command, now_ms),))


def settle_by_hand(lane: ContractLane, command: Command, now_ms: int) -> Decision:
    """A person who looked at the chain knows what no call can show."""
    slot = lane.slot
    if slot is None or slot.intent != command.intent or not lane.head.halted:
        return refuse(command, "the lane is not halted over this intent")
    reason = commanded_by(command)
    match command.word:
        case "executed" if may_land(lane):
            return CoreDecision(settled(lane, "confirmed", now_ms, reason=reason))
        case "not_executed" if may_land(lane):
            return CoreDecision(not_executed(lane, slot, reason, now_ms))
        case "skip" if not may_land(lane):
            return CoreDecision(settled(lane, "dead", now_ms, reason=reason))
        case _:
            verdicts = "say 'executed' or 'not_executed' of a doubt, 'skip' of an exhausted one"
            return refuse(command, verdicts)


def put_aside(lane: ContractLane, command: Command, now_ms: int) -> Decision:
    """A bug about this intent stopped the lane. What of it may have run is never tried again, and
    the lane waits for the chain or a person; anything else is taken back by the cancel after it."""
    slot = lane.slot
    if slot is None or slot.intent != command.intent or not may_land(lane):
        return NOTHING
    reason = clip(command.reason)
    doubts = [
        v.AttemptDoubted(slot.id, attempt.number, False, reason, now_ms, False, aside=True)
        for attempt in open_attempts(lane)
    ]
    found = f"{slot.intent} may have run when a bug stopped the lane; {TO_SETTLE}; {reason}"
    return CoreDecision((*doubts, halted(found, now_ms)))


def not_executed(
    lane: ContractLane, slot: v.Slot, reason: str, now_ms: int
) -> tuple[v.Record, ...]:
    dropped = [
        v.AttemptRefused(slot.id, attempt.number, AttemptWord.DROPPED, reason, now_ms)
        for attempt in open_attempts(lane)
    ]
    if slot.final_reason is not None:
        # Nothing can land any more, and a try was refused for good: that is the answer.
        return (*dropped, *settled(lane, "refused", now_ms, reason=slot.final_reason))
    again = v.RetryPlanned(slot.id, now_ms, reason, failed=False)
    return (*dropped, *halt_lifted(lane, reason, now_ms), again)


def commanded_by(command: Command) -> str:
    by = clip(command.by, NAME_BYTES_MAX) or "an operator"
    return clip(f"commanded by {by}: {command.reason}")


def refuse(command: Command, reason: str) -> Decision:
    return CoreDecision((refusal(command, reason),))
