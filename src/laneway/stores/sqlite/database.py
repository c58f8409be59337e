"""Opening the file: who may, with which SQLite, in which shape; and its errors as ours."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import apsw

from laneway.core.errors import (
    Bug,
    LanewayError,
    StoreBusy,
    StoreClosed,
    StoreCorrupt,
    StoreFull,
    StoreRefused,
)
from laneway.engine.files import make_private
from laneway.stores.limits import BUSY_OPEN_MS, BUSY_WRITE_MS, WAL_PAGES_CHECKPOINT
from laneway.stores.sql import migrations_of, statements_of

WAL_RESET_FIXED = ((3, 44, 6), (3, 50, 7), (3, 51, 3))
"""The releases that first carry the fix of the WAL-reset bug: two back-ports and the line itself.
Affected are 3.7.0 to 3.51.2: a committed write could vanish when a checkpoint raced a reset."""

APPLICATION_ID = 0x6C61_6E65
"""Written into the header of every database of ours; the letters "lane"."""

READ_ONLY = "it is read-only; make the file and its folder writable for this user"


def sqlite_version() -> tuple[int, int, int]:
    major, minor, patch = (int(part) for part in apsw.sqlite_lib_version().split("."))
    return major, minor, patch


def has_wal_reset_bug(version: tuple[int, int, int]) -> bool:
    if version >= WAL_RESET_FIXED[-1]:
        return False
    return not any(version[:2] == fixed[:2] and version >= fixed for fixed in WAL_RESET_FIXED[:-1])


statements = partial(statements_of, "laneway.stores.sqlite")
migrations = partial(migrations_of, "laneway.stores.sqlite")


class FileLock:
    """Proof that no earlier owner is alive: the kernel drops it with the process, even SIGKILL."""

    def __init__(self, path: str) -> None:
        check_place(path)
        self.path = lock_path(path)
        try:
            self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreRefused(
                path,
                f"its lock file {self.path} cannot be opened ({error.strerror}); "
                "make the folder writable for this user",
            ) from error
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._fd, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(self._fd)
            raise StoreRefused(
                path,
                f"another laneway process (pid {holder}) owns it; stop that one first, "
                "for one process at a time may",
            ) from error
        with suppress(OSError):  # On a full disk it holds as well without its name.
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        os.close(self._fd)


def lock_path(path: str) -> Path:
    """Where the lock stands. All names of one file must lead to the same lock."""
    return Path(f"{os.path.realpath(path)}-lock")


def check_place(path: str) -> None:
    """Refuse a place where no database can be, before anything is written there."""
    place = Path(path)
    try:
        if place.is_dir():
            raise StoreRefused(path, "it is a folder; name a file in it")
        if not place.parent.is_dir():
            raise StoreRefused(path, f"its folder {place.parent} does not exist; create it first")
    except OSError as error:
        raise StoreRefused(path, f"it cannot be reached ({error.strerror})") from error


@contextmanager
def translated(path: str) -> Iterator[None]:
    """SQLite's errors as ours. What happened to the data is in the class."""
    try:
        yield
    except apsw.Error as error:
        raise translate(path, error) from error


def translate(path: str, error: apsw.Error) -> LanewayError:
    text = str(error)
    if isinstance(error, apsw.FullError):
        return StoreFull(path)
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return StoreBusy(f"{path} is locked by another program ({text})")
    if isinstance(error, apsw.CorruptError):
        return StoreCorrupt(path, text)
    if isinstance(error, apsw.IOError):
        # Whatever the operating system could not do, nobody knows what the disk holds now.
        code = getattr(error, "extendedresult", apsw.SQLITE_IOERR)
        return StoreClosed(path, f"{text}, {apsw.mapping_extended_result_codes.get(code)}")
    if isinstance(error, apsw.ConstraintError):
        return Bug(f"{path}: rows contradict each other ({text})")
    return StoreRefused(path, advice(error))


