"""The bounds of the machines fit together."""

from laneway.lanes import limits


def test_a_slot_keeps_more_attempts_than_may_land() -> None:
    assert limits.ATTEMPTS_KEPT_MAX > limits.ATTEMPTS_OPEN_MAX


def test_doubling_a_second_that_often_is_longer_than_any_wait() -> None:
    assert 1_000 << limits.DOUBLINGS_MAX > 7 * 86_400_000
