"""Writes groups: whatever is asked while one is written shares the next.

A group is one transaction in two ways to the server. The first locks its lanes and brings all
that must be known; the second carries every change and the COMMIT. So there are two kinds of
failure: before the second way nothing can have changed, and when its answer stays out nobody
knows.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg import AsyncCursor

from laneway.core.errors import (
    Bug,
    LanewayError,
    StoreBusy,
    StoreCorrupt,
    StoreRefused,
    StoreUnknown,
)
from laneway.core.ids import LaneId
from laneway.stores.limits import GROUP_BYTES_MAX, GROUP_REQUESTS_MAX
from laneway.stores.postgres.arrays import texts
from laneway.stores.postgres.database import Database, Row
from laneway.stores.postgres.draft import Draft
from laneway.stores.postgres.facts import Facts
from laneway.stores.postgres.limits import RACES_MAX
from laneway.stores.postgres.line import Line
from laneway.stores.postgres.script import script
from laneway.stores.postgres.wants import Question, Wants

Request = tuple[str, tuple[Any, ...], "asyncio.Future[Any]", int]
"""A word that Wants and Draft know, its operands, who waits, and how many bytes it counts for."""

RACED = ("lanes_lane", "intents_id", "indexes_name")
"""What two processes may want to make at the same moment; who comes second looks again."""

Notices = Callable[[Draft], list[Question]]


class Raced(Exception):
    """Another process made what this group was about to make; nothing changed."""


class Writer:
    """The only one in this process who writes."""

    def __init__(self, database: Database, notices: Notices) -> None:
        self._database = database
        self._notices = notices
        self._line = Line(database, database.writer)
        self._requests: deque[Request] = deque()
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._group: list[Request] = []
        self._failed: LanewayError | None = None
        self._alone = 0
        """How many of the next requests are written each in a group of its own."""
        self.groups = 0
        self.grouped = 0
        """Groups made durable, and the requests in them."""

    def ask(self, name: str, *args: Any, size: int = 0) -> "asyncio.Future[Any]":
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        if self._failed is not None:
            future.set_exception(self._failed.with_traceback(None))
            return future
        self._requests.append((name, args, future, size))
        self._wanted.set()
        if self._task is None:
            self._task = loop.create_task(self._run(), name="laneway-writer")
            self._task.add_done_callback(self._ended)
        return future

    def _ended(self, task: "asyncio.Task[None]") -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            # Nobody may wait for ever, whatever went wrong.
            self._failed = Bug(f"{self._database.name}: writing failed ({error!r})")
            for _, _, future, _ in (*self._group, *self._requests):
                if not future.done():
                    future.set_exception(self._failed)
            self._requests.clear()

    async def close(self) -> None:
        """Write what was asked, and nothing more."""
        if self._failed is None:
            self._failed = StoreRefused(self._database.name, "it is closed")
        self._wanted.set()
        if self._task is not None:
            await asyncio.wait((self._task,))
        await self._line.drop()

    async def _run(self) -> None:
        while True:
            while not self._requests:
                if self._failed is not None:
                    return
                self._wanted.clear()
                await self._wanted.wait()
            # The answers of one group set in motion what makes the next: they get their turn.
            await asyncio.sleep(0)
            self._group = self._gather()
            await self._write(self._group)

    def _gather(self) -> list[Request]:
        """The requests of the next group: as many as its bounds allow, and at least one."""
        if self._alone:
            self._alone -= 1
            return [self._requests.popleft()]
        group: list[Request] = []
        size = 0
        while self._requests and len(group) < GROUP_REQUESTS_MAX:
            size += self._requests[0][3]
            if group and size > GROUP_BYTES_MAX:
                break
            group.append(self._requests.popleft())
        return group

    async def _write(self, group: list[Request]) -> None:
        try:
            answers = await self._answers(group)
        except LanewayError as error:
            if isinstance(error, Bug) and len(group) > 1:
                self._part(group)
                return
            if isinstance(error, StoreCorrupt):
                self._failed = error
            answers = [error] * len(group)
        except (AssertionError, UnicodeError) as error:
            if len(group) > 1:
                self._part(group)
                return
            answers = [error]
        else:
            self.groups += 1
            self.grouped += len(group)
        for (_, _, future, _), answer in zip(group, answers, strict=True):
            if future.done():
                continue  # Its caller no longer waits.
            if isinstance(answer, Exception):
                future.set_exception(answer)
            else:
                future.set_result(answer)

    def _part(self, group: list[Request]) -> None:
        """One request of the group broke a law: find it by writing each of them alone."""
        self._alone += len(group)
        self._requests.extendleft(reversed(group))

    async def _answers(self, group: list[Request]) -> list[Any]:
        """Judge and write the group, again where another process came first."""
        lost = False
        for attempt in range(RACES_MAX):
            await self._line.open()
            try:
                return await self._attempt(group, doubt_fresh=attempt > 0)
            except Raced:
                await self._line.drop()
            except StoreBusy:
                # A server that was restarted is known by its dead connection: one more try.
                again, lost = self._line.is_lost and not lost, True
                await self._line.drop()
                if not again:
                    raise
            except BaseException:
                await self._line.drop()
                raise
        raise StoreBusy(f"{self._database.name}: other processes came first {RACES_MAX} times")

    async def _attempt(self, group: list[Request], *, doubt_fresh: bool) -> list[Any]:
        facts = await self._learn(group, doubt_fresh=doubt_fresh)
        draft = Draft(facts, timeline=self._database.timeline)
        answers = [getattr(draft, name)(*args) for name, args, _, _ in group]
        await self._make_lanes(draft)
        await self._commit(script(draft), self._notices(draft))
        return answers

    async def _learn(self, group: list[Request], *, doubt_fresh: bool) -> Facts:
        wants = Wants(doubt_fresh=doubt_fresh)
        for name, args, _, _ in group:
            getattr(wants, name)(*args)
        questions = wants.questions()
        try:
            _, *cursors = await self._line.ask([("begin_write", {}), *questions])
        except psycopg.Error as error:
            raise self._unchanged(error) from error
        facts = Facts()
        for (name, _), cursor in zip(questions, cursors, strict=True):
            facts.learn(name, await cursor.fetchall())
        if facts.standbys_behind is not None:
            self._database.standbys_behind = facts.standbys_behind
        return facts

    async def _make_lanes(self, draft: Draft) -> None:
        new = draft.new_lanes()
        if not new:
            return
        try:
            (cursor,) = await self._line.ask([("add_lanes", {"lanes": texts(new)})])
            for lane, number in await cursor.fetchall():
                draft.lanes[LaneId(lane)].no = number
        except psycopg.Error as error:
            raise self._unchanged(error) from error

    async def _commit(self, changes: list[Question], notices: list[Question]) -> None:
        cursors: list[AsyncCursor[Row]] = []
        self._line.warnings.clear()
        try:
            await self._line.ask_into(cursors, [*changes, ("commit", {}), *notices])
        except psycopg.Error as error:
            if len(cursors) > len(changes) and is_committed(cursors[len(changes)]):
                await self._line.drop()  # It is durable; only the news of it are lost.
                return
            if self._line.is_lost:
                raise StoreUnknown(
                    f"{self._database.name}: the answer to a commit is out ({error})"
                ) from error
            raise self._unchanged(error) from error
        if not is_committed(cursors[len(changes)]):
            raise StoreBusy(f"{self._database.name}: the commit was rolled back")
        if self._line.warnings:
            # Someone cancelled the wait for a standby: it is on this disk, and perhaps only here.
            raise StoreUnknown(f"{self._database.name}: {self._line.warnings[0]}")

    def _unchanged(self, error: psycopg.Error) -> LanewayError | Raced:
        """Say what went wrong before anything could change."""
        if isinstance(error, psycopg.errors.UniqueViolation):
            if error.diag.constraint_name in RACED:
                return Raced()
        elif self._line.is_lost:
            return self._line.busy(error)
        return self._database.translate(error)


def is_committed(cursor: "AsyncCursor[Row]") -> bool:
    return cursor.statusmessage == "COMMIT"
