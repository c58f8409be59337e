"""Questions to the database: committed rows only, through a connection of its own.

What is asked during one round trip to the server shares the next, and one snapshot.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import msgspec
import psycopg

from laneway.core.errors import (
    BadRequest,
    Bug,
    LanewayError,
    LeaseLost,
    StoreBusy,
    StoreCorrupt,
    StoreRefused,
)
from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import BacklogPage, IntentRow
from laneway.core.outcome import Status
from laneway.core.rows import (
    Command,
    Cursors,
    FeedEntry,
    Index,
    LaneView,
    Lease,
    Result,
    Rows,
    all_classes,
)
from laneway.ports import IntentView
from laneway.stores.codec import (
    decode_command,
    decode_result,
    held,
    intent_row,
    intent_view,
    lane_view,
    open_rows,
    pack_id,
)
from laneway.stores.pages import backlog_page, bad_cursor
from laneway.stores.postgres.arrays import numbers
from laneway.stores.postgres.connection import PostgresConnection
from laneway.stores.postgres.database import Database, Row
from laneway.stores.postgres.draft import Question
from laneway.stores.postgres.limits import READS_MAX
from laneway.stores.requests import refused, settle

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R", bound="PostgresReader")
Found = list[Row]
Read = tuple[list[Question], Callable[..., Any], "asyncio.Future[Any]"]
"""Statements, what makes one answer of all their rows, and who waits for it."""

CURSOR_DIGITS = 16
"""Hexadecimal digits of each half of a feed's cursor: cursors sort as they follow each other."""


def answered(
    method: "Callable[Concatenate[R, P], asyncio.Future[T]]",
) -> "Callable[Concatenate[R, P], asyncio.Future[T]]":
    """A question that may be refused before it is asked: that is an answer too."""

    @wraps(method)
    def ask(self: R, /, *args: P.args, **kwargs: P.kwargs) -> "asyncio.Future[T]":
        try:
            return method(self, *args, **kwargs)
        except LanewayError as error:
            return refused(error)

    return ask


