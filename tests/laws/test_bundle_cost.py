"""What a turn costs does not grow with blocks that are final."""

from time import perf_counter

import pytest
from tests.lanes.bundle.chain import digest
from tests.lanes.bundle.stage import LANE, Stage, submitted

from laneway.core.jam import JamBlockRef
from laneway.lanes.bundle.lane import BundleLane
from laneway.lanes.bundle.machine import decide, resume
from laneway.lanes.bundle.rows import Finished
from laneway.lanes.common.values import TimerFired


def retaining(count: int) -> Stage:
    stage = submitted(3, retention_window=1_000_000)
    for number in range(count):
        stage.lane.finished[-number] = Finished(
            number, -number, 1, digest(number), b"", b"", JamBlockRef(b"", 1), 1, 1, 1
        )
    return stage


def cost(lane: BundleLane, now_ms: int) -> float:
    best = 1.0
    for _ in range(30):
        begin = perf_counter()
        for _ in range(10):
            decide(lane, TimerFired(now_ms))
            resume(lane)
        best = min(best, perf_counter() - begin)
    return best


@pytest.mark.slow
def test_a_turn_costs_the_same_with_a_hundred_thousand_finished_blocks_as_with_eight() -> None:
    few, many = retaining(8), retaining(100_000)
    assert few.lane.id == LANE
    ratios = []
    for _ in range(3):
        one, other = cost(few.lane, few.now_ms), cost(many.lane, many.now_ms)
        ratios.append(other / one)
    assert min(ratios) <= 1.5
