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
from laneway.devnets.evm.model.executed import MS_PER_S, ExecutedWork, executed_genesis
from laneway.devnets.evm.model.nodes import ChainNode
from laneway.devnets.evm.model.pool import NodePool, PooledTransaction
from laneway.devnets.evm.model.rules import ANVIL, REASONS, EvmRules, RefusalReason
from laneway.devnets.evm.model.states import (
    EvmAccountState,
    EvmChainState,
    ExecutedState,
    ValueState,
    first_executed_state,
    first_value_state,
)
from laneway.devnets.evm.model.values import (
    Fees,
    FoundTransaction,
    MinedReceipt,
    TransactionRefused,
    TransactionTaken,
)
from laneway.evm.envelope import decode
from laneway.evm.errors import InvalidTransaction, TypeUnsupported
from laneway.evm.execution.fees import effective_price_wei
from laneway.evm.fork import Fork
from laneway.evm.keccak import keccak
from laneway.evm.rules import ForkRules, rules_of
from laneway.evm.transaction import fee_wei_max
from laneway.evm.validity import validate

Tag = Literal["latest", "pending", "preconfirmed"]

PLAIN_TYPES = (0, 1, 2)
"""Blobs and delegations change more than balances."""
EXECUTED_TYPES = (0, 1, 2, 4)
"""Blobs need proofs that travel beside them."""


