"""Laws of the shared reader that a real socket cannot show."""

import asyncio
from typing import Any

import msgspec
import pytest
from tests.feeds.ear import Ear

from laneway.core.errors import StoreBusy
from laneway.core.ids import LaneId
from laneway.core.rows import FeedEntry
from laneway.feeds import ring as ring_module
from laneway.feeds import stream as stream_module
from laneway.feeds.limits import FEED_PAGE_FIRST
from laneway.feeds.ring import framed
from laneway.feeds.stream import Stream, end_of
from laneway.kinds.events import events_of
from laneway.lanes.common.values import ModeChanged

RECORDS = msgspec.msgpack.encode((ModeChanged("paused", "r", "ann", 5),))


class Feed:
    """A feed without an end to ask for, as a store may have it."""

    def __init__(self, count: int) -> None:
        self.count = count

    async def feed(self, after: str, limit: int) -> list[FeedEntry]:
        begin = int(after or 0)
        return [
            FeedEntry(str(number), LaneId(f"contract:Q{number % 2}"), number, 0, RECORDS)
            for number in range(begin + 1, min(self.count, begin + limit) + 1)
        ]


def ids(frames: bytes | None) -> list[int]:
    assert frames is not None
    lines = frames.decode().splitlines()
    return [int(line[4:]) for line in lines if line.startswith("id: ")]


def streaming(feed: Any) -> Stream:
    stream = Stream(events_of)
    stream.store = feed
    return stream


def test_the_end_of_a_feed_that_cannot_be_asked_for_is_read() -> None:
    async def main() -> None:
        assert await end_of(Feed(1_300)) == "1300"  # type: ignore[arg-type]
        assert await end_of(Feed(0)) == ""  # type: ignore[arg-type]

    asyncio.run(main())


def test_who_comes_from_far_back_reads_pages_and_then_joins_the_others() -> None:
    async def main() -> None:
        feed = Feed(1_300)
        stream = streaming(feed)
        live = Ear(await stream.follow(None, None, None))
        late = Ear(await stream.follow("", None, None))
        seen: list[int] = []
        while len(seen) < 1_300:
            seen += ids(await late.read(1))
        feed.count = 1_305
        stream.notified(LaneId("contract:Q"), (), ())
        seen += ids(await late.read(2))
        assert seen == list(range(1, 1_306))
        assert ids(await live.read(2)) == list(range(1_301, 1_306))
        for follower in (live, late):
            follower.leave()
        assert stream._task is None

    asyncio.run(main())


def test_a_filter_passes_over_pages_that_it_may_not_see(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_module, "POLL_S", 0.01)

    async def main() -> None:
        stream = streaming(Feed(1_300))
        for lane, may_see in (("contract:Q1", None), (None, lambda lane: lane == "contract:Q1")):
            follower = Ear(await stream.follow("", lane, may_see), 0.01)
            seen: list[int] = []
            while len(seen) < 650:
                seen += ids(await follower.read(1))
            assert seen == list(range(1, 1_301, 2))
            assert ids(await follower.read(5)) == [1_300]  # A heartbeat, with the cursor.
            follower.leave()

    asyncio.run(main())


def test_one_write_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ring_module, "BATCH_BYTES_MAX", 1_000)

    async def main() -> None:
        stream = streaming(Feed(50))
        follower = Ear(await stream.follow("", None, None))
        seen: list[int] = []
        while len(seen) < 50:
            frames = await follower.read(1)
            assert frames is not None
            assert len(frames) <= 1_000
            seen += ids(frames)
        assert seen == list(range(1, 51))
        follower.leave()

    asyncio.run(main())


def test_what_others_committed_is_found_by_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_module, "POLL_S", 0.01)

    async def main() -> None:
        feed = Feed(0)
        stream = streaming(feed)
        follower = Ear(await stream.follow(None, None, None))
        feed.count = 1
        assert ids(await follower.read(2)) == [1]
        follower.leave()

    asyncio.run(main())


def test_a_stream_that_ended_lets_everyone_go() -> None:
    async def main() -> None:
        stream = streaming(Feed(3))
        follower = Ear(await stream.follow(None, None, None))
        await asyncio.sleep(0)
        stream.close()
        assert await follower.read(5) is None
        late = Ear(await stream.follow(None, None, None))
        assert await late.read(5) is None
        assert stream._live == {}

    asyncio.run(main())


