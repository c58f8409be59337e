"""Bounds of the EVM devnet, each with its reason."""

BLOCK_GAS_MAX = 30_000_000
"""Anvil's default: 1,428 transfers."""

BASE_FEE_WEI_FIRST = 1_000_000_000
"""EIP-1559's initial base fee, which anvil has as well."""

ELASTICITY = 2
BASE_FEE_CHANGE_DENOMINATOR = 8
"""EIP-1559: the target is half a block, and the base fee moves by at most an eighth."""

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
