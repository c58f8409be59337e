"""Committed records → the events that people subscribe to. Nothing here reads or waits."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from laneway.core.ids import lane_kind
from laneway.core.rows import FeedEntry
from laneway.lanes.contract.values import (
    AttemptDoubted,
    CommandRefused,
    IntentDropped,
    ModeChanged,
    Record,
    SlotClaimed,
    SlotSettled,
)
from laneway.wire.times import to_time
from laneway.wire.values import Event, EventBody

decode_contract = msgspec.msgpack.Decoder(tuple[Record, ...]).decode

MODES = {"running": "resumed"}
"""The mode a lane is in, as the thing that happened to it."""


def events_of(entry: FeedEntry) -> list[Event]:
    """What one commit told, in its order. A kind without events tells none."""
    tell = KINDS.get(lane_kind(entry.lane))
    if tell is None:
        return []
    at = to_time(entry.at_ms)
    return [Event(kind, at, body) for kind, body in tell(entry)]


def contract_events(entry: FeedEntry) -> Sequence[tuple[str, EventBody]]:
    told = (contract_event(record, entry) for record in decode_contract(entry.records))
    return [event for event in told if event is not None]


def contract_event(record: Any, entry: FeedEntry) -> tuple[str, EventBody] | None:
    fields: dict[str, Any] = {"lane": entry.lane, "version": entry.version}
    if isinstance(record, SlotClaimed):
        return "transaction.submitted", EventBody(
            tx=record.slot.intent, status="submitted", **fields
        )
    if isinstance(record, SlotSettled | IntentDropped):
        fields |= {"tx": record.intent, "status": record.status, "reason": record.reason}
        if isinstance(record, SlotSettled):
            fields["block"] = record.block
        return f"transaction.{record.status}", EventBody(**fields)
    if isinstance(record, ModeChanged):
        word = MODES.get(record.mode, record.mode)
        return f"lane.{word}", EventBody(reason=record.reason, by=record.by, **fields)
    if isinstance(record, AttemptDoubted):
        return "lane.recovering", EventBody(reason=record.reason, **fields)
    if isinstance(record, CommandRefused):
        words = f"{record.verb}: {record.reason}"
        return "lane.command_refused", EventBody(tx=record.intent, reason=words, **fields)
    return None


KINDS: dict[str, Callable[[FeedEntry], Sequence[tuple[str, EventBody]]]] = {
    "contract": contract_events
}
