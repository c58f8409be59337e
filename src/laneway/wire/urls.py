"""How addresses are printed, for everything that speaks HTTP or WebSocket."""

from laneway.core.urls import REDACTED, scrubbed, shown_url

__all__ = ["REDACTED", "scrubbed", "shown_url"]
