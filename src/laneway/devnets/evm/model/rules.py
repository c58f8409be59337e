"""How a node's pool behaves, and why it refuses a transaction: as anvil 1.7.1 does, and as geth.

Anvil's messages were recorded from the real node (facts §3); geth's are those of its source, with
operands.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from msgspec import Struct

from laneway.devnets.evm.limits import BUMP_PERCENT_GETH, POOL_COUNT_GETH, SIZE_BYTES_GETH


class RefusalReason(Enum):
    MALFORMED = "malformed"
    WRONG_CHAIN = "wrong_chain"
    TYPE = "type"
    TIP_ABOVE_FEE = "tip_above_fee"
    INTRINSIC_GAS = "intrinsic_gas"
    GAS_ABOVE_BLOCK = "gas_above_block"
    OVERSIZED = "oversized"
    NONCE_TOO_LOW = "nonce_too_low"
    FEE_BELOW_BASE = "fee_below_base"
    NO_FUNDS = "no_funds"
    KNOWN = "known"
    UNDERPRICED = "underpriced"
    POOL_FULL = "pool_full"
    NO_SIDECAR = "no_sidecar"
    BLOB_MALFORMED = "blob_malformed"
    BLOB_PROOF_WRONG = "blob_proof_wrong"
    TOO_MANY_BLOBS = "too_many_blobs"
    BLOB_FEE_TOO_LOW = "blob_fee_too_low"


ANVIL_MESSAGES: Final = {
    RefusalReason.MALFORMED: "Failed to decode transaction",
    RefusalReason.WRONG_CHAIN: "invalid chain id for signer",
    RefusalReason.TYPE: "Failed to decode transaction",
    RefusalReason.TIP_ABOVE_FEE: "max priority fee per gas higher than max fee per gas",
    RefusalReason.INTRINSIC_GAS: "intrinsic gas too low",
    RefusalReason.GAS_ABOVE_BLOCK: "intrinsic gas too high -- tx.gas_limit > env.block.gas_limit",
    RefusalReason.OVERSIZED: "oversized data",
    RefusalReason.NONCE_TOO_LOW: "nonce too low",
    RefusalReason.FEE_BELOW_BASE: "max fee per gas less than block base fee",
    RefusalReason.NO_FUNDS: "Insufficient funds for gas * price + value",
    RefusalReason.KNOWN: "transaction already imported",
    RefusalReason.UNDERPRICED: "replacement transaction underpriced",
    RefusalReason.POOL_FULL: "txpool is full",
    RefusalReason.NO_SIDECAR: "eip4844 tx variant without sidecar being used for verification.",
    RefusalReason.BLOB_MALFORMED: "KZG error: CError(C_KZG_BADARGS)",
    RefusalReason.BLOB_PROOF_WRONG: "invalid KZG proof",
    RefusalReason.TOO_MANY_BLOBS: "too many blobs in one transaction, have: {given}, max: {bound}",
    RefusalReason.BLOB_FEE_TOO_LOW: (
        "Block `blob_gas_price` is greater than tx-specified `max_fee_per_blob_gas`"
    ),
}
"""Anvil bounds neither size nor count: a proxy before it has the messages of these two."""
ANVIL_CODES: Final = {
    RefusalReason.MALFORMED: -32602,
    RefusalReason.TYPE: -32602,
    RefusalReason.INTRINSIC_GAS: -32000,
    RefusalReason.GAS_ABOVE_BLOCK: -32000,
}
"""All other refusals have the code -32003."""
GETH_MESSAGES: Final = {
    **ANVIL_MESSAGES,
    RefusalReason.MALFORMED: "rlp: value size exceeds available input length",
    RefusalReason.WRONG_CHAIN: "invalid sender: invalid chain id for signer",
    RefusalReason.TYPE: "transaction type not supported",
    RefusalReason.INTRINSIC_GAS: "intrinsic gas too low: gas {gas}, minimum needed {wanted}",
    RefusalReason.GAS_ABOVE_BLOCK: "exceeds block gas limit",
    RefusalReason.OVERSIZED: "oversized data: transaction size {size}, limit {limit}",
    RefusalReason.NONCE_TOO_LOW: "nonce too low: next nonce {next}, tx nonce {nonce}",
    RefusalReason.NO_FUNDS: (
        "insufficient funds for gas * price + value: "
        "balance {balance}, tx cost {cost}, overshot {overshot}"
    ),
    RefusalReason.KNOWN: "already known",
    RefusalReason.NO_SIDECAR: "missing sidecar in blob transaction",
    RefusalReason.BLOB_MALFORMED: "KZG verification error: invalid blob proof",
    RefusalReason.BLOB_PROOF_WRONG: "invalid blob {index}: can't verify opening proof",
    RefusalReason.TOO_MANY_BLOBS: "too many blobs in transaction: have {given}, permitted {bound}",
    RefusalReason.BLOB_FEE_TOO_LOW: "max fee per blob gas less than block blob gas fee",
}


UNAVAILABLE: Final = -32603
"""JSON-RPC's code of an internal error: a package is missing that judges proofs of blobs."""

REASONS = {
    "chain_wrong": RefusalReason.WRONG_CHAIN,
    "type_unsupported": RefusalReason.TYPE,
    "tip_above_fee": RefusalReason.TIP_ABOVE_FEE,
    "intrinsic_gas_too_low": RefusalReason.INTRINSIC_GAS,
    "gas_below_floor": RefusalReason.INTRINSIC_GAS,
    "gas_above_cap": RefusalReason.GAS_ABOVE_BLOCK,
    "sidecar_missing": RefusalReason.NO_SIDECAR,
    "blob_malformed": RefusalReason.BLOB_MALFORMED,
    "blob_proof_wrong": RefusalReason.BLOB_PROOF_WRONG,
    "blobs_too_many": RefusalReason.TOO_MANY_BLOBS,
}
"""Why a node refuses a transaction that no chain accepts; others are malformed to it."""


class EvmRules(Struct, frozen=True):
    """The behaviour of a node's pool."""

    refusals: Mapping[RefusalReason, tuple[int, str]]
    bump_percent: int
    """By how much fee and tip must rise to replace; with 0 the fee alone, by any amount."""
    refuses_below_base: bool
    """A fee below the base fee is refused when it is sent."""
    evicts_below_base: bool
    """It is forgotten when a block with a higher base fee comes."""
    sums_costs: bool
    """The balance must cover all that the sender has in the pool."""
    returns_reorged: bool
    """What a reorg takes out of the chain goes back into the pool."""
    reads_as_geth: bool = False
    """Ranges of logs beyond the head are refused, a new filter has no history, logs that a
    reorganisation took back are shown again as removed; the access list of a call that fails is
    shown; receipts have no time, and blocks no total difficulty."""
    size_bytes_max: int | None = None
    pool_count_max: int | None = None


ANVIL = EvmRules(
    refusals={
        reason: (ANVIL_CODES.get(reason, -32003), message)
        for reason, message in ANVIL_MESSAGES.items()
    },
    bump_percent=0,
    refuses_below_base=True,
    evicts_below_base=True,
    sums_costs=False,
    returns_reorged=False,
)

GETH = EvmRules(
    refusals={reason: (-32000, message) for reason, message in GETH_MESSAGES.items()},
    bump_percent=BUMP_PERCENT_GETH,
    refuses_below_base=False,
    evicts_below_base=False,
    sums_costs=True,
    returns_reorged=True,
    reads_as_geth=True,
    size_bytes_max=SIZE_BYTES_GETH,
    pool_count_max=POOL_COUNT_GETH,
)
