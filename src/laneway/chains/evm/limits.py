"""Bounds of the EVM adapter, each with its reason."""

READ_MS = 10_000
"""A node answers a count in milliseconds; a hosted one behind two gateways in a second."""

ESTIMATE_MS = 30_000
"""An estimate runs the call some twenty times."""

SEND_MS = 15_000
"""Of one batch of signed bytes. Zksync and Arbitrum run a transaction before they take it."""

SEND_GRACE_MS = 3_000
"""How much longer than the first node the others may take: one that hangs must not hold a lane."""

POLL_MS = 1_000
"""How often a node without a subscription is asked for its newest block; a setting."""

SILENCE_MS = 60_000
"""Five mainnet slots without a head: a subscription that died unseen."""

RESUBSCRIBE_MS = 10_000
"""Between two tries of a subscription; the node is polled meanwhile."""

HEAD_KEPT_MS = 30_000
"""How long a node's word on its newest block binds the others, once it is silent. Lagging nodes
catch up within a block or two; a node that died must not make the others useless."""

REST_MS_MIN = 250
REST_MS_MAX = 10_000
"""A node that fails is left alone for so long, doubled with each failure, while others work."""

BURST_S = 2
"""A paced node is asked so many seconds' calls at once; gateways count over one to ten seconds."""

PACE_MS_MAX = 10_000
"""Whoever would wait behind more calls than a node allows in so long is told at once."""

BLOCKS_COUNT_MAX = 64
"""Blocks of one answer; with their hashes alone they are a few megabytes."""

KNOWN_COUNT_MAX = 256
"""Known blocks of one question: more than any chain's reorganisations are deep, and what nodes
without an archive can answer for."""

NONCE_SCAN_BLOCKS_MAX = 4_096
"""How far back a nonce's block is searched for, by halving: twelve steps. Full nodes keep the state
of 128 blocks, and answer for older ones with an error that ends the search."""

BLOCK_RECEIPTS_COUNT_MIN = 16
"""Receipts of ours in one block from which it is read whole, if half of it is ours: below that one
batch of single receipts is no more work for anybody."""
