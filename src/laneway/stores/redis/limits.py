"""Bounds of the Redis store, each with its reason."""

CLUSTER_SHARDS = 32
"""Groups that a Cluster's lanes are hashed into. A group lives in one slot, so that a lane, its
place among the ready and its feed change in one step. Thirty-two spread well over a dozen servers,
and a heartbeat or a page of the feed still asks each once. Part of the layout: a store
that was begun with another number is refused."""

COMMITS_PER_CALL_MAX = 64
ARRIVALS_PER_CALL_MAX = 128
"""One call of a script: it holds up everyone else of that server for about 2 ms."""

CALL_BYTES_MAX = 1 << 20
"""Payloads in one call: copying a megabyte into a script takes about a millisecond."""

COPIED_BYTES_MAX = 16 << 10
"""Of an argument that is left to hiredis: beyond it, copying costs more than looking."""

REPLY_MS_MAX = 5_000
"""A server that is silent for this long is not waited for: a lease outlives it."""

CONNECT_MS_MAX = 2_000
"""A loopback or a data centre answers within milliseconds; one lost packet costs a second."""

RECONNECT_MS_MIN = 50
RECONNECT_MS_MAX = 2_000
"""Between two tries to reach a server that is away, doubling: no spinning, and soon there again."""

MOVES_MAX = 5
"""How often one question follows a slot that moved to another server of the Cluster."""

OWNERS_KEPT_MS = 7 * 24 * 3_600_000
"""How long the names of owners that are gone are kept. Names are fresh at every start, and a
process that slept longer than this still meets a higher fence on every lane."""

DUE_SCAN_MAX = 10_000
"""Lanes of one group whose alarm is due, looked at for one page of the ready."""

VIEWS_PER_CALL_MAX = 256
"""Intents read by one call: with payloads of a few kilobytes it stays under a megabyte."""

LANES_PER_PAGE_MAX = 256
"""Lanes whose waiting intents are looked through at once for one page."""

LUA_BACKLOG_CHUNK = 64
"""Intents looked at in one step of a backlog: a lane takes a dozen at a time."""

NEWS_RETRY_MS = 500
"""Between two tries to listen again. News are hints, so nothing is lost meanwhile."""

NEWS_HELD_MAX = 4_096
"""News kept for a slow listener; the oldest go first, for a process that needs to know asks too."""

FEED_CHUNK = 64
"""Entries of a group's feed read at once; each holds up to as many commits as one call has."""

REWRITE_LOOK_MS = 20
REWRITE_LOOKS = 50
"""A server that was started again rewrites its log first. A small one is waited for; a large one is
asked again at the next write, with the pauses of a server that is away."""

GROUPS_MAX = 2
"""Groups of commands that are out at once: one that the server works on, and one whose answers are
worked on here. A third would only wait for them; with one alone each waits for the other."""

ACCOUNTS_NAMED_MAX = 65_536
"""Accounts whose keys are kept at hand: spelling an address takes ten microseconds."""

SHARED_NAMED_MAX = 1_024
"""Lists of keys that are kept at hand: for each of a Cluster's groups those of each script."""

QUEUED_KEPT_MAX = 8_192
"""Arrivals whose time is kept until their lane takes them, twice the largest window of an account;
what is older is read again."""

ADOPTED_ID_CHARS_MAX = 128
"""Of an id that engine-core gave, a UUID or a caller's own key: long enough for any seen."""

ADOPTED_PER_CALL_MAX = 256
"""Entries of an account that are read or taken over with one call."""

ADOPT_LEASE_MS = 60_000
"""How long nobody else may take a lane that is being adopted: a hundred thousand entries take
about ten seconds."""
