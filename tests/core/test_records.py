"""The frame around a machine's values."""

from laneway.core.records import Decision


def test_a_decision_that_says_nothing_orders_nothing() -> None:
    nothing: Decision[str, str] = Decision()
    assert nothing.records == ()
    assert nothing.effects == ()
