"""Committed records → the events that people subscribe to. Nothing here reads or waits."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import msgspec

from laneway.core.ids import LaneId, lane_kind
from laneway.core.rows import FeedEntry
from laneway.feeds.account_events import MODES, Told
from laneway.feeds.bundle_events import bundle_events
from laneway.feeds.eoa_events import eoa_events
from laneway.feeds.sequence_events import sequence_events
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
from laneway.wire.values import Event, EventBody, StatusWord

decode_contract = msgspec.msgpack.Decoder(tuple[Record, ...]).decode


def events_of(entry: FeedEntry) -> list[Event]:
    """What one commit told, in its order. A kind without events tells none."""
    tell = KINDS.get(lane_kind(entry.lane))
    if tell is None:
        return []
    at = to_time(entry.at_ms)
    return [Event(kind, at, body) for kind, body in tell(entry)]


def contract_events(entry: FeedEntry) -> Sequence[Told]:
    lane, version = entry.lane, entry.version
    return [
        tell(record, lane, version)
        for record in decode_contract(entry.records)
        if (tell := CONTRACT.get(type(record))) is not None
    ]


def claimed(record: SlotClaimed, lane: LaneId, version: int) -> Told:
    body = EventBody(lane=lane, version=version, tx=record.slot.intent, status="submitted")
    return "transaction.submitted", body


def settled(record: SlotSettled, lane: LaneId, version: int) -> Told:
    return f"transaction.{record.status}", EventBody(
        lane=lane,
        version=version,
        tx=record.intent,
        status=cast(StatusWord, record.status),
        block=record.block,
        reason=record.reason,
    )


def dropped(record: IntentDropped, lane: LaneId, version: int) -> Told:
    return f"transaction.{record.status}", EventBody(
        lane=lane,
        version=version,
        tx=record.intent,
        status=cast(StatusWord, record.status),
        reason=record.reason,
    )


def mode_changed(record: ModeChanged, lane: LaneId, version: int) -> Told:
    word = MODES.get(record.mode, record.mode)
    body = EventBody(lane=lane, version=version, reason=record.reason, by=record.by)
    return f"lane.{word}", body


def doubted(record: AttemptDoubted, lane: LaneId, version: int) -> Told:
    return "lane.recovering", EventBody(lane=lane, version=version, reason=record.reason)


def refused(record: CommandRefused, lane: LaneId, version: int) -> Told:
    words = f"{record.verb}: {record.reason}"
    body = EventBody(lane=lane, version=version, tx=record.intent, reason=words)
    return "lane.command_refused", body


CONTRACT: dict[type, Callable[[Any, LaneId, int], Told]] = {
    SlotClaimed: claimed,
    SlotSettled: settled,
    IntentDropped: dropped,
    ModeChanged: mode_changed,
    AttemptDoubted: doubted,
    CommandRefused: refused,
}
"""Which records people hear of, and how each is told."""

KINDS: dict[str, Callable[[FeedEntry], Sequence[Told]]] = {
    "contract": contract_events,
    "evm": eoa_events,
    "cosmos": sequence_events,
    "rollup": bundle_events,
}
