"""Metrics of contract lanes (seed 004 §10)."""

from collections.abc import Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Gauge

from laneway.core.ids import LaneId, lane_key
from laneway.core.intent import Accepted, Arrival
from laneway.core.rows import Result
from laneway.kinds.common.metrics import LaneMetrics
from laneway.lanes.contract.lane import decode_history
from laneway.lanes.contract.show import QueueMetrics
from laneway.lanes.contract.values import SlotClaimed

EXECUTION_BUCKETS_S = (0.01, 0.1, 1, 10, 60, 300, 600, 900, 1_800, 3_600)
"""A round takes about ten minutes; a devnet's a second."""


class ContractMetrics(LaneMetrics):
    """Listens to a process's contract lanes. `per_lane` labels every series with its contract."""

    def __init__(self, registry: CollectorRegistry, *, per_lane: bool = False) -> None:
        super().__init__(registry, "laneway_contract_", per_lane=per_lane, label="contract")
        self.fast_depth = self._gauge("fast_depth", "Executions waiting in the fast queue.")
        self.slow_depth = self._gauge("slow_depth", "Executions waiting in the slow queue.")
        self.workers = self._gauge("workers", "Contracts whose worker runs here.")
        self.enqueued = self._counter("enqueued", "Executions accepted.")
        self.executed = self._counter("executed", "Executions begun.")
        self.fast_hits = self._counter("fast_hits", "Accepted into the fast queue.")
        self.slow_hits = self._counter("slow_hits", "Accepted into the slow queue.")
        self.queue_wait = self._histogram("queue_wait_seconds", "From accepted to begun.")
        self.execution = self._histogram(
            "execution_seconds", "From begun to its final answer.", EXECUTION_BUCKETS_S
        )
        if not per_lane:
            self.workers.set(0)

    def _gauge(self, name: str, purpose: str) -> Gauge:
        return Gauge(self._prefix + name, purpose, self._labels, registry=self._registry)

    def _of(self, series: Any, lane: LaneId, *more: str) -> Any:
        # Asked twice for each acceptance, and nearly always without labels.
        if not (self._per_lane or more):
            return series
        return super()._of(series, LaneId(lane_key(lane)), *more)

    def accepted(self, arrival: Arrival, answer: Accepted) -> None:
        if not arrival.lane.startswith("contract:"):
            return
        self._of(self.enqueued, arrival.lane).inc()
        self._of(self.fast_hits if answer.fast else self.slow_hits, arrival.lane).inc()

    def notified(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        if not lane.startswith("contract:"):
            return
        for record in records:
            if isinstance(record, SlotClaimed):
                slot = record.slot
                self._of(self.executed, lane).inc()
                self._observe(self.queue_wait, lane, slot.claimed_ms - slot.accepted_ms)
        for result in results:
            if result.history:
                slot = decode_history(result.history).slot
                self._observe(self.execution, lane, result.settled_ms - slot.claimed_ms)

    def opened(self, lane: LaneId) -> None:
        if lane.startswith("contract:"):
            self._of(self.workers, lane).inc()

    def closed(self, lane: LaneId) -> None:
        if lane.startswith("contract:"):
            self._of(self.workers, lane).dec()

    def measure(self, queues: Sequence[QueueMetrics]) -> None:
        """Set the depths as they are now."""
        if self._per_lane:
            for queue in queues:
                self.fast_depth.labels(queue.contract).set(queue.fast_queue_len)
                self.slow_depth.labels(queue.contract).set(queue.slow_queue_len)
        else:
            self.fast_depth.set(sum(queue.fast_queue_len for queue in queues))
            self.slow_depth.set(sum(queue.slow_queue_len for queue in queues))
