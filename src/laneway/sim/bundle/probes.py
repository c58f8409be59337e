"""What one process's adapter remembers of its nodes: which of them are behind, and when it received
blocks."""

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from laneway.chains.jam.clock import BlockArrivals
from laneway.core.jam import SlotClock
from laneway.sim.bundle.network import JamNetwork
from laneway.sim.bundle.node_view import NodeView
from laneway.sim.bundle.plan import NODES, RollupPlan
from laneway.sim.loops import VirtualClock

LATELY_SLOTS = 3
"""How long a node that was further binds the others."""


class Probes:
    def __init__(self, network: JamNetwork, plan: RollupPlan, clock: VirtualClock) -> None:
        self._network = network
        self._plan = plan
        self._now_ms = clock.monotonic_ms
        self._nodes = [NODES.index(name) for name in plan.settings.nodes]
        self._arrivals = BlockArrivals(clock.now_ms, steady=clock.monotonic_ms)
        self._floor = 0
        self._floor_ms = 0

    def view(self, is_reached: Callable[[int], bool]) -> NodeView | None:
        """The first node that answers and is not behind; None: there is none."""
        return next(self.answering(is_reached), None)

    def answering(self, is_reached: Callable[[int], bool]) -> Iterator[NodeView]:
        """The nodes that answer and are not behind, in the order in which they are asked."""
        lately_ms = LATELY_SLOTS * self._plan.slot_ms
        floor = self._floor if self._now_ms() - self._floor_ms <= lately_ms else 0
        for node in self._nodes:
            if not is_reached(node):
                continue
            slot = self._network.model.best(node).slot
            if slot < floor and len(self._nodes) > 1:
                continue
            if slot >= self._floor:
                self._floor, self._floor_ms = slot, self._now_ms()
            self._arrivals.saw(slot)
            yield self._network.view(node)

    def others(self, than: NodeView, is_reached: Callable[[int], bool]) -> Iterator[NodeView]:
        """The other nodes that answer, behind or not."""
        for node in self._nodes:
            view = self._network.view(node)
            if view.name != than.name and is_reached(node):
                yield view

    def clock(self) -> SlotClock | None:
        """The chain's slots on this machine's clock; None: no block was received."""
        clock = self._arrivals.clock(self._plan.slot_ms)
        if clock is None or not self._plan.has_calendar:
            return clock
        calendar_ms = self._network.begin_ms - self._network.skew_ms
        return replace(clock, skew_ms=clock.begin_ms - calendar_ms)
