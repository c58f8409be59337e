"""Bounds of the feeds, each with its reason."""

RING_BATCHES_MAX = 512
RING_BYTES_MAX = 16 << 20
"""What the event stream keeps for all its readers together. A reader that falls behind it is
closed and resumes from the store."""

FEED_PAGE = 512
"""Entries read from the store at once: about 5 ms of the loop."""

CATCH_UPS_MAX = 4
"""Readers that read old pages from the store at the same time; the others wait their turn."""

BATCH_BYTES_MAX = 256 << 10
"""What one reader is handed at once, one entry always: a few of these fill a socket's buffer."""

POLL_S = 1.0
"""Between looks for what other processes committed; our own commits are heard at once."""

FRESH_MAX = 8_192
"""Entries that are handed to their readers in one write each: about 2 MB of frames."""

TICK_S_MIN = 0.02
TICK_S_READER = 0.002
"""The pause behind a batch of events: two seconds if it reached a thousand readers. A write takes
about 60 µs, nearly all of it the kernel's, so that they take a thirtieth of the loop at most."""
