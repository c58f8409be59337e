"""Metrics of webhooks."""

from collections.abc import Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Counter

from laneway.core.ids import LaneId
from laneway.core.rows import Result
from laneway.engine.listeners import Listener
from laneway.lanes.delivery.values import AttemptFailed

RESULTS = {"confirmed": "delivered"}
"""An intent's final status, as what happened to a delivery."""


class DeliveryMetrics(Listener):
    """How many ended how, in this process."""

    def __init__(self, registry: CollectorRegistry, *, per_lane: bool = False) -> None:  # noqa: ARG002
        self.deliveries = Counter(
            "laneway_webhook_deliveries",
            "Attempts that failed, and deliveries by how they ended.",
            ("result",),
            registry=registry,
        )

    def notified(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        if not lane.startswith("delivery:"):
            return
        for record in records:
            if isinstance(record, AttemptFailed):
                self.deliveries.labels("failed").inc()
        for result in results:
            self.deliveries.labels(RESULTS.get(result.status, result.status)).inc()
