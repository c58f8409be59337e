"""What the doctor finds, on sound and on sick machines; it changes nothing."""

import asyncio
import errno
import os
import shutil
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import apsw
import pytest
from tests.redis_servers import empty, shared
from tests.servers import PostgresServer

from laneway.core.ids import LaneId, Owner, intent_id
from laneway.core.intent import Arrival
from laneway.kinds.findings import Finding
from laneway.stores.address import StoreOptions
from laneway.stores.book import flush
from laneway.stores.postgres.database import Database
from laneway.stores.redis import RedisStore
from laneway.stores.redis.layout import NO_LAYOUTS
from laneway.stores.sqlite import SqliteBook
from laneway.wiring import doctor
from laneway.wiring.config import load
from laneway.wiring.doctor import assertions, examine, kind_of, python, sync_rate
from laneway.wiring.server import access_words

MOUNTS = r"""
/dev/vda / ext4 rw 0 0
tmpfs /dev/shm tmpfs rw 0 0
server:/x /data nfs4 rw 0 0
/dev/vdb /data/local xfs rw 0 0
//nas/share /mnt/with\040blank cifs rw 0 0
overlay /var/lib overlay rw 0 0
old /mnt/twice ext4 rw 0 0
new /mnt/twice fuse.sshfs rw 0 0
""".strip()


@pytest.fixture(autouse=True)
def _few_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "SYNC_PROBES", 3)


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = str(tmp_path / "d.db")
    book = SqliteBook(path)
    book.begin()
    book.accept(
        [
            Arrival(
                id=intent_id(number, number.to_bytes(10, "big")),
                lane=LaneId("contract:a"),
                payload=bytes(900),
                digest=b"",
                accepted_ms=1,
            )
            for number in range(40)
        ]
    )
    flush(book)
    book.close()
    return path


def found(path: str | None) -> dict[str, Finding]:
    return {finding.name: finding for finding in examine(path)}


def files(folder: Path) -> dict[str, bytes]:
    return {entry.name: entry.read_bytes() for entry in folder.iterdir()}


def test_a_sound_database_is_found_sound_and_left_as_it_was(path: str, tmp_path: Path) -> None:
    before = files(tmp_path)
    findings = found(path)
    assert files(tmp_path) == before
    for name in ("python", "assertions", "sqlite", "access", "database", "schema", "quick check"):
        assert findings[name].ok, findings[name]
    assert findings["schema"].what == "schema 3"
    assert "syncs a second" in findings["sync"].what
    assert "GiB are free" in findings["space"].what
    assert findings["file system"].what.startswith(str(tmp_path))


def test_without_a_path_only_the_process_is_looked_at() -> None:
    assert [finding.name for finding in examine(None)] == ["python", "assertions", "sqlite"]


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    finding = found(str(tmp_path / "new.db"))["database"]
    assert finding.ok
    assert "the first start makes it" in finding.what
    assert files(tmp_path) == {}


def test_a_missing_folder_and_a_folder_in_its_place_are_named(tmp_path: Path) -> None:
    missing = found(str(tmp_path / "no" / "d.db"))["folder"]
    assert not missing.ok
    assert "create it" in missing.advice
    folder = found(str(tmp_path))["database"]
    assert (folder.ok, folder.what, folder.advice) == (
        False,
        "it is a folder",
        "name a file in it",
    )


def test_memory_is_not_durable() -> None:
    finding = found(":memory:")["database"]
    assert not finding.ok
    assert "name a file" in finding.advice


def test_an_old_python_is_found() -> None:
    assert not python((3, 10, 9)).ok
    assert python((3, 11, 0)).ok
    assert "3.11" in python((3, 10, 9)).advice


def test_python_without_asserts_is_refused() -> None:
    finding = assertions(1)
    assert not finding.ok
    assert "-O" in finding.what
    assert "PYTHONOPTIMIZE" in finding.advice


def test_a_sqlite_that_can_lose_committed_writes_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.45.1")
    finding = found(None)["sqlite"]
    assert not finding.ok
    assert "WAL-reset" in finding.what
    assert finding.advice == "install apsw 3.51.3 or newer"


def test_a_missing_apsw_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "apsw", None)
    finding = found(None)["sqlite"]
    assert (finding.ok, finding.advice) == (False, "install apsw")


