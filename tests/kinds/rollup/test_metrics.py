"""Rollups' numbers: what is counted, and what is read when they are asked for."""

from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from tests.kinds.rollup.ear import LANE, Ear
from tests.kinds.rollup.test_events import AT, PACKAGE, SLOT, TX, VERSION
from tests.lanes.bundle.stage import submitted

from laneway.core.ids import LaneId
from laneway.core.rows import Result
from laneway.kinds.rollup.metrics import BundleMetrics, Reading, reading_of
from laneway.lanes.bundle import records as v
from laneway.lanes.bundle import rows as r
from laneway.lanes.bundle.lane import replace
from laneway.lanes.bundle.released import VersionChanged, version_changed
from laneway.lanes.common.heads import encode


class Meter:
    def __init__(self, *, per_lane: bool = False) -> None:
        self.registry = CollectorRegistry()
        self.metrics = BundleMetrics(self.registry, per_lane=per_lane)
        self.labels = {"lane": LANE} if per_lane else {}

    def value(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(f"laneway_rollup_{name}", self.labels | labels)


@pytest.mark.parametrize("per_lane", [False, True])
def test_what_happened_is_counted(per_lane: bool) -> None:
    meter = Meter(per_lane=per_lane)
    again = version_changed(VersionChanged(replace(VERSION, serial=2), "offered"))
    records = (
        v.VersionSealed(SLOT, VERSION, b""),
        version_changed(VersionChanged(VERSION, "offered")),
        again,
        version_changed(VersionChanged(VERSION, "seen")),
        v.BlockRequeued(3, 2, 9, 1, "so"),
        v.VersionWon(3, 1, 1, 9),
        v.BlockFinalised(3, 1, 9),
        v.BlockDropped(3, "x", 9),
        v.BlockDropped(4, "x", 9, False),
        v.TellsDelayed(9),
        *(
            v.Counted(what, 3, 1, 2)
            for what in (
                "duplicate_guarantee", "duplicate_accumulate", "version_cancelled", "overruled",
            )
        ),
    )  # fmt: skip
    meter.metrics.notified(LANE, records, ())
    meter.metrics.notified(LaneId("evm:1:0x"), records, ())
    assert {
        name: meter.value(f"{name}_total")
        for name in ("versions_built", "submissions", "resubmissions", "timeouts", "drops",
                     "blocks_finalised", "duplicate_guarantees_rejected",
                     "duplicate_accumulates_rejected", "non_winning_versions_canceled",
                     "overruled", "callback_failures")
    } == {
        "versions_built": 1, "submissions": 2, "resubmissions": 1, "timeouts": 1, "drops": 2,
        "blocks_finalised": 1, "duplicate_guarantees_rejected": 1,
        "duplicate_accumulates_rejected": 1, "non_winning_versions_canceled": 1,
        "overruled": 1, "callback_failures": 1,
    }  # fmt: skip


def test_ends_are_counted_and_finality_is_measured_once_a_block() -> None:
    meter = Meter()
    finished = r.Finished(3, 7, 1, PACKAGE, b"e" * 32, b"r" * 32, AT, 2, 1_000, 31_000)
    ends = [
        Result(TX, "confirmed", 31_000, 7, b"h", "", encode(r.History(finished, 0))),
        Result(TX, "reverted", 31_000, 7, b"h", "", encode(r.History(finished, 1))),
        Result(TX, "expired", 5),
    ]
    meter.metrics.notified(LANE, (), ends)
    assert meter.value("finality_slots_count") == 0, "who does not hold the lane has no clock"
    stage = submitted()
    meter.metrics.find = lambda _: stage.lane
    meter.metrics.notified(LANE, (), ends)
    assert meter.value("finality_slots_count") == 1
    assert meter.value("finality_slots_sum") == 5
    assert meter.value("confirmation_seconds_count") == 4
    for word, count in (("confirmed", 2), ("reverted", 2), ("expired", 2)):
        assert meter.value("transactions_total", result=word) == count
    stage.lane.head.clock = None
    meter.metrics.notified(LANE, (), ends[:1])
    assert meter.value("finality_slots_sum") == 10


def reading(**more: Any) -> Reading:
    blocks = {"queued": 2, "submitted": 1, "guaranteed": 1, "accumulated": 0}
    given = {"lane": LANE, "blocks": blocks, "stale": 1, "inflight": 1, "pool": 5, "skew_ms": -40}
    given["owed"] = 7
    return Reading(**{**given, "finalised": 9, **more})


def test_how_lanes_stand_is_read_and_not_counted() -> None:
    own = Meter(per_lane=True)
    own.metrics.readings = [reading()]
    assert own.value("blocks", state="queued") == 2
    assert own.value("blocks", state="accumulated") == 0
    assert own.value("pool_pending") == 5
    assert own.value("callbacks_owed") == 7
    assert own.value("clock_skew_ms") == 40
    both = Meter()
    assert both.value("inflight") is None
    both.metrics.readings = [reading(), reading(lane=LaneId("rollup:8"), skew_ms=None, finalised=3)]
    assert both.value("blocks", state="queued") == 4
    assert both.value("pool_pending") == 10
    assert both.value("inflight") == both.value("stale_packages") == 2
    assert both.value("clock_skew_ms") == 40
    assert both.value("finalised_number") == 9


def test_a_reading_is_what_the_lane_shows() -> None:
    ear = Ear(block_txs_max=2)
    ear.accept(4)
    ear.slot_all()
    ear.to_slot(2_500)
    found = reading_of(ear.lane, depth=4)
    inside = sum(len(members) for members in ear.lane.members.values())
    assert found.pool == 4 - inside
    assert sum(found.blocks.values()) == len(ear.lane.slots)
    assert found.inflight == ear.picture().inflight
    assert (found.skew_ms, found.finalised, found.owed) == (0, 0, 0)
    ear.lane.head.clock = None
    assert reading_of(ear.lane, depth=0).skew_ms is None
    assert reading_of(ear.lane, depth=0).pool == 0
