"""What a sick disk or a wrong file does: a clear error that says what to do, and nothing lost."""

import asyncio
import errno
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from laneway.core.errors import (
    Bug,
    StoreBusy,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreRefused,
)
from laneway.core.ids import LaneId, Owner, intent_id
from laneway.core.intent import Accepted, Answer, Arrival, Replayed
from laneway.core.rows import Command, Lease
from laneway.engine.system import SystemClock
from laneway.ports import Alive
from laneway.sim.disk import SimDisk
from laneway.stores.book import flush
from laneway.stores.group import GroupStore
from laneway.stores.limits import BUSY_WRITE_MS
from laneway.stores.sqlite import SqliteBook, database
from laneway.stores.sqlite.database import FileLock, lock_path, translate

LANE = LaneId("contract:a")
ME = Owner("me")
NOBODY = 65_534


def arrival(number: int, size: int = 10) -> Arrival:
    id_ = intent_id(number, number.to_bytes(10, "big"))
    return Arrival(id=id_, lane=LANE, payload=bytes(size), digest=b"", accepted_ms=number)


def accept(book: SqliteBook, *arrivals: Arrival) -> list[Answer]:
    book.begin()
    answers = book.accept(arrivals)
    flush(book)
    return answers


@pytest.fixture
def disk() -> Iterator[SimDisk]:
    disk = SimDisk()
    yield disk
    disk.close()


