"""A Cosmos chain in memory: its blocks, and nodes that each have a mempool of their own. Pure.

Every block moves the state that nodes check against to what is committed; in between it runs ahead
with each transaction that they let in, also with those that then find no room.
"""

from collections.abc import Mapping, Sequence
from enum import Enum

from msgspec import Struct, structs

from laneway.cosmos.protobuf import encode
from laneway.cosmos.tx import Read, hash_of, read_blob_tx
from laneway.devnets.cosmos import words
from laneway.devnets.cosmos.app import App, Delivered, Mode, Rules, understood
from laneway.devnets.cosmos.ledger import Account, Ledger
from laneway.devnets.cosmos.mempool import Full, Held, Mempool, MempoolRules, held
from laneway.devnets.cosmos.words import OK, Verdict


class Standing(Enum):
    """What a node says of a transaction, in its own words."""

    COMMITTED = "COMMITTED"
    PENDING = "PENDING"
    EVICTED = "EVICTED"
    REJECTED = "REJECTED"
    UNKNOWN = "UNKNOWN"


class NodeRefused(Exception):
    """The node did not let it in, whatever the application said."""


class Committed(Struct, frozen=True):
    """A transaction in a block."""

    height: int
    index: int
    raw: bytes
    tx: Read
    delivered: Delivered
    is_used: bool = True
    """Whether its number was taken: not where it failed before that."""


class Status(Struct, frozen=True):
    standing: Standing
    verdict: Verdict = OK
    committed: Committed | None = None


class Block(Struct, frozen=True):
    height: int
    hashes: tuple[bytes, ...]
    made_ms: int = 0


class Node:
    def __init__(self, rules: MempoolRules, state: Ledger) -> None:
        self.mempool = Mempool(rules)
        self.checked = state.above()
        """The state that the next transaction is checked against."""
        self.is_up = True
        self.is_cut_off = False
        """Whether it hears of no transaction from other nodes and tells them of none."""


