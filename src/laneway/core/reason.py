"""Reasons, cut to what fits into a row.

An error message of laneway says what to do after its last semicolon: "the problem; the remedy". So
a message that is too long loses its middle, and the remedy stays.
"""

from typing import Final

from laneway.core.limits import REASON_BYTES_MAX

BEFORE_REMEDY: Final = b"; "
CUT: Final = "…".encode()
PROBLEM_SHARE: Final = 10
"""A tenth of the bytes is kept for the problem, however long the remedy is."""


def clip(text: str, bytes_max: int = REASON_BYTES_MAX) -> str:
    """The text, cut to `bytes_max` bytes of UTF-8; foreign text may be long or malformed."""
    if text.isascii() and len(text) <= bytes_max:
        return text
    # A lone surrogate (from a file name, say) has no UTF-8 and would stop the lane that writes it.
    whole = text.encode("utf-8", "replace")
    problem_bytes_min = bytes_max // PROBLEM_SHARE
    at = whole.rfind(BEFORE_REMEDY)
    if len(whole) <= bytes_max or at <= problem_bytes_min:
        return read(whole[:bytes_max])
    remedy = read(whole[at:][: bytes_max - problem_bytes_min - len(CUT)])
    problem = read(whole[: bytes_max - len(CUT) - len(remedy.encode())])
    return f"{problem}{CUT.decode()}{remedy}"


def read(raw: bytes) -> str:
    """Without the half of a letter that a cut may leave."""
    return raw.decode("utf-8", "ignore")


def shown_error(error: BaseException) -> str:
    """An exception of somebody else's code, which may be unable to say what it is."""
    try:
        return repr(error)
    except Exception:  # noqa: BLE001 - whatever it is, its class has a name.
        return type(error).__name__