def advice(error: apsw.Error) -> str:
    """What a person can do about a file that cannot be used as it is."""
    if isinstance(error, apsw.NotADBError):
        return "it is not a SQLite database; name another file, or restore a backup of it"
    if isinstance(error, apsw.ReadOnlyError):
        return READ_ONLY
    if isinstance(error, apsw.CantOpenError):
        return f"it cannot be opened ({error}); are it and its folder writable for this user?"
    if isinstance(error, apsw.ConnectionClosedError):
        return "it is closed"
    return str(error)


def connect(path: str, *, vfs: str | None = None, exclusive: bool = False) -> apsw.Connection:
    """A connection that may write, with every commit synced."""
    if vfs is None:
        with suppress(OSError):  # SQLite says why it cannot be made.
            make_private(path)
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    connection = apsw.Connection(path, flags=flags, vfs=vfs)
    try:
        prepare(connection, path, exclusive=exclusive)
    except BaseException:
        connection.close(True)
        raise
    return connection


def prepare(connection: apsw.Connection, path: str, *, exclusive: bool) -> None:
    # A file that is refused below must stay as it was, its log included.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.set_busy_timeout(BUSY_OPEN_MS)
    if exclusive:
        connection.pragma("locking_mode", "exclusive")
    check_shape(connection, path)
    mode = connection.pragma("journal_mode", "wal")
    if mode != "wal":
        raise StoreRefused(
            path, f"journal_mode is {mode}, not wal; is it on a network file system?"
        )
    connection.pragma("synchronous", "full")
    # A sync that failed in an earlier process may have left frames in the page cache alone, and
    # no later sync of the log would write them. The main file takes them over while they last.
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    connection.pragma("wal_autocheckpoint", WAL_PAGES_CHECKPOINT)
    plan_once(connection)
    connection.pragma("temp_store", "memory")
    connection.pragma("cache_size", -16_384)
    migrate(connection, path)
    connection.set_busy_timeout(BUSY_WRITE_MS)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)


def plan_once(connection: apsw.Connection) -> None:
    """Keep a statement's plan whatever is bound to it.

    A SQLite that knows samples of the data (STAT4) would else plan a question anew for every
    value: measured, 33 µs instead of 5 for a lane's head.
    """
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)


def check_shape(connection: apsw.Connection, path: str) -> None:
    """Refuse what is not ours, is newer than we are or cannot be written. It only reads."""
    if connection.readonly("main"):
        # Before the first read, which would make a log that is read-only as well.
        raise StoreRefused(path, READ_ONLY)
    version = connection.pragma("user_version")
    if connection.pragma("application_id") == APPLICATION_ID:
        newest = migrations()[-1][0]
        if version > newest:
            raise StoreRefused(
                path, f"it has schema {version}, this laneway knows {newest}; upgrade laneway"
            )
    elif version != 0 or connection.execute("SELECT count(*) FROM sqlite_schema").get != 0:
        raise StoreRefused(
            path, "it is the database of another program; name a file for laneway alone"
        )


def connect_reader(path: str) -> apsw.Connection:
    """A connection that only reads and never checkpoints, so the writer stays the only one."""
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(BUSY_WRITE_MS)
    plan_once(connection)
    connection.pragma("query_only", 1)
    connection.pragma("wal_autocheckpoint", 0)
    connection.pragma("cache_size", -8_192)
    return connection


def migrate(
    connection: apsw.Connection, path: str, scripts: tuple[tuple[int, str], ...] | None = None
) -> None:
    """Bring the file to the newest shape, step by step; each step is there wholly or not at all."""
    version = connection.pragma("user_version")
    for number, script in migrations() if scripts is None else scripts:
        if number > version:
            connection.execute("BEGIN IMMEDIATE")
            try:
                connection.execute(script)
                connection.pragma("user_version", number)
                connection.execute("COMMIT")
            except apsw.Error as error:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                if isinstance(error, apsw.SQLError):
                    raise StoreRefused(path, f"migration {number} failed: {error}") from error
                raise
