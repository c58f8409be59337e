"""One heartbeat a process: it keeps the leases, and prunes what is old now and then."""

import asyncio
import logging
from collections.abc import Callable

from msgspec import Struct

from laneway.core.errors import DeclaredDead, StoreError
from laneway.core.ids import Owner
from laneway.engine.limits import (
    HEARTBEAT_MS,
    LEASE_STOP_MS,
    LEASE_TTL_MS,
    PRUNE_BATCH,
    PRUNE_EVERY_MS,
    PRUNE_ROUNDS_MAX,
)
from laneway.engine.passing import is_passing
from laneway.ports import Clock, Lost, Store

log = logging.getLogger("laneway.engine")

Fail = Callable[[BaseException], None]


class Retention(Struct, frozen=True):
    """How long finished intents and the feed are kept."""

    intents_ms: int
    feed_ms: int


class HeartPace(Struct, frozen=True):
    """How fast hearts beat, and when one that stopped counts as dead."""

    heartbeat_ms: int = HEARTBEAT_MS
    lease_ms: int = LEASE_TTL_MS


class Heart:
    """The owner stops acting by its own clock before anyone else may take its lanes."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        owner: Owner,
        retention: Retention | None,
        pace: HeartPace | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._owner = owner
        self._retention = retention
        self._pace = pace or HeartPace()
        self._until_ms: int | None = None
        self.beaten: Callable[[tuple[Owner, ...]], None] = lambda _: None
        """Called after each heartbeat with everyone who lives."""
        self._pruned_ms = clock.monotonic_ms()
        self._task: asyncio.Task[None] | None = None

    async def start(self, fail: Fail) -> None:
        """Beat once, so that what follows is ours to do, and then again and again."""
        await self._beat()
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="laneway-heart")
            self._task.add_done_callback(lambda task: ended(task, fail))

    def stop(self) -> None:
        self._until_ms = None
        if self._task is not None:
            self._task.cancel()

    def may_act(self) -> bool:
        return self._until_ms is not None and self._clock.monotonic_ms() <= self._until_ms

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._pace.heartbeat_ms / 1000)
            try:
                await self._beat()
                await self._prune()
            except StoreError as error:
                if not is_passing(error):
                    raise
                log.warning("a heartbeat was missed: %s", error)

    async def _beat(self) -> None:
        # Counted from before the question: the answer's way back must not lengthen the lease.
        begun_ms = self._clock.monotonic_ms()
        answer = await self._store.beat(self._owner, self._pace.lease_ms)
        if isinstance(answer, Lost):
            raise DeclaredDead(self._owner)
        # An owner stops acting before its lease ends by the store's clock: others wait longer.
        self._until_ms = begun_ms + self._pace.lease_ms * LEASE_STOP_MS // LEASE_TTL_MS
        self.beaten(answer.peers)

    async def _prune(self) -> None:
        now_ms = self._clock.monotonic_ms()
        if self._retention is None or now_ms - self._pruned_ms < PRUNE_EVERY_MS:
            return
        wall_ms = self._clock.now_ms()
        for _ in range(PRUNE_ROUNDS_MAX):
            pruned = await self._store.prune(
                wall_ms - self._retention.intents_ms, wall_ms - self._retention.feed_ms, PRUNE_BATCH
            )
            if pruned < PRUNE_BATCH:
                self._pruned_ms = now_ms
                return
        # More is old than one look may remove: the next heartbeat goes on with it.


def ended(task: "asyncio.Task[None]", fail: Fail) -> None:
    """A heart that stopped by itself must not go unnoticed: the engine stops with it."""
    error = None if task.cancelled() else task.exception()
    if error is not None:
        fail(error)
