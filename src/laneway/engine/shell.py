"""The asyncio shell: it carries out the reactor's orders and tells it what came of them."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, Protocol, TypeVar, assert_never

from laneway.core.errors import Bug, LeaseLost, StoreBusy, StoreUnknown
from laneway.core.ids import IntentId, LaneId, lane_kind
from laneway.core.intent import Accepted, Answer, Arrival
from laneway.core.records import PassOn
from laneway.core.rows import Command, Lease, Result, Rows
from laneway.engine.door import Door
from laneway.engine.heart import Heart, Retention
from laneway.engine.limits import EFFECTS_INFLIGHT_MAX, READY_PAGE
from laneway.engine.orders import (
    Open,
    Order,
    Perform,
    ReadBacklog,
    ReadMailbox,
    Release,
    Stopped,
    Told,
)
from laneway.engine.outbox import Messenger
from laneway.engine.reactor import Reactor
from laneway.ports import Clock, Commit, Store

T = TypeVar("T")

log = logging.getLogger("laneway.engine")

DrainMode = Literal["queue", "running", "now"]


class Performer(Protocol):
    """Carries out the effects of one lane kind; it answers always and raises never."""

    def perform(self, lane: LaneId, effect: Any) -> Awaitable[Any]: ...


class Listener(Protocol):
    """Hears what became true, after it is durable."""

    def accepted(self, arrival: Arrival, answer: Accepted) -> None: ...
    def told(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None: ...
    def opened(self, lane: LaneId) -> None: ...
    def closed(self, lane: LaneId) -> None: ...
    def failed(self, error: Exception) -> None: ...


class Engine:
    """One process's lanes, running."""

    def __init__(
        self,
        store: Store,
        reactor: Reactor,
        performers: Mapping[str, Performer],
        clock: Clock,
        listeners: Sequence[Listener] = (),
        retention: Retention | None = None,
    ) -> None:
        self.store = store
        self.reactor = reactor
        self.failure: Exception | None = None
        self.faults: dict[LaneId, Exception] = {}
        """Lanes that a bug stopped, and how."""
        self._performers = performers
        self._clock = clock
        self._listeners = listeners
        self._door = Door(store, self._entered)
        self._messenger = Messenger(store, clock, self._entered)
        self._waiters: dict[IntentId, list[asyncio.Future[Result]]] = {}
        self._pumping = False
        self._timer: asyncio.TimerHandle | None = None
        self._asked = 0
        """Questions to the store that are not answered yet."""
        self._effects: deque[Perform] = deque()
        self._effects_out: dict[Perform, asyncio.Task[None]] = {}
        self._commits_out = 0
        self._heart = Heart(store, clock, reactor.owner, retention)
        self._moved = asyncio.Event()

    # For callers.

    async def start(self) -> None:
        """Say that we live, and take up every lane that has work."""
        await self._heart.start(self._fail)
        after: LaneId | None = None
        while True:
            lanes = await self.store.ready(self._clock.now_ms(), after, READY_PAGE)
            for lane in lanes:
                self.reactor.woken(lane)
            self._pump()
            if len(lanes) < READY_PAGE:
                return
            after = lanes[-1]

    def submit(self, arrival: Arrival) -> "asyncio.Future[Answer]":
        return self._door.submit(arrival)

    def submit_many(self, arrivals: Sequence[Arrival]) -> "asyncio.Future[Sequence[Answer]]":
        return self._door.submit_many(arrivals)

    async def tell(self, command: Command) -> Command:
        told = await self.store.tell(command)
        self.reactor.called(command.lane)
        self._schedule()
        return told

    async def result(self, intent: IntentId) -> Result:
        """Wait for the final answer, wherever it comes from."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiters.setdefault(intent, []).append(future)
        try:
            view = await self.store.intent(intent)
            if view is not None and view.result is not None:
                return view.result
            return await future
        finally:
            waiters = self._waiters.get(intent)
            if waiters is not None and future in waiters:
                waiters.remove(future)
                if not waiters:
                    del self._waiters[intent]

    async def drain(self, mode: DrainMode, timeout_s: float | None = None) -> bool:
        """Accept nothing more and bring work to an end; True if all of it ended in time."""
        self._door.close()
        if mode == "now":
            return True
        if mode == "running":
            self.reactor.hold()
        try:
            async with asyncio.timeout(timeout_s):
                while self.failure is None and not self._is_quiet():
                    self._moved.clear()
                    self._schedule()
                    await self._moved.wait()
        except TimeoutError:
            return False
        return self.failure is None

    async def stop(self) -> None:
        """Finish commits, start no send, release the leases."""
        self._door.close()
        self.reactor.close()
        for effect in list(self._effects_out.values()):
            effect.cancel()
        while self.failure is None and (self._commits_out or not self._door.is_quiet()):
            self._moved.clear()
            await self._moved.wait()
        self._heart.stop()
        if self._timer is not None:
            self._timer.cancel()
        leases = self.reactor.leave()
        if self.failure is None:
            await asyncio.gather(*(self.store.release(lease) for lease in leases))
            await self.store.leave(self.reactor.owner)
        for lease in leases:
            for listener in self._listeners:
                listener.closed(lease.lane)
        for futures in self._waiters.values():
            for future in futures:
                future.cancel()

    # The pump.

    def _schedule(self) -> None:
        if not self._pumping:
            self._pumping = True
            asyncio.get_running_loop().call_soon(self._pump)

    def _pump(self) -> None:
        """Give the reactor its turn and begin everything it orders."""
        self._pumping = False
        if self.failure is not None:
            return
        now_ms = self._clock.now_ms()
        commits: list[Commit] = []
        while orders := self.reactor.orders(now_ms):
            for order in orders:
                if isinstance(order, Commit):
                    commits.append(order)
                else:
                    self._begin(order)
        if self._effects:
            self._perform_next()
        if commits:
            self._commits_out += len(commits)
            self.store.commit(commits).add_done_callback(partial(self._committed, commits))
        self._arm()
        self._moved.set()

    def _begin(self, order: Order) -> None:
        match order:
            case Perform():
                self._effects.append(order)
            case Told():
                self._tell(order)
            case ReadBacklog(lease=lease, after=after, limit=limit):
                page = self.store.backlog(lease, after, limit)
                self._when(page, partial(self.reactor.backlog_read, lease.lane))
            case Open(lane=lane):
                claiming = self.store.claim(lane, self.reactor.owner)
                self._when(claiming, partial(self._claimed, lane))
            case ReadMailbox(lease=lease):
                commands = self.store.mailbox(lease)
                self._when(commands, partial(self.reactor.mailbox_read, lease.lane))
            case Release(lease=lease):
                released = self.store.release(lease)
                self._when(released, partial(self._released, lease.lane))
            case Commit():
                raise Bug("commits are gathered by the pump")
            case Stopped(lane=lane, error=error):
                self.faults[lane] = error
                log.critical("lane stopped by a bug", exc_info=error, extra={"lane": lane})
            case _:
                assert_never(order)

    def _arm(self) -> None:
        """Wake up at the reactor's next deadline, by one timer for all lanes."""
        next_ms = self.reactor.next_ms()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if next_ms is not None:
            wait_s = max(0, next_ms - self._clock.now_ms()) / 1000
            self._timer = asyncio.get_running_loop().call_later(wait_s, self._schedule)

    def _when(self, answer: "asyncio.Future[T]", tell: Callable[[T], None]) -> None:
        """Hand the answer on, at once if it is there already."""
        if answer.done():
            self._answered(tell, answer)
        else:
            self._asked += 1
            answer.add_done_callback(partial(self._answered_later, tell))

    def _answered_later(self, tell: Callable[[T], None], answer: "asyncio.Future[T]") -> None:
        self._asked -= 1
        self._answered(tell, answer)
        self._schedule()

    def _answered(self, tell: Callable[[T], None], answer: "asyncio.Future[T]") -> None:
        error = answer.exception()
        if error is None:
            tell(answer.result())
        else:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        """The store cannot be trusted or reached: stop at once and say so to everyone."""
        if self.failure is not None:
            return
        assert isinstance(error, Exception)
        self.failure = error
        self._moved.set()
        self.reactor.close()
        for listener in self._listeners:
            listener.failed(error)
        for futures in list(self._waiters.values()):
            for future in futures:
                if not future.done():
                    future.set_exception(error)

    # Orders, carried out.

    def _claimed(self, lane: LaneId, lease: Lease | None) -> None:
        if lease is None:
            self.reactor.not_opened(lane, self._clock.now_ms())
        else:
            self._when(self.store.load(lease), partial(self._loaded, lease))

    def _loaded(self, lease: Lease, rows: Rows) -> None:
        self.reactor.opened(lease, rows)
        for listener in self._listeners:
            listener.opened(lease.lane)

    def _released(self, lane: LaneId, _: None) -> None:
        for listener in self._listeners:
            listener.closed(lane)

    def _committed(
        self, commits: list[Commit], written: "asyncio.Future[Sequence[int | LeaseLost]]"
    ) -> None:
        self._commits_out -= len(commits)
        error = written.exception()
        if error is None:
            for commit, answer in zip(commits, written.result(), strict=True):
                if isinstance(answer, LeaseLost):
                    self.reactor.commit_refused(commit.lease.lane)
                else:
                    self.reactor.committed(commit.lease.lane, answer)
        elif isinstance(error, StoreBusy):
            log.warning("commits of %d lanes wait: %s", len(commits), error)
            for commit in commits:
                self.reactor.commit_busy(commit.lease.lane, self._clock.now_ms())
        elif type(error) is StoreUnknown:
            log.warning("%d lanes are loaded again: %s", len(commits), error)
            for commit in commits:
                self.reactor.commit_unknown(commit.lease.lane)
        else:
            self._fail(error)
        self._schedule()

    def _perform_next(self) -> None:
        loop = asyncio.get_running_loop()
        while self._effects and len(self._effects_out) < EFFECTS_INFLIGHT_MAX:
            order = self._effects.popleft()
            self._effects_out[order] = loop.create_task(self._perform(order))

    async def _perform(self, order: Perform) -> None:
        try:
            if not self._heart.may_act():
                # Past our lease by our own clock: someone else may act for this lane.
                self.reactor.lapsed(order.lane, self._clock.now_ms())
                return
            if isinstance(order.effect, PassOn):
                message = await self._messenger.pass_on(order.effect)
                self.reactor.passed_on(order.lane, message, self._clock.now_ms())
                return
            performer = self._performers[lane_kind(order.lane)]
            event = await performer.perform(order.lane, order.effect)
            self.reactor.answered(order.lane, event)
        except Exception as error:  # noqa: BLE001 - a performer never raises; this is a bug.
            self._fail(error)
        finally:
            del self._effects_out[order]
            if self._effects:
                self._perform_next()
            self._schedule()

    def _tell(self, told: Told) -> None:
        for listener in self._listeners:
            listener.told(told.lane, told.records, told.results)
        for result in told.results:
            for future in self._waiters.pop(result.intent, ()):
                if not future.done():
                    future.set_result(result)

    def _entered(self, arrival: Arrival, answer: Accepted) -> None:
        if not self.reactor.handed(arrival, answer.seq):
            self.reactor.woken(arrival.lane, arrival.priority)
        for listener in self._listeners:
            listener.accepted(arrival, answer)
        self._schedule()

    def _is_quiet(self) -> bool:
        reactor = self.reactor
        if not self._door.is_quiet() or self._commits_out or self._effects_out or self._effects:
            return False
        return self._asked == 0 and reactor.is_quiet()
