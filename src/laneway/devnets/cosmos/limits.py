"""Bounds of the Cosmos devnet, each with its reason; celestia-app's defaults (facts §1.5, §1.6)."""

TX_BYTES_MAX = 8 << 20
"""Of one transaction."""

MEMPOOL_BYTES_MAX = 400 << 20
MEMPOOL_COUNT_MAX = 5_000
"""CometBFT's `size`."""

TTL_BLOCKS = 36
"""After so many blocks without its first transaction a signer's whole set is dropped."""

REJECTED_KEPT_MAX = 10_000
EVICTED_KEPT_MAX = REJECTED_KEPT_MAX // 5
"""Transactions whose end a node remembers; the oldest are forgotten first."""

STATUSES_MAX = 20
"""Hashes of one tx_status_batch."""

BLOCK_BYTES_MAX = 8 << 20
"""Of the transactions in one block."""

BLOBS_TXS_PER_BLOCK_MAX = 200
"""Transactions with blobs in one block."""

GAS_PRICE_MICRO = 4_000
"""Millionths of a utia for a unit of gas: a node takes nothing below 0.004."""

GAS_PER_TX = 65_000
GAS_PER_BYTE = 10
GAS_PER_BLOB_BYTE = 8
"""What an execution uses: a plain transfer about 70,000, and a blob eight for each byte of its
shares, as celestia-app's formula has it."""

BATCH_COUNT_MAX = 1_000
"""Calls of one posted batch."""

BODY_BYTES_MAX = 16 << 20
"""Of one posted request: the largest transaction in base64, and some more."""

SHUTDOWN_S = 1.0
"""How long a socket that is closed waits for answers under way."""

BALANCE_DEV = 1_000_000_000_000
"""What each known account has in the beginning: a million TIA."""

ACCOUNTS_DEV = 10
"""How many known accounts there are."""

BLOCK_MS_DEV = 1_000
"""Between two blocks, if nobody says otherwise."""

PORT_DEFAULT = 26_657
"""CometBFT's own."""

OPENINGS_COUNT_MAX = 10_000
"""Brackets and braces of one request, as the EVM devnet bounds them: under a raised recursion limit
the decoder would overflow the stack on a deeper nesting."""
