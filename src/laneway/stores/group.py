"""The asyncio store over a Book: whatever arrives while one group is written shares the next.

There is no timer. The loop prepares a group; a single writer thread makes it durable, so that the
loop goes on meanwhile. On a quick disk the loop syncs it itself, which is quicker still.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Literal, ParamSpec, TypeVar

from laneway.core.errors import (
    Bug,
    LanewayError,
    LeaseLost,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreRefused,
)
from laneway.core.ids import IntentId, LaneId, Owner
from laneway.core.intent import Answer, Arrival, BacklogPage, IntentRow
from laneway.core.rows import Command, Cursors, FeedEntry, Index, LaneView, Lease, Result, Rows
from laneway.ports import Alive, Clock, Commit, Durability, IntentView, Lost, News
from laneway.stores.book import Book
from laneway.stores.limits import (
    COMMIT_BYTES,
    GROUP_BYTES_MAX,
    GROUP_REQUESTS_MAX,
    INLINE_SYNC_MS_MAX,
)

P = ParamSpec("P")
T = TypeVar("T")

Request = tuple[Callable[[], Any], "asyncio.Future[Any]", int]


class GroupStore:
    """Every request that writes is answered only when its group is durable."""

    shared = False

    def __init__(
        self, book: Book, clock: Clock, *, thread: Literal["auto", "always", "never"] = "auto"
    ) -> None:
        self._book = book
        self._clock = clock
        self._thread = thread
        self._requests: deque[Request] = deque()
        self._scheduled = False
        self._writing: asyncio.Future[None] | None = None
        self._sync_ms = 0.0
        self._executor: ThreadPoolExecutor | None = None
        self._failed: StoreError | None = None
        self._alone = 0
        """How many of the next requests are written each in a group of its own."""
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
        return self._ask(partial(self._commit, commits), size)

    def _commit(self, commits: Sequence[Commit]) -> list[int | LeaseLost]:
        answers: list[int | LeaseLost] = []
        for commit in commits:
            try:
                answers.append(self._book.commit(commit.lease, commit.version, commit.write))
            except LeaseLost as lost:
                # That lane alone is refused; the rest of the group is not its business.
                answers.append(lost)
        return answers

    def release(self, lease: Lease) -> "asyncio.Future[None]":
        return self._ask(partial(self._book.release, lease))

    def prune(self, before_ms: int, feed_before_ms: int, limit: int) -> "asyncio.Future[int]":
        return self._ask(partial(self._book.prune, before_ms, feed_before_ms, limit))

    def _ask(
        self, call: Callable[[], Any], size: int = 0, *, patient: bool = False
    ) -> "asyncio.Future[Any]":
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        if self._failed is not None:
            future.set_exception(self._failed.with_traceback(None))
            return future
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
        group = self._gather()
        try:
            answers = self._prepare(group)
        except StoreError as error:
            self._refuse(group, error)
            return
        except (Bug, AssertionError) as error:
            self._part(group, error)
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

    def _part(self, group: list[Request], error: Bug | AssertionError) -> None:
        """One request of the group broke a law: find it by writing each of them alone."""
        if len(group) == 1:
            self._answer(group, [error])
            return
        self._alone = len(group)
        self._requests.extendleft(reversed(group))
        self._schedule()

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

    def _gather(self) -> list[Request]:
        """The requests of the next group: as many as its bounds allow, and at least one."""
        if self._alone:
            self._alone -= 1
            return [self._requests.popleft()]
        group: list[Request] = []
        size = 0
        while self._requests and len(group) < GROUP_REQUESTS_MAX:
            size += self._requests[0][2]
            if group and size > GROUP_BYTES_MAX:
                break
            group.append(self._requests.popleft())
        return group

    def _answer(self, group: list[Request], answers: list[Any]) -> None:
        for (_, future, _), answer in zip(group, answers, strict=True):
            if future.done():
                continue  # Its caller no longer waits.
            if isinstance(answer, Exception):
                future.set_exception(answer)
            else:
                future.set_result(answer)
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

    def ready(
        self, now_ms: int, after: LaneId | None, limit: int
    ) -> "asyncio.Future[list[LaneId]]":
        return self._read(self._book.ready, now_ms, after, limit)

    def load(self, lease: Lease) -> "asyncio.Future[Rows]":
        return self._read(self._book.load, lease)

    def backlog(self, lease: Lease, after: Cursors, limit: int) -> "asyncio.Future[BacklogPage]":
        return self._read(self._book.backlog, lease, after, limit)

    def mailbox(self, lease: Lease) -> "asyncio.Future[Sequence[Command]]":
        return self._read(self._book.mailbox, lease)

    def intent(self, intent: IntentId) -> "asyncio.Future[IntentView | None]":
        return self._read(self._book.intent, intent)

    def answers(self, lane: LaneId, intents: Sequence[IntentId]) -> "asyncio.Future[list[Result]]":
        return self._read(self._book.answers, lane, intents)

    def find(self, name: str, value: str) -> "asyncio.Future[Index | None]":
        return self._read(self._book.find, name, value)

    def lane(self, lane: LaneId) -> "asyncio.Future[LaneView | None]":
        return self._read(self._book.lane, lane)

    def lanes(self, after: LaneId | None, limit: int) -> "asyncio.Future[list[LaneView]]":
        return self._read(self._book.lanes, after, limit)

    def oldest(self, lane: LaneId) -> "asyncio.Future[IntentRow | None]":
        return self._read(self._book.oldest, lane)

    def page(
        self, status: str, after: IntentId | None, limit: int
    ) -> "asyncio.Future[list[IntentView]]":
        return self._read(self._book.page, status, after, limit)

    def history(
        self, lane: LaneId, after: IntentId | None, limit: int
    ) -> "asyncio.Future[list[IntentView]]":
        return self._read(self._book.history, lane, after, limit)

    def feed(self, after: str, limit: int) -> "asyncio.Future[list[FeedEntry]]":
        return self._read(self._book.feed, after, limit)

    def feed_end(self) -> "asyncio.Future[str]":
        return self._read(self._book.feed_end)

    async def news(self) -> AsyncIterator[News]:
        """None ever comes: there is no other process."""
        none: tuple[News, ...] = ()
        for never in none:
            yield never

    def _read(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> "asyncio.Future[T]":
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        if self._failed is not None:
            future.set_exception(self._failed.with_traceback(None))
            return future
        try:
            future.set_result(call(*args, **kwargs))
        except LanewayError as error:
            self._is_last(error)
            future.set_exception(error)
        return future

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
