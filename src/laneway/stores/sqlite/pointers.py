"""Names that find intents. Those that only point at one that is here are kept small and together,
by the stretch of intents they belong to; see the second migration."""

from collections.abc import Mapping

import apsw

from laneway.core.intent import IntentRow
from laneway.core.rows import Index, Result
from laneway.stores.codec import encode, pack_id
from laneway.stores.sqlite.inserts import insert_all
from laneway.stores.sqlite.results import all_written

HASH_CHARS = 64


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