class PostgresReader:
    """Every question of this process, a few ways at a time."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._connection = PostgresConnection(database, database.reader)
        self._reads: deque[Read] = deque()
        self._asked: list[Read] = []
        """Those under way."""
        self._task: asyncio.Task[None] | None = None
        self._failed: LanewayError | None = None

    def _ask(self, questions: list[Question], answer: Callable[..., T]) -> "asyncio.Future[T]":
        if self._failed is not None:
            return refused(self._failed)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        check_texts(questions)
        self._reads.append((questions, answer, future))
        if self._task is None:
            self._task = loop.create_task(self._run(), name="laneway-reader")
            self._task.add_done_callback(self._ended)
        return future

    async def _run(self) -> None:
        while self._reads:
            reads = [self._reads.popleft() for _ in range(min(READS_MAX, len(self._reads)))]
            self._asked = reads
            try:
                found = await self._found([q for questions, _, _ in reads for q in questions])
            except LanewayError as error:
                refuse(reads, error)
                continue
            for questions, answer, future in reads:
                self._answer(answer, future, [found.popleft() for _ in questions])

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._task = None
        error = None if task.cancelled() else task.exception()
        if error is not None:
            # Nobody may wait for ever, whatever went wrong.
            self._failed = Bug(f"{self.database.name}: reading failed ({error!r})")
            refuse([*self._asked, *self._reads], self._failed)
            self._reads.clear()
        elif self._reads:
            self._task = asyncio.get_running_loop().create_task(self._run(), name="laneway-reader")
            self._task.add_done_callback(self._ended)

    async def _found(self, questions: list[Question]) -> "deque[Found]":
        whole = [("begin_read", {}), *questions, ("commit", {})]
        for is_last in (False, True):
            await self._connection.open()
            try:
                cursors = await self._connection.ask(whole)
                return deque([await cursor.fetchall() for cursor in cursors[1:-1]])
            except psycopg.Error as error:
                lost = self._connection.is_lost
                await self._connection.drop()
                if not lost:
                    raise self.database.translate(error) from error
                # A server that was restarted is known by its dead connection: one more try.
                if is_last:
                    raise self._connection.busy(error) from error
        raise StoreBusy(self.database.name)

    def _answer(
        self, answer: Callable[..., T], future: "asyncio.Future[T]", found: list[Found]
    ) -> None:
        if future.done():
            return  # Its caller no longer waits.
        try:
            future.set_result(answer(*found))
        except LanewayError as error:
            future.set_exception(error)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            damaged = StoreCorrupt(self.database.name, f"a row cannot be read ({error})")
            self._failed = damaged
            future.set_exception(damaged)

    async def _close_reader(self) -> None:
        if self._failed is None:
            self._failed = StoreRefused(self.database.name, "it is closed")
        while self._task is not None:
            await asyncio.wait((self._task,))
            await asyncio.sleep(0)
        await self._connection.drop()

    # Owners.

    @answered
    def ready(
        self, now_ms: int, after: LaneId | None, limit: int
    ) -> "asyncio.Future[list[LaneId]]":
        bound = {"now": now_ms, "after": after or "", "limit": limit}
        return self._ask([("ready", bound)], lambda rows: [LaneId(row[0]) for row in rows])

    @answered
    def load(self, lease: Lease) -> "asyncio.Future[Rows]":
        def answer(lanes: Found, rows: Found, intents: Found, mail: Found) -> Rows:
            view = held(lane_view(lanes[0]) if lanes else None, lease)
            named = tuple(intent_row(lease.lane, *row) for row in intents)
            return Rows(view.head, open_rows(rows), named, tuple(commands(mail)))

        names = ("lane_view", "open_rows", "named_intents", "mailbox")
        return self._ask([(name, {"lane": lease.lane}) for name in names], answer)

    @answered
    def backlog(self, lease: Lease, after: Cursors, limit: int) -> "asyncio.Future[BacklogPage]":
        def answer(found: Found) -> BacklogPage:
            if not found:
                raise LeaseLost(lease.lane, lease.fence, 0)
            rows = (intent_row(lease.lane, *row) for _, *row in found if row[0] is not None)
            return backlog_page(rows, limit)

        # One row more than asked shows whether the backlog goes on.
        bound = {"lane": lease.lane, "after": numbers(all_classes(after)), "limit": limit + 1}
        return self._ask([("backlog", bound)], answer)

    @answered
    def mailbox(self, lease: Lease) -> "asyncio.Future[Sequence[Command]]":
        def answer(found: Found) -> Sequence[Command]:
            if not found:
                raise LeaseLost(lease.lane, lease.fence, 0)
            return commands(found)

        return self._ask([("mailbox", {"lane": lease.lane})], answer)

    # Readers.

    @answered
    def intent(self, intent: IntentId) -> "asyncio.Future[IntentView | None]":
        return self._ask([("intent", {"id": pack_id(intent)})], first(intent_view))

    @answered
    def answers(self, _lane: LaneId, intents: Sequence[IntentId]) -> "asyncio.Future[list[Result]]":
        bound = {"ids": [pack_id(intent) for intent in intents]}
        return self._ask([("answers", bound)], lambda rows: [decode_result(row[0]) for row in rows])

    @answered
    def find(self, name: str, value: str) -> "asyncio.Future[Index | None]":
        bound = {"name": name, "value": value}
        return self._ask([("index", bound)], first(lambda row: Index(*row)))

    @answered
    def lane(self, lane: LaneId) -> "asyncio.Future[LaneView | None]":
        return self._ask([("lane_view", {"lane": lane})], first(lane_view))

    @answered
    def lanes(self, after: LaneId | None, limit: int) -> "asyncio.Future[list[LaneView]]":
        bound = {"after": after or "", "limit": limit}
        return self._ask([("lane_views", bound)], lambda rows: [lane_view(row) for row in rows])

    @answered
    def oldest(self, lane: LaneId) -> "asyncio.Future[IntentRow | None]":
        return self._ask([("oldest", {"lane": lane})], first(lambda row: intent_row(lane, *row)))

    @answered
    def page(
        self, status: str, after: IntentId | None, limit: int
    ) -> "asyncio.Future[list[IntentView]]":
        wanted = Status(status)
        packed = b"" if after is None else pack_id(after)
        bound: dict[str, object] = {"after": packed, "limit": limit}
        if wanted.is_final():
            question: Question = ("page_final", {**bound, "status": wanted.value})
        elif wanted is Status.QUEUED:
            question = ("page_queued", {**bound, "after_id": after or ""})
        else:
            question = ("page_open", bound)
        return self._ask([question], intent_views)

    @answered
    def history(
        self, lane: LaneId, after: IntentId | None, limit: int
    ) -> "asyncio.Future[list[IntentView]]":
        packed = b"" if after is None else pack_id(after)
        bound = {"lane": lane, "after": packed, "limit": limit}
        return self._ask([("history", bound)], intent_views)

    @answered
    def feed(self, after: str, limit: int) -> "asyncio.Future[list[FeedEntry]]":
        def answer(found: Found) -> list[FeedEntry]:
            return [
                FeedEntry(feed_cursor(commit_no, no), LaneId(lane), version, at_ms, records)
                for commit_no, no, lane, version, at_ms, records in found
            ]

        commit_no, no = feed_place(after)
        bound = {"commit_no": commit_no, "no": no, "limit": limit}
        return self._ask([("feed", bound)], answer)

    def feed_end(self) -> "asyncio.Future[str]":
        return self._ask([("feed_end", {})], lambda rows: feed_cursor(*rows[0]) if rows else "")


def first(make: Callable[[Row], T]) -> Callable[[Found], T | None]:
    """An answer from the one row that was found, None if none was."""
    return lambda found: make(found[0]) if found else None


def refuse(reads: Iterable[Read], error: LanewayError) -> None:
    futures = [future for _, _, future in reads]
    settle(futures, [error.with_traceback(None)] * len(futures))


def check_texts(questions: Iterable[Question]) -> None:
    """Refuse what PostgreSQL cannot hold, before it spoils the questions of others."""
    for _, bound in questions:
        for name, value in bound.items():
            if isinstance(value, str) and not is_storable(value):
                raise BadRequest(name, "a text without zeros and half characters is needed")


def is_storable(text: str) -> bool:
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def feed_cursor(commit_no: int, no: int) -> str:
    return f"{commit_no:016x}{no:016x}"


def feed_place(cursor: str) -> tuple[int, int]:
    """The commit, and its row, after which a feed goes on."""
    if not cursor:
        return 0, 0
    try:
        packed = bytes.fromhex(cursor)
    except ValueError:
        packed = b""
    if len(packed) != CURSOR_DIGITS or packed[0] > 0x7F or packed[8] > 0x7F:
        raise bad_cursor()
    return int.from_bytes(packed[:8], "big"), int.from_bytes(packed[8:], "big")


def commands(found: Found) -> list[Command]:
    """A lane without mail is one row without a body."""
    return [decode_command(body) for _, body in found if body is not None]


def intent_views(found: Found) -> list[IntentView]:
    return [intent_view(row) for row in found]
