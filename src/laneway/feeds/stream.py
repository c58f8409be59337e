"""The event stream: one reader of the feed for all who follow it.

What was read last stands in a ring that all followers share, each with a place in it, so that a
thousand of them cost one read and no copies. Who falls behind the ring is let go, and comes back
with its cursor; who comes from further back reads pages from the store until it meets the ring.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from laneway.core.errors import StoreError
from laneway.core.ids import LaneId
from laneway.core.rows import Result
from laneway.engine.listeners import Listener
from laneway.feeds.limits import (
    CATCH_UPS_MAX,
    FEED_PAGE,
    POLL_S,
    STEP_S,
    TICK_S_MIN,
    TICK_S_READER,
)
from laneway.feeds.ring import Batch, LaneTest, Place, Ring, View, batches
from laneway.ports import FeedEnd, Store
from laneway.wire import sse

log = logging.getLogger("laneway.events")


class Stream(Listener):
    """Follows the feed while anyone follows it."""

    def __init__(self) -> None:
        self.store: Store | None = None
        """Whose feed it is; told before anyone follows."""
        self.followers = 0
        self.ended = False
        self.ring = Ring()
        self.catching_up = asyncio.Semaphore(CATCH_UPS_MAX)
        self._news = asyncio.Event()
        self._reading = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._sleepers: dict[LaneId | None, set[asyncio.Future[bool]]] = {}
        """Those who wait: for one lane, or for any (None)."""

    def told(self, _lane: LaneId, _records: Sequence[Any], _results: Sequence[Result]) -> None:
        self._news.set()

    async def follow(
        self, after: str | None, lane: str | None, may_see: LaneTest | None
    ) -> "Follower":
        """Behind this cursor; None begins with what happens next."""
        follower = Follower(self, View(None if lane is None else LaneId(lane), may_see))
        self.followers += 1
        try:
            if self._task is None and not self.ended:
                await self._begin()
            await follower.resume(self.ring.cursor if after is None else after)
        except BaseException:
            self.left()
            raise
        return follower

    def left(self) -> None:
        self.followers -= 1
        if self.followers == 0 and self._task is not None:
            # Nobody listens, so nobody reads; the next one begins where the feed ends then.
            self._task.cancel()
            self._task = None

    async def _begin(self) -> None:
        async with self._reading:
            if self._task is None:
                assert self.store is not None
                self.ring.clear(await end_of(self.store))
                self._task = asyncio.create_task(self._run(), name="laneway-events")

    def close(self) -> None:
        """Let everyone go."""
        self.ended = True
        if self._task is not None:
            self._task.cancel()
        self._wake(tuple(self._sleepers))

    async def _run(self) -> None:
        while True:
            try:
                async with asyncio.timeout(POLL_S):
                    await self._news.wait()
            except TimeoutError:
                pass
            self._news.clear()
            try:
                woken = await self.pump()
            except StoreError as error:
                # Whoever follows keeps its place; the next look goes on behind the last entry.
                log.warning("the feed cannot be read, it is tried again: %s", error)
                await asyncio.sleep(POLL_S)
                continue
            await asyncio.sleep(max(TICK_S_MIN, TICK_S_READER * woken))

    async def pump(self) -> int:
        """Read what was told since; how many followers that woke."""
        woken = 0
        assert self.store is not None
        async with self._reading:
            while True:
                entries = await self.store.feed(self.ring.cursor, FEED_PAGE)
                for batch in batches(entries):
                    self.ring.add(batch)
                    woken += self._wake((*batch.lanes(), None))
                if len(entries) < FEED_PAGE:
                    return woken
                await asyncio.sleep(0)

    def _wake(self, lanes: Iterable[LaneId | None]) -> int:
        count = 0
        for lane in lanes:
            for sleeper in self._sleepers.pop(lane, ()):
                if not sleeper.done():
                    sleeper.set_result(True)
                    count += 1
        return count

    async def moved(self, lane: LaneId | None, wait_s: float) -> bool:
        """Wait for news of a lane (None: of any); False when the time is over."""
        loop = asyncio.get_running_loop()
        sleeper: asyncio.Future[bool] = loop.create_future()
        self._sleepers.setdefault(lane, set()).add(sleeper)
        timer = loop.call_later(wait_s, expire, sleeper)
        try:
            return await sleeper
        finally:
            timer.cancel()
            self._forget(lane, sleeper)

    def _forget(self, lane: LaneId | None, sleeper: "asyncio.Future[bool]") -> None:
        sleepers = self._sleepers.get(lane)
        if sleepers is not None:
            sleepers.discard(sleeper)
            if not sleepers:
                del self._sleepers[lane]


def expire(sleeper: "asyncio.Future[bool]") -> None:
    if not sleeper.done():
        sleeper.set_result(False)


class Follower:
    """One client's place: in the ring, or in the store while it catches up."""

    def __init__(self, stream: Stream, view: View) -> None:
        self._stream = stream
        self._view = view
        self._place: Place | None = None
        self.cursor = ""
        self._page: deque[Batch] = deque()

    async def resume(self, cursor: str) -> None:
        """Go on behind a cursor. One that the store cannot read is refused here."""
        self.cursor = cursor
        self._place = self._stream.ring.behind(cursor)
        if self._place is None:
            await self._catch_up()

    def leave(self) -> None:
        self._stream.left()

    async def read(self, wait_s: float) -> bytes | None:
        """Frames that this client may see; a heartbeat when none came."""
        stream, ring = self._stream, self._stream.ring
        while not stream.ended:
            if self._page:
                frames = self._hear(self._page.popleft())
            elif self._place is None:
                await self._catch_up()
                continue
            elif not ring.has(self._place):
                return None
            else:
                batch = ring.at(self._place)
                if batch is None:
                    if not await self._news(wait_s):
                        return sse.heartbeat(self.cursor)
                    continue
                rest = batch.rest(self._place.skip)
                self._place = Place(self._place.batch + 1)
                frames = b"" if rest is None else self._hear(rest)
            if frames:
                return frames
        return None

    def _hear(self, batch: Batch) -> bytes:
        self.cursor = batch.cursor
        return batch.seen(self._view)

    async def _news(self, wait_s: float) -> bool:
        """Wait for what it may see; False when the time is over."""
        while wait_s > 0 and not self._stream.ended:
            if await self._stream.moved(self._view.lane, min(wait_s, STEP_S)):
                return True
            self._pass_by()
            wait_s -= STEP_S
        return self._stream.ended

    def _pass_by(self) -> None:
        """Step over what its filter leaves out: a reader of a silent lane moves on too."""
        ring = self._stream.ring
        assert self._place is not None
        while ring.has(self._place) and (batch := ring.at(self._place)) is not None:
            if batch.seen(self._view):
                return  # It came just now; the next read has it.
            self.cursor, self._place = batch.cursor, Place(self._place.batch + 1)

    async def _catch_up(self) -> None:
        """Read one page from the store, or join the ring where it holds our cursor."""
        stream = self._stream
        assert stream.store is not None
        async with stream.catching_up:
            await stream.pump()
            end = stream.ring.end()
            self._place = stream.ring.behind(self.cursor)
            if self._place is None:
                entries = await stream.store.feed(self.cursor, FEED_PAGE)
                self._page.extend(batches(entries))
                if not entries:
                    self._place = end  # A cursor from elsewhere; nothing is behind it.


async def end_of(store: Store) -> str:
    if isinstance(store, FeedEnd):
        return await store.feed_end()
    cursor = ""
    while True:
        entries = await store.feed(cursor, FEED_PAGE)
        if not entries:
            return cursor
        cursor = entries[-1].cursor
        await asyncio.sleep(0)
