"""Bounds of a rollup's builder, each with its reason."""

SNAPSHOTS_MAX = 8_192
"""States that are kept at a time; each shares all with the one below it that its block did not
change. A lane has 4,096 open blocks at most, and all of them may stand in one line; the rest is
for blocks that it gave up without a notification. What is pushed out is made again when it
is needed."""

KNOWN_HASHES_MAX = 100_000
"""Transactions whose hashes the pool remembers, 20 MB of them: more than a lane takes in while a
block becomes final, twenty times over."""

BLOCKS_KEPT_DEFAULT = 1_000
"""Final blocks that are kept with their receipts: a hundred minutes of one in each slot, and 130 MB
when each of them has 512 transactions. The lane knows for ever what became of a transaction."""

SYNC_PAGE_BLOCKS = 32
"""Blocks that are read from the chain before they are executed and written down together: 23 MB
when they are as large as blocks can be."""

SYNC_BLOCKS_LOGGED_MIN = 64
"""With this many blocks to read it takes a while, and a line of the log says so at every page."""

BUSY_OPEN_MS = 1_000
"""How long a process that ends may still have the builder's file when the next one begins."""

FOLLOW_MS_DEFAULT = 6_000
"""Between two looks of a builder that nobody orders anything of. A slot: final blocks come no
faster."""

FOLLOW_MS_MIN = 20
"""The same on the quickest development chain: fifty times a second at most."""

PAUSE_SLOTS_MAX = 16
"""Between two tries while the chain cannot be followed: a minute and a half. Who asks meanwhile may
have one in each slot."""
