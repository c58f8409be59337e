"""The event stream: one reader of the feed for all who follow it.

What was read last stands in a ring that all followers share, each with a place in it, so that a
thousand of them cost one read and no copies. Who falls behind the ring is let go, and comes back
with its cursor; who comes from further back reads pages from the store until it meets the ring.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from laneway.core.errors import StoreError
from laneway.core.ids import LaneId
from laneway.core.rows import FeedEntry, Result
from laneway.engine.listeners import Listener
from laneway.feeds.events import events_of
from laneway.feeds.limits import (
    CATCH_UPS_MAX,
    FEED_PAGE,
    FRAMES_BYTES_MAX,
    POLL_S,
    RING_BYTES_MAX,
    RING_ENTRIES_MAX,
    TICK_S_MIN,
    TICK_S_READER,
)
from laneway.ports import FeedEnd, Store
from laneway.wire import sse

log = logging.getLogger("laneway.events")

LaneTest = Callable[[str], bool]

encode = msgspec.json.Encoder().encode


class Frames(msgspec.Struct, frozen=True):
    """One entry of the feed as the wire has it; empty when it tells nobody anything."""

    cursor: str
    lane: LaneId
    body: bytes


def framed(entry: FeedEntry) -> Frames:
    events = events_of(entry)
    last = len(events) - 1
    # Only the last event carries the cursor: who is cut off in between gets the entry again.
    body = b"".join(
        sse.frame(event.type, encode(event), entry.cursor if place == last else None)
        for place, event in enumerate(events)
    )
    return Frames(entry.cursor, entry.lane, body)


class Stream(Listener):
    """Follows the feed while anyone follows it."""

    def __init__(self) -> None:
        self.store: Store | None = None
        """Whose feed it is; told before anyone follows."""
        self.followers = 0
        self.ended = False
        self._ring: list[Frames] = []
        self._places: dict[str, int] = {}
        self._base = 0
        """The place of the ring's first entry; places count from the start of this stream."""
        self._bytes = 0
        self._end = ""
        self._news = asyncio.Event()
        self._moved = asyncio.Event()
        self._reading = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self.catching_up = asyncio.Semaphore(CATCH_UPS_MAX)

    def told(self, _lane: LaneId, _records: Sequence[Any], _results: Sequence[Result]) -> None:
        self._news.set()

    async def follow(self, after: str | None, may_see: LaneTest) -> "Follower":
        """Behind this cursor; None begins with what happens next."""
        follower = Follower(self, may_see)
        self.followers += 1
        try:
            if self._task is None and not self.ended:
                await self._begin()
            if after is None:
                follower.join(self.end(), self._end)
            else:
                await follower.resume(after)
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
                self._forget()
                self._end = await end_of(self.store)
                self._task = asyncio.create_task(self._run(), name="laneway-events")

    def _forget(self) -> None:
        self._base += len(self._ring)
        self._ring, self._places, self._bytes = [], {}, 0

    def close(self) -> None:
        """Let everyone go."""
        self.ended = True
        if self._task is not None:
            self._task.cancel()
        self._wake()

    async def _run(self) -> None:
        while True:
            try:
                async with asyncio.timeout(POLL_S):
                    await self._news.wait()
            except TimeoutError:
                pass
            self._news.clear()
            try:
                if await self.pump():
                    self._wake()
            except StoreError as error:
                # Whoever follows keeps its place; the next look goes on behind the last entry.
                log.warning("the feed cannot be read, it is tried again: %s", error)
                await asyncio.sleep(POLL_S)
            await asyncio.sleep(max(TICK_S_MIN, TICK_S_READER * self.followers))

    async def pump(self) -> int:
        """Read what was told since; how many entries that were."""
        count = 0
        assert self.store is not None
        async with self._reading:
            while True:
                entries = await self.store.feed(self._end, FEED_PAGE)
                for entry in entries:
                    self._add(framed(entry))
                count += len(entries)
                if len(entries) < FEED_PAGE:
                    return count
                await asyncio.sleep(0)

    def _add(self, frames: Frames) -> None:
        self._places[frames.cursor] = self.end()
        self._ring.append(frames)
        self._bytes += len(frames.body)
        self._end = frames.cursor
        if len(self._ring) > 2 * RING_ENTRIES_MAX or self._bytes > 2 * RING_BYTES_MAX:
            # By halves, for the front of a list is dear to cut.
            half = (len(self._ring) + 1) // 2
            for old in self._ring[:half]:
                del self._places[old.cursor]
                self._bytes -= len(old.body)
            del self._ring[:half]
            self._base += half

    def _wake(self) -> None:
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    # For followers.

    def end(self) -> int:
        return self._base + len(self._ring)

    def end_cursor(self) -> str:
        return self._end

    def place_behind(self, cursor: str) -> int | None:
        """The place that follows this cursor, if the ring still knows it."""
        if cursor == self._end:
            return self.end()
        place = self._places.get(cursor)
        return None if place is None else place + 1

    def since(self, place: int) -> Sequence[Frames] | None:
        """Entries from this place on; None if they are no longer all there."""
        return None if place < self._base else self._ring[place - self._base :]

    async def moved(self, wait_s: float) -> bool:
        try:
            async with asyncio.timeout(wait_s):
                await self._moved.wait()
        except TimeoutError:
            return False
        return True


class Follower:
    """One client's place: in the ring, or in the store while it catches up."""

    def __init__(self, stream: Stream, may_see: LaneTest) -> None:
        self._stream = stream
        self._may_see = may_see
        self._place: int | None = None
        self.cursor = ""
        self._page: list[Frames] = []

    def join(self, place: int, cursor: str) -> None:
        self._place, self.cursor = place, cursor

    async def resume(self, cursor: str) -> None:
        """Go on behind a cursor. One that the store cannot read is refused here."""
        self.cursor = cursor
        self._place = self._stream.place_behind(cursor)
        if self._place is None:
            await self._catch_up()

    def leave(self) -> None:
        self._stream.left()

    async def read(self, wait_s: float) -> bytes | None:
        """Frames that this client may see; a heartbeat when none came."""
        stream = self._stream
        while not stream.ended:
            if self._page:
                taken, frames = self._fitting(self._page)
                del self._page[:taken]
                if frames:
                    return frames
                continue
            if self._place is None:
                await self._catch_up()
                continue
            fresh = stream.since(self._place)
            if fresh is None:
                return None
            if fresh:
                taken, frames = self._fitting(fresh)
                self._place += taken
                if frames:
                    return frames
            elif not await stream.moved(wait_s):
                return sse.heartbeat(self.cursor)
        return None

    def _fitting(self, entries: Sequence[Frames]) -> tuple[int, bytes]:
        """How many entries fit into one write, and what they say to this client."""
        bodies: list[bytes] = []
        size = taken = 0
        for frames in entries:
            if frames.body and self._may_see(frames.lane):
                if bodies and size + len(frames.body) > FRAMES_BYTES_MAX:
                    break
                bodies.append(frames.body)
                size += len(frames.body)
            taken += 1
            self.cursor = frames.cursor
        return taken, b"".join(bodies)

    async def _catch_up(self) -> None:
        """Read one page from the store, or join the ring where it holds our cursor."""
        stream = self._stream
        assert stream.store is not None
        async with stream.catching_up:
            await stream.pump()
            end = stream.end()
            self._place = stream.place_behind(self.cursor)
            if self._place is None:
                entries = await stream.store.feed(self.cursor, FEED_PAGE)
                self._page = [framed(entry) for entry in entries]
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
