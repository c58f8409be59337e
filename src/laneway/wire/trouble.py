"""Why a connection failed, in the operating system's words."""

import os


def trouble_of(error: BaseException, within_s: float) -> str:
    """For example "connection refused", or that no connection was made in time."""
    cause = getattr(error, "os_error", error)
    number = getattr(cause, "errno", None)
    if isinstance(number, int) and number > 0:
        return os.strerror(number).lower()
    if isinstance(cause, TimeoutError):
        return f"no connection within {within_s:g} s"
    text = getattr(cause, "strerror", None)
    return str(text).lower() if text else type(error).__name__


def no_answer(timeout_ms: float) -> str:
    return f"no answer within {timeout_ms / 1000:g} s"
