"""Bounds of a sequence lane, each with its reason."""

OFFER_COUNT_MAX = 50
"""Transactions of one order: a node is offered them one after the other, and one look's time
should not pass before anything is known of them."""

OFFER_BYTES_MAX = 16 << 20
"""Signed bytes of one order: two of the largest transactions. One is always offered."""

RETRY_GROWTH_MAX = 5
"""Doublings of the pause before a silent node is asked again: sixteen seconds."""

CLAIMS_MAX = 50
"""Numbers given out in one decision: as many signatures take about 3 ms."""

RAW_INLINE_MAX = 512
"""Signed bytes that stand in the slot's own row: a transfer's 320. More of them have a row of their
own, written once."""

WATCHED_MAX = 100
"""Intents answered as indeterminate that are still looked for: the oldest are forgotten first."""

LOG_BYTES_MAX = 150
"""Of a node's message in a slot's row, which stays under 1 KB."""

PAST_KEPT_MAX = 2
"""Bytes of a filler that can land no more and are still looked for: it is made again until it
lands, and its row stays under 1 KB. Those of an intent are bounded by how often it is signed."""

AHEAD_BLOCKS_MAX = 10
"""Blocks by which a height may run ahead of the pace: a clock is adjusted, and two looks are not as
far apart as their answers."""

LAG_BLOCKS_MAX = 100
"""Blocks by which a node may fall back without taking anything back: several answer at one address,
and one of them lags. Ten minutes of most chains."""

LEAD_BLOCKS_MAX = 1_000
"""Blocks by which new bytes are made above the block that a majority has, where half of the nodes
are there: a node that lags farther says that it is catching up. If it is the newer one of two nodes
that is wrong, an end is reported that many blocks later."""

SHOWN_HASH_BYTES = 8
"""Of the hash of bytes that a node shows in a block, and of a chain's first block: one slot has a
handful of them, and one chain one."""

SEQUENCE_DIGITS_MAX = 15
"""Of a sequence that an operator names: every store holds that many."""

PAGES_AHEAD = 4
"""Pages of the backlog held ahead; the engine bounds their bytes."""
