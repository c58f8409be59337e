"""Bounds of the PostgreSQL store, each with its reason."""

SERVER_VERSION_MIN = 130_000
"""The first PostgreSQL whose commit numbers have 64 bits; older ones are out of support."""

CONNECT_S_MAX = 5
"""How long one attempt to connect may take: an owner whose store is away stops after 8 s."""

RECONNECT_MS_MIN = 50
RECONNECT_MS_MAX = 1_000
"""Pauses between attempts to connect: a restarted server is found within a second, and one that
is away is not hammered. Meanwhile every caller is answered that the store is busy."""

LOCK_MS_MAX = 2_000
"""How long a group waits for a lane that another process writes; a group takes 100 ms at most."""

IDLE_WRITE_MS_MAX = 2_000
"""After this pause within a group the server gives up on us and frees the lanes: a process that
is stopped in the middle of one must not keep its lanes from those who live."""

ANSWER_S_MAX = 15
"""How long an answer may be out before the connection counts as lost: longer than any lock waits
and than a checkpoint holds up a commit."""

TCP_SILENCE_MS_MAX = 8_000
"""How long the network may swallow what we send before the connection counts as lost."""

RACES_MAX = 8
"""How often a group is judged anew because another process made the same lane or took the same
key meanwhile; each of them can happen once only, so the bound is never met in practice."""

READS_MAX = 256
"""Questions that share one way to the server; a page of each fits into memory."""

NOTICE_BYTES_MAX = 7_900
"""One notification; PostgreSQL refuses 8,000 bytes and more."""

NOTICES_MAX = 8
"""Notifications of one group: some 1,000 lanes. Others are found by those who look."""

NEWS_WAITING_MAX = 16_384
"""Hints kept for a reader that is slow; what does not fit is found by those who look."""

TOMBSTONE_MS = 30 * 86_400_000
"""How long a dead owner is remembered. Names are fresh at every start, and a process that sleeps
for a month finds its fences passed, whether or not its name is still known."""
