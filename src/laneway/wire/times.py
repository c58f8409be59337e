"""Milliseconds inside, RFC 3339 in UTC outside."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
LAST_MS = (LAST - EPOCH) // timedelta(milliseconds=1)


@lru_cache(maxsize=256)
def to_time(ms: int) -> datetime:
    """The time as people read it; what lies beyond the calendar is its last second.

    The events of one commit, and of its neighbours, bear the same millisecond.
    """
    return EPOCH + timedelta(milliseconds=ms) if 0 <= ms <= LAST_MS else LAST


def to_ms(time: datetime) -> int:
    """Rounded down: a deadline must not come later than its caller asked for."""
    return (time - EPOCH) // timedelta(milliseconds=1)
