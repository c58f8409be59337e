"""W3C Trace Context: the `traceparent` header, checked and kept as it came.

A header that is not one is ignored, as the recommendation has it (§3.2.2.3): a caller's tracing
must never cost it its transaction.
"""

import re
from collections.abc import Sequence

HEADER = "traceparent"

KNOWN = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.{0,200})?", re.ASCII)
"""A later version may say more after a dash; version 00 may not."""


def traceparent(headers: Sequence[str]) -> str:
    """The caller's trace, or nothing: two headers are as bad as a wrong one."""
    found = KNOWN.fullmatch(headers[0]) if len(headers) == 1 else None
    if found is None:
        return ""
    version, trace, parent, more = found.groups()
    if (
        version == "ff"
        or (version == "00" and more)
        or not (trace.strip("0") and parent.strip("0"))
    ):
        return ""
    # Later versions are read as far as this one goes, and passed on as this one (§4.3).
    return found[0] if version == "00" else f"00-{trace}-{parent}-{found[0][53:55]}"
