"""An EVM chain and its nodes, stepped by their holder.

There is one chain and any number of nodes, each with a pool and a view of its own: a node may lag,
stand still on a dead fork, lose its pool. A chain that `executes` does all that transactions say;
on another one they move value, and addresses in `reverts` revert.
Pure: time is an argument, faults are calls. Every block that ever was stays known, so that laws
can be checked on the chain's own history.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import heappop
from typing import Literal

from laneway.devnets.evm.limits import BLOCK_GAS_MAX, TIP_WEI_SUGGESTED
from laneway.devnets.evm.model.block import (
    BlockPlace,
    EvmBlock,
    ValueWork,
    Work,
    base_fee_after,
    genesis,
)
from laneway.devnets.evm.model.blocks import EvmBlocks
from laneway.devnets.evm.model.executed import (
    MS_PER_S,
    ExecutedWork,
    blob_fee_after,
    blob_fee_of,
    executed_genesis,
)
from laneway.devnets.evm.model.judging import (
    PoolGround,
    impersonated,
    judged,
    read,
    refused,
    refused_as,
)
from laneway.devnets.evm.model.nodes import ChainNode
from laneway.devnets.evm.model.pool import NodePool, PooledTransaction
from laneway.devnets.evm.model.rules import ANVIL, UNAVAILABLE, EvmRules
from laneway.devnets.evm.model.states import (
    EvmAccountState,
    EvmChainState,
    ExecutedState,
    ValueState,
    first_executed_state,
    first_value_state,
)
from laneway.devnets.evm.model.values import (
    ChainSnapshot,
    Fees,
    FoundTransaction,
    MinedReceipt,
    TransactionRefused,
    TransactionTaken,
    receipts_of,
)
from laneway.evm.errors import InvalidTransaction
from laneway.evm.fork import Fork
from laneway.evm.keccak import keccak
from laneway.evm.limits import BLOB_GAS
from laneway.evm.precompiles.errors import PrecompileUnavailable
from laneway.evm.rules import ForkRules, rules_of
from laneway.evm.transaction import Transaction, fee_wei_max

Tag = Literal["latest", "pending", "preconfirmed"]


class EvmModel(EvmBlocks):
    """The chain, and its nodes by their numbers. Block 0 holds the first balances."""

    def __init__(
        self,
        balances: Mapping[bytes, int],
        *,
        chain_id: int = 31_337,
        nodes: int = 1,
        rules: EvmRules = ANVIL,
        fork: Fork = Fork.PRAGUE,
        block_gas_max: int = BLOCK_GAS_MAX,
        executes: bool = False,
        first_ms: int = 0,
    ) -> None:
        """`executes`: whether contracts run, or transactions move value alone. Block 0 is of
        `first_ms`."""
        self.chain_id, self.rules, self.fork = chain_id, rules, fork
        self.executes, self.block_gas_max = executes, block_gas_max
        self.gossips = True
        """Whether an accepted transaction reaches all other nodes at once; else see `spread`."""
        self.reverts: dict[bytes, None] = {}
        """Addresses that take no value: a transaction to them pays gas alone. Of a chain that does
        not execute."""
        self.beneficiary = bytes(20)
        self.base_fee_next_wei: int | None = None
        """The next block's base fee, once, in place of the computed one."""
        self._sent: dict[bytes, PooledTransaction] = {}
        self._receipts: dict[bytes, list[MinedReceipt]] = {}
        self._spent: dict[tuple[bytes, int], dict[bytes, None]] = {}
        self._block_count = 0
        self._preconfirmed: tuple[bytes, ...] = ()
        state: EvmChainState
        if executes:
            state = first_executed_state(balances)
            first = executed_genesis(state, block_gas_max, first_ms, fork)
        else:
            state = first_value_state(balances)
            first = genesis(balances, block_gas_max, first_ms)
        super().__init__(first, state)
        self._nodes = [ChainNode(first) for _ in range(nodes)]

    def send(self, node: int, raw: bytes) -> TransactionTaken | TransactionRefused:
        """Offer raw bytes to a node, as eth_sendRawTransaction does."""
        try:
            sent = self._known(raw)
        except InvalidTransaction as error:
            return refused_as(self.rules, error)
        except PrecompileUnavailable as error:
            return TransactionRefused(UNAVAILABLE, str(error))
        return self._take(node, sent)

    def send_as(
        self, node: int, made: Transaction, sender: bytes
    ) -> TransactionTaken | TransactionRefused:
        """Offer a transaction that nobody signed, of an account that the node impersonates."""
        try:
            sent = impersonated(
                made,
                sender,
                fork=self.fork,
                chain_id=self.chain_id,
                executes=self.executes,
                order=len(self._sent),
            )
        except InvalidTransaction as error:
            return refused_as(self.rules, error)
        return self._take(node, self._sent.setdefault(sent.hash, sent))

    def _take(self, node: int, sent: PooledTransaction) -> TransactionTaken | TransactionRefused:
        answer = self._offer(self._nodes[node], sent)
        if isinstance(answer, TransactionTaken) and self.gossips:
            for other in self._nodes:
                self._offer(other, sent)
        return answer

    def spread(self, node: int, digest: bytes | None = None) -> None:
        """Gossip what a node's pool holds, all or one, to the other nodes."""
        for sent in self._nodes[node].pool:
            if digest in (None, sent.hash):
                for other in self._nodes:
                    self._offer(other, sent)

    def mine(
        self,
        now_ms: int,
        *,
        node: int = 0,
        skips: Callable[[PooledTransaction], bool] | None = None,
    ) -> EvmBlock:
        """Make the next block from a node's pool, the best tips first; all nodes see it."""
        work = self._fill(self._nodes[node].pool, skips, now_ms)
        self.base_fee_next_wei = None
        block = self._write(work)
        self._show()
        return block

    def preconfirm(self, count: int, *, node: int = 0) -> tuple[bytes, ...]:
        """Promise the first `count` of the next block, as flashblocks do; nothing binds them."""
        work = self._fill(self._nodes[node].pool, None, self._chain[-1].made_ms)
        self._preconfirmed = tuple(sent.hash for sent, _, _ in work.done[:count])
        return self._preconfirmed

    def pending(self, node: int, now_ms: int) -> EvmBlock:
        """The block that would be made now from what a node knows. It is none of the chain: its
        state is known until another one is asked for."""
        seen = self._nodes[node]
        work = self._fill(seen.pool, None, now_ms, seen.head)
        state = work.state()
        block = work.block(state)
        self._pending = (block, state)
        return block

    def restore(self, kept: ChainSnapshot) -> None:
        """Let the chain be what it was; pools stay as they are, and nothing returns to them."""
        self._go_back(kept)
        self.base_fee_next_wei = None
        self._show()

    def reorg(
        self,
        depth: int,
        now_ms: int,
        *,
        blocks: Sequence[Sequence[bytes]] | None = None,
        returns: bool | None = None,
        strict: bool = True,
    ) -> tuple[EvmBlock, ...]:
        """Take the last blocks away and put others there, which hold these transactions.

        Without `blocks` as many empty ones are made, so that the height stays. `returns` says
        whether what was taken away goes back into the pools, else the rules do. What cannot be
        executed is the caller's mistake, or, if not `strict`, left out, as anvil has it.
        InvalidTransaction comes before anything has changed.
        """
        assert 0 < depth < len(self._chain)
        empty: Sequence[Sequence[bytes]] = [()] * depth
        chosen = empty if blocks is None else blocks
        wanted = [[self._known(raw) for raw in raws] for raws in chosen]
        gone = tuple(self._chain[-depth:])
        self._cut(gone[0].number - 1)
        for held in wanted:
            work = self._work(now_ms)
            for sent in held:
                ran = work.run(sent)
                assert ran or not strict, "a block holds only what can be executed on its parent"
            self._write(work)
        self._show()
        if self.rules.returns_reorged if returns is None else returns:
            for digest in (digest for block in gone for digest in block.transactions):
                for node in self._nodes:
                    self._offer(node, self._sent[digest])
        return gone

    def drop(self, digest: bytes, node: int | None = None) -> bool:
        """Forget a transaction in one pool or in all; False if no pool knew it."""
        nodes = self._nodes if node is None else [self._nodes[node]]
        # All of them, before it is asked whether any knew it.
        forgotten = [each.pool.remove(digest) for each in nodes]
        return any(forgotten)

    def strand(self, digest: bytes, node: int = 0) -> bool:
        """Let a node's pool never promote it, though it is known there."""
        return self._nodes[node].pool.strand(digest)

    def restart(self, node: int, *, keeps_pool: bool = False) -> None:
        """The node dies and comes back: its chain is there, its pool usually not."""
        if not keeps_pool:
            self._nodes[node].pool.clear()

    def nodes_count(self) -> int:
        return len(self._nodes)

    def lag(self, node: int, blocks: int) -> None:
        """Let a node lag by some blocks from now on; it never goes back."""
        self._nodes[node].lag_blocks = blocks
        self._follow(self._nodes[node])

    def freeze(self, node: int, frozen: bool = True) -> None:
        """Keep a node where it stands, on a fork that dies if need be, and let it go again."""
        self._nodes[node].frozen = frozen
        self._follow(self._nodes[node])

    def keep_state(self, node: int, blocks: int | None) -> None:
        """Let a node forget the state of all but its newest blocks, as a full node does; None
        keeps all. Blocks, transactions and receipts stay."""
        self._nodes[node].state_blocks = blocks

    def has_state(self, node: int, block: EvmBlock) -> bool:
        """Whether a node still knows how accounts stood at a block."""
        kept = self._nodes[node].state_blocks
        return kept is None or block.number > self._nodes[node].head.number - kept

    def count(self, node: int, address: bytes, tag: Tag) -> int:
        """How many transactions of an account a node has seen."""
        seen = self._nodes[node]
        nonce = self._account(seen, address).nonce
        if tag == "latest":
            return nonce
        if tag == "pending":
            return nonce + len(seen.pool.ready(address, nonce))
        ahead = [self._sent[digest] for digest in self._preconfirmed]
        fresh = [s for s in ahead if s.sender == address and s.transaction.nonce >= nonce]
        return nonce + len(fresh)

    def balance(self, node: int, address: bytes) -> int:
        return self._account(self._nodes[node], address).balance_wei

    def head(self, node: int) -> EvmBlock:
        return self._nodes[node].head

    def block(self, node: int, number: int) -> EvmBlock | None:
        """The block of this number as a node sees it."""
        return self._ancestor(self._nodes[node].head, number)

    def block_by_hash(self, node: int, digest: bytes) -> EvmBlock | None:
        """The block of this hash, if the node's own chain holds it."""
        block = self._blocks.get(digest)
        if block is None or self.block(node, block.number) is not block:
            return None
        return block

    def blobs_ratio(self, block: EvmBlock) -> float:
        """How much of a block's blob gas is used."""
        used = 0 if block.header is None else block.header.blob_gas_used or 0
        return used / (self._rules_at(block).blobs.most * BLOB_GAS)

    def receipt(self, node: int, digest: bytes) -> MinedReceipt | None:
        """Where a transaction was mined, if the node's own chain holds it."""
        for receipt in self._receipts.get(digest, ()):
            block = self.block(node, receipt.number)
            if block is not None and block.hash == receipt.block:
                return receipt
        return None

    def receipts_of(self, block: EvmBlock) -> tuple[MinedReceipt, ...]:
        """In the order of its transactions; the block may have left the chain."""
        found = [self._receipts[digest] for digest in block.transactions]
        return tuple(next(one for one in each if one.block == block.hash) for each in found)

    def transaction(self, node: int, digest: bytes) -> FoundTransaction | None:
        receipt = self.receipt(node, digest)
        if receipt is not None:
            return FoundTransaction(self._sent[digest], self._blocks[receipt.block])
        pooled = self._nodes[node].pool.get(digest)
        return None if pooled is None else FoundTransaction(pooled, None)

    def transaction_at(self, node: int, sender: bytes, nonce: int) -> FoundTransaction | None:
        """The one that has this nonce, on the node's chain or else in its pool."""
        for digest in self._spent.get((sender, nonce), ()):
            if self.receipt(node, digest) is not None:
                return self.transaction(node, digest)
        pooled = self._nodes[node].pool.at(sender, nonce)
        return None if pooled is None else FoundTransaction(pooled, None)

    def fees(self, node: int) -> Fees:
        head = self._nodes[node].head
        return Fees(head.base_fee_wei, base_fee_after(head), TIP_WEI_SUGGESTED)

    def blob_fee(self, block: EvmBlock) -> int:
        """The price of blob gas in a block."""
        return blob_fee_of(block, self._rules_at(block))

    def blob_fee_next(self, parent: EvmBlock) -> int:
        """The price of blob gas in the block after another."""
        return blob_fee_after(parent, self._rules_at(parent))

    def _rules_at(self, block: EvmBlock) -> ForkRules:
        return self.fork_rules(block.made_ms // MS_PER_S)

    def pool(
        self, node: int
    ) -> tuple[tuple[PooledTransaction, ...], tuple[PooledTransaction, ...]]:
        """The transactions that may be mined, and those that wait: txpool_content."""
        pending = {sent.hash: None for sent in self._ready(self._nodes[node])}
        held = tuple(self._nodes[node].pool)
        return (
            tuple(sent for sent in held if sent.hash in pending),
            tuple(sent for sent in held if sent.hash not in pending),
        )

    def has_ready(self, node: int) -> bool:
        """Whether a block that is made now may hold something."""
        return next(self._ready(self._nodes[node]), None) is not None

    def _ready(self, node: ChainNode) -> Iterator[PooledTransaction]:
        for sender in node.pool.senders():
            yield from node.pool.ready(sender, self._account(node, sender).nonce)

    def blob(self, node: int, versioned_hash: bytes) -> bytes | None:
        """The blob of this hash, if a transaction on the node's chain brought it."""
        for sent in self._sent.values():
            for digest, content in sent.blobs():
                if digest == versioned_hash and self.receipt(node, sent.hash) is not None:
                    return content
        return None

    def sent(self, digest: bytes) -> PooledTransaction:
        """A valid transaction that was ever offered to a node."""
        return self._sent[digest]

    def _offer(
        self, node: ChainNode, sent: PooledTransaction
    ) -> TransactionTaken | TransactionRefused:
        view = PoolGround(
            node.pool,
            self._account(node, sent.sender),
            self._base_fee(node.head),
            self.blob_fee_next(node.head),
            self.block_gas_max,
        )
        no = judged(self.rules, view, sent)
        if no is not None:
            return no
        reason = node.pool.add(sent, self.rules.bump_percent)
        return TransactionTaken(sent.hash) if reason is None else refused(self.rules, reason)

    def _known(self, raw: bytes) -> PooledTransaction:
        """The transaction of these bytes, judged once; InvalidTransaction if no chain takes it."""
        sent = self._sent.get(keccak(raw))
        if sent is None:
            sent = read(
                raw,
                fork=self.fork,
                chain_id=self.chain_id,
                executes=self.executes,
                order=len(self._sent),
            )
            # Blobs travel beside a transaction, so it may come in other bytes again.
            sent = self._sent.setdefault(sent.hash, sent)
        return sent

    def _fill(
        self,
        pool: NodePool,
        skips: Callable[[PooledTransaction], bool] | None,
        now_ms: int,
        parent: EvmBlock | None = None,
    ) -> Work:
        """Run what a pool holds on the newest state, or that of another block: by tip, and each
        sender's in its order."""
        work = self._work(now_ms, parent)
        best: list[tuple[int, int, list[PooledTransaction]]] = []
        for sender in pool.senders():
            # Reversed, so that the next one is at the end.
            line = pool.ready(sender, work.account(sender).nonce)[::-1]
            work.queue(best, line)
        while best:
            _, _, line = heappop(best)
            sent = line.pop()
            # A sender's later ones cannot pass an earlier one that is skipped or cannot run.
            if (skips is None or not skips(sent)) and work.run(sent):
                work.queue(best, line)
        return work

    def _work(self, now_ms: int, parent: EvmBlock | None = None) -> Work:
        tip = parent or self._chain[-1]
        place = BlockPlace(
            parent=tip,
            made_ms=now_ms,
            base_fee_wei=self._base_fee(tip),
            gas_limit=self.block_gas_max,
            beneficiary=self.beneficiary,
            chain_id=self.chain_id,
            block_hash=lambda number: self.hash_at(number, tip),
            count=self._block_count + 1,
        )
        state = self._states[tip.hash]
        if isinstance(state, ExecutedState):
            return ExecutedWork(state, place, self.fork_rules(now_ms // MS_PER_S))
        assert isinstance(state, ValueState)
        return ValueWork(state, place, fork=self.fork, reverts=self.reverts)

    def fork_rules(self, timestamp_s: int) -> ForkRules:  # noqa: ARG002
        """The rules of a block of this time."""
        return rules_of(self.fork)

    def _write(self, work: Work) -> EvmBlock:
        """Put what was run into the next block of the chain."""
        self._block_count += 1
        state = work.state()
        block = work.block(state)
        self._append(block, state)
        for receipt, (sent, _, _) in zip(receipts_of(work, block), work.done, strict=True):
            self._receipts.setdefault(sent.hash, []).append(receipt)
            self._spent.setdefault((sent.sender, sent.transaction.nonce), {})[sent.hash] = None
        return block

    def _base_fee(self, parent: EvmBlock) -> int:
        chosen = self.base_fee_next_wei
        return base_fee_after(parent) if chosen is None else chosen

    def _show(self) -> None:
        """The chain has changed: every node sees as much of it as it may."""
        self._preconfirmed = ()
        for node in self._nodes:
            self._follow(node)

    def _follow(self, node: ChainNode) -> None:
        if node.frozen:
            return
        target = self._chain[max(len(self._chain) - 1 - node.lag_blocks, 0)]
        if node.head.number > target.number and self._is_canonical(node.head):
            return
        node.head = target
        state = self._states[target.hash]
        for sent in node.pool:
            account = state.standing(sent.sender)
            spent = sent.transaction.nonce < account.nonce
            poor = sent.cost_wei() > account.balance_wei
            below = fee_wei_max(sent.transaction) < target.base_fee_wei
            if spent or poor or (below and self.rules.evicts_below_base):
                node.pool.remove(sent.hash)

    def _account(self, node: ChainNode, address: bytes) -> EvmAccountState:
        return self._states[node.head.hash].standing(address)
