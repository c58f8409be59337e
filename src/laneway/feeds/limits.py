"""Bounds of the feeds, each with its reason."""

RING_BATCHES_MAX = 512
RING_BYTES_MAX = 16 << 20
"""What the event stream keeps for all its readers together. A reader that falls behind it is
closed and resumes from the store."""

STEP_S = 2.0
"""How often a reader of one silent lane steps over what others did, lest it leave the ring."""

FEED_PAGE = 512
"""Entries read from the store at once: about 5 ms of the loop."""

CATCH_UPS_MAX = 4
"""Readers that read old pages from the store at the same time; the others wait their turn."""

BATCH_BYTES_MAX = 256 << 10
"""What one reader is handed at once, one entry always: a few of these fill a socket's buffer."""

POLL_S = 1.0
"""Between looks for what other processes committed; our own commits are heard at once."""

TICK_S_MIN = 0.02
TICK_S_READER = 0.001
"""The pause behind a batch of events: a second if it woke a thousand readers. Waking one and
writing to it takes about 50 µs, so all of them take a twentieth of the loop at most."""
