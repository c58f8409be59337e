"""How what is known of nodes changes what is shown of a lane and its transactions."""

from datetime import UTC, datetime

import pytest

from laneway.core.ids import IntentId
from laneway.ports.nodes import NodeStanding
from laneway.wire.evm import EvmTx
from laneway.wire.values import Check, Lane, LaneHealth, Queue, Tx
from laneway.wiring.nodes import Outlook, health_at, lane_at, outlook_of, tx_at

AT = datetime(2026, 1, 1, tzinfo=UTC)
DEAD = NodeStanding("http://a:1", "node_unreachable", "cannot be reached: connection refused", 7)
WORDS = "node http://a:1 cannot be reached: connection refused"
NONE, SOME, ALL = Outlook(2), Outlook(2, (DEAD,)), Outlook(1, (DEAD,))
DEGRADED = f"1 of 2 nodes fail, the others are used: {WORDS}"


def tx(reason: str, *, final: bool = False) -> Tx:
    return Tx(
        id=IntentId("tx_1"), lane="evm:1:0xaa", status="queued", final=final, reason=reason, seq=1,
        accepted_at=AT, evm=EvmTx(payload=None, wait_reason=reason),
    )  # fmt: skip


def lane(state: str, reason: str = "", waiting: int = 1) -> Lane:
    queue = Queue(fast=0, slow=0, enqueued=0, executed=0, fast_hits=0, slow_hits=0, dropped=0)
    return Lane(
        id="evm:1:0xaa", state=state, reason=reason, by="", since=None, waiting=waiting, running=0,
        oldest_waiting_ms=None, running_ms=None, failures=0, queue=queue,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("before", "look", "after"),
    [
        ("", NONE, "about_to_go_on"),
        ("", SOME, "about_to_go_on"),
        ("not_mined_yet", SOME, "not_mined_yet"),
        ("", ALL, f"node_unreachable: {WORDS}"),
        ("not_mined_yet", ALL, f"node_unreachable: {WORDS}; not_mined_yet"),
        ("paused", ALL, "paused"),
    ],
)
def test_a_waiting_transaction_always_has_a_reason(before: str, look: Outlook, after: str) -> None:
    shown = tx_at(tx(before), look)
    assert shown.reason == after
    assert shown.evm is not None
    is_named = look is ALL and before != "paused"
    assert shown.evm.wait_reason == ("node_unreachable" if is_named else before)
    done = tx("", final=True)
    assert tx_at(done, look) == done


@pytest.mark.parametrize(
    ("before", "look", "state", "reason"),
    [
        (lane("ready"), NONE, "ready", ""),
        (lane("ready"), SOME, "ready", DEGRADED),
        (lane("ready"), ALL, "backing off", WORDS),
        (lane("running"), ALL, "backing off", WORDS),
        (lane("idle", waiting=0), ALL, "idle", WORDS),
        (lane("paused", "audit"), ALL, "paused", f"audit; {WORDS}"),
    ],
)
def test_a_lane_without_a_node_backs_off_if_it_has_work(
    before: Lane, look: Outlook, state: str, reason: str
) -> None:
    shown = lane_at(before, look)
    assert (shown.state, shown.reason) == (state, reason)
    assert (shown.since is not None) is (state == "backing off")


def test_a_failing_node_is_a_problem_and_the_last_one_makes_the_chain_unready() -> None:
    well = LaneHealth(lane="l", healthy=True, problems=[])
    assert health_at(well, NONE) == well
    assert health_at(well, SOME) == LaneHealth(lane="l", healthy=False, problems=[DEGRADED])
    assert NONE.check("evm dev", "well") == Check("evm dev", True, "well")
    assert SOME.check("evm dev", "well") == Check("evm dev", True, DEGRADED)
    assert ALL.check("evm dev", "well") == Check("evm dev", False, WORDS)
    assert outlook_of(object()) == Outlook()
