"""Callers who wait for the final answer of an intent, in this process."""

import asyncio
from collections.abc import Callable, Sequence

from laneway.core.errors import Draining, IntentNotFound, LanewayError
from laneway.core.ids import IntentId, LaneId
from laneway.core.rows import Result
from laneway.engine.limits import WAITERS_ASKED_MAX
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
    """Every waiter hears the final answer, or why it will not hear one from here."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: dict[IntentId, list[asyncio.Future[Result]]] = {}
        self._lanes: dict[IntentId, LaneId] = {}
        """Whose answer each of them is, once that is known."""
        self._over: Exception | None = None

    async def result(self, intent: IntentId) -> Result:
        """Wait for the final answer, wherever it comes from."""
        if self._over is not None:
            raise self._over
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        # Registered before the question: an answer that comes in between is not missed.
        self._waiting.setdefault(intent, []).append(future)
        try:
            known = await self._known(intent)
            return known if known is not None else await future
        finally:
            self._leave(intent, future)

    async def _known(self, intent: IntentId) -> Result | None:
        view = await self._store.intent(intent)
        if view is not None:
            if view.result is None and intent in self._waiting:
                self._lanes[intent] = view.intent.lane
            return view.result
        left = await self._store.find(PRUNED_INDEX, intent)
        if left is None:
            raise IntentNotFound(intent)
        return Result(intent, left.status, settled_ms=0, hash=left.hash, reason="pruned")

    def _leave(self, intent: IntentId, future: "asyncio.Future[Result]") -> None:
        waiting = self._waiting.get(intent)
        if waiting is not None and future in waiting:
            waiting.remove(future)
            if not waiting:
                del self._waiting[intent]
                self._lanes.pop(intent, None)

    async def look(self, skips: Callable[[LaneId], bool]) -> None:
        """Ask the store for answers of lanes that are not skipped: other processes run them."""
        asked = [intent for intent, lane in self._lanes.items() if not skips(lane)]
        for intent in asked[:WAITERS_ASKED_MAX]:
            view = await self._store.intent(intent)
            if view is not None and view.result is not None:
                self.tell((view.result,))
            elif intent in self._lanes:
                self._lanes[intent] = self._lanes.pop(intent)  # The others are asked first.

    def tell(self, results: Sequence[Result]) -> None:
        if not self._waiting:
            return
        for result in results:
            self._lanes.pop(result.intent, None)
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