def test_a_slow_client_is_waited_for_and_then_hears_the_rest_in_order() -> None:
    async def main() -> None:
        feed = Feed(0)
        stream = streaming(feed)
        slow, quick = [Ear(await stream.follow(None, None, None)) for _ in range(2)]
        await asyncio.sleep(0)
        slow.slow = True
        for count in (3, 5, 9):
            feed.count = count
            stream.notified(LaneId("contract:Q"), (), ())
            assert ids(await quick.read(2))[-1] == count
        assert ids(await slow.read(2)) == [1, 2, 3]
        assert len(stream._live[None]) == 1  # The slow one is not handed anything.
        slow.quicken()
        assert ids(await slow.read(2)) + ids(await slow.read(2)) == list(range(4, 10))
        feed.count = 10
        stream.notified(LaneId("contract:Q"), (), ())
        assert ids(await slow.read(2)) == [10]
        for ear in (slow, quick):
            ear.leave()

    asyncio.run(main())


def test_who_joins_between_two_pages_hears_nothing_twice() -> None:
    class Slow(Feed):
        async def feed(self, after: str, limit: int) -> list[FeedEntry]:
            if after == str(FEED_PAGE_FIRST):
                await asyncio.sleep(0.05)
            return await super().feed(after, limit)

    async def main() -> None:
        feed = Slow(0)
        stream = streaming(feed)
        early = Ear(await stream.follow(None, None, None))
        await asyncio.sleep(0)
        feed.count = FEED_PAGE_FIRST + 9
        stream.notified(LaneId("contract:Q"), (), ())
        while stream.ring.cursor != str(FEED_PAGE_FIRST):
            await asyncio.sleep(0.001)
        late = Ear(await stream.follow("30", None, None))
        for ear, first in ((early, 1), (late, 31)):
            heard: list[int] = []
            while len(heard) < feed.count - first + 1:
                heard += ids(await ear.read(5))
            assert heard == list(range(first, feed.count + 1))
            ear.leave()

    asyncio.run(main())


def test_a_heartbeat_between_two_pages_steps_over_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stream_module, "POLL_S", 0.001)

    class Slow(Feed):
        async def feed(self, after: str, limit: int) -> list[FeedEntry]:
            if after == str(FEED_PAGE_FIRST):
                await asyncio.sleep(0.05)
            return await super().feed(after, limit)

    async def main() -> None:
        feed = Slow(0)
        stream = streaming(feed)
        quick = Ear(await stream.follow(None, None, None), 0.001)
        await asyncio.sleep(0)
        feed.count = FEED_PAGE_FIRST + 9
        # Somebody who comes from far back reads the first page for all; the heart beats meanwhile.
        reading = asyncio.create_task(stream.pump())
        while stream.ring.cursor != str(FEED_PAGE_FIRST):
            await asyncio.sleep(0.001)
        stream._beat()
        heard: list[int] = []
        while not heard or heard[-1] < feed.count:
            heard += ids(await quick.read(5))
        cursors = list(dict.fromkeys(heard))
        assert cursors == list(range(1, feed.count + 1)), "a cursor stands behind what was told"
        await reading
        quick.leave()

    asyncio.run(main())


def test_only_the_last_event_of_a_commit_carries_its_cursor() -> None:
    two = (ModeChanged("paused", "r", "ann", 5), ModeChanged("running", "r", "ann", 5))
    entry = FeedEntry("7", LaneId("contract:Q"), 1, 0, msgspec.msgpack.encode(two))
    frames = framed(entry, events_of)
    first, second = frames.body.split(b"\n\n")[:2]
    assert b"id:" not in first
    assert b"id: 7" in second


def test_a_feed_that_cannot_be_read_for_a_while_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stream_module, "POLL_S", 0.01)

    class Broken(Feed):
        failures = 3

        async def feed(self, after: str, limit: int) -> list[FeedEntry]:
            if self.count and self.failures:
                self.failures -= 1
                raise StoreBusy("gone for a moment")
            return await super().feed(after, limit)

    async def main() -> None:
        feed = Broken(0)
        stream = streaming(feed)
        follower = Ear(await stream.follow(None, None, None))
        feed.count = 3
        assert ids(await follower.read(5)) == [1, 2, 3]
        follower.leave()

    asyncio.run(main())
