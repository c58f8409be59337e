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
"""Final blocks that are kept whole: a hundred minutes of one in each slot, and 130 MB when each of
them has 512 transactions. Which transactions they executed is known for longer, and the lane knows
for ever what became of its own."""

PAST_HASHES_MAX = 1_000_000
"""Transactions of final blocks whose hashes are kept with where they were executed, so that they
are never executed or refused a second time: 110 MB in the file and 45 MB in a state beside it. At
ten transactions a second that is more than a day, and with one in each slot it is two months."""

PAST_PAGE_BLOCKS = 32
"""Blocks of the past that are read from the file at a time, in between others have their turn: 16
thousand hashes when each has 512 transactions."""

PAST_READ_HASHES_MAX = 500_000
"""Of those that are read back from the chain, half of what is kept: what was read is not forgotten
with the next blocks."""

PAST_READ_BLOCKS_MAX = 65_536
"""Blocks below the newest final one that are read back from the chain: four and a half days of one
in each slot, in two thousand pages. A store that is put back from an older copy needs its builder's
file, too."""

PAST_PAGES_ORDERED_MAX = 8
"""Pages of them that are read while an order waits: a few seconds. Then its lane asks again."""

BUILD_S_MAX = 45.0
"""How long executing a block, or making its package, may take: more than seven slots, and less than
its lane waits for an answer. Then its lane orders a smaller one."""

LEFT_JOBS_MAX = 16
"""Threads that are left with a block which does not end. A block of 512 transactions is halved nine
times until the one at fault is alone, and each half may be such a block; a thread that waits costs
little, and those that reckon without end leave an honest block less of the machine each."""

CLOSE_S_MAX = 4.0
"""How long closing waits for what is being done, and again for the thread that does it: longer than
most blocks take, and together less than those who stop a process wait before they kill it."""

CLOSE_FILE_S_MAX = 1.0
"""How long closing waits for a thread that is reading or writing a file: rules that never return
may be what is read."""

ORDERS_KEPT_MAX = 4
"""Orders whose answers are remembered: a lane waits for one at a time, and repeats that."""

STATE_BLOCKS_DEFAULT = 256
"""Final blocks between two states beside the file: a quarter of what development chains keep, and
25 minutes of one block in each slot, where JAM keeps exported segments for 28 days."""

STATE_AGE_S_MAX = 3_600.0
"""How old the newest state may be when there were final blocks since: a rollup with few blocks
would not have the next one before its packages are forgotten."""

STATE_BYTES_MAX = 8 << 30
"""A state beside the file. Larger ones are not kept: two of them and a third that is being written
would be 24 GB."""

STATE_HEADER_BYTES_MAX = 16 << 20
"""What is before the entries of a state file: a block as large as blocks can be, twenty times
over."""

STATE_CHUNK_BYTES = 64 << 10
"""Written at a time. In between others have their turn."""

STATE_PAUSE_S = 0.001
"""The pause after each chunk, so that writing a state does not slow down the blocks: 1.6 s for each
100 MB."""

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

VERDICT_CHARS_SHOWN = 80
"""How much of a verdict is shown that is none of those which rules may give: it may be anything."""
