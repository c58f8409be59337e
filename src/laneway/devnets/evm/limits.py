"""Bounds of the EVM devnet, each with its reason."""

BLOCK_GAS_MAX = 30_000_000
"""Anvil's default: 1,428 transfers."""

BLOCK_GAS_MIN = 5_000
"""The protocol's own least; the base fee's rule divides by half of it."""

BASE_FEE_WEI_FIRST = 1_000_000_000
"""EIP-1559's initial base fee, which anvil has as well."""

TIP_WEI_SUGGESTED = 1_000_000_000
"""What anvil answers to eth_maxPriorityFeePerGas on an empty chain."""

BUMP_PERCENT_GETH = 10
"""geth's --txpool.pricebump."""

BLOB_BUMP_PERCENT_GETH = 100
"""geth's --blobpool.pricebump."""

POOL_COUNT_GETH = 6_144
"""geth's --txpool.globalslots and --txpool.globalqueue together."""

SIZE_BYTES_GETH = 131_072
"""geth's txMaxSize: four slots of 32 KiB."""

REVERT_GAS = 6
"""PUSH1, PUSH1, REVERT: what the shortest code that reverts uses."""

BALANCE_WEI_DEV = 10_000 * 10**18
"""The first balance of each of anvil's accounts."""

PORT_DEFAULT = 8_545
"""Where every tool looks for a node on this machine."""

BODY_BYTES_MAX = 4 << 20
"""Twice what the adapter puts into one request; anvil takes 2 MiB, geth 5 MB."""

BATCH_COUNT_MAX = 1_000
"""Calls of one request, as geth bounds them. Anvil has no bound."""

SUBSCRIPTIONS_COUNT_MAX = 16
"""Subscriptions of one connection: a few topics, with a few criteria."""

OUTGOING_COUNT_MAX = 4_096
"""Messages that wait for one reader: an hour of blocks. A slower reader is cut off."""

MINE_COUNT_MAX = 1_000
"""Blocks of one call: the loop stands still while they are made, and each is a notification."""

REORG_BLOCKS_MAX = 1_000
"""As deep as one call can mine; chains reorganise by a few."""

BLOCK_MS_MAX = 3_600_000
"""A chain that is slower than that is one that mines on command."""

FEE_HISTORY_BLOCKS_MAX = 1_024
"""As geth bounds it."""

LOGS_COUNT_MAX = 10_000
"""What providers of real nodes answer to one eth_getLogs."""

LOG_TOPICS_MAX = 4
"""A log has no more."""

LOG_PLACES_MAX = 1_000
"""Addresses, or topics of one place, that a query names; geth takes as many."""

FILTERS_COUNT_MAX = 1_000
"""Of all clients together: a client that forgets its filters must not fill the node."""

FILTER_IDLE_S = 300
"""A filter that nobody asks for as long is forgotten, as geth's are."""

FILTER_BLOCKS_MAX = 10_000
"""Blocks that a filter may be behind the chain: what it answers then is long enough."""

FILTER_HASHES_MAX = 10_000
"""Transactions that a filter keeps until somebody asks."""

STORAGE_KEYS_COUNT_MAX = 1_024
"""Keys of one eth_getStorageValues or eth_getProof, as geth bounds them."""

PERCENTILES_COUNT_MAX = 100
"""Of one eth_feeHistory, as geth bounds them."""

SYNC_WAIT_MS_MAX = 30_000
"""How long eth_sendRawTransactionSync waits for a receipt at most; as long as anvil."""

SYNC_LOOK_MS = 20
"""Between its looks at the chain, which is in the same process."""

TRACE_BYTES_MAX = 32 << 20
"""What one answer to debug_trace* is made from: as JSON it has several times as many, and the loop
stands still while it is written."""

SNAPSHOTS_COUNT_MAX = 4_096
"""One before each test of a long run; each keeps a state that shares all but what differs."""

IMPERSONATED_COUNT_MAX = 1_024
"""Accounts; a caller who wants more means all of them, which is one command."""

TIME_MS_FROM_S = 10**12
"""anvil reads a time as milliseconds from here on: in seconds it is the year 33,658."""

TIMESTAMP_S_MAX = 1 << 40
"""34,000 years: no clock of a test goes further, and a header has 64 bits for it."""

CHAIN_ID_MAX = (1 << 53) - 1
"""What programs that keep numbers as floats can tell apart; laneway.toml has the same."""

ACCOUNTS_COUNT_MAX = 1_000
"""Of one start: each is derived from the mnemonic in a millisecond, and printed."""
