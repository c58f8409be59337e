"""An account's lane for people: its state, and the word of each intent."""

from laneway.core.outcome import Status
from laneway.core.units import value
from laneway.lanes.eoa.lane import EoaLane, decode_head
from laneway.lanes.eoa.tries import OUT_OF_FUNDS
from laneway.lanes.eoa.values import EoaHead, Slot
from laneway.lanes.kind import LaneState


def describe(state: bytes) -> LaneState:
    """What a lane's head says, without waking the lane."""
    head = decode_head(state) if state else EoaHead()
    if head.mode == "paused":
        return LaneState("paused", head.reason, head.mode_ms, by=head.by)
    if head.broke:
        held, needed = value(head.health.balance or b""), value(head.health.threshold)
        reason = f"{OUT_OF_FUNDS}: it has {held} wei, more than {needed} is needed"
        return LaneState("halted", reason, head.health.balance_ms)
    running = 0 if head.nonce_next is None else head.nonce_next - head.latest
    word = "running" if running else "idle"
    return LaneState(word, "", head.health.moved_ms, running=running)


def status(slot: Slot, lane: EoaLane) -> Status:
    """A slot's word follows from its facts: what is mined can be taken back until it is final."""
    if slot.seen is not None:
        return Status.INCLUDED
    tries = lane.tries(slot.id)
    if not tries:
        return Status.QUEUED
    if any(attempt.taken for attempt in tries.values()):
        return Status.SUBMITTED
    return Status.SIGNED
