"""Lanes that look at their chain are notified when a node has another head; others are not."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from typing import Any

from tests.engine.bundle.stage import AWAY, HEAD, SEEN, SERVICE, FakeBuilder, FakeChain
from tests.engine.virtual import VirtualTime

from laneway.core.ids import LaneId
from laneway.core.jam import JamBlockRef, JamBlocksSeen, JamHead, LineAsked, Watched
from laneway.engine.bundle.rollup import Rollup, rollup_lane
from laneway.engine.bundle.watching import WatchingPerformer
from laneway.engine.limits import WATCH_IDLE_MS
from laneway.lanes.bundle.values import HeadChanged, LookAtChain, NotifyUser

LANE, OTHER = rollup_lane(SERVICE), rollup_lane(SERVICE + 1)


class RingingChain(FakeChain):
    """Its heads change when a test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.open_count = 0
        self.opened = 0
        self.heads_trouble: Exception | None = None
        self._rings: asyncio.Queue[None] = asyncio.Queue()

    def ring(self) -> None:
        self._rings.put_nowait(None)

    async def heads(self) -> AsyncGenerator[JamHead, None]:
        self.open_count += 1
        self.opened += 1
        try:
            if self.heads_trouble is not None:
                raise self.heads_trouble
            while True:
                await self._rings.get()
                yield HEAD
        finally:
            self.open_count -= 1

    async def look(
        self,
        known: Sequence[JamBlockRef],
        packages: Sequence[Watched],
        limit: int,
        line: LineAsked | None = None,
    ) -> JamBlocksSeen:
        return SEEN


class Watching:
    """Two lanes, of which one looks."""

    def __init__(self) -> None:
        self.time = VirtualTime()
        self.chain, self.other = RingingChain(), RingingChain()
        chains: list[Any] = [self.chain, self.other]
        rollups = [Rollup(chain, FakeBuilder()) for chain in chains]
        self.performer = WatchingPerformer(
            dict(zip((LANE, OTHER), rollups, strict=True)), self.time
        )
        self.posted: list[tuple[LaneId, Any]] = []

    async def look(self) -> None:
        await self.performer.perform_all(LANE, (LookAtChain((), ()),), lambda: None)
        await asyncio.sleep(0.001)

    async def ring(self) -> None:
        self.chain.ring()
        self.other.ring()
        await asyncio.sleep(0.001)

    def run(self, story: Any) -> None:
        async def whole() -> None:
            following = asyncio.create_task(
                self.performer.follow(lambda lane, event: self.posted.append((lane, event)))
            )
            await asyncio.sleep(0.001)
            try:
                await story()
            finally:
                following.cancel()
                with suppress(asyncio.CancelledError):
                    await following

        self.time.run(whole())
        assert (self.chain.open_count, self.other.open_count) == (0, 0), "none is left open"


def test_a_lane_that_looks_is_notified_of_each_new_head_and_no_other_lane_is() -> None:
    watching = Watching()

    async def story() -> None:
        await watching.ring()
        assert (watching.chain.opened, watching.posted) == (0, []), "nobody looks"
        await watching.look()
        await watching.look()
        await watching.ring()
        await watching.ring()
        assert watching.chain.opened == 1
        assert watching.other.opened == 0

    watching.run(story)
    assert [lane for lane, _ in watching.posted] == [LANE] * 3
    assert all(isinstance(event, HeadChanged) for _, event in watching.posted)


def test_heads_are_followed_no_longer_when_the_lane_looks_no_more() -> None:
    watching = Watching()

    async def story() -> None:
        await watching.look()
        await asyncio.sleep(WATCH_IDLE_MS / 1000 + 1)
        await watching.ring()
        assert (watching.chain.open_count, watching.posted) == (0, [])
        await watching.look()
        await watching.ring()
        assert (watching.chain.opened, len(watching.posted)) == (2, 1)

    watching.run(story)


def test_a_chain_that_cannot_be_followed_is_followed_with_the_next_look() -> None:
    watching = Watching()

    async def story() -> None:
        watching.chain.heads_trouble = AWAY
        await watching.look()
        watching.chain.heads_trouble = None
        await watching.ring()
        assert watching.posted == []
        await watching.look()
        assert len(watching.posted) == 1

    watching.run(story)


def test_other_orders_follow_nothing() -> None:
    watching = Watching()

    async def story() -> None:
        tell: Any = type("Tell", (), {"id": 1, "word": "failed"})()
        await watching.performer.perform_all(LANE, (NotifyUser((tell,)),), lambda: None)
        await watching.ring()
        assert watching.chain.opened == 0

    watching.run(story)
