"""Bounds of the stores, each with its reason."""

BACKLOG_PAGE_BYTES_MAX = 1 << 20
"""Payload bytes of one backlog page; it holds at least one intent, however large."""

GROUP_REQUESTS_MAX = 2_048
GROUP_BYTES_MAX = 8 << 20
"""One group commit: enough to share the sync among all lanes, small enough to take 100 ms."""

COMMIT_BYTES = 512
"""What one lane's commit or one arrival is counted for, besides its payload."""

INLINE_SYNC_MS_MAX = 2.0
"""While a sync takes less than this, the loop waits for it itself: measured here, handing it to
the writer thread cost a fifth of the throughput, for the two threads fight over the interpreter."""

LANES_CACHED_MAX = 32_768
"""Tails and heads kept at hand by the one process that writes them; about 500 bytes each."""

OPEN_NUMBERS_MAX = 65_536
"""Intents without a final answer whose numbers are kept at hand, the oldest first, as they will be
answered; about 120 bytes each. A look-up costs as much as the row that it is for."""

ROWS_PER_STATEMENT = 32
"""Of one table, inserted at once: more gain nothing, and few are left over."""

IDS_PACKED_MAX = 16_384
"""Ids kept beside their sixteen bytes, 4 MB: an account with 4,096 transactions in flight names
each of them six times."""

WAL_PAGES_CHECKPOINT = 4_000
"""16 MB of log before it is folded back: a checkpoint then writes each hot page once."""

BUSY_OPEN_MS = 5_000
"""How long an open waits for another program to let go of the file."""

BUSY_WRITE_MS = 250
"""How long one group waits for another program's lock: the loop stands still meanwhile, and the
engine tries again with growing pauses."""

PRUNE_SCAN_MAX = 5_000
"""Results one round of retention looks at, young ones included: about 10 ms."""

PLACE_SCAN_MAX = 64
"""Ids looked at to find where a page goes on after a pruned intent; ids of one millisecond are
in no order, and no door takes more than this in one."""

REPLICAS_WAIT_MS = 1_000
"""How long a write waits for its replicas before nobody knows whether it would survive."""

SCHEMA_CHARS_MAX = 40
"""A name in PostgreSQL ends at 63 bytes, and the news' channel is the schema's with a prefix."""

FEED_CURSOR_CHARS_MAX = 18
"""Digits of a feed's cursor: as many as a row number can have and SQLite can still compare."""
