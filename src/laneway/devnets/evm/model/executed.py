"""A block of a chain that executes: the EVM's own, with the header that it comes to."""

from contextlib import suppress

from laneway.devnets.evm.limits import BASE_FEE_WEI_FIRST
from laneway.devnets.evm.model.block import BlockPlace, EvmBlock, Work
from laneway.devnets.evm.model.pool import PooledTransaction
from laneway.devnets.evm.model.states import EvmAccountState, ExecutedState
from laneway.evm.envelope import encode_canonical
from laneway.evm.errors import InvalidTransaction, SenderHasCode
from laneway.evm.execution.block import EvmExecution
from laneway.evm.execution.fees import BLOB_FEE_WEI_MIN, blob_fee_wei, excess_blob_gas_after
from laneway.evm.execution.receipt import EvmReceipt, bloom
from laneway.evm.execution.replay import context_of
from laneway.evm.execution.system_calls import open_block, requests_hash
from laneway.evm.fork import Fork
from laneway.evm.header import BlockHeader, hash_of
from laneway.evm.keccak import keccak
from laneway.evm.rules import ForkRules
from laneway.evm.state.journal import StateJournal
from laneway.evm.trie.tree import EMPTY_ROOT, ordered_root

MS_PER_S = 1_000


class ExecutedWork(Work):
    """A block that is being made: whatever its transactions do is done."""

    def __init__(
        self,
        state: ExecutedState,
        place: BlockPlace,
        rules: ForkRules,
        header: BlockHeader | None = None,
    ) -> None:
        """With a `header` it is one that was made elsewhere."""
        super().__init__(place)
        self._state = state
        self._journal = StateJournal(state)
        self._header = header or opened(place, rules)
        context = context_of(
            self._header, rules, chain_id=place.chain_id, block_hash=place.block_hash
        )
        self._execution = EvmExecution(self._journal, context, rules)
        self.blob_fee_wei = context.blob_base_fee_wei
        self.receipts: list[EvmReceipt] = []
        begin(self._execution, self._header)

    def account(self, address: bytes) -> EvmAccountState:
        found = self._journal.account(address)
        return EvmAccountState(found.balance_wei, found.nonce)

    def run(self, sent: PooledTransaction) -> bool:
        try:
            receipt = transact(self._execution, sent)
        except InvalidTransaction:
            return False
        self.receipts.append(receipt)
        self._ran(sent, receipt.gas_used, receipt.succeeded)
        return True

    def state(self) -> ExecutedState:
        return self._state.after(self._journal.write_set())

    def block(self, state: ExecutedState) -> EvmBlock:
        """With the header of what was executed."""
        total, encoded = 0, []
        for receipt in self.receipts:
            total += receipt.gas_used
            encoded.append(receipt.encode(total))
        raws = [encode_canonical(sent.transaction) for sent, _, _ in self.done]
        header = BlockHeader(
            parent_hash=self._header.parent_hash,
            coinbase=self._header.coinbase,
            state_root=state.trie.root(),
            transactions_root=ordered_root(raws),
            receipts_root=ordered_root(encoded),
            logs_bloom=bloom([log for one in self.receipts for log in one.logs]),
            number=self._header.number,
            gas_limit=self._header.gas_limit,
            gas_used=total,
            timestamp_s=self._header.timestamp_s,
            prevrandao=self._header.prevrandao,
            base_fee_wei=self._header.base_fee_wei,
            withdrawals_root=EMPTY_ROOT,
            blob_gas_used=self._execution.blob_gas_used,
            excess_blob_gas=self._header.excess_blob_gas,
            parent_beacon_root=bytes(32),
            requests_hash=no_requests(self._execution.rules.fork),
        )
        return self._made(hash_of(header), header)


def begin(execution: EvmExecution, header: BlockHeader) -> None:
    """Call the system contracts that a block of this header calls before its transactions."""
    root = header.parent_beacon_root or bytes(32)
    open_block(execution, parent_hash=header.parent_hash, parent_beacon_root=root)


def transact(execution: EvmExecution, sent: PooledTransaction) -> EvmReceipt:
    """Do what a transaction says; InvalidTransaction if this block cannot hold it."""
    made = sent.transaction
    if not sent.is_impersonated:
        return execution.transact(made, sent.sender)
    # Contracts are impersonated too: of all that a block asks, EIP-3607 alone is left out.
    with suppress(SenderHasCode):
        execution.check(made, sent.sender)
    receipt = execution.simulate(made, sent.sender, is_kept=True)
    execution.gas_used += receipt.gas_used
    return receipt


def opened(place: BlockPlace, rules: ForkRules) -> BlockHeader:
    """The header of a block in which nothing was executed yet."""
    return BlockHeader(
        parent_hash=place.parent.hash,
        coinbase=place.beneficiary,
        state_root=EMPTY_ROOT,
        transactions_root=EMPTY_ROOT,
        receipts_root=EMPTY_ROOT,
        logs_bloom=bytes(256),
        number=place.parent.number + 1,
        gas_limit=place.gas_limit,
        gas_used=0,
        timestamp_s=place.made_ms // MS_PER_S,
        prevrandao=keccak(place.parent.hash + place.count.to_bytes(8, "big")),
        base_fee_wei=place.base_fee_wei,
        excess_blob_gas=excess_after(place.parent, rules),
    )


def excess_after(parent: EvmBlock, rules: ForkRules) -> int:
    """The excess of blob gas in the block after another."""
    assert parent.header is not None, "every block of a chain that executes has one"
    return excess_blob_gas_after(
        rules,
        excess_gas=parent.header.excess_blob_gas or 0,
        used_gas=parent.header.blob_gas_used or 0,
        base_fee_wei=parent.base_fee_wei,
    )


def blob_fee_of(block: EvmBlock, rules: ForkRules) -> int:
    """The price of blob gas in a block; its least on a chain that moves value alone."""
    if block.header is None:
        return BLOB_FEE_WEI_MIN
    return blob_fee_wei(block.header.excess_blob_gas or 0, rules.blobs)


def blob_fee_after(parent: EvmBlock, rules: ForkRules) -> int:
    """The price of blob gas in the block after another."""
    if parent.header is None:
        return BLOB_FEE_WEI_MIN
    return blob_fee_wei(excess_after(parent, rules), rules.blobs)


def no_requests(fork: Fork) -> bytes | None:
    """What a header says of the consensus layer, which asks and is asked for nothing here."""
    return requests_hash(()) if fork >= Fork.PRAGUE else None


def executed_genesis(
    state: ExecutedState, gas_limit: int, made_ms: int = 0, fork: Fork = Fork.PRAGUE
) -> EvmBlock:
    """Block 0, which holds the first balances."""
    header = BlockHeader(
        parent_hash=bytes(32),
        coinbase=bytes(20),
        state_root=state.trie.root(),
        transactions_root=EMPTY_ROOT,
        receipts_root=EMPTY_ROOT,
        logs_bloom=bytes(256),
        number=0,
        gas_limit=gas_limit,
        gas_used=0,
        timestamp_s=made_ms // MS_PER_S,
        prevrandao=bytes(32),
        base_fee_wei=BASE_FEE_WEI_FIRST,
        withdrawals_root=EMPTY_ROOT,
        blob_gas_used=0,
        excess_blob_gas=0,
        parent_beacon_root=bytes(32),
        requests_hash=no_requests(fork),
    )
    numbers = (BASE_FEE_WEI_FIRST, 0, gas_limit, made_ms)
    return EvmBlock(0, hash_of(header), bytes(32), *numbers, (), header)
