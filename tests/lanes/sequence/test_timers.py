"""What is due."""

from tests.lanes.sequence.stage import HEIGHT, begun, offered, out

from laneway.core.cosmos import OfferKind, Standing
from laneway.lanes.sequence.timers import deadline
from laneway.lanes.sequence.values import (
    LookAtNode,
    LookFailed,
    MakeAttempt,
    ModeChanged,
    NodeChanged,
    OfferToNode,
)


def test_the_next_time_is_the_earliest_of_all() -> None:
    stage = begun(0)
    assert deadline(stage.lane) is None
    stage = offered(1)
    assert deadline(stage.lane) == stage.now_ms + 100
    stage.answer("a", OfferKind.SILENT)
    assert deadline(stage.lane) == stage.now_ms + 50


def test_nodes_are_looked_at_while_something_is_out() -> None:
    stage = out(1)
    stage.tick(99)
    assert stage.take(LookAtNode) == []
    stage.tick(1)
    assert [order.node for order in stage.take(LookAtNode)] == ["a", "b"]
    assert all(node.looking for node in stage.lane.nodes.values())
    assert deadline(stage.lane) is None


def test_a_silent_node_is_offered_the_same_bytes_again() -> None:
    stage = offered(1)
    order = stage.offered("a")
    stage.post(stage.returned(order, OfferKind.SILENT))
    stage.tick(49)
    assert stage.take(OfferToNode, node="a") == []
    stage.tick(1)
    again = stage.offered("a")
    assert (again.raws, again.serial) == (order.raws, order.serial + 1)


def test_delayed_bytes_are_made_together() -> None:
    stage = begun(2)
    stage.fail()
    stage.fail()
    stage.tick(50)
    assert [order.slot for order in stage.take(MakeAttempt)] == [1, 2]
    # What is delayed no more has no time.
    stage.lane.head.make_ms = 5
    assert deadline(stage.lane) != 5


def test_a_drained_lane_is_paused() -> None:
    stage = begun(1)
    stage.tell("drain", word="running")
    assert deadline(stage.lane) is None
    stage.fail(final=True)
    assert deadline(stage.lane) == stage.now_ms
    stage.tick(0)
    (told,) = stage.told
    assert isinstance(told, ModeChanged)
    assert (told.mode, told.reason, told.by) == ("paused", "why", "ann")


def test_nodes_that_come_and_go_are_told_of() -> None:
    stage = begun(0)
    stage.crash(nodes=("b", "c"))
    assert deadline(stage.lane) == 0
    stage.tick(0)
    assert [record.node.name for record in stage.told if isinstance(record, NodeChanged)] == [
        "b",
        "c",
    ]
    assert deadline(stage.lane) is None


def test_a_look_that_failed_is_repeated_later() -> None:
    stage = out(1)
    stage.tick(100)
    stage.blind("a")
    assert (stage.node("a").looking, stage.node("a").look_ms) == (False, stage.now_ms + 100)
    stage.post(LookFailed(stage.now_ms, "a"))
    assert stage.told == []
    stage.post(LookFailed(stage.now_ms, "c"))
    assert stage.told == []
    stage.look("b", HEIGHT + 1, 1, {1: Standing.COMMITTED})
    stage.look_later("a", HEIGHT + 1, 1, {1: Standing.COMMITTED})
    assert stage.statuses() == ["confirmed"]
