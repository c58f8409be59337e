"""What a chain answers about transactions and their price."""

from collections.abc import Iterator

from msgspec import Struct

from laneway.devnets.evm.model.block import EvmBlock, Work
from laneway.devnets.evm.model.pool import PooledTransaction
from laneway.devnets.evm.model.states import EvmChainState
from laneway.evm.execution.fees import effective_price_wei
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
    blob_gas: int = 0
    blob_price_wei: int = 1


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


class ChainSnapshot(Struct, frozen=True):
    """Where a chain stood; all below its newest block follows from that."""

    block: EvmBlock
    state: EvmChainState
    """After that block, and after what was set by hand since."""


def receipts_of(work: Work, block: EvmBlock) -> Iterator[MinedReceipt]:
    """Of what was run, in its order, once it has a block."""
    gas_total = log_first = 0
    for index, (sent, gas_used, succeeded) in enumerate(work.done):
        gas_total += gas_used
        receipt = work.receipts[index] if work.receipts else None
        logs = () if receipt is None else receipt.logs
        yield MinedReceipt(
            hash=sent.hash,
            block=block.hash,
            number=block.number,
            index=index,
            succeeded=succeeded,
            gas_used=gas_used,
            price_wei=effective_price_wei(sent.transaction, block.base_fee_wei),
            gas_total=gas_total,
            logs=logs,
            log_first=log_first,
            blob_gas=0 if receipt is None else receipt.blob_gas,
            blob_price_wei=work.blob_fee_wei,
        )
        log_first += len(logs)
