"""The asyncio shell: it carries out the reactor's orders and reports the results to it."""

import asyncio
import logging
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, assert_never

from laneway.core.errors import StoreBusy
from laneway.core.ids import LaneId
from laneway.core.intent import Accepted, Arrival
from laneway.core.rows import Command
from laneway.engine.clerk import Clerk
from laneway.engine.door import Door
from laneway.engine.effects import Effects
from laneway.engine.faults import LaneFault, fault_of
from laneway.engine.heart import Heart, HeartPace, Retention
from laneway.engine.limits import STOP_MS_MAX
from laneway.engine.listeners import Listener, Listeners
from laneway.engine.orders import (
    CommitDone,
    Open,
    Perform,
    Question,
    ReadBacklog,
    ReadMailbox,
    Release,
    Revived,
    Stopped,
)
from laneway.engine.passing import is_passing
from laneway.engine.patrol import Patrol
from laneway.engine.performers import FollowingPerformer, Performer
from laneway.engine.reactor import Reactor
from laneway.engine.waiters import EngineStopped, Waiters
from laneway.ports import Clock, Commit, Store

__all__ = ["DrainMode", "Engine", "EngineStopped", "Listener", "Performer"]

log = logging.getLogger("laneway.engine")

DrainMode = Literal["queue", "running", "now"]


