"""Metrics of EVM accounts."""

from typing import Any

from prometheus_client import CollectorRegistry, Counter

from laneway.kinds.common.metrics import EndMetrics
from laneway.lanes.eoa.lane import decode_history
from laneway.lanes.eoa.values import AttemptSigned, SlotFreed


class EvmMetrics(EndMetrics):
    """Of EVM accounts."""

    history = staticmethod(decode_history)

    def __init__(self, registry: CollectorRegistry, *, per_lane: bool = False) -> None:
        super().__init__(registry, "evm", "nonce", per_lane=per_lane)
        purpose = "Nonces that every node refused, and that are free again."
        self.nacks = self._counter("nacks", purpose)

    def moved(self, record: Any) -> Counter | None:
        if type(record) is SlotFreed:
            return self.nacks if record.recycle else None
        return self.attempts if type(record) is AttemptSigned else None
