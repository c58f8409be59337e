"""Callers who wait for the final answer of an intent, in this process."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import islice

from laneway.core.errors import Draining, IntentNotFound, LanewayError
from laneway.core.ids import IntentId, LaneId
from laneway.core.rows import Result
from laneway.engine.limits import WAITERS_ASKED_MAX, WAITERS_CHECK_S
from laneway.engine.passing import is_passing
from laneway.ports import Store

PRUNED_INDEX = "id"
"""Where stores keep what is left of an intent that retention removed."""


class EngineStopped(Draining):
    """The wait is over, the work is not: what was accepted goes on at the next start."""

    code = "engine_stopped"

    def __init__(self) -> None:
        LanewayError.__init__(
            self,
            "the engine stopped before the final answer; the intent is durable and goes on when "
            "it starts again",
        )


class Waiters:
    """Every waiter gets the final answer, or the reason why it will not get one from here.

    Answers of our own lanes are handed over. Those of other processes' lanes are asked for: when
    one begins to wait, when news say that a lane ended something, and at heartbeats. All who wait
    at one lane share a question, and all lanes that are asked at once share a way.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: dict[IntentId, list[asyncio.Future[Result]]] = {}
        self._homes: dict[IntentId, LaneId] = {}
        """Whose answer each of them is, once that is known."""
        self._lanes: dict[LaneId, dict[IntentId, None]] = {}
        """The same by lanes; those that were asked for longest ago come first."""
        self._unasked: dict[LaneId, None] = {}
        self.wanted: Callable[[], None] = lambda: None
        """Called when there is something to ask; `ask` does it."""
        self._over: Exception | None = None

    async def result(self, intent: IntentId, lane: LaneId | None = None) -> Result:
        """Wait for the final answer, wherever it comes from; `lane` where the caller knows it."""
        if self._over is not None:
            raise self._over
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        # Registered before the question: an answer that comes in between is not missed.
        self._waiting.setdefault(intent, []).append(future)
        try:
            if lane is not None:
                self._homed(intent, lane)
                self.ended(lane)
                await asyncio.wait((future,), timeout=WAITERS_CHECK_S)
            is_first = lane is None
            while not future.done():
                known = await self._known(intent) if is_first else await self._checked(intent)
                if known is not None:
                    return known
                is_first = False
                # All news of it may be lost, and retention may remove it meanwhile.
                await asyncio.wait((future,), timeout=WAITERS_CHECK_S)
            return future.result()
        finally:
            self._leave(intent, future)

    async def _known(self, intent: IntentId) -> Result | None:
        view = await self._store.intent(intent)
        if view is not None:
            if view.result is None and intent in self._waiting:
                self._homed(intent, view.intent.lane)
            return view.result
        left = await self._store.find(PRUNED_INDEX, intent)
        if left is None:
            raise IntentNotFound(intent)
        return Result(intent, left.status, settled_ms=0, hash=left.hash, reason="pruned")

    async def _checked(self, intent: IntentId) -> Result | None:
        """The same in the middle of a wait, which a store that is away does not end."""
        try:
            return await self._known(intent)
        except LanewayError as error:
            if is_passing(error):
                return None
            raise

    def _homed(self, intent: IntentId, lane: LaneId) -> None:
        if self._homes.setdefault(intent, lane) == lane:
            self._lanes.setdefault(lane, {}).setdefault(intent)

    def _forget(self, intent: IntentId) -> None:
        lane = self._homes.pop(intent, None)
        if lane is not None:
            waiting = self._lanes[lane]
            del waiting[intent]
            if not waiting:
                del self._lanes[lane]

    def _leave(self, intent: IntentId, future: "asyncio.Future[Result]") -> None:
        waiting = self._waiting.get(intent)
        if waiting is not None and future in waiting:
            waiting.remove(future)
            if not waiting:
                del self._waiting[intent]
                self._forget(intent)

    # Answers of other processes.

    def ended(self, lane: LaneId) -> None:
        """Something of this lane may have ended: ask for what callers wait for there."""
        if lane in self._lanes and lane not in self._unasked:
            self._unasked[lane] = None
            self.wanted()

    def doubt(self, skips: Callable[[LaneId], bool]) -> None:
        """The same of every lane that is not skipped: news of it may have been lost."""
        for lane in list(self._lanes):
            if not skips(lane):
                self.ended(lane)
        if self._unasked:
            self.wanted()  # A question that failed is asked again, whosever the lane is.

    async def ask(self) -> None:
        """Ask the store until nothing is left to ask."""
        while self._unasked:
            lanes, self._unasked = self._unasked, {}
            try:
                await asyncio.gather(*(self._ask(lane) for lane in lanes))
            except LanewayError:
                self._unasked.update(lanes)
                raise

    async def _ask(self, lane: LaneId) -> None:
        waiting = self._lanes.get(lane)
        if waiting is None:
            return
        asked = list(islice(waiting, WAITERS_ASKED_MAX))
        self.tell(await self._store.answers(lane, asked))
        waiting = self._lanes.get(lane, {})
        for intent in asked:
            if intent in waiting:
                waiting[intent] = waiting.pop(intent)  # The others are asked for first.

    def tell(self, results: Sequence[Result]) -> None:
        if not self._waiting:
            return
        for result in results:
            self._forget(result.intent)
            for future in self._waiting.pop(result.intent, ()):
                if not future.done():
                    future.set_result(result)

    def end(self, error: Exception) -> None:
        """Say to everyone who waits, and to everyone who comes, that the wait is over."""
        if self._over is not None:
            return
        self._over = error
        waiting, self._waiting = self._waiting, {}
        for futures in waiting.values():
            for future in futures:
                if not future.done():
                    future.set_exception(error)
