"""Opening the file: who may, with which SQLite, in which shape; and its errors in our words."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import apsw

from laneway.core.errors import (
    StoreBusy,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreRefused,
)
from laneway.stores.limits import BUSY_TIMEOUT_MS, WAL_PAGES_CHECKPOINT

WAL_RESET_FIXED = ((3, 44, 6), (3, 50, 7), (3, 51, 3))
"""The releases that first carry the fix of the WAL-reset bug: two back-ports and the line itself.
Affected are 3.7.0 to 3.51.2: a committed write could vanish when a checkpoint raced a reset."""


def sqlite_version() -> tuple[int, int, int]:
    major, minor, patch = (int(part) for part in apsw.sqlite_lib_version().split("."))
    return major, minor, patch


def has_wal_reset_bug(version: tuple[int, int, int]) -> bool:
    if version >= WAL_RESET_FIXED[-1]:
        return False
    return not any(version[:2] == fixed[:2] and version >= fixed for fixed in WAL_RESET_FIXED[:-1])


def statements() -> dict[str, str]:
    """The store's SQL by name."""
    text = files(__package__).joinpath("statements.sql").read_text()
    found = {}
    for part in text.split("-- name: ")[1:]:
        name, _, sql = part.partition("\n")
        found[name.strip()] = sql.strip()
    return found


def migrations() -> list[tuple[int, str]]:
    folder = files(__package__).joinpath("migrations")
    scripts = [entry for entry in folder.iterdir() if entry.name.endswith(".sql")]
    return sorted((int(entry.name[:4]), entry.read_text()) for entry in scripts)


class FileLock:
    """Proof that no earlier owner is alive: the kernel drops it with the process, even SIGKILL."""

    def __init__(self, path: Path) -> None:
        self.path = Path(f"{path}-lock")
        try:
            self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreRefused(str(path), f"cannot be opened: {error.strerror}") from error
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._fd, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(self._fd)
            raise StoreRefused(
                str(path),
                f"another laneway process (pid {holder}) owns it; one process at a time may",
            ) from error
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        os.close(self._fd)


@contextmanager
def translated(path: str) -> Iterator[None]:
    """SQLite's errors in our words. What happened to the data is in the class."""
    try:
        yield
    except apsw.Error as error:
        raise translate(path, error) from error


def translate(path: str, error: apsw.Error) -> StoreError:
    text = str(error)
    if isinstance(error, apsw.FullError):
        return StoreFull(path)
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return StoreBusy(f"{path} is locked by another program ({text})")
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
        return StoreCorrupt(path, text)
    if isinstance(error, apsw.IOError):
        return StoreClosed(path, text)
    if isinstance(error, apsw.ReadOnlyError):
        return StoreRefused(path, "it is read-only; make the file and its folder writable")
    if isinstance(error, apsw.CantOpenError):
        return StoreRefused(path, f"cannot be opened ({text}); does its folder exist?")
    return StoreRefused(path, text)


def connect(path: str, *, vfs: str | None = None, exclusive: bool = False) -> apsw.Connection:
    """A connection that may write, with every commit synced."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    connection = apsw.Connection(path, flags=flags, vfs=vfs)
    connection.setbusytimeout(BUSY_TIMEOUT_MS)
    if exclusive:
        connection.pragma("locking_mode", "exclusive")
    mode = connection.pragma("journal_mode", "wal")
    if mode != "wal":
        connection.close()
        raise StoreRefused(
            path, f"journal_mode is {mode}, not wal; is it read-only or on a network file system?"
        )
    connection.pragma("synchronous", "full")
    connection.pragma("wal_autocheckpoint", WAL_PAGES_CHECKPOINT)
    connection.pragma("temp_store", "memory")
    connection.pragma("cache_size", -16_384)
    return connection


def connect_reader(path: str) -> apsw.Connection:
    """A connection that only reads and never checkpoints, so the writer stays the only one."""
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    connection.setbusytimeout(BUSY_TIMEOUT_MS)
    connection.pragma("query_only", 1)
    connection.pragma("wal_autocheckpoint", 0)
    connection.pragma("cache_size", -8_192)
    return connection


def migrate(
    connection: apsw.Connection, path: str, scripts: list[tuple[int, str]] | None = None
) -> None:
    """Bring the file to the newest shape; refuse one from a newer laneway."""
    scripts = migrations() if scripts is None else scripts
    version = connection.pragma("user_version")
    newest = scripts[-1][0]
    if version > newest:
        raise StoreRefused(
            path, f"it has schema {version}, this laneway knows {newest}; upgrade laneway"
        )
    for number, script in scripts:
        if number > version:
            connection.execute("BEGIN IMMEDIATE")
            try:
                connection.execute(script)
                connection.pragma("user_version", number)
            except apsw.Error:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
