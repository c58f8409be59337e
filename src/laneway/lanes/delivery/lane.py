"""The delivery lane in memory, its rows, and what its head says for people."""

import msgspec

from laneway.core.ids import LaneId
from laneway.core.intent import IntentRow
from laneway.core.rows import HeadWrite, RowKey, RowPut, Rows, Table, Touched
from laneway.lanes.delivery.values import Attempt, DeliveryHead, History, Slot
from laneway.lanes.kind import LaneState

replace = msgspec.structs.replace
encode = msgspec.msgpack.Encoder().encode
decode_head = msgspec.msgpack.Decoder(DeliveryHead).decode
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
    if rows.head.state:
        lane.head = decode_head(rows.head.state)
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


def head_write(lane: DeliveryLane, wake_ms: int | None) -> HeadWrite:
    head = lane.head
    return HeadWrite(
        cursors=head.cursors,
        settled_count=head.settled_count,
        settled_bytes=head.settled_bytes,
        wake_ms=wake_ms,
        state=encode(head),
    )


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


def read_head(state: bytes) -> DeliveryHead:
    return decode_head(state) if state else DeliveryHead()


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
