"""The delivery lane in memory, its rows, how each record changes it, and its state for people."""

from typing import assert_never

import msgspec

from laneway.core.ids import LaneId
from laneway.core.intent import IntentRow
from laneway.core.outcome import Status
from laneway.core.reason import clip
from laneway.core.rows import Result, RowKey, RowPut, Rows, Table, Touched
from laneway.lanes.common import heads
from laneway.lanes.common.heads import encode, head_reader
from laneway.lanes.common.values import CommandRefused, IntentDropped, ModeChanged
from laneway.lanes.delivery import values as v
from laneway.lanes.delivery.values import Attempt, DeliveryHead, History, Slot
from laneway.lanes.kind import LaneState
from laneway.lanes.limits import DELIVERY_REASON_BYTES_MAX

replace = msgspec.structs.replace
read_head = head_reader(DeliveryHead)
decode_slot = msgspec.msgpack.Decoder(Slot).decode
decode_attempt = msgspec.msgpack.Decoder(Attempt).decode
decode_history = msgspec.msgpack.Decoder(History).decode


class DeliveryLane:
    """An owned index over frozen rows: slots by id, each with its answered attempts."""

    __slots__ = ("attempts", "head", "id", "intents", "slots", "waiting")

    def __init__(self, lane: LaneId) -> None:
        self.id = lane
        self.head = DeliveryHead()
        self.slots: dict[int, Slot] = {}
        self.attempts: dict[int, tuple[Attempt, ...]] = {}
        self.waiting: dict[int, int] = {}
        """When each slot that waits is due: an index over `slots`."""
        self.intents: dict[str, IntentRow] = {}

    def out_count(self) -> int:
        """Attempts that are under way."""
        return len(self.slots) - len(self.waiting)


def restore(rows: Rows) -> DeliveryLane:
    """Stand a lane up from its rows, as they were committed."""
    lane = DeliveryLane(rows.head.lane)
    lane.head = read_head(rows.head.state)
    slots: list[Slot] = []
    attempts: list[tuple[int, Attempt]] = []
    for row in rows.open:
        if row.table == Table.SLOT:
            slots.append(decode_slot(row.body))
        else:
            assert row.table == Table.ATTEMPT
            attempts.append((int(row.key.partition("/")[0]), decode_attempt(row.body)))
    for slot in sorted(slots, key=lambda slot: slot.id):
        put_slot(lane, slot)
    for number, attempt in sorted(attempts, key=lambda pair: (pair[0], pair[1].number)):
        put_attempt(lane, number, attempt)
    lane.intents = {intent.id: intent for intent in rows.intents}
    return lane


def put_slot(lane: DeliveryLane, slot: Slot) -> RowPut:
    lane.slots[slot.id] = slot
    if slot.retry_ms is None:
        lane.waiting.pop(slot.id, None)
    else:
        lane.waiting[slot.id] = slot.retry_ms
    return RowPut(Table.SLOT, str(slot.id), slot.intent, encode(slot))


def put_attempt(lane: DeliveryLane, slot: int, attempt: Attempt) -> RowPut:
    lane.attempts[slot] = (*lane.attempts.get(slot, ()), attempt)
    return RowPut(Table.ATTEMPT, f"{slot}/{attempt.number}", None, encode(attempt))


def drop_slot(lane: DeliveryLane, slot: Slot) -> Touched:
    """Forget a slot and its attempts."""
    attempts = lane.attempts.pop(slot.id, ())
    del lane.slots[slot.id]
    lane.waiting.pop(slot.id, None)
    gone = [RowKey(Table.ATTEMPT, f"{slot.id}/{attempt.number}") for attempt in attempts]
    return (RowKey(Table.SLOT, str(slot.id)), *gone)


def describe(state: bytes) -> LaneState:
    """What the head says, without waking the lane."""
    head = read_head(state)
    word, reason = head.mode, head.reason
    if head.mode == "disabled":
        word = "halted"
    elif head.mode == "running":
        word, reason = "idle", ""
        if head.open_count:
            word = "backing off" if head.waiting_count == head.open_count else "running"
            reason = head.wait_reason if head.failures else ""
    return LaneState(
        word=word,
        reason=reason,
        since_ms=head.mode_ms,
        running=head.open_count,
        executed_count=head.settled_count,
        failures=head.failures,
        by=head.by,
    )


DELIVERED = Status.CONFIRMED.value
DEAD = Status.DEAD.value


def evolve(lane: DeliveryLane, record: v.Record) -> Touched:
    """Fold one record into the lane; the only function that changes it."""
    touched = fold(lane, record)
    lane.head.open_count = len(lane.slots)
    lane.head.waiting_count = len(lane.waiting)
    return touched


def fold(lane: DeliveryLane, record: v.Record) -> Touched:
    head = lane.head
    match record:
        case v.SlotClaimed(slot=slot):
            assert slot.seq > head.cursors[0]
            head.cursors = (slot.seq,)
            head.slot_next = slot.id + 1
            return (put_slot(lane, slot),)
        case v.AttemptBegun(slot=number):
            return (put_slot(lane, replace(lane.slots[number], retry_ms=None)),)
        case v.AttemptFailed(slot=number, attempt=attempt, retry_ms=retry_ms):
            head.failures += 1
            head.wait_reason = clip(attempt.reason, DELIVERY_REASON_BYTES_MAX)
            slot = replace(lane.slots[number], attempt=attempt.number + 1, retry_ms=retry_ms)
            return (put_slot(lane, slot), put_attempt(lane, number, attempt))
        case v.AttemptPutOff(slot=number, retry_ms=retry_ms):
            return (put_slot(lane, replace(lane.slots[number], retry_ms=retry_ms)),)
        case v.SlotSettled():
            return settle(lane, record)
        case IntentDropped():
            return (heads.drop(head, record),)
        case ModeChanged(mode=mode, at_ms=at_ms):
            head.reason = clip(record.reason, DELIVERY_REASON_BYTES_MAX)
            head.mode, head.by, head.mode_ms = mode, record.by, at_ms
            return ()
        case v.FeedPassed(cursor=cursor):
            head.feed = cursor
            return ()
        case CommandRefused():
            return ()
        case _:
            assert_never(record)


def settle(lane: DeliveryLane, record: v.SlotSettled) -> Touched:
    head, slot = lane.head, lane.slots[record.slot]
    attempts = lane.attempts.get(slot.id, ())
    history = v.History(slot, attempts if record.attempt is None else (*attempts, record.attempt))
    heads.settle(head, slot.size)
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
        history=heads.encode(history),
    )
    return (result, *drop_slot(lane, slot))
