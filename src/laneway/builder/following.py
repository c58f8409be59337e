"""Keeps a builder up to date with the chain while it has no orders.

A builder that makes blocks is notified of what becomes of them. One without orders,
because another process holds the lane or nothing was sent for long, would answer with what was
final when it was last needed.
"""

import asyncio
import logging
from asyncio import sleep
from collections.abc import Awaitable, Callable

from laneway.builder.limits import FOLLOW_MS_MIN, PAUSE_SLOTS_MAX
from laneway.builder.orders import expected
from laneway.core.errors import LanewayError

log = logging.getLogger("laneway.builder")


class Follower:
    def __init__(
        self,
        catch_up: Callable[[], Awaitable[None]],
        slot_ms: int,
        trouble: str = "The builder cannot follow the chain, and tries again",
    ) -> None:
        """`trouble`: the line of the log when that fails."""
        self._catch_up = catch_up
        self._trouble = trouble
        self._slot_s = max(slot_ms, FOLLOW_MS_MIN) / 1_000
        self._ordered_s: float | None = None
        self._again_s: float | None = None
        """Until then nothing is tried, for it just failed; None if it did not."""
        self._turn = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._follow())

    async def stop(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def ordered(self) -> None:
        """The builder is needed: what it builds on, it reads itself."""
        self._ordered_s = now_s()

    async def attempt(self) -> bool:
        """Whether all that is final is here. One at a time, and none right after one that failed;
        trouble is logged once, until it is over."""
        async with self._turn:
            if self._again_s is not None and now_s() < self._again_s:
                return False
            try:
                with expected():
                    await self._catch_up()
            except LanewayError as error:
                if self._again_s is None:
                    log.warning("%s: %s", self._trouble, error)
                self._again_s = now_s() + self._slot_s
                return False
            if self._again_s is not None:
                log.info("The builder follows the chain again")
                self._again_s = None
            return True

    async def _follow(self) -> None:
        pause_s = self._slot_s
        while True:
            await sleep(pause_s)
            if self._is_idle():
                is_level = await self.attempt()
                longest_s = PAUSE_SLOTS_MAX * self._slot_s
                pause_s = self._slot_s if is_level else min(2 * pause_s, longest_s)

    def _is_idle(self) -> bool:
        """Whether there was no order for a slot."""
        return self._ordered_s is None or now_s() - self._ordered_s >= self._slot_s


def now_s() -> float:
    return asyncio.get_running_loop().time()
