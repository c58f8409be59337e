"""The header Retry-After, from a node or from a receiver of webhooks (RFC 9110 §10.2.3)."""

from datetime import UTC
from email.utils import parsedate_to_datetime


def read_retry_after(text: str | None, now_s: float, most_s: float) -> float | None:
    """How many seconds to wait from now on, from 0 to `most_s`; None where the text is neither
    seconds nor a date. It is total: there is no text that makes it raise."""
    value = (text or "").strip()
    if value.isascii() and value.isdigit():
        # Twelve digits are 30,000 years, and no bound is larger.
        return most_s if len(value.lstrip("0")) > 12 else min(float(value), most_s)
    try:
        at = parsedate_to_datetime(value)
        until_s = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        # A year, a day or an offset that no calendar has.
        return None
    return min(max(until_s - now_s, 0.0), most_s)
