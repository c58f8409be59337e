"""The builder hears of its blocks, and after it whoever listens, in the lane's order."""

import asyncio
from collections.abc import Sequence

from laneway.core.errors import BuildFailed, ChainError
from laneway.core.ids import LaneId
from laneway.core.reason import clip
from laneway.engine.bundle.rollup import Heard
from laneway.engine.limits import CALLBACK_TIMEOUT_MS
from laneway.lanes.bundle.rows import Tell
from laneway.ports import RollupBuilder

LATE = "a callback did not return in time"


async def tell(builder: RollupBuilder, tells: Sequence[Tell]) -> str:
    """Why the builder did not hear of all of them; empty: it did."""
    try:
        async with asyncio.timeout(CALLBACK_TIMEOUT_MS / 1000):
            await builder.told(tells)
    except (ChainError, BuildFailed, TimeoutError) as error:
        return clip(str(error) or "the builder did not hear of its blocks in time")
    return ""


async def call(heard: Heard, lane: LaneId, tells: Sequence[Tell]) -> str:
    """The user's callbacks, one behind the other; none is called behind one that failed."""
    for one in tells:
        try:
            async with asyncio.timeout(CALLBACK_TIMEOUT_MS / 1000):
                answer = heard(lane, one)
                if answer is not None:
                    await answer
        except Exception as error:  # noqa: BLE001 - a user's own code may raise anything.
            problem = str(error) or (LATE if isinstance(error, TimeoutError) else repr(error))
            return clip(f"callback {one.id} ({one.word}) failed: {problem}")
    return ""
