"""How addresses are printed, for everything that speaks HTTP or WebSocket."""

from laneway.core.urls import REDACTED, shown_url

__all__ = ["REDACTED", "shown_url"]
