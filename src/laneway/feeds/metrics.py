"""The numbers that a collector scrapes, fed by what was committed (seed 004 §10).

Counters begin with the process, as Prometheus expects; depths are read from the store when they
are asked for, so that they are right for all processes.
"""

from collections.abc import Sequence
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

from laneway.core.ids import LaneId, is_account, is_contract, is_cosmos, lane_key
from laneway.core.intent import Accepted, Arrival
from laneway.core.rows import Result
from laneway.engine.listeners import Listener
from laneway.feeds.recoveries import Recoveries
from laneway.lanes.contract.lane import decode_history
from laneway.lanes.contract.show import QueueMetrics
from laneway.lanes.contract.values import SlotClaimed
from laneway.lanes.delivery.values import AttemptFailed
from laneway.lanes.eoa.lane import decode_history as decode_eoa_history
from laneway.lanes.eoa.values import AttemptSigned, SlotFreed
from laneway.lanes.sequence.lane import decode_history as decode_sequence_history
from laneway.lanes.sequence.values import AttemptSigned as SequenceSigned
from laneway.lanes.sequence.values import SlotChanged
from laneway.version import __version__

WAIT_BUCKETS_S = (0.01, 0.1, 1, 10, 60, 300, 600, 1_800, 3_600, 14_400, 86_400)
"""A queue of ten-minute rounds may be hours long."""

EXECUTION_BUCKETS_S = (0.01, 0.1, 1, 10, 60, 300, 600, 900, 1_800, 3_600)
"""A round takes about ten minutes; a devnet's a second."""

PREFIX = "laneway_contract_"

RESULTS = {"confirmed": "delivered"}
"""An intent's final word, as the thing that happened to a delivery."""

# They would be a second series for each one, which only says when we started.
disable_created_metrics()  # type: ignore[no-untyped-call]


