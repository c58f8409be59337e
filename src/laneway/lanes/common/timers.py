"""Times at which a lane must be woken."""

from collections.abc import Iterable


def earliest(times: Iterable[int | None]) -> int | None:
    """The first of them; None if there is none."""
    return min((at_ms for at_ms in times if at_ms is not None), default=None)


def is_due(at_ms: int | None, now_ms: int) -> bool:
    return at_ms is not None and at_ms <= now_ms
