"""Why a node takes a transaction not, in the words of anvil 1.7.1 and of geth.

Anvil's were recorded from the real node (facts §3); geth's are those of its source, with operands.
"""

from enum import Enum
from types import MappingProxyType


class Reason(Enum):
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


ANVIL = MappingProxyType(
    {
        Reason.MALFORMED: (-32602, "Failed to decode transaction"),
        Reason.WRONG_CHAIN: (-32003, "invalid chain id for signer"),
        Reason.TYPE: (-32602, "Failed to decode transaction"),
        Reason.TIP_ABOVE_FEE: (
            -32003,
            "max priority fee per gas higher than max fee per gas",
        ),
        Reason.INTRINSIC_GAS: (-32000, "intrinsic gas too low"),
        Reason.GAS_ABOVE_BLOCK: (
            -32000,
            "intrinsic gas too high -- tx.gas_limit > env.block.gas_limit",
        ),
        Reason.OVERSIZED: (-32003, "oversized data"),
        Reason.NONCE_TOO_LOW: (-32003, "nonce too low"),
        Reason.FEE_BELOW_BASE: (-32003, "max fee per gas less than block base fee"),
        Reason.NO_FUNDS: (-32003, "Insufficient funds for gas * price + value"),
        Reason.KNOWN: (-32003, "transaction already imported"),
        Reason.UNDERPRICED: (-32003, "replacement transaction underpriced"),
        Reason.POOL_FULL: (-32003, "txpool is full"),
    }
)
"""Anvil bounds neither size nor count: those two lines are what a proxy says in its place."""

GETH = MappingProxyType(
    {
        Reason.MALFORMED: (-32000, "rlp: value size exceeds available input length"),
        Reason.WRONG_CHAIN: (-32000, "invalid sender: invalid chain id for signer"),
        Reason.TYPE: (-32000, "transaction type not supported"),
        Reason.TIP_ABOVE_FEE: (
            -32000,
            "max priority fee per gas higher than max fee per gas",
        ),
        Reason.INTRINSIC_GAS: (-32000, "intrinsic gas too low: gas {gas}, minimum needed {wanted}"),
        Reason.GAS_ABOVE_BLOCK: (-32000, "exceeds block gas limit"),
        Reason.OVERSIZED: (-32000, "oversized data: transaction size {size}, limit {limit}"),
        Reason.NONCE_TOO_LOW: (-32000, "nonce too low: next nonce {next}, tx nonce {nonce}"),
        Reason.FEE_BELOW_BASE: (-32000, "max fee per gas less than block base fee"),
        Reason.NO_FUNDS: (
            -32000,
            "insufficient funds for gas * price + value: "
            "balance {balance}, tx cost {cost}, overshot {overshot}",
        ),
        Reason.KNOWN: (-32000, "already known"),
        Reason.UNDERPRICED: (-32000, "replacement transaction underpriced"),
        Reason.POOL_FULL: (-32000, "txpool is full"),
    }
)
