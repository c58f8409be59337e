"""Room in bytes for what Cosmos accounts have not settled: who finds none waits for it.

A payload counts twice, for the bytes that will be signed of it hold it too. All accounts of this
process share one bound, first come first served; each has one of its own, which the store keeps.
Who waits is not accepted yet: leaving the line leaves nothing behind.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from laneway.core.errors import BadRequest, NoRoom
from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import Accepted, Answer, Arrival, Full
from laneway.core.rows import Result
from laneway.engine.listeners import Listener
from laneway.wiring.limits import TX_OVERHEAD_BYTES

Accept = Callable[[Arrival], Awaitable[Answer]]
Line = deque[tuple[int, "asyncio.Future[None]"]]
"""Who waits, and for how many bytes."""


def held_bytes(payload: int) -> int:
    """What an intent holds until it is settled."""
    return 2 * payload + TX_OVERHEAD_BYTES


class Room(Listener):
    """The line before the door."""

    def __init__(self, process_bytes_max: int, account_bytes_max: int, wait_ms: int) -> None:
        self.process_bytes_max = process_bytes_max
        self.account_bytes_max = account_bytes_max
        self.held = 0
        self.wait_s = wait_ms / 1_000
        self._taken: dict[IntentId, int] = {}
        self._line: Line = deque()
        self._full: dict[LaneId, Line] = {}
        """Who waits for room of one account, each behind who came before."""

    def waiting(self) -> int:
        """How many wait for bytes of this process."""
        return sum(not future.done() for _, future in self._line)

    async def submit(
        self,
        arrival: Arrival,
        accept: Accept,
        timeout_s: float | None = None,
    ) -> Answer:
        """Accept it once there is room. NoRoom when that takes too long."""
        need = held_bytes(len(arrival.payload))
        for bound, limit in (
            ("sequence.process_bytes_max", self.process_bytes_max),
            ("sequence.account_bytes_max", self.account_bytes_max),
        ):
            if need > limit:
                problem = f"it holds {need} bytes until it is settled, and {bound} is {limit}"
                raise BadRequest("payload", problem)
        wait_s = self.wait_s if timeout_s is None else timeout_s
        until = asyncio.get_running_loop().time() + wait_s
        bound, limit = "sequence.account_bytes_max", self.account_bytes_max
        try:
            if arrival.lane in self._full:
                await self._turn(arrival.lane, until)
            bound, limit = "sequence.process_bytes_max", self.process_bytes_max
            async with asyncio.timeout_at(until):
                await self._take(need)
            self._taken[arrival.id] = need
            bound, limit = "sequence.account_bytes_max", self.account_bytes_max
            return await self._accepted(arrival, accept, until)
        except TimeoutError:
            raise NoRoom(bound, limit, wait_s) from None
        finally:
            self._next(arrival.lane)

    async def _accepted(self, arrival: Arrival, accept: Accept, until: float) -> Answer:
        is_kept = False
        try:
            is_first = False
            while True:
                writing = asyncio.ensure_future(accept(arrival))
                try:
                    # What the store accepts is accepted, whoever has stopped waiting for it.
                    answer = await asyncio.shield(writing)
                except asyncio.CancelledError:
                    is_kept = True
                    writing.add_done_callback(lambda done: self._written(arrival.id, done))
                    raise
                if not isinstance(answer, Full):
                    is_kept = isinstance(answer, Accepted)
                    return answer
                await self._turn(arrival.lane, until, first=is_first)
                is_first = True
        finally:
            if not is_kept:
                self._give(arrival.id)

    async def _turn(self, lane: LaneId, until: float, *, first: bool = False) -> None:
        """Wait for room of one account; who had a turn and found none keeps its place."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        line = self._full.setdefault(lane, deque())
        if first:
            line.appendleft((0, future))
        else:
            line.append((0, future))
        async with asyncio.timeout_at(until):
            await future

    def _next(self, lane: LaneId) -> None:
        """Something of this account changed: whoever waits first looks again."""
        line = self._full.get(lane)
        while line:
            _, future = line.popleft()
            if not future.done():
                future.set_result(None)
                break
        if line is not None and not line:
            self._full.pop(lane, None)

    def _written(self, intent: IntentId, done: "asyncio.Future[Answer]") -> None:
        failed = done.cancelled() or done.exception() is not None
        if failed or not isinstance(done.result(), Accepted):
            self._give(intent)

    async def _take(self, need: int) -> None:
        if not self._line and self.held + need <= self.process_bytes_max:
            self.held += need
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append((need, future))
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self.held -= need  # It was given in the very moment.
            self._serve()
            raise

    def _give(self, intent: IntentId) -> None:
        self.held -= self._taken.pop(intent, 0)
        self._serve()

    def _serve(self) -> None:
        """The line moves: nobody is served before who came first."""
        while self._line:
            need, future = self._line[0]
            if not future.done():
                if self.held + need > self.process_bytes_max:
                    return
                self.held += need
                future.set_result(None)
            self._line.popleft()

    def told(self, lane: LaneId, _records: Sequence[Any], results: Sequence[Result]) -> None:
        if not results:
            return
        for result in results:
            if result.intent in self._taken:
                self._give(result.intent)
        self._next(lane)
