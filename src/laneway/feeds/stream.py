"""The event stream: one reader of the feed for all who follow it.

What was read last stands in a ring that all followers share, each with a place in it, so that a
thousand of them cost one read and no copies. A reader that falls out of the ring is let go, and
comes back with its cursor; one from further back reads pages of the store until it meets the ring.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from laneway.core.errors import StoreError
from laneway.core.ids import LaneId
from laneway.core.rows import Result
from laneway.engine.listeners import Listener
from laneway.feeds.events import EventsOf
from laneway.feeds.limits import (
    CATCH_UPS_MAX,
    FEED_PAGE,
    FRESH_MAX,
    POLL_S,
    TICK_S_MIN,
    TICK_S_READER,
)
from laneway.feeds.ring import (
    Batch,
    EventFilter,
    Frames,
    LaneTest,
    Pager,
    ReaderPlace,
    Ring,
    batches,
)
from laneway.ports import FeedEnd, Store
from laneway.wire import sse

log = logging.getLogger("laneway.events")


class Stream(Listener):
    """Follows the feed while anyone follows it."""

    def __init__(self, events_of: EventsOf) -> None:
        self.events_of = events_of
        self.store: Store | None = None
        """The store whose feed it is; set before anyone follows."""
        self.followers = 0
        self.ended = False
        self.ring = Ring()
        self._pager = Pager(FEED_PAGE)
        self.catching_up = asyncio.Semaphore(CATCH_UPS_MAX)
        self._news = asyncio.Event()
        self._reading = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._live: dict[LaneId | None, dict[StreamReader, None]] = {}
        """Those who stand at the end: of one lane, or of any (None)."""
        self._beaten_s = 0.0
        self._fresh: list[Frames] = []
        """In the ring already, and not yet handed to those who stand at the end."""

    def notified(self, _lane: LaneId, _records: Sequence[Any], _results: Sequence[Result]) -> None:
        self._news.set()

    async def follow(
        self, after: str | None, lane: str | None, may_see: LaneTest | None
    ) -> "StreamReader":
        """A reader after this cursor; None begins with what happens next."""
        follower = StreamReader(self, EventFilter(None if lane is None else LaneId(lane), may_see))
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
                self._fresh.clear()
                self._task = asyncio.create_task(self._run(), name="laneway-events")

    def close(self) -> None:
        """Let everyone go."""
        self.ended = True
        if self._task is not None:
            self._task.cancel()
        for follower in [one for lane in self._live.values() for one in lane]:
            follower.wake()

    async def _run(self) -> None:
        while True:
            try:
                async with asyncio.timeout(POLL_S):
                    await self._news.wait()
            except TimeoutError:
                pass
            self._news.clear()
            self._beat()
            try:
                reached = await self.pump()
            except StoreError as error:
                # A follower keeps its place; the next look goes on after the last entry.
                log.warning("the feed cannot be read, it is tried again: %s", error)
                await asyncio.sleep(POLL_S)
                continue
            await asyncio.sleep(max(TICK_S_MIN, TICK_S_READER * reached))

    async def pump(self) -> int:
        """Read what is new and hand it to the readers at the end; returns how many got some."""
        assert self.store is not None
        reached = 0
        async with self._reading:
            try:
                while True:
                    entries = await self.store.feed(self.ring.cursor, self._pager.count)
                    for batch in batches(entries, self.events_of):
                        self.ring.add(batch)
                        self._fresh += batch.entries
                    if self._pager.saw(entries):
                        break
                    if len(self._fresh) >= FRESH_MAX:
                        reached += self._hand()
                    await asyncio.sleep(0)
            finally:
                reached += self._hand()
        return reached

    def _hand(self) -> int:
        """All that is fresh, in one write for each."""
        if not self._fresh:
            return 0
        batch, self._fresh = Batch(self._fresh), []
        reached = 0
        for lane in (*batch.lanes(), None):
            for follower in tuple(self._live.get(lane, ())):
                reached += follower.take(batch)
        return reached

    def _beat(self) -> None:
        """A heartbeat for readers that received nothing for long."""
        now_s = asyncio.get_running_loop().time()
        if now_s - self._beaten_s < POLL_S:
            return
        self._beaten_s = now_s
        self._hand()  # A heartbeat bears the ring's cursor, so all before it must be sent.
        for live in tuple(self._live.values()):
            for follower in tuple(live):
                follower.beat(now_s)

    def join(self, follower: "StreamReader", lane: LaneId | None) -> None:
        self._hand()  # The newcomer has read what is fresh to the others.
        self._live.setdefault(lane, {})[follower] = None

    def part(self, follower: "StreamReader", lane: LaneId | None) -> None:
        live = self._live.get(lane, {})
        live.pop(follower, None)
        if not live:
            self._live.pop(lane, None)


Write = Callable[[bytes], bool]
"""Hands frames to the client; False when it is slow to take them."""


class StreamReader:
    """One client's place: at the end of the feed, in the ring, or in the store.

    At the end it is handed what comes, without a task that wakes up: a thousand of them cost
    little more than a thousand writes. Further back, or when its client is slow, it reads.
    """

    def __init__(self, stream: Stream, view: EventFilter) -> None:
        self._stream = stream
        self._view = view
        self._place: ReaderPlace | None = None
        self.cursor = ""
        self._page: deque[Batch] = deque()
        self._pager = Pager(FEED_PAGE)
        self._write: Write = bool
        self._beat_s = 0.0
        self._beaten_s = 0.0
        self._standing: asyncio.Future[None] | None = None
        """While it stands at the end."""

    async def resume(self, cursor: str) -> None:
        """Go on after a cursor. One that the store cannot read is refused here."""
        self.cursor = cursor
        self._place = self._stream.ring.after(cursor)
        if self._place is None:
            await self._catch_up()

    def leave(self) -> None:
        self._stream.left()

    async def run(
        self, write: Write, drained: Callable[[], Awaitable[None]], beat_s: float
    ) -> None:
        """Write frames as they come, and a heartbeat where none come for `beat_s`.

        Ends when it cannot follow, or when there is nothing more to follow here.
        """
        self._write, self._beat_s = write, beat_s
        while (frames := await self._read()) is not None:
            # Between the end of a read and standing at the end nothing can come: no await.
            if (write(frames) if frames else await self._stand()) is False:
                await drained()

    async def _read(self) -> bytes | None:
        """What stands next at its place; nothing at the end, None where it cannot follow."""
        stream, ring = self._stream, self._stream.ring
        while not stream.ended:
            if self._page:
                frames = self._taken(self._page.popleft())
            elif self._place is None:
                await self._catch_up()
                continue
            elif not ring.has(self._place):
                return None
            else:
                batch = ring.at(self._place)
                if batch is None:
                    return b""
                rest = batch.rest(self._place.skip)
                self._place = ReaderPlace(self._place.batch + 1)
                frames = b"" if rest is None else self._taken(rest)
            if frames:
                return frames
        return None

    def _taken(self, batch: Batch) -> bytes:
        self.cursor = batch.cursor
        return batch.seen(self._view)

    async def _stand(self) -> bool:
        """Stand at the end until the client is slow (False) or the stream ends."""
        loop = asyncio.get_running_loop()
        self._standing = loop.create_future()
        self._beaten_s = loop.time()
        self._stream.join(self, self._view.lane)
        try:
            await self._standing
        finally:
            self._stream.part(self, self._view.lane)
            self._standing = None
        return self._stream.ended

    def take(self, batch: Batch) -> bool:
        """Take what was just added to the ring; whether any of it is for this reader."""
        frames = self._taken(batch)
        if frames:
            self._beaten_s = asyncio.get_running_loop().time()
            self._hand(frames)
        return bool(frames)

    def beat(self, now_s: float) -> None:
        if now_s - self._beaten_s >= self._beat_s:
            self._beaten_s = now_s
            # It has received all that it may see, also where others got more.
            self.cursor = self._stream.ring.cursor
            self._hand(sse.heartbeat(self.cursor))

    def _hand(self, frames: bytes) -> None:
        if not self._write(frames):
            self._place = self._stream.ring.end()
            self.wake()

    def wake(self) -> None:
        """It no longer stands at the end."""
        self._stream.part(self, self._view.lane)
        if self._standing is not None and not self._standing.done():
            self._standing.set_result(None)

    async def _catch_up(self) -> None:
        """Read one page from the store, or join the ring where it holds our cursor."""
        stream = self._stream
        assert stream.store is not None
        async with stream.catching_up:
            await stream.pump()
            end = stream.ring.end()
            self._place = stream.ring.after(self.cursor)
            if self._place is None:
                entries = await stream.store.feed(self.cursor, self._pager.count)
                self._pager.saw(entries)
                self._page.extend(batches(entries, stream.events_of))
                if not entries:
                    self._place = end  # A cursor from elsewhere; nothing follows it.


async def end_of(store: Store) -> str:
    if isinstance(store, FeedEnd):
        return await store.feed_end()
    cursor, pager = "", Pager(FEED_PAGE)
    while True:
        entries = await store.feed(cursor, pager.count)
        pager.saw(entries)
        if not entries:
            return cursor
        cursor = entries[-1].cursor
        await asyncio.sleep(0)
