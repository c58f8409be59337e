"""Gas and fees of Cosmos transactions, in whole numbers."""

from collections.abc import Sequence

from laneway.cosmos.blobs import SHARE_BYTES, Blob, share_count

MICRO = 1_000_000
"""Prices of gas are in millionths of the chain's smallest coin."""

BLOB_GAS_FIXED = 75_000
BLOB_GAS_PER_BYTE = 8
TX_GAS_PER_BYTE = 10
BLOB_INFO_BYTES = 70
"""celestia-app's formula for a transaction that pays for blobs (facts §1.6)."""


def blob_gas(blobs: Sequence[Blob]) -> int:
    """What paying for these blobs uses at most, by celestia-app's own formula."""
    shares = sum(share_count(len(blob.data), blob.share_version) for blob in blobs)
    info = TX_GAS_PER_BYTE * BLOB_INFO_BYTES * len(blobs)
    return shares * SHARE_BYTES * BLOB_GAS_PER_BYTE + info + BLOB_GAS_FIXED


def fee_for(gas: int, price_micro: int) -> int:
    """Rounded up: a node takes nothing below its price."""
    return -(-gas * price_micro // MICRO)
