"""A performer of rollups that lets lanes look as soon as a node notifies of a new block.

A notice is a hint and nothing more: all that a lane believes comes from its own look. Where no node
notifies, or its notices do not come, the lane looks as often as it would without them.

What a package's status is follows from the state of a block, so it changes with the best block or
the final one: the two subscriptions of the chain's heads say so for any number of packages
(docs/decisions/0026-heads-and-not-packages.md).
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any

from laneway.core.errors import ChainError
from laneway.core.ids import LaneId
from laneway.engine.bundle.performer import BundlePerformer
from laneway.engine.bundle.rollup import BlockCallback, Rollup
from laneway.engine.limits import WATCH_IDLE_MS
from laneway.engine.performers import Permit
from laneway.lanes.bundle.values import Event, HeadChanged, LookAtChain
from laneway.ports import Clock


class WatchingPerformer(BundlePerformer):
    """Heads are followed for lanes that look at their chain, and for no others: one subscription of
    each kind for each node of a rollup, which end when its lane has nothing open."""

    def __init__(
        self,
        rollups: Mapping[LaneId, Rollup],
        clock: Clock,
        *,
        on_block: BlockCallback | None = None,
    ) -> None:
        super().__init__(rollups, clock, on_block=on_block)
        self._looked_ms: dict[LaneId, int] = {}
        """When each lane that is followed looked last."""
        self._looks_begun = asyncio.Condition()

    async def perform_all(
        self, lane: LaneId, effects: Sequence[Any], permit: Permit
    ) -> list[Event]:
        if isinstance(effects[0], LookAtChain):
            await self._note_look(lane)
        return await super().perform_all(lane, effects, permit)

    async def follow(self, post: Callable[[LaneId, Any], None]) -> None:
        """Until it is cancelled; a rollup may be opened later than its process."""
        followed: dict[LaneId, None] = {}

        def fresh() -> list[LaneId]:
            return [lane for lane in self._looked_ms if lane not in followed]

        async with asyncio.TaskGroup() as tasks:
            while True:
                async with self._looks_begun:
                    await self._looks_begun.wait_for(fresh)
                for lane in fresh():
                    followed[lane] = None
                    tasks.create_task(self._follow(lane, post))

    async def _follow(self, lane: LaneId, post: Callable[[LaneId, Any], None]) -> None:
        while True:
            async with self._looks_begun:
                await self._looks_begun.wait_for(lambda: lane in self._looked_ms)
            with suppress(ChainError):  # The next look begins it again.
                await self._pass_on(lane, post)
            self._looked_ms.pop(lane, None)

    async def _pass_on(self, lane: LaneId, post: Callable[[LaneId, Any], None]) -> None:
        """Post every change of the heads, until the lane has not looked for long."""
        async with aclosing(self._rollups[lane].chain.heads()) as heads:
            async for _ in heads:
                now_ms = self._clock.now_ms()
                if now_ms - self._looked_ms[lane] > WATCH_IDLE_MS:
                    return
                post(lane, HeadChanged(now_ms))

    async def _note_look(self, lane: LaneId) -> None:
        is_new = lane not in self._looked_ms
        self._looked_ms[lane] = self._clock.now_ms()
        if is_new:
            async with self._looks_begun:
                self._looks_begun.notify_all()