class EvmModel:
    """The chain, and its nodes by their numbers. Block 0 holds the first balances."""

    first_number = final_number = 0  # Of the oldest block that is known, and the last final one.

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
    ) -> None:
        """`executes`: whether contracts run, or transactions move value alone."""
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
        self._blocks: dict[bytes, EvmBlock] = {}
        self._states: dict[bytes, EvmChainState] = {}
        self._receipts: dict[bytes, list[MinedReceipt]] = {}
        self._spent: dict[tuple[bytes, int], dict[bytes, None]] = {}
        self._block_count = 0
        self._preconfirmed: tuple[bytes, ...] = ()
        state: EvmChainState
        if executes:
            state = first_executed_state(balances)
            first = executed_genesis(state, block_gas_max)
        else:
            state, first = first_value_state(balances), genesis(balances, block_gas_max)
        self._blocks[first.hash] = first
        self._states[first.hash] = state
        self._chain = [first]
        self._nodes = [ChainNode(first) for _ in range(nodes)]

    def send(self, node: int, raw: bytes) -> TransactionTaken | TransactionRefused:
        """Offer raw bytes to a node, as eth_sendRawTransaction does."""
        answer = self._offer(self._nodes[node], raw)
        if isinstance(answer, TransactionTaken) and self.gossips:
            for other in self._nodes:
                self._offer(other, raw)
        return answer

    def spread(self, node: int, digest: bytes | None = None) -> None:
        """Gossip what a node's pool holds, all or one, to the other nodes."""
        for sent in self._nodes[node].pool:
            if digest in (None, sent.hash):
                for other in self._nodes:
                    self._offer(other, sent.raw)

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
        del self._chain[-depth:]
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
                    self._offer(node, self._sent[digest].raw)
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

    def set_account(
        self, address: bytes, *, balance_wei: int | None = None, nonce: int | None = None
    ) -> None:
        """Overwrite an account in the newest state, as if somebody else had used its key."""
        state = self._states[self._chain[-1].hash]
        old = state.standing(address)
        standing = EvmAccountState(
            old.balance_wei if balance_wei is None else balance_wei,
            old.nonce if nonce is None else nonce,
        )
        self._states[self._chain[-1].hash] = state.with_standing(address, standing)

    def set_code(self, address: bytes, code: bytes) -> None:
        """Overwrite the code of an account in the newest state. Only of a chain that executes."""
        newest = self._chain[-1]
        self._states[newest.hash] = self.executed(newest).with_code(address, code)

    def set_storage(self, address: bytes, key: int, value: int) -> None:
        """Overwrite one key of an account in the newest state. Only of a chain that executes."""
        newest = self._chain[-1]
        self._states[newest.hash] = self.executed(newest).with_storage(address, key, value)

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

    def parent(self, block: EvmBlock) -> EvmBlock:
        return self._blocks[block.parent]

    def account(self, block: EvmBlock, address: bytes) -> EvmAccountState:
        """How an account stood after a block."""
        return self._states[block.hash].standing(address)

    def executed(self, block: EvmBlock) -> ExecutedState:
        """All that stood in the state after a block of a chain that executes."""
        state = self._states[block.hash]
        assert isinstance(state, ExecutedState), "this chain moves value alone"
        return state

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

    def newest(self) -> EvmBlock:
        """The chain's last block, whether any node has seen it or not."""
        return self._chain[-1]

    def history(self) -> tuple[EvmBlock, ...]:
        """The chain as it is now, from block 0."""
        return tuple(self._chain)

    def sent(self, digest: bytes) -> PooledTransaction:
        """A valid transaction that was ever offered to a node."""
        return self._sent[digest]

    def _offer(self, node: ChainNode, raw: bytes) -> TransactionTaken | TransactionRefused:
        try:
            sent = self._known(raw)
        except InvalidTransaction as error:
            return self._refuse(REASONS.get(error.code, RefusalReason.MALFORMED), **error.operands)
        refused = self._judge(node, sent)
        if refused is not None:
            return refused
        reason = node.pool.add(sent, self.rules.bump_percent)
        return TransactionTaken(sent.hash) if reason is None else self._refuse(reason)

    def _judge(self, node: ChainNode, sent: PooledTransaction) -> TransactionRefused | None:
        """The refusal of a transaction by the node's state; the pool itself judges its place."""
        rules, made, account = self.rules, sent.transaction, self._account(node, sent.sender)
        if rules.size_bytes_max is not None and len(sent.raw) > rules.size_bytes_max:
            size, limit = len(sent.raw), rules.size_bytes_max
            return self._refuse(RefusalReason.OVERSIZED, size=size, limit=limit)
        if made.gas_limit > self.block_gas_max:
            return self._refuse(RefusalReason.GAS_ABOVE_BLOCK)
        if made.nonce < account.nonce:
            return self._refuse(RefusalReason.NONCE_TOO_LOW, next=account.nonce, nonce=made.nonce)
        if rules.refuses_below_base and fee_wei_max(made) < self._base_fee(node.head):
            return self._refuse(RefusalReason.FEE_BELOW_BASE)
        cost = sent.cost_wei()
        if rules.sums_costs:
            cost += node.pool.cost_wei(sent.sender, without=made.nonce)
        if cost > account.balance_wei:
            operands = {"cost": cost, "overshot": cost - account.balance_wei}
            return self._refuse(RefusalReason.NO_FUNDS, balance=account.balance_wei, **operands)
        full = rules.pool_count_max is not None and len(node.pool) >= rules.pool_count_max
        if full and node.pool.at(sent.sender, made.nonce) is None:
            return self._refuse(RefusalReason.POOL_FULL)
        return None

    def _refuse(self, reason: RefusalReason, **operands: int | str) -> TransactionRefused:
        code, message = self.rules.refusals[reason]
        return TransactionRefused(code, message.format(**operands))

    def _known(self, raw: bytes) -> PooledTransaction:
        """The transaction of these bytes, judged once; InvalidTransaction if no chain takes it."""
        digest = keccak(raw)
        sent = self._sent.get(digest)
        if sent is None:
            made = decode(raw)
            if made.type not in (EXECUTED_TYPES if self.executes else PLAIN_TYPES):
                raise TypeUnsupported(type=made.type, fork="this devnet")
            sender = validate(made, self.fork, self.chain_id)
            sent = self._sent[digest] = PooledTransaction(
                digest, raw, made, sender, len(self._sent)
            )
        return sent

    def _fill(
        self, pool: NodePool, skips: Callable[[PooledTransaction], bool] | None, now_ms: int
    ) -> Work:
        """Run what a pool holds on the newest state: by tip, and each sender's in its order."""
        work = self._work(now_ms)
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

    def _work(self, now_ms: int) -> Work:
        tip = self._chain[-1]
        place = BlockPlace(
            parent=tip,
            made_ms=now_ms,
            base_fee_wei=self._base_fee(tip),
            gas_limit=self.block_gas_max,
            beneficiary=self.beneficiary,
            chain_id=self.chain_id,
            block_hash=self.hash_at,
            count=self._block_count + 1,
        )
        state = self._states[tip.hash]
        if isinstance(state, ExecutedState):
            return ExecutedWork(state, place, self.fork_rules(now_ms // MS_PER_S))
        assert isinstance(state, ValueState)
        return ValueWork(state, place, fork=self.fork, reverts=self.reverts)

    def fork_rules(self, timestamp_s: int) -> ForkRules:  # noqa: ARG002
        return rules_of(self.fork)

    def hash_at(self, number: int) -> bytes:
        """Of the block of this number on the chain as it is now."""
        return self._chain[number - self.first_number].hash

    def _write(self, work: Work) -> EvmBlock:
        """Put what was run into the next block of the chain."""
        self._block_count += 1
        state = work.state()
        block = work.block(state)
        self._blocks[block.hash] = block
        self._states[block.hash] = state
        self._chain.append(block)
        gas_total = log_first = 0
        for index, (sent, gas_used, succeeded) in enumerate(work.done):
            gas_total += gas_used
            logs = work.receipts[index].logs if work.receipts else ()
            receipt = MinedReceipt(
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
            )
            log_first += len(logs)
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

    def _ancestor(self, block: EvmBlock, number: int) -> EvmBlock | None:
        """The block of this number below another, which may be on a dead fork."""
        if not self.first_number <= number <= block.number:
            return None
        while block.number > number and not self._is_canonical(block):
            block = self._blocks[block.parent]
        return block if block.number == number else self._chain[number - self.first_number]

    def _is_canonical(self, block: EvmBlock) -> bool:
        place = block.number - self.first_number
        return place < len(self._chain) and self._chain[place] is block
