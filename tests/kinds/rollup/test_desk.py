"""Laws of the desk for rollups that need no server; the routes are in tests/server."""

import pytest
from tests.kinds.rollup.test_views import teller, view_of
from tests.lanes.bundle.stage import Stage, queued

from laneway.kinds.rollup.desk import as_it_may, has, newest_of
from laneway.wire.rollup import RollupStatus


def status_of(stage: Stage, *, held: bool = True) -> RollupStatus:
    return teller(stage, held=held).status(view_of(stage), None)


@pytest.mark.parametrize("stopped", ["pause", "skew"])
def test_a_lane_that_is_stopped_can_submit_nothing(stopped: str) -> None:
    stage = queued(2)
    running = status_of(stage)
    assert running.picture is not None
    assert as_it_may(running) == running
    assert running.picture.can_submit
    if stopped == "pause":
        stage.tell("pause")
    else:
        stage.skew_ms = 1_500
        stage.look()
    seen = as_it_may(status_of(stage)).picture
    assert seen is not None
    assert (seen.can_submit, seen.queued) == (False, running.picture.queued)


def test_a_lane_that_is_held_elsewhere_has_no_picture_to_correct() -> None:
    stage = queued(1)
    stage.tell("pause")
    elsewhere = status_of(stage, held=False)
    assert elsewhere.picture is None
    assert as_it_may(elsewhere) == elsewhere


def test_the_newest_block_is_the_highest_that_is_executed() -> None:
    stage = queued(2)
    lane = stage.lane
    first, second = lane.in_order()
    assert newest_of(lane).block == second.block
    assert (has(lane, first.block), has(lane, b"x" * 32)) == (True, False)
    assert newest_of(Stage().lane) == Stage().lane.head.tip
