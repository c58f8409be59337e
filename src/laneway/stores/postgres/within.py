"""The door inside the caller's own transaction: business rows and intents are committed together.

What the writer does on a connection of ours is done here on one that is not. Nothing is accepted
before its owner commits, and nothing is left of it if that never happens.
"""

from collections.abc import Generator, Sequence
from typing import Any, TypeAlias

from psycopg import AsyncConnection, AsyncCursor, Connection, Cursor
from psycopg.errors import UniqueViolation
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row
from psycopg.types.numeric import Int8BinaryDumper

from laneway.core.errors import BadRequest, StoreBusy, StoreRefused
from laneway.core.ids import LaneId
from laneway.core.intent import Answer, Arrival
from laneway.stores.postgres.arrays import register, texts
from laneway.stores.postgres.database import channel_of, check_schema, migrations, statements
from laneway.stores.postgres.draft import GroupDraft, GroupFacts, Question, Wants
from laneway.stores.postgres.limits import RACES_MAX
from laneway.stores.postgres.news import notices
from laneway.stores.postgres.script import script
from laneway.stores.postgres.writer import RACED

Rows: TypeAlias = list[tuple[Any, ...]]
Steps: TypeAlias = Generator[Question, Rows, list[Answer]]
"""Questions go out, rows come in, and in the end there are answers."""

SQL = statements()
BEGIN = "SELECT 1"
"""Opens the transaction that the connection is about to begin, so that ours is a part of it."""


async def accept_within(
    connection: "AsyncConnection[Any]", arrivals: Sequence[Arrival], *, schema: str = "laneway"
) -> list[Answer]:
    """Accept in the transaction of `connection`: it is true when that is committed, and not before.

    The lanes stay locked until then, so commit soon. A deadlock or a serialization failure is the
    transaction's: begin all of it again.
    """
    check_open(connection, schema)
    async with connection.cursor(binary=True, row_factory=tuple_row) as cursor:
        fit(cursor)
        await cursor.execute(BEGIN)
        for attempt in range(RACES_MAX):
            steps = accepting(arrivals, schema, doubt_fresh=attempt > 0)
            try:
                async with connection.transaction():
                    return await answered(cursor, steps)
            except UniqueViolation as error:
                check_raced(error)
    raise StoreBusy(f"other processes came first {RACES_MAX} times")


async def answered(cursor: "AsyncCursor[tuple[Any, ...]]", steps: Steps) -> list[Answer]:
    name, bound = next(steps)
    while True:
        await cursor.execute(SQL[name], bound or None)
        rows = await cursor.fetchall() if cursor.description else []
        try:
            name, bound = steps.send(rows)
        except StopIteration as ended:
            answers: list[Answer] = ended.value
            return answers


def accept_within_sync(
    connection: "Connection[Any]", arrivals: Sequence[Arrival], *, schema: str = "laneway"
) -> list[Answer]:
    """`accept_within` on a connection that blocks."""
    check_open(connection, schema)
    with connection.cursor(binary=True, row_factory=tuple_row) as cursor:
        fit(cursor)
        cursor.execute(BEGIN)
        for attempt in range(RACES_MAX):
            steps = accepting(arrivals, schema, doubt_fresh=attempt > 0)
            try:
                with connection.transaction():
                    return answered_sync(cursor, steps)
            except UniqueViolation as error:
                check_raced(error)
    raise StoreBusy(f"other processes came first {RACES_MAX} times")


def answered_sync(cursor: "Cursor[tuple[Any, ...]]", steps: Steps) -> list[Answer]:
    name, bound = next(steps)
    while True:
        cursor.execute(SQL[name], bound or None)
        rows = cursor.fetchall() if cursor.description else []
        try:
            name, bound = steps.send(rows)
        except StopIteration as ended:
            answers: list[Answer] = ended.value
            return answers


def accepting(arrivals: Sequence[Arrival], schema: str, *, doubt_fresh: bool) -> Steps:
    """Lock, learn, judge by the rules that every door has, and write; without a commit."""
    ((path, *_),) = yield "enter_schema", {"schema": schema}
    yield from checked_shape(schema)
    wants = Wants(doubt_fresh=doubt_fresh)
    wants.accept(arrivals)
    facts = GroupFacts()
    for question in wants.questions():
        facts.learn(question[0], (yield question))
    draft = GroupDraft(facts)
    answers = draft.accept(arrivals)
    new = draft.new_lanes()
    if new:
        for lane, number in (yield "add_lanes", {"lanes": texts(new)}):
            draft.lanes[LaneId(lane)].no = number
    for question in script(draft):
        yield question
    # PostgreSQL sends them when the caller commits; no process is excepted, not even the owner's.
    for payload in notices("", draft.woken(), ()):
        yield "notify", {"channel": channel_of(schema), "payload": payload}
    yield "leave_schema", {"path": path}
    return answers


def checked_shape(schema: str) -> "Generator[Question, Rows, None]":
    ((there,),) = yield "shape_is_there", {"shape": f"{schema}.shape"}
    newest = migrations()[-1][0]
    if not there:
        raise StoreRefused(schema, "there is no laneway in this schema; 'laneway up' makes it")
    ((version,),) = yield "shape", {}
    if version != newest:
        raise StoreRefused(schema, f"it has shape {version}, and this laneway knows {newest}")


def check_open(connection: "AsyncConnection[Any] | Connection[Any]", schema: str) -> None:
    check_schema(schema)
    idle = connection.info.transaction_status is TransactionStatus.IDLE
    if idle and connection.autocommit:
        raise BadRequest("connection", "no transaction is open on it; begin one")


def fit(cursor: "AsyncCursor[Any] | Cursor[Any]") -> None:
    """Have this cursor, and nothing else of the caller's, encode values as the store does."""
    cursor.adapters.register_dumper(int, Int8BinaryDumper)
    register(cursor)


def check_raced(error: UniqueViolation) -> None:
    """Another process made what we were about to make: look again. Anything else is a bug."""
    if error.diag.constraint_name not in RACED:
        raise error
