"""The contract lane in memory, and the one function that changes it."""

from typing import assert_never

import msgspec

from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import IntentRow
from laneway.core.outcome import AttemptWord, Status
from laneway.core.rows import (
    START,
    Cursors,
    HeadWrite,
    Result,
    RowKey,
    RowPut,
    Rows,
    Table,
    Touched,
)
from laneway.lanes.contract.settings import ContractSettings
from laneway.lanes.contract.values import (
    Attempt,
    AttemptDoubted,
    AttemptOffered,
    AttemptRefused,
    CommandRefused,
    ContractHead,
    History,
    IntentDropped,
    ModeChanged,
    Record,
    RetryPlanned,
    SearchPlanned,
    Slot,
    SlotClaimed,
    SlotSettled,
)

replace = msgspec.structs.replace
encode = msgspec.msgpack.Encoder().encode
decode_head = msgspec.msgpack.Decoder(ContractHead).decode
decode_slot = msgspec.msgpack.Decoder(Slot).decode
decode_attempt = msgspec.msgpack.Decoder(Attempt).decode
decode_history = msgspec.msgpack.Decoder(History).decode


WINDOW_PLACE = "1"
"""Rows are keyed by their place in the window of one, so that a lane rewrites the same few rows."""

ONE_CLASS: Cursors = (0,)
"""Without priorities there is one class, and one range of the backlog to read."""


class ContractLane:
    """An owned index over frozen rows: at most one slot, and its attempts by number."""

    __slots__ = ("attempts", "head", "id", "intents", "settings", "slot")

    def __init__(self, lane: LaneId, settings: ContractSettings) -> None:
        self.id = lane
        self.settings = settings
        self.head = ContractHead(
            cursors=START if settings.priorities else ONE_CLASS,
            # Without a chain the lane counts its own executions, from the start.
            height=None if settings.has_chain else 0,
        )
        self.slot: Slot | None = None
        self.attempts: dict[int, Attempt] = {}
        self.intents: dict[str, IntentRow] = {}


def restore(rows: Rows, settings: ContractSettings) -> ContractLane:
    """Stand a lane up from its rows, as they were committed."""
    lane = ContractLane(rows.head.lane, settings)
    if rows.head.state:
        lane.head = decode_head(rows.head.state)
        if settings.priorities:  # They may have been switched on since it was written.
            lane.head.cursors += START[len(lane.head.cursors) :]
    for row in rows.open:
        if row.table == Table.SLOT:
            lane.slot = decode_slot(row.body)
        else:
            assert row.table == Table.ATTEMPT
            attempt = decode_attempt(row.body)
            lane.attempts[attempt.number] = attempt
    lane.attempts = dict(sorted(lane.attempts.items()))
    lane.intents = {intent.id: intent for intent in rows.intents}
    return lane


def head_write(lane: ContractLane, wake_ms: int | None) -> HeadWrite:
    head = lane.head
    return HeadWrite(
        cursors=head.cursors,
        settled_count=head.settled_count,
        settled_bytes=head.settled_bytes,
        wake_ms=wake_ms,
        state=encode(head),
    )


def evolve(lane: ContractLane, record: Record) -> Touched:
    """Fold one record into the lane; the only function that changes it."""
    match record:
        case SlotSettled():
            return settle(lane, record)
        case SlotClaimed():
            return claim(lane, record)
        case AttemptOffered(attempt=attempt):
            return offer(lane, attempt)
        case AttemptDoubted():
            lane.head.failures += 1
            lane.head.doubted = True
            attempt = lane.attempts[record.attempt]
            return put_attempt(
                lane, replace(attempt, doubted=True, stale=record.stale, reason=record.reason)
            )
        case AttemptRefused():
            return refuse(lane, record)
        case RetryPlanned():
            lane.head.failures += 1 if record.failed else 0
            lane.head.waiting = record.retry_ms is not None
            return put_slot(lane, replace(open_slot(lane), retry_ms=record.retry_ms))
        case SearchPlanned():
            return put_slot(lane, replace(open_slot(lane), search_ms=record.search_ms))
        case IntentDropped():
            return drop(lane, record)
        case ModeChanged():
            head = lane.head
            head.mode, head.reason, head.by = record.mode, record.reason, record.by
            head.mode_ms, head.drain_seq = record.at_ms, record.drain_seq
            return ()
        case CommandRefused():
            return ()
        case _:
            assert_never(record)


