"""Series of metrics that may be labelled by lane, and those that the accounts of one kind have."""

from abc import abstractmethod
from collections import Counter as Tally
from collections.abc import Callable, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram

from laneway.core.ids import LaneId
from laneway.core.rows import Result
from laneway.engine.listeners import Listener
from laneway.feeds.metrics import WAIT_BUCKETS_S


class LaneMetrics(Listener):
    """Counts what the lanes of one kind did in this process. `per_lane` labels every series with
    its lane, under the name `label`."""

    def __init__(
        self, registry: CollectorRegistry, prefix: str, *, per_lane: bool, label: str = "lane"
    ) -> None:
        self._registry = registry
        self._prefix = prefix
        self._per_lane = per_lane
        self._labels = (label,) if per_lane else ()

    def _counter(self, name: str, purpose: str, *more: str) -> Counter:
        labels = (*self._labels, *more)
        return Counter(self._prefix + name, purpose, labels, registry=self._registry)

    def _histogram(
        self, name: str, purpose: str, buckets: Sequence[float] = WAIT_BUCKETS_S
    ) -> Histogram:
        name = self._prefix + name
        return Histogram(name, purpose, self._labels, registry=self._registry, buckets=buckets)

    def _of(self, series: Any, lane: LaneId, *more: str) -> Any:
        labels = (lane, *more) if self._per_lane else more
        return series.labels(*labels) if labels else series

    def _observe(self, series: Histogram, lane: LaneId, took_ms: int) -> None:
        """A wall clock may be set back; a wait is never below zero."""
        self._of(series, lane).observe(max(0, took_ms) / 1000)


class EndMetrics(LaneMetrics):
    """What accounts did: attempts, and transactions by how they ended."""

    history: Callable[[bytes], Any]
    """Reads what a final answer keeps of its attempts."""

    def __init__(
        self, registry: CollectorRegistry, kind: str, number: str, *, per_lane: bool = False
    ) -> None:
        super().__init__(registry, f"laneway_{kind}_", per_lane=per_lane)
        self._lanes = f"{kind}:"
        self.attempts = self._counter("attempts", "Attempts signed, first ones and further ones.")
        self.ended = self._counter("transactions", "Transactions by how they ended.", "result")
        purpose = f"From its {number} to its final answer."
        self.confirmation = self._histogram("confirmation_seconds", purpose)

    def notified(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        if not lane.startswith(self._lanes):
            return
        for series, count in Tally(map(self.moved, records)).items():
            if series is not None:
                self._of(series, lane).inc(count)
        for result in results:
            self._of(self.ended, lane, result.status).inc()
            if result.history:
                claimed_ms = self.history(result.history).slot.claimed_ms
                self._observe(self.confirmation, lane, result.settled_ms - claimed_ms)

    @abstractmethod
    def moved(self, record: Any) -> Counter | None:
        """The counter that a record moves."""
