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
"""Subscriptions of one connection; there is one topic."""

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
