"""Laws of inserting many rows: as many, in their order, and of two under one key the last."""

import apsw
import pytest

from laneway.stores.limits import ROWS_PER_STATEMENT as WIDE
from laneway.stores.sqlite.inserts import insert_all, widened

PUT = "INSERT OR REPLACE INTO rows (key, body) VALUES (? / 2, ?)"
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
    assert widened(ADD) is widened(ADD)
    assert widened(ADD).count("(?, ?)") == WIDE
