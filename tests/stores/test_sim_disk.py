"""The disk that loses power: what it promises, and what it may do to the rest."""

from collections import Counter
from collections.abc import Iterator
from random import Random

import apsw
import pytest

from laneway.sim.disk import IN_USE, SimDisk, SimFile, Step, survivors, torn

WAL = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_WAL
MAIN = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_MAIN_DB


@pytest.fixture
def disk() -> Iterator[SimDisk]:
    disk = SimDisk()
    yield disk
    disk.close()


def database(disk: SimDisk) -> apsw.Connection:
    connection = apsw.Connection("d.db", vfs=disk.name)
    connection.pragma("locking_mode", "exclusive")
    assert connection.pragma("journal_mode", "wal") == "wal"
    connection.pragma("synchronous", "full")
    return connection


def test_what_is_synced_survives_and_what_is_not_may_not(disk: SimDisk) -> None:
    seen = Counter[bytes | None]()
    for seed in range(1_000):
        disk.store("f", b"")
        handle = disk.xOpen("f", [WAL, 0])
        handle.xWrite(b"kept", 0)
        handle.xSync(0)
        handle.xWrite(b"AB", 2)
        handle.xWrite(b"CD", 6)
        assert disk.content("f") == b"keAB\0\0CD"
        disk.crash(Random(seed))
        seen[disk.content("f")] += 1
        handle.xClose()
    wanted = {b"kept", b"keAB", b"keAB\0\0CD", b"kept\0\0CD", b"keAt", b"kepB"}
    assert wanted <= set(seen)
    assert all(content is not None and content[:2] == b"ke" for content in seen)


def test_a_cut_file_is_whole_again_unless_it_was_synced(disk: SimDisk) -> None:
    seen = set()
    for seed in range(50):
        disk.store("f", b"0123456789")
        handle = disk.xOpen("f", [MAIN, 0])
        handle.xTruncate(4)
        assert handle.xFileSize() == 4
        disk.crash(Random(seed))
        seen.add(disk.content("f"))
    assert seen == {b"0123", b"0123456789"}
    handle = disk.xOpen("f", [MAIN, 0])
    handle.xTruncate(12)
    handle.xSync(0)
    disk.crash(Random(0))
    content = disk.content("f")
    assert content is not None
    assert len(content) == 12


def test_a_file_that_was_made_may_be_gone_until_its_folder_is_synced(disk: SimDisk) -> None:
    gone = 0
    for seed in range(40):
        handle = disk.xOpen("main", [MAIN, 0])
        handle.xWrite(b"x", 0)
        handle.xSync(0)
        disk.crash(Random(seed))
        gone += disk.content("main") is None
        if disk.content("main") is not None:
            disk.xDelete("main", True)
    assert 0 < gone < 40
    disk.xOpen("main", [MAIN, 0])
    # The first sync of a new log syncs the folder too, and with it all that stands there.
    disk.xOpen("log", [WAL, 0]).xSync(0)
    disk.crash(Random(0))
    assert disk.content("main") == disk.content("log") == b""


def test_a_file_that_was_deleted_may_be_back_until_its_folder_is_synced(disk: SimDisk) -> None:
    back = 0
    for seed in range(40):
        disk.store("f", b"x")
        disk.xDelete("f", False)
        assert disk.content("f") is None
        disk.crash(Random(seed))
        back += disk.content("f") is not None
    assert 0 < back < 40
    disk.store("f", b"x")
    disk.xDelete("f", True)
    disk.crash(Random(0))
    assert disk.content("f") is None
    with pytest.raises(apsw.IOError):
        disk.xDelete("f", True)


def test_a_failed_sync_leaves_its_writes_in_doubt_for_good(disk: SimDisk) -> None:
    seen = set()
    for seed in range(60):
        disk.store("f", b"....")
        handle = disk.xOpen("f", [MAIN, 0])
        handle.xWrite(b"a", 0)
        disk.fail_syncs()
        with pytest.raises(apsw.IOError):
            handle.xSync(0)
        handle.xWrite(b"b", 1)
        handle.xSync(0)
        handle.xWrite(b"c", 2)
        assert handle.xRead(9, 0) == b"abc."
        disk.crash(Random(seed))
        seen.add(disk.content("f"))
    assert seen == {b"ab..", b"abc.", b".b..", b".bc."}


def test_torn_writes_keep_a_part_of_a_page_or_of_a_sector() -> None:
    page = bytes(range(1, 251)) * 17
    whole: Step = (100, page[:4096])
    kinds = Counter[str]()
    for seed in range(200):
        offset, data = torn(whole, Random(seed))
        assert data is not None
        place = offset - 100
        assert data == page[:4096][place : place + len(data)]
        kinds["sector" if len(data) % 512 == 0 else "byte"] += 1
        kinds["front" if place == 0 else "back"] += 1
    assert min(kinds.values()) > 20
    assert torn((7, None), Random(0)) == (7, None)
    assert survivors([], Random(0)) == []


