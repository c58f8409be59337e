"""celestia-core's CAT mempool: transactions by their signer, and two memories of how others ended.
Pure.

Those of one signer stay together: they are reaped in the order of their sequences, dropped for
their age all at once, and dropped for capacity from the highest sequence down.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from laneway.cosmos.keys import raw_address
from laneway.cosmos.tx import Read
from laneway.devnets.cosmos.limits import (
    EVICTED_KEPT_MAX,
    MEMPOOL_BYTES_MAX,
    MEMPOOL_COUNT_MAX,
    REJECTED_KEPT_MAX,
    TTL_BLOCKS,
    TX_BYTES_MAX,
)
from laneway.devnets.cosmos.model import verdicts
from laneway.devnets.cosmos.model.app import amount_of, gas_wanted
from laneway.devnets.cosmos.model.verdicts import AppVerdict

PRIORITY_SCALE: Final = 1_000_000


class MempoolRules(Struct, frozen=True):
    """A node's own settings."""

    ttl_blocks: int = TTL_BLOCKS
    """Blocks after which a signer's transactions are dropped; 0 drops nothing for its age."""
    bytes_max: int = MEMPOOL_BYTES_MAX
    count_max: int = MEMPOOL_COUNT_MAX
    tx_bytes_max: int = TX_BYTES_MAX
    rejected_max: int = REJECTED_KEPT_MAX
    evicted_max: int = EVICTED_KEPT_MAX


class HeldTransaction(Struct, frozen=True):
    """A transaction in a mempool."""

    tx: Read
    raw: bytes
    signer: bytes
    height: int
    """The newest block when it arrived."""
    arrival: int
    priority: int
    gas: int

    @property
    def hash(self) -> bytes:
        return self.tx.hash

    @property
    def size(self) -> int:
        return len(self.raw)


def held(tx: Read, raw: bytes, height: int, arrival: int, denom: str) -> HeldTransaction:
    fee = 0 if tx.auth.fee is None else amount_of(tx.auth.fee.amount, denom)
    gas = max(gas_wanted(tx), 1)
    signer = raw_address(tx.public_key())
    return HeldTransaction(tx, raw, signer, height, arrival, fee * PRIORITY_SCALE // gas, gas)


class MempoolFull(Exception):
    """There is no capacity, and no transaction of less worth could be evicted."""


class HashMemory:
    """The verdicts on a bounded number of hashes; the oldest is forgotten for a new one."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: OrderedDict[bytes, AppVerdict] = OrderedDict()

    def add(self, hash_: bytes, verdict: AppVerdict = verdicts.OK) -> None:
        """Remember a verdict. The first one stays; a second only renews its age."""
        self._kept.setdefault(hash_, verdict)
        self._kept.move_to_end(hash_)
        if len(self._kept) > self._limit:
            self._kept.popitem(last=False)

    def get(self, hash_: bytes) -> AppVerdict | None:
        return self._kept.get(hash_)


class Mempool:
    def __init__(self, rules: MempoolRules) -> None:
        self.rules = rules
        self.rejected = HashMemory(rules.rejected_max)
        self.evicted = HashMemory(rules.evicted_max)
        self.size = 0
        """The size of all held transactions in bytes."""
        self._held: dict[bytes, HeldTransaction] = {}
        self._sets: dict[bytes, list[HeldTransaction]] = {}
        """Transactions by signer, in the order of sequences."""

    def __len__(self) -> int:
        return len(self._held)

    def get(self, hash_: bytes) -> HeldTransaction | None:
        return self._held.get(hash_)

    def add(self, new: HeldTransaction) -> None:
        """Hold a transaction; those of less worth are evicted for it, or it is MempoolFull."""
        for victim in self._victims(new):
            self.evict(victim)
        self._held[new.hash] = new
        self.size += new.size
        mates = self._sets.setdefault(new.signer, [])
        mates.append(new)
        mates.sort(key=lambda one: (one.tx.sequence(), one.arrival))

    def _victims(self, new: HeldTransaction) -> list[HeldTransaction]:
        rules = self.rules
        capacity = rules.bytes_max - self.size
        if capacity >= new.size and len(self._held) < rules.count_max:
            return []
        worth = worth_of([*self._sets.get(new.signer, ()), new])
        cheaper = [
            one
            for signer in sorted(self._sets, key=self._rank, reverse=True)
            if signer != new.signer and self.worth(signer) < worth
            for one in reversed(self._sets[signer])
        ]
        if sum(one.size for one in cheaper) < new.size:
            self.evicted.add(new.hash)
            raise MempoolFull
        found: list[HeldTransaction] = []
        for one in cheaper:
            if found and capacity >= new.size:
                break
            found.append(one)
            capacity += one.size
        return found

    def worth(self, signer: bytes) -> int:
        """The price that a signer's transactions pay for a unit of gas, all of them together."""
        return worth_of(self._sets[signer])

    def _rank(self, signer: bytes) -> tuple[int, int]:
        """The order of signers: the highest price first, of equal ones the oldest."""
        return -self.worth(signer), self._sets[signer][0].arrival

    def in_order(self) -> Iterator[HeldTransaction]:
        """The transactions in the order in which a proposer takes them."""
        for signer in sorted(self._sets, key=self._rank):
            yield from tuple(self._sets[signer])

    def evict(self, one: HeldTransaction) -> None:
        self.remove(one)
        self.evicted.add(one.hash)

    def remove(self, one: HeldTransaction) -> None:
        del self._held[one.hash]
        self.size -= one.size
        mates = self._sets[one.signer]
        mates.remove(one)
        if not mates:
            del self._sets[one.signer]

    def expire(self, height: int) -> None:
        """Drop the sets whose first transaction has waited for too many blocks."""
        ttl = self.rules.ttl_blocks
        if not ttl:
            return
        for mates in tuple(self._sets.values()):
            if height - min(one.height for one in mates) > ttl:
                for one in tuple(mates):
                    self.evict(one)

    def recheck(self, judge: Callable[[HeldTransaction], AppVerdict]) -> None:
        """Judge each again, in the order of sequences; refused ones are removed and remembered."""
        for one in tuple(self.in_order()):
            verdict = judge(one)
            if verdict.code:
                self.remove(one)
                self.rejected.add(one.hash, verdict)


def worth_of(mates: Sequence[HeldTransaction]) -> int:
    return sum(one.priority * one.gas for one in mates) // sum(one.gas for one in mates)
