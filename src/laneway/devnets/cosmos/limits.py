"""Bounds of the Cosmos devnet, each with its reason; celestia-app's defaults (facts §1.5, §1.6)."""

TX_BYTES_MAX = 8 << 20
"""The size of one transaction."""

MEMPOOL_BYTES_MAX = 400 << 20
MEMPOOL_COUNT_MAX = 5_000
"""CometBFT's `size`."""

TTL_BLOCKS = 36
"""After this many blocks without its first transaction a signer's whole set is dropped."""

REJECTED_KEPT_MAX = 10_000
EVICTED_KEPT_MAX = REJECTED_KEPT_MAX // 5
"""Transactions whose end a node remembers; the oldest are forgotten first."""

STATUSES_MAX = 20
"""Hashes in one tx_status_batch."""

BLOCK_BYTES_MAX = 8 << 20
"""The size of all transactions in one block."""

BLOBS_TXS_PER_BLOCK_MAX = 200
"""Transactions with blobs in one block."""

GAS_PRICE_MICRO = 4_000
"""Millionths of a utia for a unit of gas: a node accepts nothing below 0.004."""

GAS_PER_TX = 65_000
GAS_PER_BYTE = 10
GAS_PER_BLOB_BYTE = 8
"""Gas of an execution: a plain transfer uses about 70,000, and a blob eight for each byte of its
shares, by celestia-app's formula."""

BATCH_COUNT_MAX = 1_000
"""Calls in one posted batch."""

BODY_BYTES_MAX = 16 << 20
"""The size of one posted request: the largest transaction in base64, and some more."""

BALANCE_DEV = 1_000_000_000_000
"""The first balance of each known account: a million TIA."""

ACCOUNTS_DEV = 10
"""How many known accounts there are."""

BLOCK_MS_DEV = 1_000
"""The default time between two blocks."""

PORT_DEFAULT = 26_657
"""CometBFT's own."""
