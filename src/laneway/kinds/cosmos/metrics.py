"""Metrics of Cosmos accounts."""

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge

from laneway.kinds.common.metrics import EndMetrics
from laneway.lanes.sequence.lane import decode_history
from laneway.lanes.sequence.values import AttemptEnded, AttemptSigned, RecoveryBegan


class SequenceMetrics(EndMetrics):
    """Of Cosmos accounts."""

    history = staticmethod(decode_history)

    def __init__(self, registry: CollectorRegistry, *, per_lane: bool = False) -> None:
        super().__init__(registry, "cosmos", "sequence", per_lane=per_lane)
        self.recoveries = self._counter(
            "recoveries", "How often a node had to be given something again before anything new."
        )
        self.dead = self._counter(
            "attempts_ended", "Signed bytes that could land no more, and were made again."
        )
        self._moved: dict[type, Counter] = {
            AttemptSigned: self.attempts,
            RecoveryBegan: self.recoveries,
            AttemptEnded: self.dead,
        }
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

    def moved(self, record: Any) -> Counter | None:
        return self._moved.get(type(record))
