"""Many rows of one table in few statements.

A statement for each row is looked up, bound, stepped and reset for each row; one for 32 rows keeps
its place in the tree and costs a sixth less (measured on the rows of an account).
"""

from collections.abc import Sequence
from functools import cache
from itertools import chain

import apsw

from laneway.stores.limits import ROWS_PER_STATEMENT

Row = tuple[int | str | bytes | None, ...]


def insert_all(db: apsw.Connection, statement: str, rows: Sequence[Row]) -> None:
    """`statement` inserts one row, and ends with its VALUES."""
    whole = len(rows) - len(rows) % ROWS_PER_STATEMENT
    if whole:
        wide = widened(statement)
        for begin in range(0, whole, ROWS_PER_STATEMENT):
            part = rows[begin : begin + ROWS_PER_STATEMENT]
            db.execute(wide, tuple(chain.from_iterable(part)))
    if whole < len(rows):
        db.executemany(statement, rows[whole:])


@cache
def widened(statement: str) -> str:
    """The same for so many rows at once."""
    begin, values, row = statement.rpartition("VALUES ")
    assert values
    return f"{begin}{values}{', '.join([row] * ROWS_PER_STATEMENT)}"
