"""A Cosmos chain in memory: its blocks, and nodes that each have a mempool of their own. Pure.

Every block moves the state that nodes check against to what is committed; in between it runs ahead
with each transaction that they let in, also with those for which there is no capacity then.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import Enum

from msgspec import Struct, structs

from laneway.cosmos.protobuf import encode
from laneway.cosmos.tx import Read, hash_of, read_blob_tx
from laneway.devnets.cosmos.model import verdicts
from laneway.devnets.cosmos.model.app import App, CosmosRules, Delivered, Mode, understood
from laneway.devnets.cosmos.model.ledger import BankAccount, Ledger
from laneway.devnets.cosmos.model.mempool import (
    HeldTransaction,
    Mempool,
    MempoolFull,
    MempoolRules,
    held,
)
from laneway.devnets.cosmos.model.verdicts import OK, AppVerdict


class MempoolStanding(Enum):
    """The status of a transaction at one node, by celestia-core's names."""

    COMMITTED = "COMMITTED"
    PENDING = "PENDING"
    EVICTED = "EVICTED"
    REJECTED = "REJECTED"
    UNKNOWN = "UNKNOWN"


class MempoolRefused(Exception):
    """The node refused the transaction by itself, whatever the application answered."""


class Committed(Struct, frozen=True):
    """A transaction in a block."""

    height: int
    index: int
    raw: bytes
    tx: Read
    delivered: Delivered
    is_used: bool = True
    """Whether it used its sequence number; False if it failed before that."""


class TransactionStatus(Struct, frozen=True):
    standing: MempoolStanding
    verdict: AppVerdict = OK
    committed: Committed | None = None


class CosmosBlock(Struct, frozen=True):
    height: int
    hashes: tuple[bytes, ...]
    made_ms: int = 0


class ValidatorNode:
    def __init__(self, rules: MempoolRules, state: Ledger) -> None:
        self.mempool = Mempool(rules)
        self.checked = state.above()
        """The state that the next transaction is checked against."""
        self.is_up = True
        self.is_cut_off = False
        """Whether it receives no transaction from other nodes and sends them none."""