def test_a_ghost_reaches_no_disk(disk: SimDisk) -> None:
    ghost = database(disk)
    ghost.execute("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
    disk.crash(Random(1))
    alive = database(disk)
    alive.execute("INSERT INTO t VALUES (2)")
    before = disk.content("d.db"), disk.content("d.db-wal")
    disk.fail_syncs(99)
    ghost.execute("INSERT INTO t VALUES (3)")
    ghost.execute("DELETE FROM t")
    ghost.close()
    assert (disk.content("d.db"), disk.content("d.db-wal")) == before
    disk.heal()
    assert alive.execute("SELECT x FROM t ORDER BY x").fetchall() == [(1,), (2,)]
    alive.close()
    assert disk.content("d.db-wal") is None
    assert disk.name not in IN_USE


def test_a_disk_lives_until_its_last_file_is_closed() -> None:
    disk = SimDisk()
    connection = database(disk)
    connection.execute("CREATE TABLE t (x)")
    disk.close()
    name = disk.name
    del disk
    assert connection.execute("SELECT count(*) FROM t").get == 0
    assert name in IN_USE
    connection.close()
    assert name not in IN_USE


def test_in_the_dark_every_use_fails(disk: SimDisk) -> None:
    disk.store("f", b"x")
    handle = disk.xOpen("f", [MAIN, 0])
    disk.cut_after(1)
    handle.xWrite(b"y", 0)
    with pytest.raises(apsw.IOError):
        handle.xWrite(b"z", 0)
    for act in (
        lambda: handle.xRead(1, 0),
        lambda: handle.xTruncate(0),
        lambda: handle.xSync(0),
        handle.xFileSize,
        lambda: disk.xDelete("f", True),
        lambda: disk.xOpen("g", [MAIN, 0]),
    ):
        with pytest.raises(apsw.IOError):
            act()
    handle.xClose()
    disk.crash(Random(0))
    assert disk.content("f") in (b"x", b"y")


def test_a_full_disk_takes_what_does_not_grow(disk: SimDisk) -> None:
    disk.store("f", b"0123")
    handle = disk.xOpen("f", [MAIN, 0])
    disk.fill(2)
    handle.xWrite(b"abcd", 0)
    handle.xWrite(b"ef", 4)
    with pytest.raises(apsw.FullError):
        handle.xWrite(b"g", 6)
    assert disk.content("f") == b"abcdef"
    disk.heal()
    handle.xWrite(b"g", 6)


def test_a_read_only_disk_opens_for_reading_and_makes_nothing(disk: SimDisk) -> None:
    disk.store("f", b"x")
    open_before = disk.xOpen("f", [MAIN, 0])
    disk.make_read_only()
    flags = [MAIN, 0]
    disk.xOpen("f", flags)
    assert flags[1] & apsw.SQLITE_OPEN_READONLY
    assert not flags[1] & apsw.SQLITE_OPEN_READWRITE
    with pytest.raises(apsw.CantOpenError):
        disk.xOpen("g", [MAIN, 0])
    with pytest.raises(apsw.IOError):
        open_before.xWrite(b"y", 0)
    with pytest.raises(apsw.IOError):
        disk.xDelete("f", True)
    assert not disk.xAccess("f", apsw.SQLITE_ACCESS_READWRITE)
    assert disk.xAccess("f", apsw.SQLITE_ACCESS_EXISTS)


def test_a_corrupt_byte_stays_corrupt(disk: SimDisk) -> None:
    disk.store("f", b"\x00\x0f")
    disk.corrupt("f", 1)
    assert disk.content("f") == b"\x00\xf0"
    disk.crash(Random(0))
    assert disk.content("f") == b"\x00\xf0"


def test_temporary_files_leave_nothing_behind(disk: SimDisk) -> None:
    handle = disk.xOpen(None, [WAL, 0])
    handle.xWrite(b"x", 0)
    handle.xClose()
    ghost = disk.xOpen(None, [WAL, 0])
    disk.crash(Random(0))
    ghost.xTruncate(0)
    ghost.xSync(0)
    ghost.xClose()
    assert disk._folder == {}


def test_the_disk_knows_no_wall_clock_and_no_entropy(disk: SimDisk) -> None:
    other = SimDisk()
    assert disk.xRandomness(16) == other.xRandomness(16)
    assert disk.xCurrentTimeInt64() == other.xCurrentTimeInt64()
    assert disk.xCurrentTime() == disk.xCurrentTimeInt64() / 86_400_000
    assert disk.xSleep(5_000_000) == 5_000_000
    assert not disk.xOpen("f", [MAIN, 0]).xCheckReservedLock()
    other.close()


def test_nothing_is_lost_without_a_power_cut() -> None:
    file = SimFile()
    file.steps.append((0, b"x"))
    file.sync(good=True)
    assert bytes(file.durable) == b"x"
    assert not file.steps
    assert not file.doubted
