"""One rollup: its chain, its builder, and how both it and the user are notified of its blocks."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from laneway.core.errors import BuildFailed, ChainError
from laneway.core.ids import LaneId, lane_id
from laneway.core.reason import clip
from laneway.engine.limits import CALLBACK_TIMEOUT_MS, SKEW_MS_MAX
from laneway.lanes.bundle.rows import Tell
from laneway.ports import JamChain, RollupBuilder

KIND = "rollup"
LATE = "a callback did not return in time"

BlockCallback: TypeAlias = Callable[[LaneId, Tell], Awaitable[None] | None]
"""A user's callback. It may be called twice for one notification, whose `key()` stays the same; it
does so after the store was put back from a copy, too."""


def rollup_lane(service: int) -> LaneId:
    return lane_id(KIND, str(service))


class Rollup:
    def __init__(
        self, chain: JamChain, builder: RollupBuilder, skew_ms_max: int = SKEW_MS_MAX
    ) -> None:
        self.chain = chain
        self.builder = builder
        self.skew_ms_max = skew_ms_max
        """With this machine's clock further from the chain's nothing is submitted."""


async def notify_builder(builder: RollupBuilder, tells: Sequence[Tell]) -> str:
    """Why the builder did not receive all of these notifications; empty if it did."""
    try:
        async with asyncio.timeout(CALLBACK_TIMEOUT_MS / 1000):
            await builder.notified(tells)
    except (ChainError, BuildFailed, TimeoutError) as error:
        return clip(str(error) or "the builder did not take the news of its blocks in time")
    return ""


async def notify_user(callback: BlockCallback, lane: LaneId, tells: Sequence[Tell]) -> str:
    """Why a callback failed; empty if none did. Callbacks run one after the other, and none runs
    after one that failed."""
    for one in tells:
        try:
            async with asyncio.timeout(CALLBACK_TIMEOUT_MS / 1000):
                answer = callback(lane, one)
                if answer is not None:
                    await answer
        except Exception as error:  # noqa: BLE001 - a user's own code may raise anything.
            problem = str(error) or (LATE if isinstance(error, TimeoutError) else repr(error))
            return clip(f"callback {one.id} ({one.word}) failed: {problem}")
    return ""