def claim(lane: ContractLane, record: SlotClaimed) -> Touched:
    slot, head = record.slot, lane.head
    head.cursors = passed(head.cursors, record.priority, slot.seq)
    head.slot_next = slot.id + 1
    head.started_count += 1
    head.running_since_ms = slot.claimed_ms
    if record.attempt is None:
        return put_slot(lane, slot)
    return put_slot(lane, slot) + put_attempt(lane, record.attempt)


def offer(lane: ContractLane, attempt: Attempt) -> Touched:
    lane.head.height = attempt.parent
    lane.head.waiting = False
    slot = replace(open_slot(lane), attempt_next=attempt.number + 1, retry_ms=None, search_ms=None)
    return put_slot(lane, slot) + put_attempt(lane, attempt)


def refuse(lane: ContractLane, record: AttemptRefused) -> Touched:
    attempt = lane.attempts[record.attempt]
    touched = put_attempt(
        lane, replace(attempt, word=record.word, reason=record.reason, doubted=False)
    )
    lane.head.doubted = any(other.doubted for other in lane.attempts.values())
    if record.word is not AttemptWord.STALE:
        return touched
    # The chain moved under us, so the height is read again before the next attempt.
    lane.head.height = None
    slot = open_slot(lane)
    return touched + put_slot(lane, replace(slot, stale_count=slot.stale_count + 1))


def settle(lane: ContractLane, record: SlotSettled) -> Touched:
    slot = open_slot(lane)
    if record.attempt is not None:
        confirmed = record.status == Status.CONFIRMED.value
        word = AttemptWord.ACCEPTED if confirmed else AttemptWord.REFUSED
        attempt = lane.attempts[record.attempt]
        lane.attempts[record.attempt] = replace(
            attempt, word=word, doubted=False, reason=record.reason
        )
    history = History(slot, tuple(lane.attempts.values()))
    dropped = [RowKey(Table.ATTEMPT, str(number)) for number in lane.attempts]
    head = lane.head
    head.settled_count += 1
    head.settled_bytes += slot.size
    head.height = height_after(lane, record)
    head.failures = 0
    head.running_since_ms = None
    head.doubted = head.waiting = False
    lane.slot = None
    lane.attempts = {}
    lane.intents.pop(slot.intent, None)
    result = Result(
        intent=slot.intent,
        status=record.status,
        settled_ms=record.at_ms,
        number=record.block,
        reason=record.reason,
        history=encode(history),
    )
    return (result, RowKey(Table.SLOT, WINDOW_PLACE), *dropped)


def height_after(lane: ContractLane, record: SlotSettled) -> int | None:
    """The height the next execution may build on without asking; None where it must ask."""
    if lane.settings.has_chain and not lane.settings.takes_parent:
        # The host picks the parent itself, so each search needs a baseline read just before.
        return None
    if record.status == Status.CONFIRMED.value:
        return record.block  # A host may say "done" without saying where: then it is read.
    return lane.head.height


def drop(lane: ContractLane, record: IntentDropped) -> Touched:
    head = lane.head
    if record.passed:
        head.cursors = passed(head.cursors, record.priority, record.seq)
    head.settled_count += 1
    head.settled_bytes += record.size
    lane.intents.pop(record.intent, None)
    return (
        Result(
            intent=record.intent,
            status=record.status,
            settled_ms=record.at_ms,
            reason=record.reason,
        ),
    )


def passed(cursors: Cursors, priority: int, seq: int) -> Cursors:
    assert seq > cursors[priority]
    if len(cursors) == 1:
        return (seq,)
    return (*cursors[:priority], seq, *cursors[priority + 1 :])


def open_slot(lane: ContractLane) -> Slot:
    assert lane.slot is not None
    return lane.slot


def put_slot(lane: ContractLane, slot: Slot) -> Touched:
    lane.slot = slot
    return (RowPut(Table.SLOT, WINDOW_PLACE, slot.intent, encode(slot)),)


def put_attempt(lane: ContractLane, attempt: Attempt) -> Touched:
    lane.attempts[attempt.number] = attempt
    return (RowPut(Table.ATTEMPT, str(attempt.number), None, encode(attempt)),)


def intent_status(intent: IntentId, lane: ContractLane) -> Status:
    """The word of an intent without a final answer."""
    if lane.slot is not None and lane.slot.intent == intent:
        return Status.SUBMITTED
    return Status.QUEUED