@pytest.fixture
def on_disk(disk: SimDisk) -> Iterator[SqliteBook]:
    book = SqliteBook("f.db", vfs=disk.name, exclusive=True)
    yield book
    book.close()


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A database with a few intents in it, closed."""
    path = str(tmp_path / "f.db")
    book = SqliteBook(path)
    accept(book, *(arrival(number, 900) for number in range(60)))
    book.close()
    return path


def refusal(path: str) -> str:
    """What an open says, having changed nothing."""
    before = Path(path).read_bytes()
    with pytest.raises(StoreError) as caught:
        SqliteBook(path)
    assert Path(path).read_bytes() == before
    return str(caught.value)


# The disk.


def test_a_failed_sync_closes_the_database_for_good(disk: SimDisk, on_disk: SqliteBook) -> None:
    accept(on_disk, arrival(1))
    disk.fail_syncs()
    on_disk.begin()
    on_disk.accept([arrival(2)])
    on_disk.write()
    with pytest.raises(StoreClosed, match="SQLITE_IOERR_FSYNC") as caught:
        on_disk.sync()
    assert "restart" in str(caught.value)
    steps = disk.steps_done
    with pytest.raises(StoreClosed):
        on_disk.begin()
    with pytest.raises(StoreClosed):
        on_disk.intent(arrival(1).id)
    on_disk.close()
    on_disk.close()
    assert disk.steps_done == steps


def test_another_start_recovers_from_a_failed_sync(disk: SimDisk, on_disk: SqliteBook) -> None:
    accept(on_disk, arrival(1))
    on_disk.begin()
    on_disk.accept([arrival(2)])
    on_disk.write()
    disk.fail_syncs()
    with pytest.raises(StoreClosed):
        on_disk.sync()
    on_disk.close()
    again = SqliteBook("f.db", vfs=disk.name, exclusive=True)
    assert again.intent(arrival(1).id) is not None
    # Nobody knew whether the second one is there; sent again it is there once.
    accept(again, arrival(2))
    view = again.lane(LANE)
    assert view is not None
    assert view.depth() == 2
    again.close()


def test_every_request_after_a_failed_sync_fails_at_once(
    disk: SimDisk, on_disk: SqliteBook
) -> None:
    async def story() -> None:
        store = GroupStore(on_disk, SystemClock(), thread="never")
        await store.accept([arrival(1)])
        disk.fail_syncs()
        first, second = store.accept([arrival(2)]), store.accept([arrival(3)])
        for write in (first, second):
            with pytest.raises(StoreClosed):
                await write
        steps = disk.steps_done
        for _ in range(3):
            with pytest.raises(StoreClosed):
                await store.accept([arrival(4)])
            with pytest.raises(StoreClosed):
                await store.lane(LANE)
        assert disk.steps_done == steps
        await store.close()

    asyncio.run(story())


@pytest.mark.parametrize("left", range(0, 60_000, 3_000))
def test_a_full_disk_refuses_the_group_and_takes_it_once_there_is_room(
    disk: SimDisk, on_disk: SqliteBook, left: int
) -> None:
    accept(on_disk, arrival(1))
    before = on_disk.lane(LANE)
    disk.fill(left)
    with pytest.raises(StoreFull, match="free some space"):
        accept(on_disk, *(arrival(number, 20_000) for number in range(2, 6)))
    assert on_disk.lane(LANE) == before
    assert on_disk.intent(arrival(2).id) is None
    with pytest.raises(StoreFull):
        accept(on_disk, *(arrival(number, 20_000) for number in range(2, 6)))
    disk.heal()
    answers = accept(on_disk, *(arrival(number, 20_000) for number in range(2, 6)))
    assert [answer.seq for answer in answers if isinstance(answer, Accepted)] == [2, 3, 4, 5]
    on_disk.close()
    again = SqliteBook("f.db", vfs=disk.name, exclusive=True)
    assert again.intent(arrival(5).id) is not None
    again.close()


def test_a_disk_without_room_for_a_new_database_is_full(disk: SimDisk) -> None:
    for left in (0, 4_096, 40_000):
        disk.fill(left)
        with pytest.raises(StoreFull):
            SqliteBook("new.db", vfs=disk.name, exclusive=True)
    disk.heal()
    book = SqliteBook("new.db", vfs=disk.name, exclusive=True)
    accept(book, arrival(1))
    book.close()


def test_a_database_at_its_size_limit_is_full(path: str) -> None:
    book = SqliteBook(path)
    book._db.pragma("max_page_count", book._db.pragma("page_count") + 1)
    before = book.lane(LANE)
    big = arrival(100, 50_000)
    for _ in range(2):
        with pytest.raises(StoreFull):
            accept(book, big)
    assert book.lane(LANE) == before
    book._db.pragma("max_page_count", 1 << 30)
    assert accept(book, big) == [Accepted(big.id, 61, 61, 60 * 900 + 50_000, fast=False)]
    book.close()


def test_an_error_while_reading_is_the_last_word_too(disk: SimDisk, on_disk: SqliteBook) -> None:
    accept(on_disk, *(arrival(number, 900) for number in range(60)))
    on_disk._db.release_memory()
    on_disk._db.pragma("cache_size", 1)
    disk.is_dark = True
    with pytest.raises(StoreClosed):
        on_disk.page("queued", None, 100)
    disk.heal()
    with pytest.raises(StoreClosed):
        on_disk.begin()


def test_a_failure_while_a_group_is_gathered_takes_the_group_back(
    disk: SimDisk, on_disk: SqliteBook
) -> None:
    """The lane is not at hand and cannot be read: nothing of its group may be kept."""

    async def story() -> None:
        store = GroupStore(on_disk, SystemClock(), thread="never")
        await store.accept([arrival(1)])
        on_disk._entries.clear()
        on_disk._db.pragma("shrink_memory")
        disk.is_dark = True
        with pytest.raises(StoreClosed):
            await store.accept([arrival(2)])
        disk.heal()
        with pytest.raises(StoreClosed):
            await store.accept([arrival(3)])
        await store.close()

    asyncio.run(story())
    again = SqliteBook("f.db", vfs=disk.name, exclusive=True)
    assert [again.intent(arrival(n).id) is not None for n in (1, 2, 3)] == [True, False, False]
    again.close()


def test_a_rollback_that_fails_closes_the_database(disk: SimDisk, on_disk: SqliteBook) -> None:
    on_disk.begin()
    on_disk.accept([arrival(1)])
    on_disk.write()
    on_disk._db.close(True)
    with pytest.raises(StoreRefused, match="closed"):
        on_disk._step(lambda: on_disk._db.execute("COMMIT"))
    with pytest.raises(StoreClosed):
        on_disk.begin()


# Who may write.


def test_a_read_only_disk_is_refused_with_advice(disk: SimDisk) -> None:
    book = SqliteBook("f.db", vfs=disk.name, exclusive=True)
    accept(book, arrival(1))
    book.close()
    before = disk.content("f.db")
    disk.make_read_only()
    with pytest.raises(StoreRefused, match=r"read-only; make the file and its folder writable"):
        SqliteBook("f.db", vfs=disk.name, exclusive=True)
    with pytest.raises(StoreRefused, match="are it and its folder writable"):
        SqliteBook("other.db", vfs=disk.name, exclusive=True)
    assert disk.content("f.db") == before
    assert disk.content("other.db") is None


def test_a_disk_that_becomes_read_only_stops_the_book(disk: SimDisk, on_disk: SqliteBook) -> None:
    accept(on_disk, arrival(1))
    disk.make_read_only()
    with pytest.raises(StoreClosed, match="SQLITE_IOERR_WRITE"):
        accept(on_disk, arrival(2))
    on_disk.close()
    disk.heal()
    again = SqliteBook("f.db", vfs=disk.name, exclusive=True)
    assert again.intent(arrival(1).id) is not None
    again.close()


def as_nobody(act: Callable[[], None]) -> str:
    """What an act says in a process that file modes bind; root's own they do not."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            act()
            os.write(write, b"fine")
        except StoreError as error:
            os.write(write, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as told:
        return told.read()


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everyone may enter, which pytest's own is not."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        book = SqliteBook(str(folder / "f.db"))
        accept(book, arrival(1))
        book.close()
        (folder / "f.db-lock").unlink()
        yield folder


@pytest.mark.parametrize(
    ("folder_mode", "file_mode", "advice"),
    [
        (0o777, 0o444, "read-only; make the file and its folder writable"),
        (0o777, 0o000, "are it and its folder writable for this user?"),
        (0o555, 0o666, "make the folder writable for this user"),
        (0o000, 0o666, "cannot be reached"),
    ],
)
def test_a_file_that_this_user_may_not_write_is_refused(
    folder: Path, folder_mode: int, file_mode: int, advice: str
) -> None:
    file = folder / "f.db"
    before = file.read_bytes()
    file.chmod(file_mode)
    folder.chmod(folder_mode)
    told = as_nobody(lambda: SqliteBook(str(file)).close())
    folder.chmod(0o777)
    file.chmod(0o666)
    assert told.startswith("StoreRefused")
    assert advice in told
    assert file.read_bytes() == before
    assert as_nobody(lambda: SqliteBook(str(file)).close()) == "fine"


@pytest.mark.slow
def test_a_lock_held_by_another_process_names_it(path: str) -> None:
    script = (
        "import sys; from laneway.stores.sqlite import SqliteBook; "
        "book = SqliteBook(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    )
    source = str(Path(database.__file__).parents[3])
    holder = subprocess.Popen(
        [sys.executable, "-c", script, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": source},
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    with holder.stdin, holder.stdout:
        assert holder.stdout.readline() == b"open\n"
        assert f"pid {holder.pid}) owns it; stop that one first" in refusal(path)
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    # The kernel let go of the lock: nobody has to clean up or wait.
    book = SqliteBook(path)
    assert book.intent(arrival(59).id) is not None
    book.close()


def test_two_names_of_one_file_are_one_database(path: str, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    other.symlink_to(path)
    assert lock_path(str(other)) == lock_path(path)
    book = SqliteBook(path)
    assert f"pid {os.getpid()}" in refusal(str(other))
    book.close()
    SqliteBook(str(other)).close()


def test_a_lock_that_finds_no_room_for_its_pid_is_still_a_lock(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "no space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", full)
        lock = FileLock(path)
    assert "pid unknown" in refusal(path)
    lock.release()


@pytest.mark.slow
def test_another_program_that_writes_makes_it_busy_and_is_not_waited_for_long(path: str) -> None:
    book = SqliteBook(path)
    other = apsw.Connection(path)
    other.execute("BEGIN IMMEDIATE")
    begun = time.monotonic()
    with pytest.raises(StoreBusy, match="locked by another program"):
        accept(book, arrival(100))
    assert time.monotonic() - begun < 10 * BUSY_WRITE_MS / 1000
    # What writes nothing needs no lock: a heartbeat goes on.
    book.begin()
    assert book.beat(ME, 1_000, 0) == Alive((ME,))
    assert book.accept([arrival(1)]) == [Replayed(arrival(1).id)]
    flush(book)
    other.execute("ROLLBACK")
    assert accept(book, arrival(100))[0] == Accepted(arrival(100).id, 61, 61, 54_010, fast=False)
    other.close()
    book.close()


# The file.


def test_a_folder_is_not_a_database(tmp_path: Path) -> None:
    with pytest.raises(StoreRefused, match="it is a folder; name a file in it"):
        SqliteBook(str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    assert not lock_path(str(tmp_path)).exists()


def test_a_place_that_cannot_be_looked_at_is_refused(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "is_dir", denied)
        assert "it cannot be reached (Permission denied)" in refusal(path)
    with monkeypatch.context() as patched:
        patched.setattr(os, "open", denied)
        with pytest.raises(StoreRefused, match="make the folder writable for this user"):
            FileLock(path)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreRefused, match=r"its folder .*/no/where does not exist; create it"):
        SqliteBook(str(tmp_path / "no" / "where" / "f.db"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"short", b"not a database at all\n" * 400])
def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "notes.txt"
    file.write_bytes(content)
    assert "not a SQLite database; name another file, or restore a backup" in refusal(str(file))


@pytest.mark.parametrize("script", ["CREATE TABLE theirs (x)", "PRAGMA user_version = 1"])
def test_the_database_of_another_program_is_left_alone(tmp_path: Path, script: str) -> None:
    file = tmp_path / "theirs.db"
    theirs = apsw.Connection(str(file))
    theirs.execute(script)
    theirs.close()
    assert "the database of another program; name a file for laneway alone" in refusal(str(file))


def test_a_schema_from_the_future_is_refused(path: str) -> None:
    future = apsw.Connection(path)
    future.pragma("user_version", 99)
    future.close()
    assert "schema 99, this laneway knows 3; upgrade laneway" in refusal(path)


def test_a_refused_file_keeps_its_log(path: str) -> None:
    future = apsw.Connection(path)
    future.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    future.pragma("user_version", 99)
    future.close()
    log = Path(f"{path}-wal").read_bytes()
    assert "upgrade" in refusal(path)
    assert Path(f"{path}-wal").read_bytes() == log


def test_a_file_system_without_a_log_is_refused(disk: SimDisk) -> None:
    # Without the only connection, a log needs shared memory, and this disk has none.
    with pytest.raises(StoreRefused, match="journal_mode is delete, not wal"):
        SqliteBook("f.db", vfs=disk.name)


def test_an_old_sqlite_is_refused(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.40.1")
    assert "3.40.1 can lose committed writes" in refusal(path)
    assert "install apsw 3.51.3 or newer" in refusal(path)


def corrupt(path: str, offset: int, content: bytes) -> None:
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(content)


def root_page(path: str, name: str) -> int:
    """Where the root page of a table or an index begins."""
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    root = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).get
    connection.close()
    return (int(root) - 1) * 4096


def test_damage_that_an_open_meets_is_told_there(path: str) -> None:
    corrupt(path, root_page(path, "intents"), b"\xff" * 200)
    assert "keep a copy, and restore a backup or run" in refusal(path)


def test_a_damaged_page_says_what_to_do_and_stops_everything(path: str) -> None:
    corrupt(path, root_page(path, "intents_order"), b"\xff" * 200)
    book = SqliteBook(path)
    for act in (lambda: book.oldest(LANE), lambda: book.lane(LANE), book.begin):
        with pytest.raises(StoreCorrupt, match=r"keep a copy, and restore a backup or run"):
            act()
    book.close()


def test_a_damaged_page_is_never_written_over(path: str) -> None:
    corrupt(path, root_page(path, "intents_order"), b"\xff" * 200)
    before = Path(path).read_bytes()

    async def story() -> None:
        store = GroupStore(SqliteBook(path), SystemClock(), thread="always")
        first, second = store.accept([arrival(100)]), store.accept([arrival(101)])
        for write in (first, second):
            with pytest.raises(StoreCorrupt):
                await write
        with pytest.raises(StoreCorrupt):
            await store.beat(ME, 1_000)
        with pytest.raises(StoreCorrupt):
            await store.lane(LANE)
        await store.close()

    asyncio.run(story())
    assert Path(path).read_bytes() == before


def test_a_read_that_finds_damage_stops_the_writes_as_well(path: str) -> None:
    corrupt(path, root_page(path, "intents_order"), b"\xff" * 200)

    async def story() -> None:
        store = GroupStore(SqliteBook(path), SystemClock(), thread="never")
        waiting = store.tell(Command(0, LANE, "pause", 0))
        with pytest.raises(StoreCorrupt):
            await store.oldest(LANE)
        with pytest.raises(StoreCorrupt):
            await waiting
        await store.close()

    asyncio.run(story())


@pytest.mark.parametrize("table", ["intents", "heads"])
def test_a_row_that_cannot_be_read_is_damage_too(path: str, table: str) -> None:
    column = "body" if table == "intents" else "cursors"
    connection = apsw.Connection(path)
    connection.execute(f"UPDATE {table} SET {column} = x'c1c1'")
    connection.close()
    book = SqliteBook(path)
    with pytest.raises(StoreCorrupt, match="a row cannot be read"):
        book.oldest(LANE)
    with pytest.raises(StoreCorrupt):
        book.load(Lease(LANE, ME, 1))
    book.close()


def test_a_lane_that_cannot_be_read_cannot_be_written(path: str) -> None:
    connection = apsw.Connection(path)
    connection.execute("UPDATE heads SET cursors = x'c1'")
    connection.close()
    book = SqliteBook(path)
    book.begin()
    with pytest.raises(StoreCorrupt, match="a row cannot be read"):
        book.claim(LANE, ME, 0)
    book.rollback()
    book.close()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (apsw.ConstraintError("UNIQUE"), Bug),
        (apsw.LockedError("table"), StoreBusy),
        (apsw.NoMemError("out of memory"), StoreRefused),
        (apsw.ReadOnlyError("attempt to write a readonly database"), StoreRefused),
        (apsw.IOError("disk I/O error"), StoreClosed),
    ],
)
def test_errors_of_sqlite_are_told_in_our_words(error: apsw.Error, told: type[Exception]) -> None:
    translated = translate("f.db", error)
    assert type(translated) is told
    assert "f.db" in str(translated)
