"""What comes in for a rollup of which no node could be asked yet.

Its lane cannot act without the sizes of its chain, its service and its builder. Transactions are
taken in all the same, checked as far as that needs no state: what no block can hold is refused when
its block is executed.
"""

from collections.abc import Callable
from os.path import exists
from typing import Any

from laneway.builder.shelf import Shelf
from laneway.core.errors import RollupBehind
from laneway.core.ids import LaneId
from laneway.jam.hashing import HASH_BYTES
from laneway.lanes.bundle.rows import Tip
from laneway.rollups.receipts import AccountState, AccountView, BlockView, TransactionReceipt
from laneway.rollups.rules import RollupRules

GENESIS = (
    "its transactions cannot be checked without its chain's `genesis`, which is not configured"
)


class ClosedReads:
    """Implements `RollupReads` while there is no builder."""

    def __init__(
        self, lane: LaneId, why: Callable[[], str], rules: RollupRules[Any, Any] | None
    ) -> None:
        """`rules` is None where the chain's genesis is not known: then nothing can be checked."""
        self._lane = lane
        self._why = why
        self._rules = rules

    async def check(self, raw: bytes) -> bytes:
        if self._rules is None:
            raise RollupBehind(self._lane, f"{GENESIS}; {self._why()}")
        return self._rules.checked(raw)

    async def hash_of(self, raw: bytes) -> bytes:
        return await self.check(raw)

    async def spent(self, raw: bytes) -> tuple[bytes, int] | None:
        return None if self._rules is None else self._rules.spent(raw)

    async def problem(self, tip: Tip, *, held: bool) -> str:  # noqa: ARG002
        return self._why()

    async def catch_up(self) -> None:
        """There is nobody who could be asked."""

    async def receipt(self, transaction_hash: bytes) -> TransactionReceipt | None:  # noqa: ARG002
        return None

    async def block(self, number: int) -> BlockView | None:  # noqa: ARG002
        return None

    async def latest(self, account: bytes) -> AccountState:  # noqa: ARG002
        raise RollupBehind(self._lane, self._why())

    async def account(self, account: bytes, newest: Tip | None) -> AccountView:  # noqa: ARG002
        raise RollupBehind(self._lane, self._why())


def shelved_genesis(path: str | None) -> bytes | None:
    """The chain's genesis as a builder's file has it; None if there is none, or it is new."""
    if path is None or not exists(path):
        return None
    shelf = Shelf(path)
    try:
        found = shelf.identity()
    finally:
        shelf.close()
    return None if found is None else found[1][:HASH_BYTES]
