"""The frame around a machine's values."""

from laneway.core.ids import IntentId, lane_id
from laneway.core.records import Decision, PassOn
from laneway.core.rows import Outbox


def test_a_decision_that_says_nothing_orders_nothing() -> None:
    nothing: Decision[str, str] = Decision()
    assert nothing.records == ()
    assert nothing.effects == ()


def test_handing_on_the_same_message_is_the_same_effect() -> None:
    message = Outbox(IntentId("tx_1"), lane_id("delivery", "hook"), b"{}", 7)
    assert PassOn(message) == PassOn(message)
