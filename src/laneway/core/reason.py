"""Reasons, cut to what fits into a row."""

from laneway.core.limits import REASON_BYTES_MAX


def clip(text: str, bytes_max: int = REASON_BYTES_MAX) -> str:
    """The text, cut to `bytes_max` bytes of UTF-8; foreign text may be long or malformed."""
    if text.isascii() and len(text) <= bytes_max:
        return text
    # A lone surrogate (from a file name, say) has no UTF-8 and would stop the lane that writes it.
    return text.encode("utf-8", "replace")[:bytes_max].decode("utf-8", "ignore")
