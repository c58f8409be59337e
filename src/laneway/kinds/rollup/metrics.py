"""Rollups' numbers: what was committed, and how the lanes stand that this process holds.

Counters begin with the process. Gauges are of the lanes held here, so that the sum over a fleet is
right: a lane has one holder.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from laneway.core.ids import LaneId
from laneway.core.rows import Result
from laneway.kinds.common.metrics import LaneMetrics
from laneway.kinds.rollup.log import Find, nowhere
from laneway.lanes.bundle import records as v
from laneway.lanes.bundle.lane import BundleLane, decode_history
from laneway.lanes.bundle.show import picture

PREFIX = "laneway_rollup_"

SLOT_BUCKETS = (2, 4, 5, 6, 8, 10, 12, 16, 24, 48, 96, 192)
"""Five slots are 30 s: finality in less is what the seed is after."""

COUNTERS: tuple[tuple[str, str], ...] = (
    ("versions_built", "Work packages made: first versions and further ones."),
    ("submissions", "Packages offered to nodes, the same bytes again included."),
    ("resubmissions", "Of them: the same bytes again."),
    ("timeouts", "Blocks requeued because every version was dead and its time was over."),
    ("blocks_finalised", "Blocks whose accumulation is final."),
    ("drops", "Blocks given up, with those that were built on them."),
    ("duplicate_guarantees_rejected", "Guarantees of a version that had not won."),
    ("duplicate_accumulates_rejected", "Accumulations of a version that had not won."),
    ("non_winning_versions_canceled", "Versions cancelled because another one won."),
    ("overruled", "Blocks that the service took in another version than the one that won."),
    ("callback_failures", "Callbacks that failed, and are made again."),
)

COUNTED = {
    "duplicate_guarantee": "duplicate_guarantees_rejected",
    "duplicate_accumulate": "duplicate_accumulates_rejected",
    "version_cancelled": "non_winning_versions_canceled",
    "overruled": "overruled",
}

STATES = ("queued", "submitted", "guaranteed", "accumulated")


class Reading(Struct, frozen=True, kw_only=True):
    """How one lane stands that this process holds."""

    lane: LaneId
    blocks: Mapping[str, int]
    """By their state."""
    stale: int
    inflight: int
    pool: int
    """Transactions that are in no block."""
    skew_ms: int | None
    finalised: int
    """The number of the newest final block."""
    owed: int = 0
    """Callbacks that did not succeed yet."""


def reading_of(lane: BundleLane, depth: int) -> Reading:
    """`depth`: transactions that were accepted and are not settled."""
    seen, clock = picture(lane), lane.head.clock
    inside = sum(len(members) for members in lane.members.values())
    return Reading(
        lane=lane.id,
        blocks={state: len(getattr(seen, state)) for state in STATES},
        stale=len(seen.stale),
        inflight=seen.inflight,
        pool=max(0, depth - inside),
        skew_ms=None if clock is None else clock.skew_ms,
        finalised=lane.head.tip.number,
        owed=len(lane.tells),
    )


class BundleMetrics(LaneMetrics, Collector):
    """Listens to a process's rollups. `per_lane` labels every series with its lane. `find` and
    `readings` are set once there is an engine."""

    def __init__(self, registry: CollectorRegistry, *, per_lane: bool = False) -> None:
        super().__init__(registry, PREFIX, per_lane=per_lane)
        self.find: Find = nowhere
        self.readings: Sequence[Reading] = ()
        """As they were read for this scrape."""
        self._counters = {name: self._counter(name, purpose) for name, purpose in COUNTERS}
        self.ended = self._counter("transactions", "Transactions by how they ended.", "result")
        purpose = "From its block's beginning to its final answer."
        self.confirmation = self._histogram("confirmation_seconds", purpose)
        purpose = "From a block's beginning to finality, in timeslots."
        self.finality = self._histogram("finality_slots", purpose, SLOT_BUCKETS)
        registry.register(self)

    # What was committed.

    def notified(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        if not lane.startswith("rollup:"):
            return
        for record in records:
            names = NAMES.get(type(record))
            for name in () if names is None else names(record):
                self._of(self._counters[name], lane).inc()
        blocks: set[int] = set()
        for result in results:
            self._of(self.ended, lane, result.status).inc()
            if not result.history:
                continue
            finished = decode_history(result.history).finished
            # A wall clock may be set back; a wait is never below zero.
            took_ms = max(0, result.settled_ms - finished.begun_ms)
            self._of(self.confirmation, lane).observe(took_ms / 1000)
            if finished.slot not in blocks:
                blocks.add(finished.slot)
                self._final(lane, took_ms)

    def _final(self, lane: LaneId, took_ms: int) -> None:
        held = self.find(lane)
        if held is not None:
            clock = held.head.clock
            slot_ms = held.settings.slot_ms if clock is None else clock.slot_ms
            self._of(self.finality, lane).observe(took_ms / slot_ms)

    # How it stands.

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """Without a reading: a registry asks for the names when it is given a collector."""
        return self._families(())

    def collect(self) -> Iterable[GaugeMetricFamily]:
        return self._families(self.readings)

    def _families(self, readings: Sequence[Reading]) -> Iterable[GaugeMetricFamily]:
        blocks = self._gauge("blocks", "Blocks that are not final, by their state.", "state")
        for state in STATES:
            self._fill(blocks, [(one.lane, one.blocks[state]) for one in readings], state)
        yield blocks
        for name, purpose, take in GAUGES:
            gauge = self._gauge(name, purpose)
            found = [(one.lane, take(one)) for one in readings]
            self._fill(gauge, [(lane, value) for lane, value in found if value is not None])
            yield gauge

    def _gauge(self, name: str, purpose: str, *more: str) -> GaugeMetricFamily:
        return GaugeMetricFamily(PREFIX + name, purpose, labels=(*self._labels, *more))

    def _fill(
        self, gauge: GaugeMetricFamily, found: Sequence[tuple[LaneId, int]], *more: str
    ) -> None:
        if self._per_lane:
            for lane, value in found:
                gauge.add_metric([lane, *more], value)
        elif found:
            join = max if gauge.name in WORST else sum
            gauge.add_metric(list(more), join(value for _, value in found))


GAUGES: tuple[tuple[str, str, Callable[[Reading], int | None]], ...] = (
    ("inflight", "Blocks that count against max_inflight.", lambda one: one.inflight),
    ("stale_packages", "Packages guaranteed in vain.", lambda one: one.stale),
    ("pool_pending", "Transactions that are in no block.", lambda one: one.pool),
    ("callbacks_owed", "Callbacks that were not heard yet.", lambda one: one.owed),
    (
        "clock_skew_ms",
        "How far this machine's clock is from the chain's, whichever way; of several the worst.",
        lambda one: None if one.skew_ms is None else abs(one.skew_ms),
    ),
    (
        "finalised_number",
        "The number of the newest final block; of several rollups the highest.",
        lambda one: one.finalised,
    ),
)

WORST = (PREFIX + "clock_skew_ms", PREFIX + "finalised_number")
"""Of these a sum over several rollups says nothing, and the highest is reported."""

NAMES: Mapping[type, Callable[[Any], tuple[str, ...]]] = {
    v.VersionSealed: lambda _: ("versions_built",),
    v.VersionOffered: lambda record: (
        ("submissions", "resubmissions") if record.serial > 1 else ("submissions",)
    ),
    v.BlockRequeued: lambda _: ("timeouts",),
    v.BlockFinalised: lambda _: ("blocks_finalised",),
    v.BlockDropped: lambda _: ("drops",),
    v.Counted: lambda record: (COUNTED[record.what],),
    v.TellsDelayed: lambda _: ("callback_failures",),
}
"""Which counters a record moves."""
