"""Bounds of the Cosmos adapter, each with its reason."""

OFFER_MS = 15_000
"""Of one transaction: a node checks its signature and its blobs before it answers."""

OFFER_GRACE_MS = 3_000
"""How much longer than the first node the others may take: one that hangs must not hold a lane."""

ESTIMATE_GRACE_MS = 500
"""How much longer than a majority of the nodes the others may take to name gas or its price: both
are asked before each signature, and one node that hangs must not make bytes too late. Long enough
for a node that is well: of three answers the middle one counts, and of two the higher."""

STATUSES_PER_CALL_MAX = 20
"""What celestia-core takes in one tx_status_batch."""

LOOK_TXS_MAX = 200
"""Transactions of one look: ten such calls in one post."""

CODE_MAX = (1 << 32) - 1
"""Of an answer's code: ABCI's is of 32 bits."""

HASH_BYTES = 32

GAS_USED_MAX = 1 << 40
"""Of a simulation: thousands of times what any block can hold, and its fee still fits a row."""

GAS_PRICE_MAX = 1_000.0
"""Coins for a unit of gas by a node's estimate: no chain asks for one, and a fee still fits a
row."""
