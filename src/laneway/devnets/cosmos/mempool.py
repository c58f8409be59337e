"""celestia-core's CAT mempool: transactions by their signer, and two memories of how others ended.
Pure.

Those of one signer stay together: they are reaped in the order of their sequences, dropped for
their age all at once, and dropped for room from the highest sequence down.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from laneway.cosmos.keys import raw_address
from laneway.cosmos.tx import Read
from laneway.devnets.cosmos import words
from laneway.devnets.cosmos.app import amount_of, gas_wanted
from laneway.devnets.cosmos.limits import (
    EVICTED_KEPT_MAX,
    MEMPOOL_BYTES_MAX,
    MEMPOOL_COUNT_MAX,
    REJECTED_KEPT_MAX,
    TTL_BLOCKS,
    TX_BYTES_MAX,
)
from laneway.devnets.cosmos.words import Verdict

PRIORITY_SCALE: Final = 1_000_000


class MempoolRules(Struct, frozen=True):
    """A node's own settings."""

    ttl_blocks: int = TTL_BLOCKS
    """0: nothing is dropped for its age."""
    bytes_max: int = MEMPOOL_BYTES_MAX
    count_max: int = MEMPOOL_COUNT_MAX
    tx_bytes_max: int = TX_BYTES_MAX
    rejected_max: int = REJECTED_KEPT_MAX
    evicted_max: int = EVICTED_KEPT_MAX


class Held(Struct, frozen=True):
    """A transaction in a mempool."""

    tx: Read
    raw: bytes
    signer: bytes
    height: int
    """The newest block when it came."""
    arrival: int
    priority: int
    gas: int

    @property
    def hash(self) -> bytes:
        return self.tx.hash

    @property
    def size(self) -> int:
        return len(self.raw)


def held(tx: Read, raw: bytes, height: int, arrival: int, denom: str) -> Held:
    fee = 0 if tx.auth.fee is None else amount_of(tx.auth.fee.amount, denom)
    gas = max(gas_wanted(tx), 1)
    signer = raw_address(tx.public_key())
    return Held(tx, raw, signer, height, arrival, fee * PRIORITY_SCALE // gas, gas)


class Full(Exception):
    """There is no room, and nothing that is worth less."""


class Memory:
    """So many hashes, the oldest of which is forgotten for a new one."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: OrderedDict[bytes, Verdict] = OrderedDict()

    def add(self, hash_: bytes, verdict: Verdict = words.OK) -> None:
        """The first word stands; a second only keeps it from being forgotten."""
        self._kept.setdefault(hash_, verdict)
        self._kept.move_to_end(hash_)
        if len(self._kept) > self._limit:
            self._kept.popitem(last=False)

    def get(self, hash_: bytes) -> Verdict | None:
        return self._kept.get(hash_)


class Mempool:
    def __init__(self, rules: MempoolRules) -> None:
        self.rules = rules
        self.rejected = Memory(rules.rejected_max)
        self.evicted = Memory(rules.evicted_max)
        self.size = 0
        """Bytes of all that is held."""
        self._held: dict[bytes, Held] = {}
        self._sets: dict[bytes, list[Held]] = {}
        """By signer, in the order of sequences."""

    def __len__(self) -> int:
        return len(self._held)

    def get(self, hash_: bytes) -> Held | None:
        return self._held.get(hash_)

    def add(self, new: Held) -> None:
        """Take it in; what is worth less makes room, or it is Full."""
        for victim in self._victims(new):
            self.evict(victim)
        self._held[new.hash] = new
        self.size += new.size
        mates = self._sets.setdefault(new.signer, [])
        mates.append(new)
        mates.sort(key=lambda one: (one.tx.sequence(), one.arrival))

    def _victims(self, new: Held) -> list[Held]:
        rules = self.rules
        room = rules.bytes_max - self.size
        if room >= new.size and len(self._held) < rules.count_max:
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
            raise Full
        found: list[Held] = []
        for one in cheaper:
            if found and room >= new.size:
                break
            found.append(one)
            room += one.size
        return found

    def worth(self, signer: bytes) -> int:
        """What its transactions pay for a unit of gas, all of them together."""
        return worth_of(self._sets[signer])

    def _rank(self, signer: bytes) -> tuple[int, int]:
        """The dearest set first; of equal ones the oldest."""
        return -self.worth(signer), self._sets[signer][0].arrival

    def in_order(self) -> Iterator[Held]:
        """As a proposer takes them."""
        for signer in sorted(self._sets, key=self._rank):
            yield from tuple(self._sets[signer])

    def evict(self, one: Held) -> None:
        self.remove(one)
        self.evicted.add(one.hash)

    def remove(self, one: Held) -> None:
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

    def recheck(self, judge: Callable[[Held], Verdict]) -> None:
        """Ask anew of each, in the order of sequences; those that are refused are remembered."""
        for one in tuple(self.in_order()):
            verdict = judge(one)
            if verdict.code:
                self.remove(one)
                self.rejected.add(one.hash, verdict)


def worth_of(mates: Sequence[Held]) -> int:
    return sum(one.priority * one.gas for one in mates) // sum(one.gas for one in mates)