@pytest.mark.parametrize(
    ("folder", "kind", "ok"),
    [
        ("/home/me", "ext4", True),
        ("/dev/shm", "tmpfs", False),
        ("/dev/shmoo", "ext4", True),
        ("/data", "nfs4", False),
        ("/data/local/deep", "xfs", True),
        ("/mnt/with blank/x", "cifs", False),
        ("/var/lib/laneway", "overlay", False),
        ("/mnt/twice", "fuse.sshfs", False),
    ],
)
def test_the_file_system_is_the_innermost_and_the_latest(
    monkeypatch: pytest.MonkeyPatch, folder: str, kind: str, ok: bool
) -> None:
    assert kind_of(folder, MOUNTS) == kind
    monkeypatch.setattr(Path, "read_text", lambda *_: MOUNTS)
    monkeypatch.setattr(os.path, "realpath", str)
    finding = doctor.file_system(Path(folder))
    assert finding.ok is ok
    assert kind in finding.what
    assert bool(finding.advice) is not ok


def test_a_machine_that_does_not_tell_its_mounts_is_not_blamed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def missing(*_: object) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", missing)
    assert doctor.file_system(tmp_path).ok
    assert kind_of("/x", "") == "an unknown file system"


def test_a_slow_disk_is_found_and_not_tried_for_long(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(doctor, "SYNC_PROBES", 1_000)
    monkeypatch.setattr(doctor, "SYNC_PROBE_S_MAX", 0.05)
    slow = sync_rate(tmp_path, lambda _: time.sleep(0.03))
    assert not slow.ok
    assert "quicker disk" in slow.advice
    assert sync_rate(tmp_path, lambda _: None).ok


def test_a_folder_that_cannot_be_written_is_found(tmp_path: Path) -> None:
    def broken(_: int) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    finding = sync_rate(tmp_path, broken)
    assert not finding.ok
    assert "Read-only file system" in finding.what
    assert "writable" in finding.advice


def test_a_full_disk_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Usage:
        free = (1 << 30) - 1

    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage)
    finding = doctor.space(tmp_path)
    assert not finding.ok
    assert finding.what.startswith("1.0 GiB")


def test_a_database_that_is_owned_is_told_with_its_pid_and_not_touched(
    path: str, tmp_path: Path
) -> None:
    book = SqliteBook(path)
    before = files(tmp_path)
    findings = found(path)
    assert files(tmp_path) == before
    assert findings["lock"].ok
    assert f"pid {os.getpid()}" in findings["lock"].what
    assert "database" not in findings
    book.close()
    assert found(path)["database"].ok
    os.unlink(f"{path}-lock")
    assert found(path)["database"].ok


def test_a_log_that_a_crash_left_is_read_and_left(path: str, tmp_path: Path) -> None:
    book = SqliteBook(path)
    book.begin()
    book.claim(LaneId("contract:b"), Owner("me"), 0)
    flush(book)
    book.abandon()
    log = Path(f"{path}-wal").read_bytes()
    main = Path(path).read_bytes()
    assert len(log) > 0
    assert found(path)["quick check"].ok
    assert Path(f"{path}-wal").read_bytes() == log
    assert Path(path).read_bytes() == main
    again = SqliteBook(path)
    assert again.lane(LaneId("contract:b")) is not None
    again.close()


