"""Takes the reactor's questions and writes to the store, and brings back the answers.

A store that is busy or does not answer is asked again, after the reactor's pauses. Any other
failure of it is the engine's.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import TypeAlias, TypeVar, assert_never

from laneway.core.errors import LeaseLost, StoreBusy, StoreUnknown
from laneway.core.ids import LaneId
from laneway.core.rows import Lease, Rows
from laneway.engine.listeners import Listeners
from laneway.engine.orders import Open, Question, ReadBacklog, ReadMailbox, Release
from laneway.engine.passing import is_passing
from laneway.engine.reactor import Reactor
from laneway.ports import Clock, Commit, Store

T = TypeVar("T")

Failed: TypeAlias = Callable[[BaseException], None]
"""Called when the store was busy, did not answer, or knows a newer lease."""

log = logging.getLogger("laneway.engine")


class Clerk:
    """Between the reactor and the store; it decides nothing."""

    def __init__(
        self,
        store: Store,
        reactor: Reactor,
        clock: Clock,
        listeners: Listeners,
        fail: Callable[[BaseException], None],
    ) -> None:
        self._store = store
        self._reactor = reactor
        self._clock = clock
        self._listeners = listeners
        self._fail = fail
        self._asked = 0
        self.moved: Callable[[], None] = lambda: None
        """Called when an answer has come, later than at once: others may come with it."""
        self.written: Callable[[], None] = lambda: None
        """Called when commits were answered, all that were asked together."""

    def is_quiet(self) -> bool:
        return self._asked == 0

    # Questions.

    def ask(self, order: Question) -> None:
        store, reactor = self._store, self._reactor
        match order:
            case ReadBacklog(lease=lease, after=after, limit=limit):
                page = store.backlog(lease, after, limit)
                failed: Failed = partial(self._unread, lease)
                self._when(page, partial(reactor.backlog_read, lease), failed)
            case ReadMailbox(lease=lease):
                commands = store.mailbox(lease)
                failed = partial(self._unread, lease)
                self._when(commands, partial(reactor.mailbox_read, lease), failed)
            case Open(lane=lane):
                claimed = store.claim(lane, reactor.owner)
                failed = partial(self._unopened, lane)
                self._when(claimed, partial(self._claimed, lane), failed)
            case Release(lease=lease):
                failed = partial(self._unreleased, lease)
                self._when(store.release(lease), partial(self._released, lease.lane), failed)
            case _:
                assert_never(order)

    def _when(self, answer: "asyncio.Future[T]", take: Callable[[T], None], failed: Failed) -> None:
        """Hand the answer on, at once if it is there already."""
        if answer.done():
            self._answered(take, failed, answer)
        else:
            self._asked += 1
            answer.add_done_callback(partial(self._answered_later, take, failed))

    def _answered_later(
        self, take: Callable[[T], None], failed: Failed, answer: "asyncio.Future[T]"
    ) -> None:
        self._asked -= 1
        self._answered(take, failed, answer)
        self.moved()

    def _answered(
        self, take: Callable[[T], None], failed: Failed, answer: "asyncio.Future[T]"
    ) -> None:
        error = answer.exception()
        if error is None:
            take(answer.result())
        elif is_passing(error) or isinstance(error, LeaseLost):
            failed(error)
        else:
            self._fail(error)

    def _unread(self, lease: Lease, error: BaseException) -> None:
        if isinstance(error, LeaseLost):
            self._lost(lease)
        else:
            self._reactor.read_failed(lease, self._clock.now_ms())

    def _lost(self, lease: Lease) -> None:
        self._reactor.commit_refused(lease)
        self._listeners.closed(lease.lane)

    def _unopened(self, lane: LaneId, _: BaseException) -> None:
        self._reactor.open_failed(lane, self._clock.now_ms())

    def _claimed(self, lane: LaneId, lease: Lease | None) -> None:
        if lease is None:
            self._reactor.not_opened(lane, self._clock.now_ms())
        else:
            rows = self._store.load(lease)
            self._when(rows, partial(self._loaded, lease), partial(self._unopened, lane))

    def _loaded(self, lease: Lease, rows: Rows) -> None:
        self._reactor.opened(lease, rows)
        self._listeners.opened(lease.lane)

    def _released(self, lane: LaneId, _: BaseException | None) -> None:
        self._listeners.closed(lane)

    def _unreleased(self, lease: Lease, error: BaseException) -> None:
        self._released(lease.lane, error)
        if not isinstance(error, LeaseLost):
            self._reactor.release_failed(lease, self._clock.now_ms())

    # Writes.

    def commit(self, commits: list[Commit]) -> None:
        self._asked += 1
        self._store.commit(commits).add_done_callback(partial(self._committed, commits))

    def _committed(
        self, commits: list[Commit], written: "asyncio.Future[list[int | LeaseLost]]"
    ) -> None:
        self._asked -= 1
        reactor = self._reactor
        error = written.exception()
        if error is None:
            for commit, answer in zip(commits, written.result(), strict=True):
                if isinstance(answer, LeaseLost):
                    self._lost(commit.lease)
                else:
                    reactor.committed(commit.lease, answer)
        elif isinstance(error, StoreBusy):
            log.warning("commits of %d lanes wait: %s", len(commits), error)
            now_ms = self._clock.now_ms()
            for commit in commits:
                reactor.commit_busy(commit.lease, now_ms)
        elif type(error) is StoreUnknown:
            log.warning("%d lanes are loaded again: %s", len(commits), error)
            for commit in commits:
                reactor.commit_unknown(commit.lease)
        else:
            self._fail(error)
        self.written()
