"""One node's mempool: what may be mined next, and what waits for a nonce before it.

It knows no balances and no chain; its holder says where each sender's count stands.
"""

from collections.abc import Iterator

from msgspec import Struct

from laneway.devnets.evm.limits import BLOB_BUMP_PERCENT_GETH
from laneway.devnets.evm.model.rules import RefusalReason
from laneway.evm.envelope import encode_canonical
from laneway.evm.transaction import (
    BlobTransaction,
    Transaction,
    cost_wei_max,
    fee_wei_max,
    tip_wei_max,
)


class PooledTransaction(Struct, frozen=True):
    """A transaction that some node accepted."""

    hash: bytes
    raw: bytes
    transaction: Transaction
    sender: bytes
    order: int
    """When it was first accepted, counted over all nodes: among equal tips the older wins."""
    is_impersonated: bool = False
    """Nobody signed it: a node sent it for an account whose key it has not."""

    def cost_wei(self) -> int:
        """The most that its sender can pay for it."""
        return cost_wei_max(self.transaction)

    def size_bytes(self) -> int:
        """As pools bound it: blobs, which travel beside it, have a bound of their own."""
        made = self.transaction
        return len(encode_canonical(made) if isinstance(made, BlobTransaction) else self.raw)

    def blobs(self) -> tuple[tuple[bytes, bytes], ...]:
        """The hash and content of each blob that travels beside it."""
        made = self.transaction
        if not isinstance(made, BlobTransaction) or made.sidecar is None:
            return ()
        return tuple(zip(made.blob_hashes, made.sidecar.blobs, strict=True))


class NodePool:
    def __init__(self) -> None:
        self._senders: dict[bytes, dict[int, PooledTransaction]] = {}
        self._known: dict[bytes, PooledTransaction] = {}
        self._stranded: dict[bytes, None] = {}

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Iterator[PooledTransaction]:
        """Oldest first, as this node met them."""
        return iter(tuple(self._known.values()))

    def get(self, digest: bytes) -> PooledTransaction | None:
        return self._known.get(digest)

    def at(self, sender: bytes, nonce: int) -> PooledTransaction | None:
        return self._senders.get(sender, {}).get(nonce)

    def add(self, sent: PooledTransaction, bump_percent: int) -> RefusalReason | None:
        """Add a transaction; it replaces one of the same nonce if it pays enough more."""
        if sent.hash in self._known:
            return RefusalReason.KNOWN
        old = self.at(sent.sender, sent.transaction.nonce)
        if old is not None:
            if not replaces(old.transaction, sent.transaction, bump_percent):
                return RefusalReason.UNDERPRICED
            self.remove(old.hash)
        self._known[sent.hash] = sent
        self._senders.setdefault(sent.sender, {})[sent.transaction.nonce] = sent
        return None

    def remove(self, digest: bytes) -> bool:
        """Forget it; the nonces after it wait then."""
        sent = self._known.pop(digest, None)
        if sent is None:
            return False
        self._stranded.pop(digest, None)
        line = self._senders[sent.sender]
        del line[sent.transaction.nonce]
        if not line:
            del self._senders[sent.sender]
        return True

    def clear(self) -> None:
        self._senders.clear()
        self._known.clear()
        self._stranded.clear()

    def strand(self, digest: bytes) -> bool:
        """Leave it unpromoted for ever, as anvil's race does; only a replacement frees it."""
        if digest not in self._known:
            return False
        self._stranded[digest] = None
        return True

    def ready(self, sender: bytes, nonce: int) -> list[PooledTransaction]:
        """The transactions of a sender from this nonce on, in order, up to the first gap."""
        line = self._senders.get(sender, {})
        found = []
        while (sent := line.get(nonce)) is not None and sent.hash not in self._stranded:
            found.append(sent)
            nonce += 1
        return found

    def senders(self) -> tuple[bytes, ...]:
        return tuple(self._senders)

    def cost_wei(self, sender: bytes, *, without: int) -> int:
        """The most that a sender pays for all its transactions, except that of one nonce."""
        line = self._senders.get(sender, {})
        return sum(sent.cost_wei() for nonce, sent in line.items() if nonce != without)


def replaces(old: Transaction, new: Transaction, bump_percent: int) -> bool:
    """Whether a pool accepts the new transaction in place of the old one."""
    fee, fee_old = fee_wei_max(new), fee_wei_max(old)
    if bump_percent == 0 or fee <= fee_old:
        return fee > fee_old
    prices = [(fee, fee_old), (tip_wei_max(new), tip_wei_max(old))]
    if isinstance(old, BlobTransaction) or isinstance(new, BlobTransaction):
        # Blobs have a pool of their own, which asks for more; nothing leaves it for the other one.
        bump_percent = BLOB_BUMP_PERCENT_GETH
        prices.append((blob_fee(new), blob_fee(old)))
    bump = 100 + bump_percent
    return all(now > before and 100 * now >= bump * before for now, before in prices)


def blob_fee(made: Transaction) -> int:
    """The most it pays for a unit of blob gas; it has none if it has no blobs."""
    return made.blob_fee_wei_max if isinstance(made, BlobTransaction) else 0
