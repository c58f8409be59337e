"""Bounds of the Cosmos adapter, each with its reason."""

OFFER_MS = 15_000
"""Of one transaction: a node checks its signature and its blobs before it answers."""

OFFER_GRACE_MS = 3_000
"""How much longer than the first node the others may take: one that hangs must not hold a lane."""

STATUSES_PER_CALL_MAX = 20
"""What celestia-core takes in one tx_status_batch."""

LOOK_TXS_MAX = 200
"""Transactions of one look: ten such calls in one post."""
