"""A whole block again, from its bytes and the state before it."""

from collections.abc import Callable

from msgspec import Struct

from laneway.evm.execution.block import EvmExecution
from laneway.evm.execution.fees import blob_fee_wei
from laneway.evm.execution.receipt import EvmReceipt, bloom
from laneway.evm.execution.system_calls import close_block, open_block
from laneway.evm.header import BlockHeader, ExecutionBlock
from laneway.evm.machine.context import BlockContext
from laneway.evm.rules import ForkRules
from laneway.evm.state.changes import WriteSet
from laneway.evm.state.journal import StateJournal
from laneway.evm.state.view import StateView
from laneway.evm.trie.tree import ordered_root
from laneway.evm.validity import validate


class ReplayedBlock(Struct, frozen=True):
    receipts: tuple[EvmReceipt, ...]
    changes: WriteSet
    requests: tuple[bytes, ...]
    """EIP-7685, each after the byte of its type."""
    gas_used: int
    blob_gas_used: int

    def bloom(self) -> bytes:
        return bloom([log for receipt in self.receipts for log in receipt.logs])

    def receipts_root(self) -> bytes:
        total, encoded = 0, []
        for receipt in self.receipts:
            total += receipt.gas_used
            encoded.append(receipt.encode(total))
        return ordered_root(encoded)


def replay(
    view: StateView,
    block: ExecutionBlock,
    rules: ForkRules,
    *,
    chain_id: int,
    block_hash: Callable[[int], bytes],
) -> ReplayedBlock:
    """What a block did. InvalidTransaction or SystemCallFailed if it is no block of this state."""
    header = block.header
    journal = StateJournal(view)
    context = context_of(header, rules, chain_id=chain_id, block_hash=block_hash)
    execution = EvmExecution(journal, context, rules)
    open_block(
        execution,
        parent_hash=header.parent_hash,
        parent_beacon_root=header.parent_beacon_root or bytes(32),
    )
    receipts = tuple(
        [execution.transact(one, validate(one, rules.fork, chain_id)) for one in block.transactions]
    )
    logs = [log for receipt in receipts for log in receipt.logs]
    requests = close_block(execution, block.withdrawals or (), logs)
    return ReplayedBlock(
        receipts, journal.write_set(), requests, execution.gas_used, execution.blob_gas_used
    )


def context_of(
    header: BlockHeader, rules: ForkRules, *, chain_id: int, block_hash: Callable[[int], bytes]
) -> BlockContext:
    """What opcodes read of the block of this header."""
    return BlockContext(
        number=header.number,
        timestamp_s=header.timestamp_s,
        coinbase=header.coinbase,
        gas_limit=header.gas_limit,
        base_fee_wei=header.base_fee_wei or 0,
        prevrandao=header.prevrandao,
        blob_base_fee_wei=blob_fee_wei(header.excess_blob_gas or 0, rules.blobs),
        chain_id=chain_id,
        block_hash=block_hash,
    )