def test_a_file_that_is_no_database_is_found(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("nothing but words\n" * 100)
    finding = found(str(file))["database"]
    assert (finding.ok, finding.what) == (False, "it is not a SQLite database")
    assert "name another file" in finding.advice
    assert list(files(tmp_path)) == ["notes.txt"]


def test_a_schema_from_the_future_is_found(path: str) -> None:
    connection = apsw.Connection(path)
    connection.pragma("user_version", 99)
    connection.close()
    finding = found(path)["database"]
    assert not finding.ok
    assert "schema 99" in finding.what
    assert finding.advice == "upgrade laneway"


def test_an_older_schema_is_told_and_not_migrated(path: str) -> None:
    connection = apsw.Connection(path)
    connection.pragma("user_version", 0)
    connection.close()
    finding = found(path)["schema"]
    assert finding.ok
    assert finding.what == "schema 0; the next start brings it to 3"


def test_a_lost_page_is_found(path: str) -> None:
    connection = apsw.Connection(path)
    connection.execute("DELETE FROM intents")
    connection.close()
    with open(path, "r+b") as file:
        file.seek(36)
        file.write(bytes(4))  # The header's count of free pages.
    finding = found(path)["quick check"]
    assert not finding.ok
    assert "is damaged" in finding.what


def test_a_damaged_page_is_found(path: str) -> None:
    connection = apsw.Connection(path)
    root = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'intents'").get
    connection.close()
    with open(path, "r+b") as file:
        file.seek((int(root) - 1) * 4096 + 8)
        file.write(b"\xff" * 64)
    finding = found(path)["quick check"]
    assert not finding.ok
    assert "damaged" in finding.what
    assert "restore a backup" in finding.advice


def test_a_database_that_others_may_read_is_named_and_left_as_it_is(path: str) -> None:
    Path(path).chmod(0o644)
    finding = found(path)["access"]
    assert not finding.ok
    assert finding.advice == f"run: chmod 600 {path}"
    assert Path(path).stat().st_mode & 0o777 == 0o644


def test_up_warns_of_a_database_that_others_may_read(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load(None, {}, {"store.path": path}).config
    alone = cast(Any, SimpleNamespace(kinds={}))
    assert access_words(config, alone) == []
    Path(path).chmod(0o644)
    (warning,) = access_words(config, alone)
    assert warning.endswith(f"run: chmod 600 {path}")
    assert access_words(load(None, {}, {"store.path": "redis://h"}).config, alone) == []


# Stores that many processes share.


def store(address: str, **options: Any) -> Finding:
    findings = {finding.name: finding for finding in examine(address, StoreOptions(**options))}
    assert set(findings) == {"python", "assertions", "sqlite", "store"}
    return findings["store"]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("postgresql://me:hidden-key-7@127.0.0.1:9/laneway", "refused"),
        ("redis://:hidden-key-7@127.0.0.1:9/0", "redis 127.0.0.1:9 cannot be reached"),
        ("redis://:hidden-key-7/x@127.0.0.1:9/0", "not an address"),
        ("mysql://me:hidden-key-7@127.0.0.1/laneway", "names no store"),
    ],
)
def test_a_store_that_cannot_be_used_is_named_without_its_password(address: str, said: str) -> None:
    finding = store(address)
    assert not finding.ok
    assert said in finding.what
    assert "127.0.0.1" in finding.what
    assert "hidden-key-7" not in f"{finding}"
    assert finding.advice


def test_a_redis_is_looked_at_and_nothing_is_written() -> None:
    (redis,) = shared(1)
    empty([redis])
    finding = store(redis.url)
    assert finding.ok, finding
    assert "the first start makes a store there" in finding.what
    assert redis.say("DBSIZE") == 0
    asyncio.run(opened(redis.url))
    assert "it holds a store" in store(redis.url).what
    finding = store(redis.url.replace("redis:", "redis+cluster:"))
    assert finding.ok, finding


def test_a_redis_that_could_forget_is_found() -> None:
    (redis,) = shared(1)
    redis.say("CONFIG", "SET", "appendfsync", "everysec")
    try:
        finding = store(redis.url)
        assert not finding.ok
        assert "appendfsync always" in finding.advice
        assert store(redis.url, relaxed=True).ok
    finally:
        redis.say("CONFIG", "SET", "appendfsync", "always")


async def opened(url: str) -> None:
    await (await RedisStore(url, layouts=NO_LAYOUTS).open()).close()


def test_a_postgresql_is_looked_at_and_nothing_is_written(postgres_server: PostgresServer) -> None:
    schema = postgres_server.schema()
    address = f"postgresql:///postgres?host={postgres_server.folder}&user=postgres"
    finding = store(address, schema=schema)
    assert finding.ok, finding
    assert "the first start makes its tables" in finding.what
    held = f"SELECT 1 FROM pg_namespace WHERE nspname = '{schema}'"
    assert postgres_server.run(held) == []
    Database(address, schema=schema, relaxed=False).prepare()
    assert store(address, schema=schema).what.endswith("; schema 1")
    postgres_server.run(f"UPDATE {schema}.shape SET version = 99")
    finding = store(address, schema=schema)
    assert not finding.ok
    assert finding.advice == "upgrade laneway"
    assert not store(address, schema="pg_catalog").ok
