"""What becomes true of counter lanes, for the outside: events, log lines, metrics."""

import logging
from collections.abc import Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge
from tests.foreign.counter.machine import decode_records
from tests.foreign.counter.values import RetryPlanned, SlotClaimed, SlotSettled

from laneway.core.ids import LaneId
from laneway.core.rows import FeedEntry, Result
from laneway.engine.listeners import Listener
from laneway.feeds.events import NamedEvent
from laneway.kinds.common.events import (
    EventDraft,
    EventMaker,
    account_events,
    command_refused,
    ended,
    mode_changed,
    of_intent,
)
from laneway.lanes.common.values import CommandRefused, IntentDropped, ModeChanged

log = logging.getLogger("laneway.counter")


def claimed(record: SlotClaimed) -> EventDraft | None:
    return of_intent("submitted", record.slot, details={"add": record.slot.amount})


def settled(record: SlotSettled) -> EventDraft | None:
    return of_intent(
        record.status,
        record,
        block=record.place,
        reason=record.reason,
        details={"add": record.amount},
    )


def delayed(record: RetryPlanned) -> EventDraft:
    return "lane.recovering", {"tx": record.intent, "reason": record.reason}


EVENTS: dict[type, EventMaker] = {
    SlotClaimed: claimed,
    SlotSettled: settled,
    RetryPlanned: delayed,
    IntentDropped: ended,
    ModeChanged: mode_changed,
    CommandRefused: command_refused,
}
"""Which records are published, and as which event."""


def counter_events(entry: FeedEntry) -> Sequence[NamedEvent]:
    return account_events(entry, decode_records(entry.records), EVENTS)


class CounterLog(Listener):
    """One line for each final answer. Nothing of a payload is in it."""

    def notified(self, lane: LaneId, _records: Sequence[Any], results: Sequence[Result]) -> None:
        if lane.startswith("counter:"):
            for result in results:
                said = {"lane": lane, "tx": result.intent, "status": result.status}
                text = " ".join(f"{name}={value}" for name, value in said.items())
                log.info("%s %s", "Addition ended", text, extra={"fields": said})


class CounterMetrics(Listener):
    """Additions by how they ended, and the totals as they are at a scrape."""

    def __init__(self, registry: CollectorRegistry) -> None:
        words = "Additions by how they ended."
        self.ended = Counter("laneway_counter_additions", words, ("result",), registry=registry)
        words = "The sum of what was added through a lane."
        self.total = Gauge("laneway_counter_total", words, ("lane",), registry=registry)

    def notified(self, lane: LaneId, _records: Sequence[Any], results: Sequence[Result]) -> None:
        if lane.startswith("counter:"):
            for result in results:
                self.ended.labels(result.status).inc()
