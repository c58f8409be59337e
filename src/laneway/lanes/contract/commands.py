"""What an operator may tell a contract lane, and what each word does."""

from laneway.core.outcome import AttemptWord
from laneway.core.records import Decision
from laneway.core.rows import Command
from laneway.lanes.contract.lane import ContractLane
from laneway.lanes.contract.values import (
    AttemptRefused,
    CommandRefused,
    Effect,
    IntentDropped,
    ModeChanged,
    Record,
    RetryPlanned,
    SearchPlanned,
    SlotSettled,
)


def judge_command(lane: ContractLane, command: Command, now_ms: int) -> Decision[Record, Effect]:
    match command.verb:
        case "pause":
            return change_mode("paused", command, now_ms)
        case "drain" if command.word == "queue":
            return change_mode("draining", command, now_ms, drain_seq=command.seq)
        case "drain":
            # Finish what runs and start nothing more: that is what a paused lane does.
            return change_mode("paused", command, now_ms)
        case "resume":
            return resume_lane(lane, command, now_ms)
        case "cancel":
            return cancel(lane, command, now_ms)
        case "settle":
            return settle_by_hand(lane, command, now_ms)
        case _:
            return refuse(command, now_ms, f"a contract lane has no command {command.verb!r}")


def change_mode(
    mode: str, command: Command, now_ms: int, drain_seq: int = 0
) -> Decision[Record, Effect]:
    return Decision((ModeChanged(mode, command.reason, command.by, now_ms, drain_seq),))


def resume_lane(lane: ContractLane, command: Command, now_ms: int) -> Decision[Record, Effect]:
    if lane.head.mode == "halted" and in_doubt(lane):
        return refuse(
            command,
            now_ms,
            "its outcome is unknown; tell it 'settle' with 'executed' or 'not_executed'",
        )
    return change_mode("running", command, now_ms)


def cancel(lane: ContractLane, command: Command, now_ms: int) -> Decision[Record, Effect]:
    assert command.intent is not None
    if lane.slot is not None and lane.slot.intent == command.intent:
        return refuse(command, now_ms, "it is executing; an execution cannot be called back")
    if command.seq <= lane.head.cursors[command.priority]:
        return refuse(command, now_ms, "it is final already")
    dropped = IntentDropped(
        intent=command.intent,
        seq=command.seq,
        priority=command.priority,
        size=command.size,
        status="cancelled",
        reason=command.reason,
        at_ms=now_ms,
        passed=False,
    )
    return Decision((dropped,))


def settle_by_hand(lane: ContractLane, command: Command, now_ms: int) -> Decision[Record, Effect]:
    """A person who looked knows what no call can tell."""
    slot = lane.slot
    if slot is None or slot.intent != command.intent or lane.head.mode != "halted":
        return refuse(command, now_ms, "the lane is not halted over this intent")
    running = ModeChanged("running", command.reason, command.by, now_ms)
    told = f"told by {command.by or 'an operator'}: {command.reason}"
    if command.word == "skip" and not in_doubt(lane):
        return Decision((SlotSettled(slot.id, "dead", None, None, told, now_ms), running))
    if command.word == "executed" and in_doubt(lane):
        return Decision((SlotSettled(slot.id, "confirmed", None, None, told, now_ms), running))
    if command.word == "not_executed" and in_doubt(lane):
        refused = tuple(
            AttemptRefused(slot.id, attempt.number, AttemptWord.DROPPED, told, now_ms)
            for attempt in lane.attempts.values()
            if attempt.may_land()
        )
        planned = (SearchPlanned(slot.id, None), RetryPlanned(slot.id, now_ms, told, failed=False))
        return Decision((*refused, *planned, running))
    return refuse(
        command, now_ms, "say 'executed' or 'not_executed' of a doubt, 'skip' of an exhausted one"
    )


def in_doubt(lane: ContractLane) -> bool:
    return any(attempt.may_land() for attempt in lane.attempts.values())


def refuse(command: Command, now_ms: int, reason: str) -> Decision[Record, Effect]:
    return Decision((CommandRefused(command.verb, command.intent, reason, now_ms),))
