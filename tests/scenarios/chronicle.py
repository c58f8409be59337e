"""The ledger recomputed from the chain while the chain still has its blocks.

The judge of tests/rollup_stage.py reads all blocks at the end. A chain that keeps few packages has
forgotten the first ones by then, so this one reads each block when it is final, and knows for each
transfer where it is.
"""

from msgspec import Struct
from tests.rollup_stage import Applied, Judge, Say, carry_out, digest, merkle_root, states


class Place(Struct, frozen=True):
    """Where a transfer is on the chain."""

    number: int
    index: int
    package: bytes
    block: bytes


class Chronicle(Judge):
    def __init__(self, say: Say) -> None:
        super().__init__(say)
        self.places: dict[bytes, Place] = {}
        self.problems: list[str] = []
        self.count = 0
        """Blocks that were read."""
        self._packages: set[bytes] = set()
        self._tip = self._genesis
        self._now = dict(self._balances)
        self._nonces: dict[bytes, int] = {}

    def follow(self) -> None:
        """Read the blocks that became final since the last time."""
        for number in range(self.count + 1, self.height() + 1):
            self._take(self._applied(number))

    def _take(self, one: Applied) -> None:
        if one.parent != self._tip:
            self._wrong(one, "is not on the one before it")
        if one.package in self._packages:
            self._wrong(one, "came with the package of another one")
        if self._value(b"w" + one.package) != one.number.to_bytes(8, "little"):
            self._wrong(one, "is not the one that its package is said to have brought")
        if self._root() != one.pre_root:
            self._wrong(one, "is on another state")
        for index, (transfer, receipt) in enumerate(zip(one.transfers, one.receipts, strict=True)):
            status = carry_out(transfer, self._now, self._nonces)
            if status or receipt != digest(transfer) + bytes([status]):
                self._wrong(one, f"says {receipt[-1]} of transfer {index}, which comes to {status}")
            if transfer in self.places:
                self._wrong(one, f"has transfer {index}, which {self.places[transfer]} has")
            self.places[transfer] = Place(one.number, index, one.package, one.block)
        if self._root() != one.post_root:
            self._wrong(one, "leaves another state")
        self._packages.add(one.package)
        self._tip, self.count = one.block, one.number

    def close(self) -> None:
        """Compare what was recomputed with what the service says of itself."""
        self.follow()
        head = self._head()
        if (head.number, head.block, head.root) != (self.count, self._tip, self._root()):
            self.problems.append(f"the service's head {head} is not what its blocks come to")
        if sum(self._now.values()) != sum(self._balances.values()):
            self.problems.append("money came from nowhere, or went there")

    def account(self, account: bytes) -> tuple[int, int]:
        """Its balance and its nonce after the newest final block."""
        return self._now.get(account, 0), self._nonces.get(account, 0)

    def _root(self) -> bytes:
        return merkle_root(states(self._now, self._nonces))

    def _wrong(self, one: Applied, problem: str) -> None:
        self.problems.append(f"block {one.number} {problem}")
