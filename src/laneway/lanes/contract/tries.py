"""The tries of one slot: how one is made, looked for, waited for and given up. Straight lines."""

from typing import TypeAlias

from laneway.core.outcome import AttemptWord
from laneway.core.reason import clip
from laneway.core.records import Decision as CoreDecision
from laneway.lanes.common.values import ModeChanged
from laneway.lanes.contract import values as v
from laneway.lanes.contract.lane import ContractLane
from laneway.lanes.limits import DOUBLINGS_MAX

Decision: TypeAlias = CoreDecision[v.Record, v.Effect]

NOTHING: Decision = CoreDecision()

MACHINE = "laneway"
"""Who halts a lane and lifts the halt again."""


def open_attempts(lane: ContractLane) -> list[v.Attempt]:
    """The attempts that may land. All share one parent: another is taken only when all are dead."""
    return [attempt for attempt in lane.attempts.values() if attempt.may_land()]


def may_land(lane: ContractLane) -> bool:
    return any(attempt.may_land() for attempt in lane.attempts.values())


def parent_kept(lane: ContractLane) -> int | None:
    """The parent that the next try must stay on, though none of the tries on it may land.

    A person said that they did not run. Where the parent is named, one more try on the same one
    does no harm if that was a mistake, and the chain shows it.
    """
    latest = next(reversed(lane.attempts.values()), None)
    if latest is None or not lane.settings.takes_parent:
        return None
    ends = [tried.word for tried in lane.attempts.values() if tried.parent == latest.parent]
    # Once it was passed, somebody looked, and our block was not there.
    is_kept = AttemptWord.DROPPED in ends and AttemptWord.STALE not in ends
    return latest.parent if is_kept else None


def is_active(lane: ContractLane) -> bool:
    """Whether the lane may begin an attempt now."""
    return lane.head.mode != "paused" and not lane.head.halted


def backoff_ms(lane: ContractLane, failures: int) -> int:
    """How long to wait after this many failures in a row; the breaker's rest once it trips."""
    settings = lane.settings
    if failures >= settings.breaker_failures:
        return settings.breaker_open_ms
    if failures == 0:
        return 0
    doublings = min(failures - 1, DOUBLINGS_MAX)
    return min(settings.retry_ms_min << doublings, settings.retry_ms_max)


def payload(lane: ContractLane, slot: v.Slot) -> bytes:
    return lane.intents[slot.intent].payload


def new_attempt(lane: ContractLane, slot: int, number: int, parent: int, now_ms: int) -> v.Attempt:
    return v.Attempt(
        slot=slot,
        number=number,
        parent=parent,
        offered_ms=now_ms,
        deadline_ms=now_ms + lane.settings.execution_ms_max,
        bound=lane.settings.takes_parent,
    )


def execution(attempt: v.Attempt, body: bytes) -> v.Execute:
    return v.Execute(attempt.slot, attempt.number, body, attempt.parent, attempt.deadline_ms)


def offer_on(lane: ContractLane, slot: v.Slot, parent: int, now_ms: int) -> Decision:
    attempt = new_attempt(lane, slot.id, slot.attempt_next, parent, now_ms)
    return CoreDecision((v.AttemptOffered(attempt),), (execution(attempt, payload(lane, slot)),))


def find(lane: ContractLane, slot: v.Slot) -> v.FindExecution:
    parent = next(attempt.parent for attempt in lane.attempts.values() if attempt.may_land())
    return v.FindExecution(slot.id, slot.attempt_next - 1, payload(lane, slot), parent)


def read_height(lane: ContractLane, slot: v.Slot) -> v.ReadHeight:
    return v.ReadHeight(slot.id, payload(lane, slot))


def settled(
    lane: ContractLane,
    status: str,
    now_ms: int,
    *,
    attempt: int | None = None,
    block: int | None = None,
    reason: str = "",
) -> tuple[v.Record, ...]:
    """The slot has its final answer, and what the lane was halted over is known."""
    slot = lane.slot
    assert slot is not None
    ended = v.SlotSettled(slot.id, status, attempt, block, clip(reason), now_ms, slot.intent)
    return (ended, *halt_lifted(lane, "its outcome is known", now_ms))


def halted(reason: str, now_ms: int) -> ModeChanged:
    return ModeChanged("halted", clip(reason), MACHINE, now_ms, halt=True)


def halt_lifted(lane: ContractLane, reason: str, now_ms: int) -> tuple[ModeChanged, ...]:
    """The machine's halt ends; the operator's last command counts again."""
    if not lane.head.halted:
        return ()
    return (ModeChanged(lane.head.mode, reason, MACHINE, now_ms, halt=True),)
