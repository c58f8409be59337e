"""The builder's own file: the state after the newest final block, the open blocks' payloads, and
what final blocks executed (`past`).

It can be lost. Open blocks come again with a lane's orders, final ones from the chain, on the
newest state beside it (`states`), and that has the past, too. So the file saves a sync, and a power
cut may take its last writes; what is there belongs together. It is used by one process, whose
threads take turns.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import files
from threading import RLock
from typing import Any, Final

import apsw
from msgspec import Struct

from laneway.builder.limits import (
    BLOCKS_KEPT_DEFAULT,
    BUSY_OPEN_MS,
    CLOSE_FILE_S_MAX,
    PAST_HASHES_MAX,
)
from laneway.builder.past import PastBlock, PastTables, past_block
from laneway.builder.states import StateFiles
from laneway.core.errors import StoreBusy, StoreFull, StoreRefused
from laneway.engine.files import make_private
from laneway.rollups.receipts import BlockStage
from laneway.rollups.rules import SealedBlock, TransactionOutcome

APPLICATION_ID: Final = 0x6C61_6E62
"""Written into the file's header; the letters "lanb"."""
SHAPE: Final = 2
SHAPE_BEFORE: Final = 1
"""A file of this shape is brought to the newer one: it has receipts of the blocks that it kept."""

HELD: Final = "another process has it open; each builder has a file of its own"
REMEDY: Final = "name another file, or delete it: it is made again from its states and the chain"


class ShelvedBlock(Struct, frozen=True):
    """A block as the file has it."""

    hash: bytes
    number: int
    stage: int
    package_hash: bytes
    payload: bytes
    """Empty for one whose receipts alone are kept."""


class ShelvedReceipt(Struct, frozen=True):
    block: ShelvedBlock
    place: int
    status: str


class FinalBlock(Struct, frozen=True, kw_only=True):
    """A block that is final now, and what it left in the state."""

    sealed: SealedBlock
    payload: bytes
    outcomes: tuple[TransactionOutcome, ...]
    changes: Mapping[bytes, bytes] = {}
    """Nothing for one whose state is there already, or is not needed."""
    package_hash: bytes = b""
    """Empty if it stays as it was."""


