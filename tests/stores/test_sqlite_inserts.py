"""Laws of inserting many rows: as many, in their order, and of two under one key the last."""

import apsw
import pytest

from laneway.stores.limits import ROWS_PER_STATEMENT as WIDE
from laneway.stores.sqlite.database import statements
from laneway.stores.sqlite.inserts import delete_all, insert_all, parts, widened

PUT = "INSERT OR REPLACE INTO rows (key, body) VALUES (? / 2, ?)"
SQL = statements()
ADD = "INSERT INTO rows (key, body) VALUES (?, ?)"


@pytest.fixture
def db() -> apsw.Connection:
    made = apsw.Connection(":memory:")
    made.execute("CREATE TABLE rows (key INTEGER PRIMARY KEY, body BLOB) STRICT")
    return made


def kept(db: apsw.Connection) -> list[tuple[int, bytes]]:
    return list(db.execute("SELECT key, body FROM rows ORDER BY key"))


@pytest.mark.parametrize("count", [0, 1, WIDE - 1, WIDE, WIDE + 1, 3 * WIDE, 3 * WIDE + 5])
def test_every_row_is_there_however_many_there_are(db: apsw.Connection, count: int) -> None:
    rows = [(number, b"%d" % number) for number in range(count)]
    insert_all(db, ADD, rows)
    assert kept(db) == rows


def test_of_two_rows_under_one_key_the_last_counts(db: apsw.Connection) -> None:
    insert_all(db, PUT, [(number, b"%d" % number) for number in range(2 * WIDE)])
    assert kept(db) == [(number, b"%d" % (2 * number + 1)) for number in range(WIDE)]


def test_a_row_that_is_refused_is_said_so(db: apsw.Connection) -> None:
    with pytest.raises(apsw.ConstraintError):
        insert_all(db, ADD, [(number % (WIDE - 1), b"") for number in range(WIDE)])


def test_a_statement_is_made_wide_once() -> None:
    assert widened(ADD, WIDE) is widened(ADD, WIDE)
    assert widened(ADD, WIDE).count("(?, ?)") == WIDE
    assert widened(ADD, 1) == ADD
    assert widened(SQL["drop_rows"], 3).endswith("key IN (?, ?, ?)")


def test_parts_are_powers_of_two_and_leave_nothing_out() -> None:
    assert list(parts(2 * WIDE + 5)) == [
        (0, WIDE),
        (WIDE, 2 * WIDE),
        (2 * WIDE, 2 * WIDE + 4),
        (2 * WIDE + 4, 2 * WIDE + 5),
    ]


def test_the_rows_that_are_named_go_and_no_others() -> None:
    db = apsw.Connection(":memory:")
    db.execute("CREATE TABLE rows (lane_no INTEGER, kind TEXT, key TEXT)")
    there = [
        (no, kind, str(key)) for no in (1, 2) for kind in ("a", "b") for key in range(WIDE + 9)
    ]
    insert_all(db, "INSERT INTO rows (lane_no, kind, key) VALUES (?, ?, ?)", there)
    gone = [place for place in there[1:] if place[:2] == (1, "a")]
    gone += [(2, "b", "3"), (1, "b", "4")]
    delete_all(db, SQL, gone)
    left = set(db.execute("SELECT lane_no, kind, key FROM rows"))
    assert left == set(there) - set(gone)
