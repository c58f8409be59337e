"""What becomes of webhooks, for those who watch: log lines and counters."""

import logging
from collections.abc import Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Counter

from laneway.core.ids import LaneId, lane_key
from laneway.core.rows import Result
from laneway.engine.listeners import Listener
from laneway.lanes.delivery.values import AttemptFailed, ModeChanged, SlotSettled

log = logging.getLogger("laneway.webhooks")

RESULTS = {"confirmed": "delivered"}
"""An intent's final word, as the thing that happened to a delivery."""


class DeliveryLog(Listener):
    """A line for each thing that went wrong. No line holds an address, a secret or a body."""

    def told(self, lane: LaneId, records: Sequence[Any], _results: Sequence[Result]) -> None:
        if not lane.startswith("delivery:"):
            return
        for record in records:
            if isinstance(record, AttemptFailed):
                attempt = record.attempt
                self._say(lane, "failed", attempt=attempt.number, reason=attempt.reason)
            elif isinstance(record, SlotSettled) and record.status != "confirmed":
                self._say(lane, record.status, delivery=record.intent, reason=record.reason)
            elif isinstance(record, ModeChanged):
                self._say(lane, record.mode, by=record.by, reason=record.reason)

    def _say(self, lane: LaneId, word: str, **fields: object) -> None:
        said = {"webhook": lane_key(lane), **fields}
        text = " ".join(f"{name}={value!r}" for name, value in said.items())
        log.warning("webhook %s %s", word, text, extra={"fields": said})


class DeliveryMetrics(Listener):
    """How many ended how, in this process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.deliveries = Counter(
            "laneway_webhook_deliveries",
            "Attempts that failed, and deliveries by how they ended.",
            ("result",),
            registry=registry,
        )

    def told(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        if not lane.startswith("delivery:"):
            return
        for record in records:
            if isinstance(record, AttemptFailed):
                self.deliveries.labels("failed").inc()
        for result in results:
            self.deliveries.labels(RESULTS.get(result.status, result.status)).inc()
