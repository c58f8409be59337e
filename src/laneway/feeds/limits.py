"""Bounds of the feeds, each with its reason."""

RING_BATCHES_MAX = 512
RING_BYTES_MAX = 16 << 20
"""What the event stream keeps for all its readers together. A reader that falls out of it is
closed and resumes from the store."""

FEED_PAGE = 512
"""Entries read from the store at once: about 5 ms of the loop."""

FEED_PAGE_FIRST = 64
FEED_PAGE_BYTES = 8 << 20
"""Of one page, as far as the one before it shows: a commit may hold megabytes of signed blobs."""

CATCH_UPS_MAX = 4
"""Readers that read old pages from the store at the same time; the others wait their turn."""

BATCH_BYTES_MAX = 256 << 10
"""What one reader is handed at once, one entry always: a few of these fill a socket's buffer."""

POLL_S = 1.0
"""Between looks for what other processes committed; our own commits are noticed at once."""

FRESH_MAX = 8_192
"""Entries that are handed to their readers in one write each: about 2 MB of frames."""

TICK_S_MIN = 0.02
TICK_S_READER = 0.002
"""The pause after a batch of events: two seconds if it reached a thousand readers. A write takes
about 60 µs, nearly all of it the kernel's, so that they take a thirtieth of the loop at most."""

POST_CONNECT_S = 5.0
POST_S = 10.0
"""A receiver answers first and works afterwards; one that takes longer is tried again."""

POST_ANSWER_BYTES_MAX = 512
"""Read of a receiver's answer: what the delivery log shows of it."""

RETRY_AFTER_S_MAX = 86_400
"""What a receiver may ask for; its lane's machine takes less."""

COURIER_PAGE = 256
"""Feed entries turned into messages at once: their acceptance is one write."""

MARK_ENTRIES = 1_000
MARK_S = 10.0
"""How often an endpoint's place in the feed is written down, while it moves. What follows the
last mark is read twice after a crash, and accepted once."""

BEGIN_LOOKS_MAX = 200
"""How often a start looks whether a new endpoint's first place is durable: ten seconds."""

COURIER_TICK_S = 0.05
"""The pause after each look at the feed: a busy engine's events are passed on in batches."""

EVENTS_A_COMMIT_MAX = 1 << 22
"""Events of one commit, so that a version and a place make one number. The most that one can have
are the final statuses of a rollup's transactions, when finality comes back after it stood still:
1,024 blocks of 4,096. A JSON number is exact up to two billion commits of a lane."""
