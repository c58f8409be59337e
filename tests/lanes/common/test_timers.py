"""Times at which a lane must be woken."""

from laneway.lanes.common.timers import earliest, is_due


def test_the_first_time_counts_and_none_is_no_time() -> None:
    assert earliest([None, 7, 0, None, 9]) == 0
    assert earliest([None]) is None


def test_what_has_come_is_due() -> None:
    assert [is_due(at_ms, 5) for at_ms in (4, 5, 6, None)] == [True, True, False, False]
