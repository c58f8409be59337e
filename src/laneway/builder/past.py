"""What final blocks executed: the hashes of their transactions, kept longer than the blocks.

A transaction that is handed in again has its answer from here, and is not executed or refused a
second time. What is known reaches without a gap from the newest final block down to `lowest`; what
older blocks executed is unknown, unless that is the first block of all.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Final

import apsw
from msgspec import Meta, Struct

from laneway.builder.limits import PAST_HASHES_MAX, PAST_PAGE_BLOCKS
from laneway.rollups.rules import SealedBlock, TransactionOutcome

FIRST_BLOCK: Final = 1
"""The first one that can have transactions: the genesis is block 0."""


class PastTransaction(Struct, frozen=True, array_like=True):
    hash: bytes
    place: Annotated[int, Meta(ge=0, lt=1 << 32)]
    status: str


class PastBlock(Struct, frozen=True, array_like=True):
    """A final block, and what became of its transactions."""

    number: int
    hash: bytes
    package_hash: bytes
    """Empty if it is not known which package brought it."""
    transactions: tuple[PastTransaction, ...]


def past_block(
    sealed: SealedBlock, outcomes: Sequence[TransactionOutcome], package_hash: bytes = b""
) -> PastBlock:
    executed = [PastTransaction(one.hash, place, one.status) for place, one in enumerate(outcomes)]
    return PastBlock(sealed.number, sealed.hash, package_hash, tuple(executed))


class PastTables:
    """The two tables of the past in a builder's file. Every method runs inside a change or a read
    of that file."""

    def __init__(self, connection: apsw.Connection, most: int = PAST_HASHES_MAX) -> None:
        """`most`: transactions that are kept; those of the oldest blocks are forgotten first."""
        self._connection = connection
        self._most = most
        self._count: int | None = None
        self._lowest: int | None = None
        """Both are counted when they are needed; None after a change that failed, too."""

    # Changes.

    def put(self, blocks: Iterable[PastBlock], *, kept_from: int) -> None:
        """Add final blocks. Those from this number on are never forgotten."""
        for block in blocks:
            self._put(block)
        self._forget(kept_from)

    def add_package(self, hashed: bytes, number: int, package_hash: bytes) -> None:
        """Fill in which package brought a block, where that was not known."""
        self._connection.execute(
            "UPDATE past SET package_hash = ? WHERE number = ? AND hash = ? AND package_hash = x''",
            (package_hash, number, hashed),
        )

    def clear(self) -> None:
        for table in ("executed", "past"):
            self._connection.execute(f"DELETE FROM {table}")
        self.recount()

    def recount(self) -> None:
        """What was counted may be wrong from now on."""
        self._count = self._lowest = None

    # Questions.

    def find(self, hashed: bytes) -> tuple[PastBlock, PastTransaction] | None:
        """A transaction, and its block without the others; None if no block is known to have it."""
        rows = self._connection.execute(
            "SELECT p.number, p.hash, p.package_hash, e.hash, e.place, e.status "
            "FROM executed e JOIN past p ON p.number = e.number WHERE e.hash = ?",
            (hashed,),
        )
        for number, block, package_hash, *transaction in rows:
            found = PastTransaction(*transaction)
            return PastBlock(number, block, package_hash, (found,)), found
        return None

    def count(self) -> int:
        """How many transactions are kept."""
        if self._count is None:
            self._count = self._connection.execute("SELECT sum(count) FROM past").get or 0
        return self._count

    def highest(self) -> int:
        """The newest final block; 0 if none is known."""
        return self._connection.execute("SELECT max(number) FROM past").get or 0

    def lowest(self) -> int:
        """The block from which on all that was executed is known."""
        if self._lowest is None:
            self._lowest = (
                self._connection.execute(
                    "SELECT p.number FROM past p WHERE NOT EXISTS "
                    "(SELECT 1 FROM past WHERE number = p.number - 1) "
                    "ORDER BY p.number DESC LIMIT 1"
                ).get
                or FIRST_BLOCK
            )
        return self._lowest

    def page(self, last: int) -> list[PastBlock]:
        """This block and those before it, downwards and without a gap: a page of them."""
        first = last - PAST_PAGE_BLOCKS + 1
        transactions: dict[int, list[PastTransaction]] = {}
        rows = self._connection.execute(
            "SELECT number, hash, place, status FROM executed "
            "WHERE number BETWEEN ? AND ? ORDER BY number, place",
            (first, last),
        )
        for number, *transaction in rows:
            transactions.setdefault(number, []).append(PastTransaction(*transaction))
        found = self._connection.execute(
            "SELECT number, hash, package_hash FROM past WHERE number BETWEEN ? AND ? "
            "ORDER BY number DESC",
            (first, last),
        )
        blocks = (
            PastBlock(number, hashed, package_hash, tuple(transactions.get(number, ())))
            for number, hashed, package_hash in found
        )
        return list(contiguous(blocks, last))

    # Inside.

    def _put(self, block: PastBlock) -> None:
        self._connection.execute(
            "INSERT INTO past VALUES (?, ?, ?, ?) ON CONFLICT (number) DO NOTHING",
            (block.number, block.hash, block.package_hash, len(block.transactions)),
        )
        if not self._connection.changes():
            return
        self._connection.executemany(
            # Of several blocks that executed the same bytes the newest is the answer.
            "INSERT INTO executed VALUES (?1, ?2, ?3, ?4) ON CONFLICT (hash) DO UPDATE "
            "SET number = ?2, place = ?3, status = ?4 WHERE ?2 > number",
            [(one.hash, block.number, one.place, one.status) for one in block.transactions],
        )
        if self._count is not None:
            self._count += len(block.transactions)
        if self._lowest is not None and block.number >= self._lowest - 1:
            # Most blocks are put on the newest one, which changes nothing about the lowest.
            is_joined = self._has(block.number - 1)
            if block.number < self._lowest:
                self._lowest = None if is_joined else block.number
            elif not is_joined:
                self._lowest = None

    def _has(self, number: int) -> bool:
        rows = self._connection.execute("SELECT 1 FROM past WHERE number = ?", (number,))
        return rows.get is not None

    def _forget(self, kept_from: int) -> None:
        """The oldest blocks, until no more are kept than may be."""
        left = self.count() - self._most
        if left <= 0:
            return
        lowest, gone = self.lowest(), list[tuple[int]]()
        oldest = self._connection.execute(
            "SELECT number, count FROM past WHERE number < ? ORDER BY number", (kept_from,)
        )
        for number, count in oldest:
            gone.append((number,))
            left -= count
            if left <= 0:
                break
        for table in ("executed", "past"):
            self._connection.executemany(f"DELETE FROM {table} WHERE number = ?", gone)
        self._count = self._most + left
        if gone and gone[-1][0] >= lowest:
            self._lowest = gone[-1][0] + 1


def contiguous(blocks: Iterable[PastBlock], last: int) -> Iterator[PastBlock]:
    """Blocks downwards from this number, up to the first gap."""
    for block in blocks:
        if block.number != last:
            return
        yield block
        last -= 1


def newest(blocks: Iterable[PastBlock], most: int = PAST_HASHES_MAX) -> Iterator[PastBlock]:
    """Blocks downwards, up to this many transactions in all."""
    for block in blocks:
        most -= len(block.transactions)
        if most < 0:
            return
        yield block