class ContractMetrics(Listener):
    """Listens to a process's contract lanes. `per_lane` labels every series with its contract."""

    def __init__(self, *, per_lane: bool = False) -> None:
        self.registry = CollectorRegistry()
        self._per_lane = per_lane
        self._labels = ("contract",) if per_lane else ()
        self.fast_depth = self._gauge("fast_depth", "Executions waiting in the fast queue.")
        self.slow_depth = self._gauge("slow_depth", "Executions waiting in the slow queue.")
        self.workers = self._gauge("workers", "Contracts whose worker runs here.")
        self.enqueued = self._counter("enqueued", "Executions accepted.")
        self.executed = self._counter("executed", "Executions begun.")
        self.fast_hits = self._counter("fast_hits", "Accepted into the fast queue.")
        self.slow_hits = self._counter("slow_hits", "Accepted into the slow queue.")
        self.queue_wait = self._histogram(
            "queue_wait_seconds", "From accepted to begun.", WAIT_BUCKETS_S
        )
        self.execution = self._histogram(
            "execution_seconds", "From begun to its final answer.", EXECUTION_BUCKETS_S
        )
        self.tasks = Gauge(
            "laneway_asyncio_tasks", "Tasks of the event loop.", registry=self.registry
        )
        self.connections = Gauge(
            "laneway_http_connections", "Connections that are open here.", registry=self.registry
        )
        self.dead = Gauge(
            "laneway_dead_letters",
            "What was given up, of all lanes; counted up to a thousand.",
            registry=self.registry,
        )
        self.stopped = Gauge(
            "laneway_lanes_stopped",
            "Lanes that a bug stopped in this process, and that nobody has revived.",
            registry=self.registry,
        )
        built = Gauge("laneway_build_info", "1.", ("version",), registry=self.registry)
        built.labels(__version__).set(1)
        if not per_lane:
            self.workers.set(0)

    def _gauge(self, name: str, words: str) -> Gauge:
        return Gauge(PREFIX + name, words, self._labels, registry=self.registry)

    def _counter(self, name: str, words: str) -> Counter:
        return Counter(PREFIX + name, words, self._labels, registry=self.registry)

    def _histogram(self, name: str, words: str, buckets: Sequence[float]) -> Histogram:
        return Histogram(
            PREFIX + name, words, self._labels, registry=self.registry, buckets=buckets
        )

    def _of(self, series: Any, lane: LaneId) -> Any:
        return series.labels(lane_key(lane)) if self._per_lane else series

    def accepted(self, arrival: Arrival, answer: Accepted) -> None:
        if not is_contract(arrival.lane):
            return
        self._of(self.enqueued, arrival.lane).inc()
        self._of(self.fast_hits if answer.fast else self.slow_hits, arrival.lane).inc()

    def told(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        if not is_contract(lane):
            return
        for record in records:
            if isinstance(record, SlotClaimed):
                slot = record.slot
                self._of(self.executed, lane).inc()
                # A wall clock may be set back; a wait is never below zero.
                waited_ms = max(0, slot.claimed_ms - slot.accepted_ms)
                self._of(self.queue_wait, lane).observe(waited_ms / 1000)
        for result in results:
            if result.history:
                slot = decode_history(result.history).slot
                took_ms = max(0, result.settled_ms - slot.claimed_ms)
                self._of(self.execution, lane).observe(took_ms / 1000)

    def opened(self, lane: LaneId) -> None:
        if is_contract(lane):
            self._of(self.workers, lane).inc()

    def closed(self, lane: LaneId) -> None:
        if is_contract(lane):
            self._of(self.workers, lane).dec()

    def scrape(
        self, queues: Sequence[QueueMetrics], tasks: int, dead: int = 0, stopped: int = 0
    ) -> bytes:
        """All series in the text form, with depths and tasks as they are now."""
        self.dead.set(dead)
        self.stopped.set(stopped)
        self.tasks.set(tasks)
        if self._per_lane:
            for queue in queues:
                self.fast_depth.labels(queue.contract).set(queue.fast_queue_len)
                self.slow_depth.labels(queue.contract).set(queue.slow_queue_len)
        else:
            self.fast_depth.set(sum(queue.fast_queue_len for queue in queues))
            self.slow_depth.set(sum(queue.slow_queue_len for queue in queues))
        return generate_latest(self.registry)


class EndMetrics(Listener):
    """What this process's accounts of one kind did. `per_lane` labels every series with its
    lane."""

    def __init__(
        self, registry: CollectorRegistry, prefix: str, number: str, *, per_lane: bool = False
    ) -> None:
        self._per_lane = per_lane
        self._labels = ("lane",) if per_lane else ()
        self._registry = registry
        self._prefix = prefix
        self.attempts = self._counter("attempts", "Attempts signed, first ones and further ones.")
        self.ended = self._counter("transactions", "Transactions by how they ended.", "result")
        self.confirmation = Histogram(
            f"{prefix}confirmation_seconds", f"From its {number} to its final answer.",
            self._labels, registry=registry, buckets=WAIT_BUCKETS_S,
        )  # fmt: skip

    def _counter(self, name: str, words: str, *more: str) -> Counter:
        labels = (*self._labels, *more)
        return Counter(f"{self._prefix}{name}", words, labels, registry=self._registry)

    def _of(self, series: Any, lane: LaneId, *more: str) -> Any:
        labels = (lane, *more) if self._per_lane else more
        return series.labels(*labels) if labels else series

    def _signed(self, lane: LaneId, count: int) -> None:
        if count:
            self._of(self.attempts, lane).inc(count)

    def _ended(self, lane: LaneId, result: Result, claimed_ms: int | None) -> None:
        self._of(self.ended, lane, result.status).inc()
        if claimed_ms is not None:
            took_ms = max(0, result.settled_ms - claimed_ms)
            self._of(self.confirmation, lane).observe(took_ms / 1000)


class AccountMetrics(EndMetrics):
    """Of EVM accounts."""

    def __init__(self, registry: CollectorRegistry, *, per_lane: bool = False) -> None:
        super().__init__(registry, "laneway_evm_", "nonce", per_lane=per_lane)
        words = "Nonces that every node refused, and that are free again."
        self.nacks = self._counter("nacks", words)

    def told(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        if not is_account(lane):
            return
        self._signed(lane, sum(type(record) is AttemptSigned for record in records))
        for record in records:
            if type(record) is SlotFreed and record.recycle:
                self._of(self.nacks, lane).inc()
        for result in results:
            history = decode_eoa_history(result.history) if result.history else None
            self._ended(lane, result, None if history is None else history.slot.claimed_ms)


class SequenceMetrics(EndMetrics):
    """Of Cosmos accounts."""

    def __init__(self, registry: CollectorRegistry, *, per_lane: bool = False) -> None:
        super().__init__(registry, "laneway_cosmos_", "sequence", per_lane=per_lane)
        self._recoveries = Recoveries()
        self.recoveries = self._counter(
            "recoveries", "How often a node had to be given something again before anything new."
        )
        self.dead = self._counter(
            "attempts_ended", "Signed bytes that could land no more, and were made again."
        )
        self.held = Gauge(
            "laneway_cosmos_held_bytes",
            "Payloads and what is signed of them, not settled, of all accounts here.",
            registry=registry,
        )
        self.waiting = Gauge(
            "laneway_cosmos_waiting_for_bytes",
            "Submissions that wait for such bytes.",
            registry=registry,
        )

    def told(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        if not is_cosmos(lane):
            return
        self._signed(lane, sum(type(record) is SequenceSigned for record in records))
        for _, begins in self._recoveries.heard(lane, records):
            if begins:
                self._of(self.recoveries, lane).inc()
        for record in records:
            if type(record) is SlotChanged and record.what == "dead":
                self._of(self.dead, lane).inc()
        for result in results:
            history = decode_sequence_history(result.history) if result.history else None
            self._ended(lane, result, None if history is None else history.slot.claimed_ms)

    def closed(self, lane: LaneId) -> None:
        self._recoveries.forget(lane)


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