class CosmosModel:
    """Steppable: nothing happens but by a call."""

    def __init__(
        self,
        balances: Mapping[bytes, int] | None = None,
        *,
        rules: CosmosRules | None = None,
        nodes: Sequence[MempoolRules] = (MempoolRules(),),
        genesis: bytes = b"",
    ) -> None:
        self.app = App(rules or CosmosRules())
        self.genesis = genesis
        """Bytes in every block hash, which differ between chains of the same name."""
        self.state = Ledger()
        for address, balance in (balances or {}).items():
            self.state.change(address, balance=balance)
        self.nodes = [ValidatorNode(one, self.state) for one in nodes]
        self.blocks: list[CosmosBlock] = []
        self.is_held = False
        """Whether proposers include nothing, so that blocks are empty."""
        self._committed: dict[bytes, Committed] = {}
        self._used: dict[tuple[str, int], bytes] = {}
        """The hash of the transaction that used a sequence number of an account."""
        self._arrivals = 0

    @property
    def height(self) -> int:
        return len(self.blocks)

    def account(self, address: bytes) -> BankAccount | None:
        """The account as it is committed."""
        return self.state.account(address)

    # What nodes receive and are asked.

    def broadcast(self, node: int, raw: bytes) -> tuple[bytes, AppVerdict]:
        """Its hash and the application's verdict; MempoolRefused is the node's own refusal."""
        hash_, verdict = self._offer(self.nodes[node], raw)
        if verdict is OK and not self.nodes[node].is_cut_off:
            for place, other in enumerate(self.nodes):
                if place != node and other.is_up and not other.is_cut_off:
                    with suppress(MempoolRefused):
                        self._offer(other, raw)
        return hash_, verdict

    def _offer(self, node: ValidatorNode, raw: bytes) -> tuple[bytes, AppVerdict]:
        mempool = node.mempool
        if len(raw) > mempool.rules.tx_bytes_max:
            raise MempoolRefused(verdicts.too_large(mempool.rules.tx_bytes_max, len(raw)))
        hash_ = named(raw)
        if mempool.get(hash_) is not None:
            raise MempoolRefused(verdicts.IN_MEMPOOL)
        tx = understood(raw)
        if isinstance(tx, AppVerdict):
            verdict = tx
        else:
            verdict = self.app.ante(node.checked, tx, len(raw), self.height, Mode.CHECK)
        if verdict is not OK:
            mempool.rejected.add(hash_, verdict)
            return hash_, verdict
        assert isinstance(tx, Read)
        self._arrivals += 1
        new = held(tx, raw, self.height, self._arrivals, self.app.rules.denom)
        try:
            mempool.add(new)
        except MempoolFull:
            full = verdicts.mempool_full(hash_, len(mempool), mempool.size)
            raise MempoolRefused(full) from None
        return hash_, OK

    def status(self, node: int, hash_: bytes) -> TransactionStatus:
        committed = self._committed.get(hash_)
        if committed is not None:
            verdict = committed.delivered.verdict
            return TransactionStatus(MempoolStanding.COMMITTED, verdict, committed)
        mempool = self.nodes[node].mempool
        if mempool.get(hash_) is not None:
            return TransactionStatus(MempoolStanding.PENDING)
        if mempool.evicted.get(hash_) is not None:
            return TransactionStatus(MempoolStanding.EVICTED)
        rejected = mempool.rejected.get(hash_)
        if rejected is not None:
            return TransactionStatus(MempoolStanding.REJECTED, rejected)
        return TransactionStatus(MempoolStanding.UNKNOWN)

    def committed(self, hash_: bytes) -> Committed | None:
        return self._committed.get(hash_)

    def used_by(self, address: str, sequence: int) -> Committed | None:
        """The transaction in a block that used this sequence number of an account."""
        hash_ = self._used.get((address, sequence))
        return None if hash_ is None else self._committed[hash_]

    def simulate(self, node: int, raw: bytes) -> AppVerdict | Delivered:
        """The result that it would have now, on the state that this node checks against."""
        tx = understood(raw)
        if isinstance(tx, AppVerdict):
            return tx
        trial = self.nodes[node].checked.above()
        verdict = self.app.ante(trial, tx, len(raw), self.height, Mode.SIMULATE)
        return self.app.deliver(trial, tx, len(raw)) if verdict is OK else verdict

    # What happens.

    def produce(self, made_ms: int = 0, *, proposer: int = 0) -> CosmosBlock:
        """Make the next block from the mempool of its proposer."""
        height = self.height + 1
        chosen = [] if self.is_held else self._proposed(self._proposer(proposer), height)
        hashes = []
        for index, one in enumerate(chosen):
            raw, tx = self._kept(one)
            hashes.append(one.hash)
            failed = self.app.ante_fails.pop(one.hash, OK)
            if failed is not OK:
                ended = self.app.ended(one.tx, failed, 0)
                self._committed[one.hash] = Committed(height, index, raw, tx, ended, is_used=False)
                continue
            verdict = self.app.ante(self.state, one.tx, one.size, height, Mode.DELIVER)
            assert verdict is OK
            delivered = self.app.deliver(self.state, one.tx, one.size)
            self._committed[one.hash] = Committed(height, index, raw, tx, delivered)
            for signer, info in zip(delivered.signers, one.tx.auth.signer_infos, strict=False):
                self._used[signer, info.sequence] = one.hash
        block = CosmosBlock(height, tuple(hashes), made_ms)
        self.blocks.append(block)
        for node in self.nodes:
            if node.is_up:
                self._update(node, block)
        return block

    def _kept(self, one: HeldTransaction) -> tuple[bytes, Read]:
        """The bytes and the transaction that stay in memory after its block is made."""
        if self.app.rules.keeps_blobs or not one.tx.blobs:
            return one.raw, one.tx
        return encode(one.tx.raw), structs.replace(one.tx, blobs=())

    def _proposer(self, wanted: int) -> ValidatorNode | None:
        """The wanted node, or the first that is up; None if all are down."""
        nodes = [self.nodes[wanted], *self.nodes]
        return next((one for one in nodes if one.is_up), None)

    def _proposed(self, node: ValidatorNode | None, height: int) -> list[HeldTransaction]:
        """The transactions of the next block; what the application refuses in it waits."""
        if node is None:
            return []
        rules, trial = self.app.rules, self.state.above()
        chosen: list[HeldTransaction] = []
        size = blob_txs = 0
        for one in node.mempool.in_order():
            is_over = one.tx.blobs and blob_txs >= rules.blob_txs_max
            if is_over or size + one.size > rules.block_bytes_max:
                continue
            if one.hash in self.app.ante_fails:
                chosen.append(one)
            elif self.app.ante(trial, one.tx, one.size, height, Mode.DELIVER) is OK:
                self.app.deliver(trial, one.tx, one.size)
                chosen.append(one)
                size += one.size
                blob_txs += bool(one.tx.blobs)
        return chosen

    def _update(self, node: ValidatorNode, block: CosmosBlock) -> None:
        """Update a node after a block: drop what is included or old, and check the rest again."""
        mempool = node.mempool
        node.checked = self.state.above()
        for hash_ in block.hashes:
            gone = mempool.get(hash_)
            if gone is not None:
                mempool.remove(gone)
        mempool.expire(block.height)
        app, checked = self.app, node.checked
        mempool.recheck(lambda one: app.ante(checked, one.tx, one.size, block.height, Mode.RECHECK))

    # Faults.

    def stop(self, node: int) -> None:
        self.nodes[node].is_up = False

    def restart(self, node: int) -> None:
        """Start the node again with its blocks, and without its mempool."""
        before = self.nodes[node]
        self.nodes[node] = ValidatorNode(before.mempool.rules, self.state)
        self.nodes[node].is_cut_off = before.is_cut_off

    def evict(self, node: int, hash_: bytes) -> bool:
        """Drop a transaction from a node's mempool, as if there had been no capacity for it."""
        found = self.nodes[node].mempool.get(hash_)
        if found is not None:
            self.nodes[node].mempool.evict(found)
        return found is not None


def named(raw: bytes) -> bytes:
    """The hash of these bytes, as nodes compute it: with blobs, that of the inner transaction."""
    blob_tx = read_blob_tx(raw)
    return hash_of(raw if blob_tx is None else blob_tx.tx)
