"""The one function that changes a delivery lane, a branch for each record."""

from typing import assert_never

from laneway.core.outcome import Status
from laneway.core.reason import clip
from laneway.core.rows import Result, Touched
from laneway.lanes.delivery.lane import (
    DeliveryLane,
    drop_slot,
    encode,
    put_attempt,
    put_slot,
    replace,
)
from laneway.lanes.delivery.values import (
    AttemptBegun,
    AttemptFailed,
    AttemptPutOff,
    CommandRefused,
    FeedPassed,
    History,
    IntentDropped,
    ModeChanged,
    Record,
    SlotClaimed,
    SlotSettled,
)
from laneway.lanes.limits import DELIVERY_REASON_BYTES_MAX

DELIVERED = Status.CONFIRMED.value
DEAD = Status.DEAD.value


def evolve(lane: DeliveryLane, record: Record) -> Touched:
    """Fold one record into the lane; the only function that changes it."""
    touched = fold(lane, record)
    lane.head.open_count = len(lane.slots)
    lane.head.waiting_count = len(lane.waiting)
    return touched


def fold(lane: DeliveryLane, record: Record) -> Touched:
    head = lane.head
    match record:
        case SlotClaimed(slot=slot):
            assert slot.seq > head.cursors[0]
            head.cursors = (slot.seq,)
            head.slot_next = slot.id + 1
            return (put_slot(lane, slot),)
        case AttemptBegun(slot=number):
            return (put_slot(lane, replace(lane.slots[number], retry_ms=None)),)
        case AttemptFailed(slot=number, attempt=attempt, retry_ms=retry_ms):
            head.failures += 1
            head.wait_reason = clip(attempt.reason, DELIVERY_REASON_BYTES_MAX)
            slot = replace(lane.slots[number], attempt=attempt.number + 1, retry_ms=retry_ms)
            return (put_slot(lane, slot), put_attempt(lane, number, attempt))
        case AttemptPutOff(slot=number, retry_ms=retry_ms):
            return (put_slot(lane, replace(lane.slots[number], retry_ms=retry_ms)),)
        case SlotSettled():
            return settle(lane, record)
        case IntentDropped(intent=intent):
            head.settled_count += 1
            head.settled_bytes += record.size
            return (Result(intent, record.status, record.at_ms, reason=record.reason),)
        case ModeChanged(mode=mode, at_ms=at_ms):
            head.reason = clip(record.reason, DELIVERY_REASON_BYTES_MAX)
            head.mode, head.by, head.mode_ms = mode, record.by, at_ms
            return ()
        case FeedPassed(cursor=cursor):
            head.feed = cursor
            return ()
        case CommandRefused():
            return ()
        case _:
            assert_never(record)


def settle(lane: DeliveryLane, record: SlotSettled) -> Touched:
    head, slot = lane.head, lane.slots[record.slot]
    attempts = lane.attempts.get(slot.id, ())
    history = History(slot, attempts if record.attempt is None else (*attempts, record.attempt))
    head.settled_count += 1
    head.settled_bytes += slot.size
    if record.status == DELIVERED:
        head.delivered_count += 1
        head.failures = 0
    elif record.attempt is not None:
        head.failures += 1
        head.wait_reason = clip(record.reason, DELIVERY_REASON_BYTES_MAX)
    head.dead_count += 1 if record.status == DEAD else 0
    lane.intents.pop(slot.intent, None)
    result = Result(
        slot.intent,
        record.status,
        record.at_ms,
        reason=record.reason,
        history=encode(history),
    )
    return (result, *drop_slot(lane, slot))
