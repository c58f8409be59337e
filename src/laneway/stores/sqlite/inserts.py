"""Many rows of one table in few statements.

A statement for each row is looked up, bound, stepped and reset for each row; one for 32 rows keeps
its place in the tree and costs a sixth less (measured on the rows of an account). What is left over
goes by halves. Were it written row by row, each of those would take a place among apsw's hundred
kept statements, and the long ones had to be parsed again for every group (measured: a seventh).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain

import apsw

from laneway.stores.limits import ROWS_PER_STATEMENT

Row = tuple[int | str | bytes | None, ...]
RowPlace = tuple[int, str, str]
"""An open row's lane, table and key."""


def insert_all(db: apsw.Connection, statement: str, rows: Sequence[Row]) -> None:
    """`statement` inserts one row, and ends with its VALUES."""
    for begin, end in parts(len(rows)):
        values = tuple(chain.from_iterable(rows[begin:end]))
        db.execute(widened(statement, end - begin), values)


def delete_all(db: apsw.Connection, sql: Mapping[str, str], places: Iterable[RowPlace]) -> None:
    """Those of one lane and table together, and whatever is alone there with others like it."""
    keys: dict[tuple[int, str], list[str]] = {}
    for lane_no, table, key in places:
        keys.setdefault((lane_no, table), []).append(key)
    alone: list[RowPlace] = []
    for (lane_no, table), found in keys.items():
        if len(found) == 1:
            alone.append((lane_no, table, found[0]))
            continue
        for begin, end in parts(len(found)):
            several = widened(sql["drop_rows"], end - begin)
            db.execute(several, (lane_no, table, *found[begin:end]))
    if alone:
        db.executemany(sql["drop_row"], alone)


def parts(count: int) -> Iterator[tuple[int, int]]:
    """So many rows cut into parts, each with a power of two: few different statements do."""
    begin = 0
    while begin < count:
        end = begin + min(ROWS_PER_STATEMENT, 1 << ((count - begin).bit_length() - 1))
        yield begin, end
        begin = end


@cache
def widened(statement: str, count: int) -> str:
    """The same for so many at once: rows behind its VALUES, or keys it looks for IN a list."""
    begin, values, row = statement.rpartition("VALUES ")
    if values:
        return f"{begin}{values}{', '.join([row] * count)}"
    begin, listed, key = statement.rpartition("IN (")
    assert listed
    return f"{begin}{listed}{', '.join([key.removesuffix(')')] * count)})"
