"""Bounds of the ledger service, each with its reason."""

TRANSFER_COUNT_MAX = 4_096
"""Of one block. Their signatures take a guarantor a quarter of a second, and block and receipts
fill 177 of the 3,072 segments that a package may export (W_X)."""

WITNESS_NODE_COUNT_MAX = 131_072
"""Sixteen nodes for each of two accounts of every transfer: 8 MB of the 13.8 that a bundle may
have (W_B)."""

GENESIS_COUNT_MAX = 65_536
"""Accounts that a ledger begins with; their record is 2.6 MB and written once."""

BLOCK_GAS = 100_000
TRANSFER_GAS = 100_000
NODE_GAS = 2_000
"""What refining a block costs, in all, for each transfer, and for each node of its witness: the
largest block stays at two thirds of the 1,000,000,000 that the tiny chain gives to a package."""

ACCOUNTS_DEV = 10
"""Known accounts of the ledger, as many as the other devnets have."""

BALANCE_DEV = 10**12
"""What each of them begins with: no test spends it, and all of them together are far below what
the ledger can count."""