class Shelf:
    def __init__(
        self,
        path: str | None,
        blocks_kept: int = BLOCKS_KEPT_DEFAULT,
        hashes_kept: int = PAST_HASHES_MAX,
    ) -> None:
        """Without a path all is forgotten with the process."""
        assert blocks_kept > 0
        self.path = path or ":memory:"
        self.states = StateFiles(path)
        self._blocks_kept = blocks_kept
        self._lock = RLock()
        with self._translated():
            try:
                self._connection = self._opened()
            except apsw.BusyError as error:
                raise StoreRefused(self.path, HELD) from error
        self._past = PastTables(self._connection, hashes_kept)

    def close(self) -> None:
        """Close the file. That is left out while a thread which never returns holds it: what is in
        it is whole."""
        if self._lock.acquire(timeout=CLOSE_FILE_S_MAX):
            try:
                with self._translated():
                    self._connection.close()
            finally:
                self._lock.release()

    # Whose it is.

    def identity(self) -> tuple[str, bytes] | None:
        """The kind of rollup and which one; None if the file is new."""
        found: dict[str, bytes] = dict(self._rows("SELECT name, value FROM about"))
        if not found:
            return None
        try:
            return found["kind"].decode(), bytes(found["identity"])
        except (KeyError, ValueError, AttributeError, TypeError) as error:
            raise damaged(self.path, "it does not say whose it is") from error

    def claim(self, kind: str, identity: bytes) -> None:
        """Keep it for this rollup; StoreRefused if it is another's."""
        found = self.identity()
        if found is None:
            with self._changing():
                rows = [("kind", kind.encode()), ("identity", identity)]
                self._connection.executemany("INSERT INTO about VALUES (?, ?)", rows)
        elif found != (kind, identity):
            theirs, ours = f"{found[0]} {found[1].hex()}", f"{kind} {identity.hex()}"
            raise StoreRefused(
                self.path, f"it is of another rollup ({theirs}, and not {ours}); {REMEDY}"
            )

    # The base.

    def base(self) -> tuple[bytes, bytes] | None:
        """Hash and payload of the newest final block; None if none is known."""
        return next(iter(self._rows("SELECT hash, payload FROM base")), None)

    def entries(self) -> Iterable[tuple[bytes, bytes]]:
        """The whole state after the base."""
        return self._rows("SELECT key, value FROM entries ORDER BY key")

    def begin(
        self,
        base: FinalBlock,
        entries: Iterable[tuple[bytes, bytes]],
        past: Iterable[PastBlock] = (),
        *,
        keeps_final: bool = False,
    ) -> None:
        """Set the base, its state and what is known of the blocks below it. Whatever there was is
        forgotten, but for final blocks and their receipts if those are of the same line."""
        number = base.sealed.number
        with self._changing():
            for table in ("receipts", "entries", "base"):
                self._connection.execute(f"DELETE FROM {table}")
            if keeps_final:
                self._forget("stage < 2 OR number <= ?", (number - self._blocks_kept,))
            else:
                self._connection.execute("DELETE FROM blocks")
                self._past.clear()
            self._connection.execute(
                "INSERT INTO base VALUES (1, ?, ?)", (base.sealed.hash, base.payload)
            )
            self._connection.executemany("INSERT INTO entries VALUES (?, ?)", entries)
            self._past.put(past, kept_from=number)
            if number:  # The genesis is no block that people ask for.
                self._put_final(base)

    def finalise(self, blocks: Sequence[FinalBlock]) -> None:
        """The base moves up by these, the lowest first; all at once or not at all. What is open and
        not above it is forgotten, and so are the oldest receipts."""
        changes: dict[bytes, bytes] = {}
        with self._changing():
            for block in blocks:
                self._put_final(block)
                changes |= block.changes
            newest = blocks[-1]
            self._connection.executemany(
                "INSERT INTO entries VALUES (?, ?) "
                "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                changes.items(),
            )
            self._connection.execute(
                "UPDATE base SET hash = ?, payload = ?", (newest.sealed.hash, newest.payload)
            )
            self._forget("stage < 2 AND number <= ?", (newest.sealed.number,))
            self._forget("number <= ?", (newest.sealed.number - self._blocks_kept,))

    def remember(self, blocks: Sequence[FinalBlock]) -> None:
        """Final blocks that are not above the base: their receipts, and the blocks themselves if
        they are not too old."""
        with self._changing():
            for block in blocks:
                self._put_final(block)
            self._forget("number <= (SELECT max(number) FROM past) - ?", (self._blocks_kept,))

    # Open blocks.

    def put(
        self, sealed: SealedBlock, payload: bytes, outcomes: Sequence[TransactionOutcome]
    ) -> None:
        """Write a block down, before anything else can see it."""
        with self._changing():
            self._put(sealed, payload, outcomes)

    def open_blocks(self) -> list[ShelvedBlock]:
        """The lowest first, and of equals the first that came."""
        return self._blocks("stage < 2 ORDER BY number, no", ())

    def set_stage(self, hashed: bytes, stage: int, package_hash: bytes = b"") -> None:
        """Set the stage of a block that is open. Without a hash the package stays as it is known,
        but for a block that no package has brought any more."""
        kept = "x''" if stage == BlockStage.BUILT else "package_hash"
        with self._changing():
            self._connection.execute(
                "UPDATE blocks SET stage = ?1, package_hash = "
                f"CASE WHEN ?2 = x'' THEN {kept} ELSE ?2 END WHERE hash = ?3 AND stage < 2",
                (stage, package_hash, hashed),
            )

    def add_package(self, hashed: bytes, package_hash: bytes) -> None:
        """Fill in which package brought a block, where that was not known."""
        with self._changing():
            self._connection.execute(
                "UPDATE blocks SET package_hash = ? WHERE hash = ? AND package_hash = x''",
                (package_hash, hashed),
            )
            found = self.by_hash(hashed)
            if found is not None:
                self._past.add_package(hashed, found.number, package_hash)

    def drop(self, hashes: Iterable[bytes]) -> None:
        """Forget blocks that will never land."""
        with self._changing():
            for hashed in hashes:
                self._forget("hash = ? AND stage < 2", (hashed,))

    # Questions.

    def by_hash(self, hashed: bytes) -> ShelvedBlock | None:
        return self._first("hash = ?", (hashed,))

    def by_number(self, number: int) -> ShelvedBlock | None:
        """The one that is furthest; of equals the last that was built."""
        return self._first("number = ? ORDER BY stage DESC, no DESC LIMIT 1", (number,))

    def receipt(self, hashed: bytes) -> ShelvedReceipt | None:
        """The receipt in the most advanced block; a final one wins at any age."""
        with self._reading():
            found = self._past.find(hashed)
        if found is not None:
            past, one = found
            block = ShelvedBlock(past.hash, past.number, BlockStage.FINAL, past.package_hash, b"")
            return ShelvedReceipt(block, one.place, one.status)
        rows = self._rows(
            "SELECT b.hash, b.number, b.stage, b.package_hash, b.payload, r.place, r.status "
            "FROM receipts r JOIN blocks b ON b.no = r.block WHERE r.hash = ? "
            "ORDER BY b.stage DESC, b.no DESC LIMIT 1",
            (hashed,),
        )
        return ShelvedReceipt(ShelvedBlock(*rows[0][:5]), *rows[0][5:]) if rows else None

    def past_lowest(self) -> int:
        """The block from which on it is known what all final blocks executed."""
        with self._reading():
            return self._past.lowest()

    def past_highest(self) -> int:
        """The newest final block that is known; 0 if there is none."""
        with self._reading():
            return self._past.highest()

    def past_count(self) -> int:
        """How many transactions of final blocks are known."""
        with self._reading():
            return self._past.count()

    def past(self, last: int) -> Iterator[PastBlock]:
        """What is known of this final block and those before it, downwards. Others have their turn
        in between."""
        while True:
            with self._reading():
                page = self._past.page(last)
            if not page:
                return
            yield from page
            last = page[-1].number - 1

    # Inside.

    def _put(
        self, sealed: SealedBlock, payload: bytes, outcomes: Sequence[TransactionOutcome]
    ) -> None:
        self._connection.execute(
            "INSERT INTO blocks (hash, number, stage, package_hash, payload) "
            "VALUES (?, ?, ?, x'', ?) ON CONFLICT (hash) DO NOTHING",
            (sealed.hash, sealed.number, BlockStage.BUILT, payload),
        )
        if self._connection.changes():
            no = self._connection.last_insert_rowid()
            self._connection.executemany(
                "INSERT INTO receipts VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [(one.hash, no, place, one.status) for place, one in enumerate(outcomes)],
            )

    def _put_final(self, block: FinalBlock) -> None:
        """Write a final block down with its receipts."""
        sealed = block.sealed
        self._put(sealed, block.payload, ())
        self._connection.execute(
            "UPDATE blocks SET stage = ?, package_hash = "
            "CASE WHEN ?2 = x'' THEN package_hash ELSE ?2 END WHERE hash = ?3",
            (BlockStage.FINAL, block.package_hash, sealed.hash),
        )
        found = self.by_hash(sealed.hash)
        assert found is not None
        self._connection.execute(
            "DELETE FROM receipts WHERE block = (SELECT no FROM blocks WHERE hash = ?)",
            (sealed.hash,),
        )
        past = past_block(sealed, block.outcomes, found.package_hash)
        self._past.put([past], kept_from=sealed.number - self._blocks_kept + 1)

    def _forget(self, where: str, parameters: tuple[object, ...]) -> None:
        self._connection.execute(
            f"DELETE FROM receipts WHERE block IN (SELECT no FROM blocks WHERE {where})", parameters
        )
        self._connection.execute(f"DELETE FROM blocks WHERE {where}", parameters)

    def _first(self, where: str, parameters: tuple[object, ...]) -> ShelvedBlock | None:
        found = self._blocks(where, parameters)
        return found[0] if found else None

    def _blocks(self, where: str, parameters: tuple[object, ...]) -> list[ShelvedBlock]:
        columns = "hash, number, stage, package_hash, payload"
        rows = self._rows(f"SELECT {columns} FROM blocks WHERE {where}", parameters)
        return [ShelvedBlock(*row) for row in rows]

    def _rows(self, statement: str, parameters: tuple[object, ...] = ()) -> list[Any]:
        with self._reading():
            return list(self._connection.execute(statement, parameters))

    def _opened(self) -> apsw.Connection:
        if self.path != ":memory:":
            with suppress(OSError):  # SQLite says why it cannot be made.
                make_private(self.path)
        connection = apsw.Connection(self.path)
        try:
            connection.set_busy_timeout(BUSY_OPEN_MS)
            self._prepare(connection)
        except BaseException:
            connection.close(True)
            raise
        return connection

    def _prepare(self, connection: apsw.Connection) -> None:
        count = connection.execute("SELECT count(*) FROM sqlite_schema").get
        is_ours = connection.pragma("application_id") == APPLICATION_ID
        if count and not is_ours:
            raise StoreRefused(self.path, f"it is no builder's file; {REMEDY}")
        shape = connection.pragma("user_version")
        if is_ours and shape not in (SHAPE, SHAPE_BEFORE):
            raise StoreRefused(self.path, f"it has shape {shape}, and {SHAPE} is known; {REMEDY}")
        if self.path != ":memory:":
            connection.pragma("locking_mode", "exclusive")
            connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "normal")
        # From the first write on the file is this process's alone, until it is closed.
        connection.execute("BEGIN IMMEDIATE")
        if not count:
            connection.execute(files(__package__).joinpath("shelf.sql").read_text())
        elif shape == SHAPE_BEFORE:
            connection.execute(files(__package__).joinpath("shelf_2.sql").read_text())
        connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("user_version", SHAPE)
        connection.execute("COMMIT")

    @contextmanager
    def _changing(self) -> Iterator[None]:
        with self._reading():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(apsw.Error):
                    self._connection.execute("ROLLBACK")
                self._past.recount()
                raise

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """One thread at a time has the connection."""
        with self._lock, self._translated():
            yield

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Translates the errors of SQLite."""
        try:
            yield
        except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError) as error:
            # Its own statements fit its own tables, or those are no longer what they were.
            raise damaged(self.path, str(error)) from error
        except (apsw.CantOpenError, apsw.ReadOnlyError) as error:
            problem = f"it cannot be opened and written ({error}); may this user do that there?"
            raise StoreRefused(self.path, problem) from error
        except apsw.FullError as error:
            raise StoreFull(self.path) from error
        except apsw.Error as error:
            raise StoreBusy(f"{self.path}: {error}") from error


def damaged(path: str, problem: str) -> StoreRefused:
    return StoreRefused(path, f"it is damaged ({problem}); {REMEDY}")


def ahead(path: str, number: int, final: int) -> str:
    """What it means that a file has a block above the chain's newest final one."""
    return (
        f"the builder has block {number}, and final on the chain is {final}: the node is behind, "
        f"or the chain began anew and {path} is of the one before; then {REMEDY}"
    )


def other_history(path: str, number: int) -> str:
    """What it means that a file has another block than the chain."""
    return (
        f"the chain has another block {number} than the builder: {path} is of another chain, or of "
        f"one that began anew; {REMEDY}"
    )