class CosmosChain:
    """Steppable: nothing happens but what is told to."""

    def __init__(
        self,
        balances: Mapping[bytes, int] | None = None,
        *,
        rules: Rules | None = None,
        nodes: Sequence[MempoolRules] = (MempoolRules(),),
        genesis: bytes = b"",
    ) -> None:
        self.app = App(rules or Rules())
        self.genesis = genesis
        """What tells this chain's blocks from those of another with the same name."""
        self.state = Ledger()
        for address, balance in (balances or {}).items():
            self.state.change(address, balance=balance)
        self.nodes = [Node(one, self.state) for one in nodes]
        self.blocks: list[Block] = []
        self.is_held = False
        """Whether proposers leave everything out, so that blocks are empty."""
        self._committed: dict[bytes, Committed] = {}
        self._used: dict[tuple[str, int], bytes] = {}
        """Who used which number of an account."""
        self._arrivals = 0

    @property
    def height(self) -> int:
        return len(self.blocks)

    def account(self, address: bytes) -> Account | None:
        """As it is committed."""
        return self.state.account(address)

    # What nodes are told and asked.

    def broadcast(self, node: int, raw: bytes) -> tuple[bytes, Verdict]:
        """Its hash and what the application says; NodeRefused is the node's own no."""
        found = self._offer(self.nodes[node], raw)
        hash_, verdict = found
        if verdict is OK and not self.nodes[node].is_cut_off:
            self._gossip(node, raw)
        return hash_, verdict

    def _gossip(self, origin: int, raw: bytes) -> None:
        for place, other in enumerate(self.nodes):
            if place != origin and other.is_up and not other.is_cut_off:
                try:
                    self._offer(other, raw)
                except NodeRefused:
                    continue

    def _offer(self, node: Node, raw: bytes) -> tuple[bytes, Verdict]:
        mempool = node.mempool
        if len(raw) > mempool.rules.tx_bytes_max:
            raise NodeRefused(words.too_large(mempool.rules.tx_bytes_max, len(raw)))
        hash_ = named(raw)
        if mempool.get(hash_) is not None:
            raise NodeRefused(words.IN_MEMPOOL)
        tx = understood(raw)
        if isinstance(tx, Verdict):
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
        except Full:
            full = words.mempool_full(hash_, len(mempool), mempool.size)
            raise NodeRefused(full) from None
        return hash_, OK

    def status(self, node: int, hash_: bytes) -> Status:
        committed = self._committed.get(hash_)
        if committed is not None:
            return Status(Standing.COMMITTED, committed.delivered.verdict, committed)
        mempool = self.nodes[node].mempool
        if mempool.get(hash_) is not None:
            return Status(Standing.PENDING)
        if mempool.evicted.get(hash_) is not None:
            return Status(Standing.EVICTED)
        rejected = mempool.rejected.get(hash_)
        if rejected is not None:
            return Status(Standing.REJECTED, rejected)
        return Status(Standing.UNKNOWN)

    def committed(self, hash_: bytes) -> Committed | None:
        return self._committed.get(hash_)

    def used_by(self, address: str, sequence: int) -> Committed | None:
        """The transaction in a block that used this number of an account."""
        hash_ = self._used.get((address, sequence))
        return None if hash_ is None else self._committed[hash_]

    def simulate(self, node: int, raw: bytes) -> Verdict | Delivered:
        """What it would do now, on the state that this node checks against."""
        tx = understood(raw)
        if isinstance(tx, Verdict):
            return tx
        trial = self.nodes[node].checked.above()
        verdict = self.app.ante(trial, tx, len(raw), self.height, Mode.SIMULATE)
        return self.app.deliver(trial, tx, len(raw)) if verdict is OK else verdict

    # What happens.

    def produce(self, made_ms: int = 0, *, proposer: int = 0) -> Block:
        """The next block, of what its proposer holds."""
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
        block = Block(height, tuple(hashes), made_ms)
        self.blocks.append(block)
        for node in self.nodes:
            if node.is_up:
                self._update(node, block)
        return block

    def _kept(self, one: Held) -> tuple[bytes, Read]:
        """What stays of a transaction in a block."""
        if self.app.rules.keeps_blobs or not one.tx.blobs:
            return one.raw, one.tx
        return encode(one.tx.raw), structs.replace(one.tx, blobs=())

    def _proposer(self, wanted: int) -> Node | None:
        """Whoever is up, if the wanted one is not."""
        nodes = [self.nodes[wanted], *self.nodes]
        return next((one for one in nodes if one.is_up), None)

    def _proposed(self, node: Node | None, height: int) -> list[Held]:
        """What the application would not take in this block is left out, and waits."""
        if node is None:
            return []
        rules, trial = self.app.rules, self.state.above()
        chosen: list[Held] = []
        size = blob_txs = 0
        for one in node.mempool.in_order():
            is_room = size + one.size <= rules.block_bytes_max
            if one.tx.blobs and blob_txs >= rules.blob_txs_max:
                is_room = False
            if not is_room:
                continue
            if one.hash in self.app.ante_fails:
                chosen.append(one)
            elif self.app.ante(trial, one.tx, one.size, height, Mode.DELIVER) is OK:
                self.app.deliver(trial, one.tx, one.size)
                chosen.append(one)
                size += one.size
                blob_txs += bool(one.tx.blobs)
        return chosen

    def _update(self, node: Node, block: Block) -> None:
        """A node after a block: what is old goes, and the rest is asked for anew."""
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
        """It keeps its blocks, and nothing else."""
        before = self.nodes[node]
        self.nodes[node] = Node(before.mempool.rules, self.state)
        self.nodes[node].is_cut_off = before.is_cut_off

    def evict(self, node: int, hash_: bytes) -> bool:
        """Drop one from a node's mempool, as if there had been no room for it."""
        found = self.nodes[node].mempool.get(hash_)
        if found is not None:
            self.nodes[node].mempool.evict(found)
        return found is not None


def named(raw: bytes) -> bytes:
    """How nodes call these bytes: a transaction with blobs by what is inside."""
    blob_tx = read_blob_tx(raw)
    return hash_of(raw if blob_tx is None else blob_tx.tx)
