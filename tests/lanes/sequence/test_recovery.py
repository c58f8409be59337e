"""When a node's recovery begins, and when it ends."""

from tests.lanes.sequence.stage import offered, out, shape

from laneway.core.cosmos import OfferKind, TxStanding
from laneway.lanes.sequence import values as v
from laneway.lanes.sequence.recovery import began, fork, nodes_after, recoveries, what_next
from laneway.lanes.sequence.rows import Node

FINE, BAD = Node("a", 4), Node("a", 3, height=9, gate=9, reason="no", expected=2, ours=3)


def test_a_recovery_begins_and_ends_with_its_reason() -> None:
    assert recoveries({"a": FINE}, {"a": BAD}) == [began(BAD)]
    assert recoveries({}, {"a": BAD}) == [began(BAD)]
    assert recoveries({"a": BAD}, {"a": FINE}) == [v.RecoveryEnded("a", "no")]
    assert recoveries({"a": BAD}, {"a": BAD}) == []
    assert recoveries({"a": BAD}, {}) == []
    assert recoveries({}, {"a": FINE}) == []


def test_it_says_what_happens_next() -> None:
    said = "asked again after block 9"
    assert began(BAD) == v.RecoveryBegan("a", "no", 3, 9, 2, 3, said)
    assert what_next(Node("a", 3, retry_ms=5, failures=2)) == (
        "asked again soon, 2 times without an answer"
    )
    assert what_next(FINE) == "offered again from sequence 4 on"


def test_a_node_that_lost_something_is_in_recovery_until_it_has_it_again() -> None:
    stage = out(2, nodes=("a",))
    stage.look_later("a", 6, 0, {1: TxStanding.EVICTED})
    (record,) = [one for one in stage.told if isinstance(one, v.RecoveryBegan)]
    assert (record.node, record.next) == ("a", 0)
    assert not any(isinstance(one, v.RecoveryEnded) for one in stage.told)
    stage.answer("a")
    assert [one for one in stage.told if isinstance(one, v.RecoveryEnded)] == [
        v.RecoveryEnded("a", record.reason)
    ]


def test_what_begins_and_ends_in_one_decision_is_no_recovery() -> None:
    stage = offered(1, nodes=("a",))
    stage.answer("a", OfferKind.MALFORMED)
    assert any(isinstance(one, v.SlotFellOut) for one in stage.told)
    assert any(isinstance(one, v.NodeChanged) and one.node.reason for one in stage.told)
    kinds = (v.RecoveryBegan, v.RecoveryEnded)
    assert [one for one in stage.told if isinstance(one, kinds)] == []


def test_a_recovery_ends_with_the_last_thing_that_could_be_given_again() -> None:
    stage = offered(1, nodes=("a",))
    stage.place("a", reason="evicted: sequence 0")
    before = shape(stage.lane)
    after = nodes_after(stage.lane, [v.SlotsRenumbered(7, "others", 9)])
    assert recoveries(stage.lane.nodes, after) == [v.RecoveryEnded("a", "evicted: sequence 0")]
    assert shape(stage.lane) == before, "it was folded into a fork"


def test_a_fork_shares_nothing_that_a_record_changes() -> None:
    stage = offered(1, nodes=("a",))
    twin = fork(stage.lane)
    twin.head.mode = "paused"
    twin.slots.clear()
    assert (stage.lane.head.mode, list(stage.lane.slots)) == ("running", [1])
