"""Writes groups: what is asked while one is written shares the next.

A group is one transaction in two ways to the server. The first locks its lanes and brings all
that must be known; the second carries every change and the COMMIT. So there are two kinds of
failure: before the second way nothing can have changed, and when its answer stays out nobody
knows.
"""

import asyncio
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
from laneway.stores.postgres.arrays import texts
from laneway.stores.postgres.connection import PostgresConnection
from laneway.stores.postgres.database import Database, Row
from laneway.stores.postgres.draft import GroupDraft, GroupFacts, Question, Wants
from laneway.stores.postgres.limits import RACES_MAX
from laneway.stores.postgres.script import script
from laneway.stores.requests import Request, Requests, answer, refused

RACED = ("lanes_lane", "intents_id", "indexes_name")
"""What two processes may want to make at the same moment; who comes second looks again."""

Notices = Callable[[GroupDraft], list[Question]]


class Raced(Exception):
    """Another process made what this group was about to make; nothing changed."""


class Writer:
    """The only one in this process who writes."""

    def __init__(self, database: Database, notices: Notices) -> None:
        self._database = database
        self._notices = notices
        self._connection = PostgresConnection(database, database.writer)
        self._requests = Requests()
        """Each asks with the name of a method that Wants and GroupDraft have, and its operands."""
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._group: list[Request] = []
        self._failed: LanewayError | None = None
        self.groups = 0
        self.grouped = 0
        """Groups made durable, and the requests in them."""

    def ask(self, name: str, *args: Any, size: int = 0) -> "asyncio.Future[Any]":
        if self._failed is not None:
            return refused(self._failed)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._requests.append(((name, args), future, size))
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
            waiting = [*self._group, *self._requests]
            answer(waiting, [self._failed] * len(waiting))
            self._requests.clear()

    async def close(self) -> None:
        """Write what was asked, and nothing more."""
        if self._failed is None:
            self._failed = StoreRefused(self._database.name, "it is closed")
        self._wanted.set()
        if self._task is not None:
            await asyncio.wait((self._task,))
        await self._connection.drop()

    async def _run(self) -> None:
        while True:
            while not self._requests:
                if self._failed is not None:
                    return
                self._wanted.clear()
                await self._wanted.wait()
            # The answers of one group set in motion what makes the next: they get their turn.
            await asyncio.sleep(0)
            self._group = self._requests.gather()
            await self._write(self._group)

    async def _write(self, group: list[Request]) -> None:
        try:
            answers = await self._answers(group)
        except LanewayError as error:
            if isinstance(error, Bug) and len(group) > 1:
                self._requests.part(group)
                return
            if isinstance(error, StoreCorrupt):
                self._failed = error
            answers = [error] * len(group)
        except (AssertionError, UnicodeError) as error:
            if len(group) > 1:
                self._requests.part(group)
                return
            answers = [error]
        else:
            self.groups += 1
            self.grouped += len(group)
        answer(group, answers)

    async def _answers(self, group: list[Request]) -> list[Any]:
        """Judge and write the group, again where another process came first."""
        lost = False
        for attempt in range(RACES_MAX):
            await self._connection.open()
            try:
                return await self._attempt(group, doubt_fresh=attempt > 0)
            except Raced:
                await self._connection.drop()
            except StoreBusy:
                # A server that was restarted is known by its dead connection: one more try.
                again, lost = self._connection.is_lost and not lost, True
                await self._connection.drop()
                if not again:
                    raise
            except BaseException:
                await self._connection.drop()
                raise
        raise StoreBusy(f"{self._database.name}: other processes came first {RACES_MAX} times")

    async def _attempt(self, group: list[Request], *, doubt_fresh: bool) -> list[Any]:
        facts = await self._learn(group, doubt_fresh=doubt_fresh)
        draft = GroupDraft(facts, timeline=self._database.timeline)
        answers = [getattr(draft, name)(*args) for (name, args), _, _ in group]
        await self._make_lanes(draft)
        await self._commit(script(draft), self._notices(draft))
        return answers

    async def _learn(self, group: list[Request], *, doubt_fresh: bool) -> GroupFacts:
        wants = Wants(doubt_fresh=doubt_fresh)
        for (name, args), _, _ in group:
            getattr(wants, name)(*args)
        questions = wants.questions()
        try:
            _, *cursors = await self._connection.ask([("begin_write", {}), *questions])
        except psycopg.Error as error:
            raise self._unchanged(error) from error
        facts = GroupFacts()
        for (name, _), cursor in zip(questions, cursors, strict=True):
            facts.learn(name, await cursor.fetchall())
        if facts.standbys_behind is not None:
            self._database.standbys_behind = facts.standbys_behind
        return facts

    async def _make_lanes(self, draft: GroupDraft) -> None:
        new = draft.new_lanes()
        if not new:
            return
        try:
            (cursor,) = await self._connection.ask([("add_lanes", {"lanes": texts(new)})])
            for lane, number in await cursor.fetchall():
                draft.lanes[LaneId(lane)].no = number
        except psycopg.Error as error:
            raise self._unchanged(error) from error

    async def _commit(self, changes: list[Question], notices: list[Question]) -> None:
        cursors: list[AsyncCursor[Row]] = []
        self._connection.warnings.clear()
        try:
            await self._connection.ask_into(cursors, [*changes, ("commit", {}), *notices])
        except psycopg.Error as error:
            if len(cursors) > len(changes) and is_committed(cursors[len(changes)]):
                await self._connection.drop()  # It is durable; only the news of it are lost.
                return
            if self._connection.is_lost:
                raise StoreUnknown(
                    f"{self._database.name}: the answer to a commit is out ({error})"
                ) from error
            raise self._unchanged(error) from error
        if not is_committed(cursors[len(changes)]):
            raise StoreBusy(f"{self._database.name}: the commit was rolled back")
        if self._connection.warnings:
            # Someone cancelled the wait for a standby: it is on this disk, and perhaps only here.
            raise StoreUnknown(f"{self._database.name}: {self._connection.warnings[0]}")

    def _unchanged(self, error: psycopg.Error) -> LanewayError | Raced:
        """Say what went wrong before anything could change."""
        if isinstance(error, psycopg.errors.UniqueViolation):
            if error.diag.constraint_name in RACED:
                return Raced()
        elif self._connection.is_lost:
            return self._connection.busy(error)
        return self._database.translate(error)


def is_committed(cursor: "AsyncCursor[Row]") -> bool:
    return cursor.statusmessage == "COMMIT"
