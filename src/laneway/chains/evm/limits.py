"""Bounds of the EVM adapter, each with its reason."""

ESTIMATE_MS = 30_000
"""An estimate runs the call some twenty times."""

SEND_MS = 15_000
"""Of one batch of signed bytes. Zksync and Arbitrum run a transaction before they take it."""

SEND_GRACE_MS = 3_000
"""How much longer than the first node the others may take: one that hangs must not hold a lane."""

FEES_GRACE_MS = 2_000
"""How much longer than the first node the others may take to say what gas costs: long enough for
every node that is well, so that a quick one that lies is not the only one that is listened to."""

ESTIMATE_GRACE_MS = 3_000
"""How much longer than the first node the others may take to estimate a call: long enough for every
node that is well, and one that hangs must not hold what waits to be signed."""

READ_GRACE_MS = 3_000
"""How much longer than the first node the others may take where all are asked: one that hangs must
not hold a look, and it is left alone for a while."""

UNREAD_KEPT_MS = 60_000
"""How long an answer that could not be read is held against its node where nothing of the kind is
asked again: a lane that works asks every few seconds, and one that rests asks nothing."""

BLOCKS_COUNT_MAX = 64
"""Blocks of one answer; with their hashes alone they are a few megabytes."""

KNOWN_COUNT_MAX = 256
"""Known blocks of one question: more than any chain's reorganisations are deep, and what nodes
without an archive can answer for."""

NONCE_SCAN_BLOCKS_MAX = 4_096
"""How far back a nonce's block is searched for, by halving: twelve steps. Full nodes keep the state
of 128 blocks, and answer for older ones with an error or null: the search goes on above them."""

BLOCK_RECEIPTS_COUNT_MIN = 16
"""Receipts of ours in one block from which it is read whole, if half of it is ours: below that one
batch of single receipts is no more work for anybody."""

BLOCKS_AT_ONCE = 2
"""Whole blocks whose receipts a node is asked for at a time: it makes a long answer on one core."""

LOGS_COUNT_MAX = 64
LOG_BYTES_MAX = 64 << 10
"""Logs of one transaction that are kept for people, and their bytes: payments have one or two, and
an answer that shows them stays under a few hundred kilobytes."""

OUTPUT_BYTES_MAX = 16 << 10
"""Of what a call returned when it reverted; reasons have some hundred bytes."""
