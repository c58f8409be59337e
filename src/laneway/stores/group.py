"""The asyncio store over a Book: what arrives while one group is written shares the next.

There is no timer. The loop prepares a group; a single writer thread makes it durable, so that the
loop goes on meanwhile. On a quick disk the loop syncs it itself, which is quicker still.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

from laneway.core.errors import (
    Bug,
    LanewayError,
    LeaseLost,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreRefused,
)
from laneway.core.ids import LaneId, Owner
from laneway.core.intent import Answer, Arrival
from laneway.core.rows import Command, Lease
from laneway.ports import Alive, Clock, Commit, Durability, Lost, News
from laneway.stores.book import Book, committed
from laneway.stores.limits import COMMIT_BYTES, INLINE_SYNC_MS_MAX
from laneway.stores.requests import Request, Requests, answer, refused

P = ParamSpec("P")
T = TypeVar("T")


def read(
    method: Callable[Concatenate[Book, P], T],
) -> "Callable[Concatenate[GroupStore, P], asyncio.Future[T]]":
    """A question to the book as the store answers it: with a future that is done."""
    name = method.__name__

    def ask(self: "GroupStore", /, *args: P.args, **kwargs: P.kwargs) -> "asyncio.Future[T]":
        if self._failed is not None:
            return refused(self._failed)
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        try:
            future.set_result(getattr(self._book, name)(*args, **kwargs))
        except LanewayError as error:
            self._is_last(error)
            future.set_exception(error)
        return future

    return ask


class GroupStore:
    """Every request that writes is answered only when its group is durable."""

    shared = False

    def __init__(
        self, book: Book, clock: Clock, *, thread: Literal["auto", "always", "never"] = "auto"
    ) -> None:
        self._book = book
        self._clock = clock
        self._thread = thread
        self._requests = Requests()
        self._scheduled = False
        self._writing: asyncio.Future[None] | None = None
        self._sync_ms = 0.0
        self._executor: ThreadPoolExecutor | None = None
        self._failed: StoreError | None = None
        self.durability: Durability = book.durability
        self.groups = 0
        self.grouped = 0
        """Groups made durable, and the requests in them."""

    # Writers.

    def accept(self, arrivals: Sequence[Arrival]) -> "asyncio.Future[Sequence[Answer]]":
        size = sum(COMMIT_BYTES + len(arrival.payload) for arrival in arrivals)
        return self._ask(partial(self._book.accept, arrivals), size, patient=True)

    def tell(self, command: Command) -> "asyncio.Future[Command]":
        return self._ask(partial(self._book.tell, command))

    def beat(self, owner: Owner, ttl_ms: int) -> "asyncio.Future[Alive | Lost]":
        # Leases are counted by a clock that nobody can set.
        now_ms = self._clock.monotonic_ms()
        return self._ask(partial(self._book.beat, owner, ttl_ms, now_ms))

    def leave(self, owner: Owner) -> "asyncio.Future[None]":
        return self._ask(partial(self._book.leave, owner))

    def claim(self, lane: LaneId, owner: Owner) -> "asyncio.Future[Lease | None]":
        return self._ask(partial(self._book.claim, lane, owner, self._clock.monotonic_ms()))

    def commit(self, commits: Sequence[Commit]) -> "asyncio.Future[Sequence[int | LeaseLost]]":
        size = sum(COMMIT_BYTES + len(commit.write.feed) for commit in commits)
        return self._ask(partial(committed, self._book.commit, commits), size)

    def release(self, lease: Lease) -> "asyncio.Future[None]":
        return self._ask(partial(self._book.release, lease))

    def prune(self, before_ms: int, feed_before_ms: int, limit: int) -> "asyncio.Future[int]":
        return self._ask(partial(self._book.prune, before_ms, feed_before_ms, limit))

    def _ask(
        self, call: Callable[[], Any], size: int = 0, *, patient: bool = False
    ) -> "asyncio.Future[Any]":
        if self._failed is not None:
            return refused(self._failed)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._requests.append((call, future, size))
        self._schedule(patient=patient)
        return future

    def _write(self) -> None:
        """Take what is there, up to the bounds, and write it as one group."""
        self._scheduled = False
        if not self._requests or self._writing is not None:
            return
        if self._failed is not None:
            self._refuse([], self._failed)
            return
        group = self._requests.gather()
        try:
            answers = self._prepare(group)
        except StoreError as error:
            self._refuse(group, error)
            return
        except (Bug, AssertionError) as error:
            if len(group) > 1:
                # One of them broke a law: find it by writing each of them alone.
                self._requests.part(group)
                self._schedule()
            else:
                self._answer(group, [error])
            return
        if self._is_quick():
            self._settle(group, answers, self._sync())
            return
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, "laneway-writer")
        loop = asyncio.get_running_loop()
        self._writing = loop.create_future()
        synced = loop.run_in_executor(self._executor, self._sync)
        synced.add_done_callback(partial(self._synced, group, answers))

    def _prepare(self, group: list[Request]) -> list[Any]:
        """Do what the group asks and hand it to the database, not yet durable."""
        self._book.begin()
        try:
            answers = [call() for call, _, _ in group]
            self._book.write()
        except BaseException:
            self._book.rollback()
            raise
        return answers

    def _is_quick(self) -> bool:
        """Whether waiting for the disk here costs less than two thread switches."""
        if self._thread != "auto":
            return self._thread == "never"
        return self._sync_ms < INLINE_SYNC_MS_MAX

    def _sync(self) -> LanewayError | None:
        try:
            self._book.sync()
        except LanewayError as error:
            return error
        # A checkpoint now and then is slow; only a disk that is always slow counts as slow.
        sync_ms = min(self._book.sync_ms, 10 * INLINE_SYNC_MS_MAX)
        self._sync_ms += 0.05 * (sync_ms - self._sync_ms)
        return None

    def _synced(
        self,
        group: list[Request],
        answers: list[Any],
        synced: "asyncio.Future[LanewayError | None]",
    ) -> None:
        assert self._writing is not None
        self._writing.set_result(None)
        self._writing = None
        self._settle(group, answers, synced.result())

    def _settle(self, group: list[Request], answers: list[Any], error: LanewayError | None) -> None:
        if error is None:
            self.groups += 1
            self.grouped += len(group)
            self._answer(group, answers)
        else:
            self._refuse(group, error)

    def _refuse(self, group: list[Request], error: LanewayError) -> None:
        if self._is_last(error):
            group += self._requests
            self._requests.clear()
        self._answer(group, [error] * len(group))

    def _is_last(self, error: LanewayError) -> bool:
        """Fail-stop: nothing is read or written after what leaves the file in doubt."""
        if self._failed is None and isinstance(error, (StoreClosed, StoreCorrupt)):
            self._failed = error
        return self._failed is not None

    def _answer(self, group: list[Request], answers: list[Any]) -> None:
        answer(group, answers)
        self._schedule()

    def _schedule(self, *, patient: bool = False) -> None:
        """Write soon. A patient request waits one turn of the loop longer.

        The answers of one group set in motion what makes the next: arrivals come at once, commits
        when the effects before them have ended. So they share a group, and a sync.
        """
        if self._requests and not self._scheduled and self._writing is None:
            self._scheduled = True
            loop = asyncio.get_running_loop()
            if patient:
                loop.call_soon(loop.call_soon, self._write)
            else:
                loop.call_soon(self._write)

    # Readers: committed rows, read by the loop itself.

    ready = read(Book.ready)
    load = read(Book.load)
    backlog = read(Book.backlog)
    mailbox = read(Book.mailbox)
    intent = read(Book.intent)
    answers = read(Book.answers)
    find = read(Book.find)
    lane = read(Book.lane)
    lanes = read(Book.lanes)
    oldest = read(Book.oldest)
    page = read(Book.page)
    history = read(Book.history)
    feed = read(Book.feed)
    feed_end = read(Book.feed_end)

    async def news(self) -> AsyncIterator[News]:
        """None ever comes: there is no other process."""
        none: tuple[News, ...] = ()
        for never in none:
            yield never

    def close(self) -> "asyncio.Future[None]":
        return asyncio.ensure_future(self._close())

    async def _close(self) -> None:
        while self._requests or self._writing is not None:
            self._write()
            if self._writing is not None:
                await self._writing
        if self._failed is None:
            self._failed = StoreRefused("the store", "it is closed")
        if self._executor is not None:
            self._executor.shutdown()
        self._book.close()
