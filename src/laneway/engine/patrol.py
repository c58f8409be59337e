"""Looks around: what has work and is ours to do, and what other processes did.

The store's news are hints. Whatever they miss is found at the next heartbeat.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import assert_never

from laneway.core.errors import LanewayError
from laneway.core.ids import LaneId, Owner
from laneway.engine.limits import MAILBOXES_ASKED_MAX, READY_PAGE
from laneway.engine.passing import is_passing
from laneway.engine.reactor import Reactor
from laneway.engine.waiters import Waiters
from laneway.ports import Clock, Ended, Store, Woken


class Patrol:
    """Wakes lanes of ours that nobody here woke."""

    def __init__(self, store: Store, reactor: Reactor, clock: Clock, waiters: Waiters) -> None:
        self._store = store
        self._reactor = reactor
        self._clock = clock
        self._waiters = waiters
        waiters.wanted = self._ask
        self._asking: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._looking = False
        self._asked: set[LaneId] = set()
        """Lanes whose mailboxes were read in this round of heartbeats."""
        self._left = 0
        self._listening: asyncio.Task[None] | None = None
        self.moved: Callable[[], None] = lambda: None
        """Called when a lane may have work."""
        self.failed: Callable[[BaseException], None] = lambda _: None
        """Called when the store failed."""

    def start(self) -> None:
        """Listen to the store's news, if there are other processes that could make any."""
        if self._store.shared:
            self._listening = self._begin(self._listen())

    def stop(self) -> None:
        for task in self._tasks:
            task.cancel()

    def beaten(self, peers: tuple[Owner, ...]) -> None:
        """The heart beat, and these live."""
        changed = self._reactor.joined(peers)
        self.moved()
        # Alone in a shared store too: a door need not have a heart.
        if (changed or len(peers) > 1 or self._store.shared) and not self._looking:
            self._begin(self._look())
        if self._listening is not None and self._listening.done():
            self.start()  # The store was busy for a while.

    async def look(self) -> None:
        """Take up every lane that has work and belongs to us."""
        self._left = MAILBOXES_ASKED_MAX
        after: LaneId | None = None
        while True:
            lanes = await self._store.ready(self._clock.now_ms(), after, READY_PAGE)
            for lane in lanes:
                self._wake(lane)
            self.moved()
            if len(lanes) < READY_PAGE:
                break
            after = lanes[-1]
        if self._left > 0:
            self._asked.clear()  # All were asked: the next look begins with the first again.

    def _wake(self, lane: LaneId) -> None:
        is_ours = self._reactor.holds(lane) or lane in self._reactor.stopped
        if is_ours and lane not in self._asked and self._left > 0:
            # Perhaps it has work because of a command, and the news of that was lost.
            self._left -= 1
            self._asked.add(lane)
            self._reactor.called(lane)
        self._reactor.woken(lane)

    async def _look(self) -> None:
        self._looking = True
        try:
            await self.look()
            self._waiters.doubt(self._reactor.holds)
        finally:
            self._looking = False

    def _ask(self) -> None:
        """One question at a time; what is wanted meanwhile goes into the next."""
        if self._asking is None or self._asking.done():
            self._asking = self._begin(self._waiters.ask())

    async def _listen(self) -> None:
        async for news in self._store.news():
            match news:
                case Woken(lane=lane, is_command=is_command):
                    if is_command:
                        self._reactor.called(lane)
                    else:
                        self._reactor.woken(lane)
                    self.moved()
                case Ended(lane=lane):
                    self._waiters.ended(lane)
                case _:
                    assert_never(news)

    def _begin(self, work: Coroutine[None, None, None]) -> "asyncio.Task[None]":
        task = asyncio.get_running_loop().create_task(work, name="laneway-patrol")
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not (isinstance(error, LanewayError) and is_passing(error)):
            self.failed(error)
