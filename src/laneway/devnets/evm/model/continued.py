"""A chain that began elsewhere: it goes on from a block and the state after it, and takes the next
blocks as they were made. All of these are final."""

from collections.abc import Callable, Mapping

from msgspec import Struct, structs

from laneway.core.errors import InvalidValue
from laneway.devnets.evm.model.block import BlockPlace, EvmBlock
from laneway.devnets.evm.model.chain import EvmModel
from laneway.devnets.evm.model.executed import MS_PER_S, ExecutedWork
from laneway.devnets.evm.model.pool import PooledTransaction
from laneway.devnets.evm.model.rules import ANVIL, EvmRules
from laneway.devnets.evm.model.states import ExecutedState
from laneway.evm.envelope import encode_canonical
from laneway.evm.errors import InvalidTransaction
from laneway.evm.execution.receipt import bloom
from laneway.evm.execution.system_calls import (
    SystemCallFailed,
    close_block,
    requests_hash,
)
from laneway.evm.fork import Fork
from laneway.evm.header import (
    BlockHeader,
    ExecutionBlock,
    hash_of,
    transactions_root,
    withdrawals_root,
)
from laneway.evm.keccak import keccak
from laneway.evm.rules import ForkRules
from laneway.evm.trie.tree import ordered_root
from laneway.evm.validity import validate


class BlockNotImported(InvalidValue):
    code = "block_not_imported"
    message = "block {number} is not the next one of this chain: {problem}"


class ChainOrigin(Struct, frozen=True, kw_only=True):
    """A block that a chain goes on from, and what is known of the chain up to it."""

    header: BlockHeader
    state: ExecutedState
    """After the block."""
    schedule: tuple[tuple[int, ForkRules], ...]
    """The rules of the chain, each with the time in seconds from which they hold, oldest first."""
    hashes: Mapping[int, bytes] = {}
    """Of the blocks before it by their numbers, which BLOCKHASH answers."""


class ContinuedModel(EvmModel):
    """An EvmModel whose oldest block is not block 0."""

    def __init__(
        self, origin: ChainOrigin, *, chain_id: int, nodes: int = 1, rules: EvmRules = ANVIL
    ) -> None:
        self._origin = origin
        header = origin.header
        fork = origin.schedule[-1][1].fork
        super().__init__(
            {},
            chain_id=chain_id,
            nodes=nodes,
            rules=rules,
            fork=fork,
            block_gas_max=header.gas_limit,
            executes=True,
        )
        first = block_of(header)
        self._begin(first, origin.state)
        for node in self._nodes:
            node.head = first

    def fork_rules(self, timestamp_s: int) -> ForkRules:
        begun = [rules for begin_s, rules in self._origin.schedule if begin_s <= timestamp_s]
        return begun[-1] if begun else self._origin.schedule[0][1]

    def hash_at(self, number: int, below: EvmBlock | None = None) -> bytes:
        """Of a block before the first one too, where it is known; zeros where it is not."""
        if number < self.first_number:
            return self._origin.hashes.get(number, bytes(32))
        return super().hash_at(number, below)

    def import_block(self, block: ExecutionBlock) -> EvmBlock:
        """Make a block again that was made elsewhere. BlockNotImported, and nothing has changed, if
        it does not come to what its header says."""
        header, parent = block.header, self._chain[-1]
        if header.parent_hash != parent.hash:
            raise BlockNotImported(number=header.number, problem="it has another parent")
        rules = self.fork_rules(header.timestamp_s)
        work = ImportedWork(
            self.executed(parent),
            parent,
            block,
            rules,
            chain_id=self.chain_id,
            block_hash=self.hash_at,
        )
        try:
            work.run_all(rules.fork)
            made = self._write(work)
        except (InvalidTransaction, SystemCallFailed) as error:
            raise BlockNotImported(number=header.number, problem=str(error)) from error
        for sent, _, _ in work.done:
            self._sent.setdefault(sent.hash, sent)
        self.block_gas_max, self.final_number = header.gas_limit, header.number
        self._show()
        return made


class ImportedWork(ExecutedWork):
    """A block that is made again, with its system calls and withdrawals."""

    def __init__(
        self,
        state: ExecutedState,
        parent: EvmBlock,
        block: ExecutionBlock,
        rules: ForkRules,
        *,
        chain_id: int,
        block_hash: Callable[[int], bytes],
    ) -> None:
        header = block.header
        place = BlockPlace(
            parent=parent,
            made_ms=header.timestamp_s * MS_PER_S,
            base_fee_wei=header.base_fee_wei or 0,
            gas_limit=header.gas_limit,
            beneficiary=header.coinbase,
            chain_id=chain_id,
            block_hash=block_hash,
            count=0,
        )
        super().__init__(state, place, rules, header)
        self._block = block
        self._requests: tuple[bytes, ...] = ()

    def run_all(self, fork: Fork) -> None:
        """InvalidTransaction if one of them cannot be in this block."""
        execution = self._execution
        for order, made in enumerate(self._block.transactions):
            raw = encode_canonical(made)
            sender = validate(made, fork, self.place.chain_id)
            receipt = execution.transact(made, sender)
            self.receipts.append(receipt)
            sent = PooledTransaction(keccak(raw), raw, made, sender, order)
            self._ran(sent, receipt.gas_used, receipt.succeeded)
        logs = [log for receipt in self.receipts for log in receipt.logs]
        self._requests = close_block(execution, self._block.withdrawals or (), logs)

    def block(self, state: ExecutedState) -> EvmBlock:
        """The block as it was, if this is what its content comes to."""
        total, encoded = 0, []
        for receipt in self.receipts:
            total += receipt.gas_used
            encoded.append(receipt.encode(total))
        header, block = self._block.header, self._block
        made = structs.replace(
            header,
            state_root=state.trie.root(),
            transactions_root=transactions_root(block),
            receipts_root=ordered_root(encoded),
            logs_bloom=bloom([log for one in self.receipts for log in one.logs]),
            gas_used=total,
            withdrawals_root=withdrawals_root(block),
            blob_gas_used=self._execution.blob_gas_used,
            requests_hash=header.requests_hash and requests_hash(self._requests),
        )
        for name in structs.asdict(made):
            if getattr(made, name) != getattr(header, name):
                raise BlockNotImported(number=header.number, problem=f"it has another {name}")
        return structs.replace(self._made(hash_of(header), header), imported=block)


def block_of(header: BlockHeader) -> EvmBlock:
    """A block of which nothing but the header is known."""
    return EvmBlock(
        header.number,
        hash_of(header),
        header.parent_hash,
        header.base_fee_wei or 0,
        header.gas_used,
        header.gas_limit,
        header.timestamp_s * MS_PER_S,
        (),
        header,
    )
