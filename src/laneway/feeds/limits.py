"""Bounds of the feeds, each with its reason."""

RING_ENTRIES_MAX = 8_192
RING_BYTES_MAX = 8 << 20
"""What the event stream keeps for all its readers together. A reader that falls behind it is
closed and resumes from the store."""

FEED_PAGE = 512
"""Entries read from the store at once: about 5 ms of the loop."""

CATCH_UPS_MAX = 4
"""Readers that read old pages from the store at the same time; the others wait their turn."""

FRAMES_BYTES_MAX = 256 << 10
"""What one reader is handed at once, one entry always; a quarter of a socket's buffer."""

POLL_S = 1.0
"""Between looks for what other processes committed; our own commits are heard at once."""

TICK_S_MIN = 0.02
TICK_S_READER = 0.00025
"""The pause between two batches of events: for a thousand readers a quarter of a second, so that
waking them takes a tenth of the loop at most."""
