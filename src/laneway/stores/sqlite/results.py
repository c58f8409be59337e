"""Final answers, each beside the intent it names."""

from collections.abc import Mapping, Sequence

import apsw

from laneway.core.errors import Bug
from laneway.stores.sqlite.inserts import insert_all


def write_results(
    db: apsw.Connection,
    sql: Mapping[str, str],
    results: Mapping[bytes, tuple[str, int, bytes]],
    numbers: Mapping[bytes, int],
) -> None:
    """`numbers` are those of intents that are at hand; the others are looked up."""
    near: list[tuple[int, str, int, bytes]] = []
    far: list[tuple[str, int, bytes, bytes]] = []
    for packed, (status, settled_ms, body) in results.items():
        number = numbers.get(packed)
        if number is None:
            far.append((status, settled_ms, body, packed))
        else:
            near.append((number, status, settled_ms, body))
    if near:
        insert_all(db, sql["add_result_at"], near)
    if not all_written(db, sql["add_result"], far):
        raise Bug("a final answer names an intent that is not there")


def all_written(
    db: apsw.Connection, statement: str, rows: Sequence[tuple[str | int | bytes, ...]]
) -> bool:
    """Whether each found the intent that it stands beside."""
    if not rows:
        return True
    before = db.total_changes()
    db.executemany(statement, rows)
    return db.total_changes() - before == len(rows)
