"""The database file: which SQLite may open it, and how it comes to its shape."""

import re
from pathlib import Path

import apsw
import pytest

from laneway.core.errors import StoreRefused
from laneway.stores import sqlite
from laneway.stores.sqlite.database import (
    APPLICATION_ID,
    connect,
    has_wal_reset_bug,
    migrate,
    migrations,
    sqlite_version,
    statements,
)

SOURCES = Path(sqlite.__file__).parent


@pytest.mark.parametrize(
    ("version", "bad"),
    [
        ((3, 7, 0), True),
        ((3, 40, 1), True),
        ((3, 44, 5), True),
        ((3, 44, 6), False),
        ((3, 45, 0), True),
        ((3, 50, 6), True),
        ((3, 50, 7), False),
        ((3, 51, 2), True),
        ((3, 51, 3), False),
        ((3, 54, 1), False),
        ((4, 0, 0), False),
    ],
)
def test_a_sqlite_that_can_lose_committed_writes_is_known(
    version: tuple[int, int, int], bad: bool
) -> None:
    assert has_wal_reset_bug(version) is bad


def test_the_sqlite_we_ship_with_loses_nothing() -> None:
    assert not has_wal_reset_bug(sqlite_version())


def test_every_commit_is_synced_and_the_log_is_checkpointed(tmp_path: Path) -> None:
    connection = connect(str(tmp_path / "f.db"))
    pragmas = ("journal_mode", "synchronous", "user_version", "application_id")
    found = [connection.pragma(name) for name in pragmas]
    assert found == ["wal", 2, migrations()[-1][0], APPLICATION_ID]
    assert connection.pragma("wal_autocheckpoint") > 0
    connection.close()


ONE = (1, "CREATE TABLE one (x); INSERT INTO one VALUES (1)")
TWO = (2, "CREATE TABLE two AS SELECT x + 1 AS x FROM one; DELETE FROM one")
BROKEN = (3, "CREATE TABLE three (x); INSERT INTO one VALUES (3); INSERT INTO nowhere VALUES (1)")


def tables(connection: apsw.Connection) -> list[str]:
    found = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    return [name for (name,) in found]


def test_migrations_apply_in_order_and_once(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "f.db"))
    migrate(connection, "f.db", (ONE,))
    assert (tables(connection), connection.pragma("user_version")) == (["one"], 1)
    for _ in range(2):
        migrate(connection, "f.db", (ONE, TWO))
        assert (tables(connection), connection.pragma("user_version")) == (["one", "two"], 2)
        assert connection.execute("SELECT x FROM two").fetchall() == [(2,)]
        assert connection.execute("SELECT count(*) FROM one").get == 0
    connection.close()


def test_a_migration_that_fails_leaves_the_version_before_it(tmp_path: Path) -> None:
    path = str(tmp_path / "f.db")
    connection = apsw.Connection(path)
    with pytest.raises(StoreRefused, match=r"migration 3 failed: no such table: nowhere"):
        migrate(connection, path, (ONE, TWO, BROKEN))
    assert not connection.in_transaction
    connection.close()
    again = apsw.Connection(path)
    assert (tables(again), again.pragma("user_version")) == (["one", "two"], 2)
    assert again.execute("SELECT count(*) FROM one").get == 0
    again.close()


def test_a_migration_that_finds_no_room_leaves_the_version_before_it(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "f.db"))
    migrate(connection, "f.db", (ONE,))
    connection.pragma("max_page_count", connection.pragma("page_count"))
    with pytest.raises(apsw.FullError):
        migrate(connection, "f.db", (ONE, TWO))
    assert (tables(connection), connection.pragma("user_version")) == (["one"], 1)
    connection.close()


def test_migrations_are_numbered_without_a_gap() -> None:
    assert [number for number, _ in migrations()] == list(range(1, len(migrations()) + 1))


def test_every_statement_has_a_name_of_its_own_and_is_used() -> None:
    text = (SOURCES / "statements.sql").read_text()
    names = re.findall(r"^-- name: (\w+)$", text, re.MULTILINE)
    assert len(names) == len(set(names)) == len(statements())
    source = "".join(module.read_text() for module in sorted(SOURCES.glob("*.py")))
    used = set(re.findall(r'(?:SQL\[|sql\[|_all\(|_one\()"(\w+)"', source))
    assert used == set(names)


def test_only_what_is_small_or_limited_is_scanned(tmp_path: Path) -> None:
    connection = connect(str(tmp_path / "f.db"))
    scanning = set()
    for name, sql in statements().items():
        count = len(set(re.findall(r"\?\d", sql))) or sql.count("?")
        plan = connection.execute(f"EXPLAIN QUERY PLAN {sql}", (None,) * count).fetchall()
        if any("SCAN" in str(step) or "TEMP" in str(step) for *_, step in plan):
            scanning.add(name)
    # Three counters; the open rows of all lanes, for a page of them; the oldest feed, limited; the
    # numbers of stretches, of which there are a thousand for a million intents.
    assert scanning == {"counters", "page_open", "feed_front", "pointer"}
    connection.close()