class Engine:
    """One process's lanes, running."""

    def __init__(
        self,
        store: Store,
        reactor: Reactor,
        performers: Mapping[str, Performer],
        clock: Clock,
        listeners: Sequence[Listener] = (),
        *,
        retention: Retention | None = None,
        pace: HeartPace | None = None,
    ) -> None:
        self.store = store
        self.reactor = reactor
        self._performers = performers
        self._following: list[asyncio.Task[None]] = []
        self.failure: Exception | None = None
        self.faults_here: dict[LaneId, LaneFault] = {}
        self.faults_elsewhere: dict[LaneId, LaneFault] = {}
        """Faults of other processes on the same store, as far as somebody reports them here."""
        self.faults = ChainMap(self.faults_here, self.faults_elsewhere)
        """Lanes that a bug stopped, and how, until they are revived."""
        self.stopping: Callable[[LaneFault], None] = lambda _: None
        """Called when a bug stopped a lane."""
        self._clock = clock
        self._listeners = Listeners(listeners)
        self._door = Door(store, self._entered, self._written)
        self.submit, self.submit_many = self._door.submit, self._door.submit_many
        self._waiters = Waiters(store)
        self.result = self._waiters.result
        self._patrol = Patrol(store, reactor, clock, self._waiters)
        self._patrol.moved = self._schedule
        self._patrol.failed = self._fail
        self._heart = Heart(store, clock, reactor.owner, retention, pace)
        self._heart.beaten = self._patrol.beaten
        self._effects = Effects(reactor, performers, self._heart.may_act)
        self._effects.moved = self._schedule
        self._clerk = Clerk(store, reactor, clock, self._listeners, self._fail)
        self._clerk.moved = self._schedule
        self._clerk.written = self._pump
        self._effects.failed = self._fail
        self._pumping = False
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = 0
        self._moved = asyncio.Event()
        self._stopped = False

    # For callers.

    async def start(self) -> None:
        """Write the first heartbeat, and take up every lane that has work."""
        await self._heart.start(self._fail)
        await self._patrol.look()
        self._patrol.start()
        self._following = [
            asyncio.create_task(performer.follow(self._heard))
            for performer in self._performers.values()
            if isinstance(performer, FollowingPerformer)
        ]
        for task in self._following:
            task.add_done_callback(follow_ended)

    async def tell(self, command: Command) -> Command:
        """Leave a command in its lane's mailbox, and call the lane."""
        if self.failure is not None:
            raise self.failure
        queued = await self.store.tell(command)
        self.reactor.called(command.lane)
        self._schedule()
        return queued

    def wake(self, lane: LaneId) -> None:
        """A lane can be served from now on: take up what was queued for it and its commands."""
        self.reactor.called(lane)
        self.reactor.woken(lane)
        self._schedule()

    def is_beating(self) -> bool:
        """Whether the last heartbeat was written in time: the store can be written, and is ours."""
        return self.failure is None and self._heart.may_act()

    def is_home(self, lane: LaneId) -> bool:
        """Whether this process is the one, of those that live, that the lane belongs to."""
        return self.reactor.fleet.is_ours(lane)

    async def drain(self, mode: DrainMode, timeout_s: float | None = None) -> bool:
        """Accept nothing more and bring work to an end; True if all of it ended in time."""
        self._door.close()
        if mode == "now":
            return True
        if mode == "running":
            self.reactor.hold()
        if not await self._until(self._is_quiet, timeout_s):
            return False
        return self.failure is None and self.reactor.is_idle()

    async def stop(self) -> None:
        """Finish commits, start no send, release the leases."""
        if self._stopped:
            return
        self._stopped = True
        self._door.close()
        self.reactor.hold()
        self._effects.close()
        if not await self._until(self._is_still, STOP_MS_MAX / 1000):
            log.warning("the engine stops although calls or commits are still under way")
        self.reactor.close()
        self._rest()
        leases = self.reactor.leave()
        if self.failure is None:
            released = [self.store.release(lease) for lease in leases]
            # A lease that cannot be given back dies with us.
            left = self.store.leave(self.reactor.owner)
            await asyncio.gather(*released, left, return_exceptions=True)
        for lease in leases:
            self._listeners.closed(lease.lane)
        self._waiters.end(EngineStopped())

    async def _until(self, condition: Callable[[], bool], timeout_s: float | None) -> bool:
        """Wait for it, woken only when something moved; False when the time ran out first."""
        try:
            async with asyncio.timeout(timeout_s):
                self._schedule()
                while self.failure is None and not condition():
                    self._moved.clear()
                    await self._moved.wait()
        except TimeoutError:
            return False
        return True

    def _is_still(self) -> bool:
        """Whether nothing is under way that would still come to an end by itself."""
        if self._pumping or self.reactor.has_work() or not self._clerk.is_quiet():
            return False
        return self._door.is_quiet() and self._effects.is_quiet()

    def _is_quiet(self) -> bool:
        return self._is_still() and self.reactor.is_quiet()

    # The pump.

    def _schedule(self) -> None:
        if not self._pumping and self.failure is None:
            self._pumping = True
            asyncio.get_running_loop().call_soon(self._pump)

    def _pump(self) -> None:
        """Give the reactor its turn and begin everything it orders."""
        self._pumping = False
        if self.failure is not None:
            return
        now_ms = self._clock.now_ms()
        self._take_turns(now_ms)
        if self._effects.begin():
            # What was answered at once is written with the rest, not a turn of the loop later.
            self._take_turns(now_ms)
        if self.reactor.has_work() or self._effects.has_waiting():
            self._schedule()
        self._arm()
        self._moved.set()

    def _take_turns(self, now_ms: int) -> None:
        commits: list[Commit] = []
        while orders := self.reactor.orders(now_ms):
            for order in orders:
                if isinstance(order, Perform):
                    self._effects.add(order)
                elif isinstance(order, Commit):
                    commits.append(order)
                elif isinstance(order, CommitDone):
                    self._listeners.notified(order.lane, order.records, order.results)
                    self._waiters.tell(order.results)
                else:
                    self._begin(order)
        if commits:
            self._clerk.commit(commits)

    def _begin(self, order: Question | Stopped | Revived) -> None:
        match order:
            case Open() | ReadBacklog() | ReadMailbox() | Release():
                self._clerk.ask(order)
            case Stopped(lane=lane, error=error, doing=doing, intents=intents, version=version):
                now_ms, by = self._clock.now_ms(), self.reactor.owner
                fault = fault_of(lane, error, doing, intents, now_ms, version=version, owner=by)
                self.faults_here[lane] = fault
                log.critical("lane stopped by a bug", exc_info=error, extra={"lane": lane})
                self.stopping(fault)
            case Revived(lane=lane):
                self.faults_here.pop(lane, None)
                log.warning("lane revived", extra={"lane": lane})
            case _:
                assert_never(order)

    def _arm(self) -> None:
        """Wake up at the reactor's next deadline, by one timer for all lanes."""
        next_ms = self.reactor.next_ms()
        if self._timer is not None:
            if next_ms == self._timer_ms:
                return
            self._disarm()
        if next_ms is not None:
            wait_s = max(0, next_ms - self._clock.now_ms()) / 1000
            self._timer = asyncio.get_running_loop().call_later(wait_s, self._ring)
            self._timer_ms = next_ms

    def _ring(self) -> None:
        self._timer = None
        self._schedule()

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fail(self, error: BaseException) -> None:
        """The store cannot be trusted or reached: stop at once and say so to everyone."""
        if self.failure is not None:
            return
        assert isinstance(error, Exception)
        self.failure = error
        self._door.close(error)
        self.reactor.close()
        self._effects.stop()
        self._rest()
        self._listeners.failed(error)
        self._waiters.end(error)
        self._moved.set()

    def _rest(self) -> None:
        """End all that moves by itself."""
        self._heart.stop()
        self._patrol.stop()
        self._disarm()
        for task in self._following:
            task.cancel()

    # What the door and the world let in.

    def _heard(self, lane: LaneId, event: Any) -> None:
        self.reactor.answered(lane, event)
        self._schedule()

    def _entered(self, arrival: Arrival, answer: Accepted) -> None:
        if not self.reactor.handed(arrival, answer.seq):
            self.reactor.woken(arrival.lane, arrival.priority)
        self._listeners.accepted(arrival, answer)

    def _written(self, arrivals: Sequence[Arrival], error: BaseException | None) -> None:
        if error is not None and is_passing(error) and not isinstance(error, StoreBusy):
            # Perhaps they are durable, and their callers are answered that nobody knows.
            for arrival in arrivals:
                self.reactor.woken(arrival.lane, arrival.priority)
        self._schedule()


def follow_ended(task: asyncio.Task[None]) -> None:
    """News of the world are a hint: lanes look by themselves, so nothing else ends with them."""
    error = None if task.cancelled() else task.exception()
    if error is not None:
        log.error(
            "Lanes are notified of no new blocks until a restart, and look by themselves: %r", error
        )
