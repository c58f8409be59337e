"""Whether a rollup's builder has lacked what is final for longer than reading it takes, whether its
chain stands still, and whether this machine's clock is off.

A lane without transactions orders nothing of its builder and does not look at its chain, so nobody
else would notice.
"""

import asyncio
from collections.abc import Awaitable, Callable

from laneway.core.errors import ChainError, LanewayError
from laneway.core.jam import SlotClock
from laneway.kinds.limits import (
    BUILDER_LAG_S_MIN,
    BUILDER_LAG_SLOTS_MAX,
    CHAIN_STILL_S_MIN,
    CHAIN_STILL_SLOTS_MAX,
)
from laneway.lanes.bundle.rows import Tip
from laneway.ports import RollupReads

NO_TIP = Tip(0)
"""The builder alone is asked, and not compared with a lane."""
STILL = "its chain shows no block after slot {slot}; see whether its nodes sync, and what they log"
REMEDY = "; see its nodes, and the lines of `laneway.builder` in the log"


def skewed(skew_ms: int | None, most_ms: int) -> str:
    """That this machine's clock is off by more than a lane submits with; empty if it is not, or the
    chain has no calendar."""
    if skew_ms is None or abs(skew_ms) <= most_ms:
        return ""
    return f"the clock is off by {skew_ms} ms: nothing is submitted; set this machine's clock"


class BuilderWatch:
    """Asks a builder once in each slot, and remembers since when something is missing."""

    def __init__(
        self,
        reads: RollupReads,
        slot_ms: int,
        steady_ms: Callable[[], int | float],
        clock: Callable[[], Awaitable[SlotClock]] | None = None,
    ) -> None:
        """`clock`: that of the chain; None: it is not asked for."""
        self._clock = clock
        self.skew_ms: int | None = None
        """How far this machine's clock is off, when the chain was asked last; None: not known."""
        self._slot = -1
        self._slot_since_ms: int | float = 0
        """The newest slot of the chain, and since when it is that."""
        self._reads = reads
        self._slot_s = slot_ms / 1_000
        self._steady_ms = steady_ms
        self._lag = ""
        self._since_ms: int | float | None = None
        """When the builder was found to lack something; None: it has all that is final."""
        self._task: asyncio.Task[None] | None = None

    def problem(self) -> str:
        """What it lacks, and what to do; empty if it is level, or was until just now."""
        still_s = max(CHAIN_STILL_S_MIN, CHAIN_STILL_SLOTS_MAX * self._slot_s)
        if self._slot >= 0 and self._is_over(self._slot_since_ms, still_s):
            return STILL.format(slot=self._slot)
        lag_s = max(BUILDER_LAG_S_MIN, BUILDER_LAG_SLOTS_MAX * self._slot_s)
        if self._since_ms is None or not self._is_over(self._since_ms, lag_s):
            return ""
        what = f"its builder lacks what is final: {self._lag}"
        return what if "; " in what else what + REMEDY

    def _is_over(self, since_ms: int | float, longest_s: float) -> bool:
        return self._steady_ms() - since_ms >= 1_000 * longest_s

    async def look(self) -> None:
        try:
            self._lag = await self._reads.problem(NO_TIP, held=False)
        except LanewayError as error:
            self._lag = str(error)
        if not self._lag:
            self._since_ms = None
        elif self._since_ms is None:
            self._since_ms = self._steady_ms()
        if self._clock is not None:
            try:
                clock = await self._clock()
            except ChainError:  # Its nodes are in trouble, which says so itself.
                self.skew_ms, self._slot = None, -1
                return
            self.skew_ms = clock.skew_ms
            if clock.slot != self._slot:
                self._slot, self._slot_since_ms = clock.slot, self._steady_ms()

    def start(self) -> None:
        self._task = asyncio.create_task(self._watch())

    async def stop(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _watch(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(self._slot_s)
