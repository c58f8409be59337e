"""One heartbeat a process: it keeps the leases, and prunes what is old now and then."""

import asyncio
import logging
from collections.abc import Callable

from msgspec import Struct

from laneway.core.errors import LeaseLost, StoreBusy, StoreError
from laneway.core.ids import Owner
from laneway.engine.limits import (
    HEARTBEAT_MS,
    LEASE_STOP_MS,
    LEASE_TTL_MS,
    PRUNE_BATCH,
    PRUNE_EVERY_MS,
)
from laneway.ports import Clock, Lost, Store

log = logging.getLogger("laneway.engine")


class Retention(Struct, frozen=True):
    """How long finished intents and the feed are kept."""

    intents_ms: int
    feed_ms: int


class Heart:
    """The owner stops acting by its own clock before anyone else may take its lanes."""

    def __init__(
        self, store: Store, clock: Clock, owner: Owner, retention: Retention | None
    ) -> None:
        self._store = store
        self._clock = clock
        self._owner = owner
        self._retention = retention
        self._until_ms = 0
        self._pruned_ms = clock.monotonic_ms()
        self._task: asyncio.Task[None] | None = None

    async def start(self, fail: Callable[[BaseException], None]) -> None:
        await self._beat()
        self._task = asyncio.create_task(self._run(fail))

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def may_act(self) -> bool:
        return self._clock.monotonic_ms() <= self._until_ms

    async def _run(self, fail: Callable[[BaseException], None]) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_MS / 1000)
            try:
                await self._beat()
                await self._prune()
            except StoreBusy as error:
                log.warning("a heartbeat was missed: %s", error)
            except StoreError as error:
                fail(error)
                return

    async def _beat(self) -> None:
        # Counted from before the question: the answer's way back must not lengthen the lease.
        begun_ms = self._clock.monotonic_ms()
        if isinstance(await self._store.beat(self._owner, LEASE_TTL_MS), Lost):
            raise LeaseLost("every lane", 0, 0)
        self._until_ms = begun_ms + LEASE_STOP_MS

    async def _prune(self) -> None:
        now_ms = self._clock.monotonic_ms()
        if self._retention is None or now_ms - self._pruned_ms < PRUNE_EVERY_MS:
            return
        self._pruned_ms = now_ms
        wall_ms = self._clock.now_ms()
        await self._store.prune(
            wall_ms - self._retention.intents_ms, wall_ms - self._retention.feed_ms, PRUNE_BATCH
        )
