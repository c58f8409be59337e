"""What a chain answers about transactions and their price."""

from msgspec import Struct

from laneway.devnets.evm.model.block import EvmBlock
from laneway.devnets.evm.model.pool import PooledTransaction
from laneway.evm.opcodes.logs import EvmLog


class MinedReceipt(Struct, frozen=True):
    hash: bytes
    block: bytes
    number: int
    index: int
    succeeded: bool
    gas_used: int
    price_wei: int
    gas_total: int
    """Gas used in its block, up to and with this transaction."""
    logs: tuple[EvmLog, ...] = ()
    log_first: int = 0
    """How many logs its block has before them."""


class FoundTransaction(Struct, frozen=True):
    """A transaction that a node knows; without a block it is in the pool."""

    sent: PooledTransaction
    block: EvmBlock | None


class Fees(Struct, frozen=True):
    base_fee_wei: int
    base_fee_next_wei: int
    tip_wei: int


class TransactionTaken(Struct, frozen=True):
    hash: bytes


class TransactionRefused(Struct, frozen=True):
    code: int
    message: str
