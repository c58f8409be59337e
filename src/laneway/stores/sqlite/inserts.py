"""Many rows of one table in few statements.

A statement for each row is looked up, bound, stepped and reset for each row; one for 32 rows keeps
its place in the tree and costs a sixth less (measured on the rows of an account). What is left over
goes in powers of two. Were it written row by row, each row would take a place among apsw's hundred
kept statements, and the long ones had to be parsed again for every group (measured: a seventh).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain

import apsw

from laneway.core.errors import Bug
from laneway.core.ids import IntentId
from laneway.core.intent import IntentRow
from laneway.core.rows import Index, Result
from laneway.stores.codec import encode, pack_id
from laneway.stores.limits import ROWS_PER_STATEMENT

Row = tuple[int | str | bytes | None, ...]
RowPlace = tuple[int, str, str]
"""An open row's lane, table and key."""

HASH_CHARS = 64


def insert_all(db: apsw.Connection, statement: str, rows: Sequence[Row]) -> None:
    """`statement` inserts one row, and ends with its VALUES."""
    for begin, end in parts(len(rows)):
        values = tuple(chain.from_iterable(rows[begin:end]))
        db.execute(widened(statement, end - begin), values)


def delete_all(db: apsw.Connection, sql: Mapping[str, str], places: Iterable[RowPlace]) -> None:
    """Delete open rows: those of one lane and table together, single ones in one batch."""
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


def write_results(
    db: apsw.Connection,
    sql: Mapping[str, str],
    results: Mapping[IntentId, Result],
    numbers: dict[bytes, int],
) -> None:
    """Write final answers. `numbers` are those of cached open intents; the others are looked up."""
    near: list[tuple[int, str, int, bytes]] = []
    far: list[tuple[str, int, bytes, bytes]] = []
    for intent, result in results.items():
        packed, body = pack_id(intent), encode(result)
        number = numbers.pop(packed, None)
        if number is None:
            far.append((result.status, result.settled_ms, body, packed))
        else:
            near.append((number, result.status, result.settled_ms, body))
    if near:
        insert_all(db, sql["add_result_at"], near)
    if not all_written(db, sql["add_result"], far):
        raise Bug("a final answer names an intent that is not there")


def all_written(
    db: apsw.Connection, statement: str, rows: Sequence[tuple[str | int | bytes, ...]]
) -> bool:
    """Whether each row found the intent that it belongs to."""
    if not rows:
        return True
    before = db.total_changes()
    db.executemany(statement, rows)
    return db.total_changes() - before == len(rows)


def parts(count: int) -> Iterator[tuple[int, int]]:
    """`count` rows cut into parts, each a power of two: that makes few different statements."""
    begin = 0
    while begin < count:
        end = begin + min(ROWS_PER_STATEMENT, 1 << ((count - begin).bit_length() - 1))
        yield begin, end
        begin = end


@cache
def widened(statement: str, count: int) -> str:
    """The same for `count` at once: rows after its VALUES, or keys it looks for IN a list."""
    begin, values, row = statement.rpartition("VALUES ")
    if values:
        return f"{begin}{values}{', '.join([row] * count)}"
    begin, listed, key = statement.rpartition("IN (")
    assert listed
    return f"{begin}{listed}{', '.join([key.removesuffix(')')] * count)})"


# Names that find intents. Those that only point at one that is here are kept small and together, by
# the stretch of intents they belong to; see the second migration.


def is_pointer(index: Index) -> bool:
    """Whether it says nothing but where its intent is."""
    return not index.digest and not index.status and index.hash is None


def pack_value(value: str) -> bytes:
    """A hash takes 32 bytes instead of 64 characters. What was text is marked as such."""
    if len(value) == HASH_CHARS:
        try:
            packed = bytes.fromhex(value)
        except ValueError:
            return b"t" + value.encode()
        if packed.hex() == value:
            return b"h" + packed
    return b"t" + value.encode()


def write_indexes(
    db: apsw.Connection,
    sql: Mapping[str, str],
    indexes: list[Index],
    numbers: Mapping[bytes, int],
) -> None:
    """`numbers` are those of intents that are at hand; the others are looked up."""
    near: list[tuple[int, str, bytes, int]] = []
    far: list[tuple[str, bytes, bytes]] = []
    full: list[Index] = []
    sought: list[Index] = []
    for index in indexes:
        if not is_pointer(index):
            full.append(index)
            continue
        packed, value = pack_id(index.intent), pack_value(index.value)
        number = numbers.get(packed)
        if number is None:
            far.append((index.name, value, packed))
            sought.append(index)
        else:
            near.append((number, index.name, value, number))
    if near:
        insert_all(db, sql["put_pointer_at"], near)
    if not all_written(db, sql["put_pointer"], far):
        # Some of their intents are not here, and all of them are kept in full.
        full += sought
    if full:
        rows = [(one.name, one.value, encode(one)) for one in full]
        db.executemany(sql["put_index"], rows)


def pointed(row: IntentRow, result: Result) -> list[Index]:
    """Names that pointed at an intent that is pruned now: its hash and its number on chain."""
    if result.hash is None or result.number is None:
        return []
    names = (("hash", result.hash.hex()), ("nonce", f"{row.lane}#{result.number}"))
    return [
        Index(name, value, row.id, row.lane, row.digest, result.status, result.hash)
        for name, value in names
    ]
