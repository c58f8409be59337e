"""Capacity in bytes for what Cosmos accounts have not settled: who finds none waits for it.

A payload counts twice, for the bytes that will be signed of it hold it too. All accounts of this
process share one bound, first come first served; each has one of its own, which the store keeps.
Who waits is not accepted yet: leaving the queue leaves nothing to undo.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

from laneway.core.errors import BadRequest, NoRoom
from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import Accepted, Answer, Arrival, Full
from laneway.core.limits import TOGETHER_BYTES_MAX, TOGETHER_COUNT_MAX
from laneway.core.rows import Result
from laneway.engine.listeners import Listener
from laneway.kinds.limits import CAPACITY_PART, TX_OVERHEAD_BYTES

Accept = Callable[[Arrival], Awaitable[Answer]]
AcceptMany = Callable[[Sequence[Arrival]], Awaitable[Sequence[Answer]]]
"""In one write."""
Line = deque[tuple[int, "asyncio.Future[None]"]]
"""Who waits, and for how many bytes."""


def held_bytes(payload: int) -> int:
    """What an intent holds until it is settled."""
    return 2 * payload + TX_OVERHEAD_BYTES


class ByteCapacity(Listener):
    """The queue before the door."""

    def __init__(self, process_bytes_max: int, account_bytes_max: int, wait_ms: int) -> None:
        self.process_bytes_max = process_bytes_max
        self.account_bytes_max = account_bytes_max
        self.held = 0
        self.wait_s = wait_ms / 1_000
        self._taken: dict[IntentId, int] = {}
        self._line: Line = deque()
        self._full: dict[LaneId, Line] = {}
        """Who waits for capacity of one account, in the order in which they came."""

    def waiting(self) -> int:
        """How many wait for bytes of this process."""
        return sum(not future.done() for _, future in self._line)

    def must_wait(self, arrival: Arrival) -> bool:
        """Whether there is no capacity for it yet, or others wait before it."""
        need = held_bytes(len(arrival.payload))
        is_held = bool(self._line) or self.held + need > self.process_bytes_max
        return is_held or arrival.lane in self._full

    async def submit(
        self,
        arrival: Arrival,
        accept: Accept,
        timeout_s: float | None = None,
        size: int | None = None,
    ) -> Answer:
        """Accept it once there is capacity. NoRoom when that takes too long. `size` is that of the
        payload where the arrival comes without it, and `accept` adds it."""
        need = self._needed(len(arrival.payload) if size is None else size)
        wait_s = self.wait_s if timeout_s is None else timeout_s
        until = asyncio.get_running_loop().time() + wait_s
        bound, limit = "sequence.account_bytes_max", self.account_bytes_max
        try:
            if arrival.lane in self._full:
                await self._turn(arrival.lane, until)
            bound, limit = "sequence.process_bytes_max", self.process_bytes_max
            await self._take(need, until)
            self._taken[arrival.id] = need
            bound, limit = "sequence.account_bytes_max", self.account_bytes_max
            return await self._accepted(arrival, accept, until)
        except TimeoutError:
            raise NoRoom(bound, limit, wait_s) from None
        finally:
            self._next(arrival.lane)

    async def submit_many(
        self,
        arrivals: Sequence[Arrival],
        accept_many: AcceptMany,
        accept: Accept,
        timeout_s: float | None = None,
    ) -> list[Answer | NoRoom]:
        """Accept a batch of one account in its order, together as long as there is capacity.
        After one for which none was found in time nothing is accepted."""
        needs = [self._needed(len(arrival.payload)) for arrival in arrivals]
        now = asyncio.get_running_loop().time
        wait_s = self.wait_s if timeout_s is None else timeout_s
        until = now() + wait_s
        answers: list[Answer | NoRoom] = []
        try:
            for first, end in self._parts(needs):
                part = arrivals[first:end]
                written = await self._together(part, needs[first:end], accept_many, until)
                # Those that found their account full wait, one after the other. What has another
                # answer is never handed in again: it may have been taken.
                for arrival, answer in zip(part, written, strict=True):
                    if isinstance(answer, Full):
                        answer = await self.submit(arrival, accept, max(0.0, until - now()))
                    answers.append(answer)
        except (NoRoom, TimeoutError) as none:
            bound = none.bound if isinstance(none, NoRoom) else "sequence.process_bytes_max"
            limit = none.limit if isinstance(none, NoRoom) else self.process_bytes_max
            refused = NoRoom(bound, limit, wait_s)
            answers += [refused] * (len(arrivals) - len(answers))
        return answers

    def _needed(self, size: int) -> int:
        need = held_bytes(size)
        for bound, limit in (
            ("sequence.process_bytes_max", self.process_bytes_max),
            ("sequence.account_bytes_max", self.account_bytes_max),
        ):
            if need > limit:
                problem = f"it holds {need} bytes until it is settled, and {bound} is {limit}"
                raise BadRequest("payload", problem)
        return need

    def _parts(self, needs: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Ranges that ask for a part of the capacity each, or for what one of them needs."""
        first = 0
        need_max = min(self.process_bytes_max // CAPACITY_PART, TOGETHER_BYTES_MAX)
        held = 0
        for place, need in enumerate(needs):
            is_long = place - first == TOGETHER_COUNT_MAX
            if place > first and (is_long or held + need > need_max):
                yield first, place
                first, held = place, 0
            held += need
        if needs:
            yield first, len(needs)

    async def _together(
        self,
        part: Sequence[Arrival],
        needs: Sequence[int],
        accept_many: AcceptMany,
        until: float,
    ) -> list[Answer]:
        """The answers of one write; all are full where others wait before them."""
        lane = part[0].lane
        if lane in self._full:
            return [Full("bytes", self.account_bytes_max)] * len(part)
        await self._take(sum(needs), until)
        for arrival, need in zip(part, needs, strict=True):
            self._taken[arrival.id] = need
        writing = asyncio.ensure_future(accept_many(part))
        # Even if the caller stops waiting, what the store accepts is accepted.
        writing.add_done_callback(lambda done: self._written_many(part, done))
        return list(await asyncio.shield(writing))

    def _written_many(
        self, part: Sequence[Arrival], done: "asyncio.Future[Sequence[Answer]]"
    ) -> None:
        failed = done.cancelled() or done.exception() is not None
        answers: Sequence[Answer | None] = [None] * len(part) if failed else done.result()
        for arrival, answer in zip(part, answers, strict=True):
            if not isinstance(answer, Accepted):
                self._give(arrival.id)
        self._next(part[0].lane)

    async def _accepted(self, arrival: Arrival, accept: Accept, until: float) -> Answer:
        is_kept = False
        try:
            is_first = False
            while True:
                writing = asyncio.ensure_future(accept(arrival))
                try:
                    # What the store accepts is accepted, even if the caller stopped waiting.
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
        """Wait for capacity of one account; who had a turn and found none keeps its place."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue = self._full.setdefault(lane, deque())
        if first:
            queue.appendleft((0, future))
        else:
            queue.append((0, future))
        async with asyncio.timeout_at(until):
            await future

    def _next(self, lane: LaneId) -> None:
        """Something of this account changed: who waits first looks again."""
        queue = self._full.get(lane)
        while queue:
            _, future = queue.popleft()
            if not future.done():
                future.set_result(None)
                break
        if queue is not None and not queue:
            self._full.pop(lane, None)

    def _written(self, intent: IntentId, done: "asyncio.Future[Answer]") -> None:
        failed = done.cancelled() or done.exception() is not None
        if failed or not isinstance(done.result(), Accepted):
            self._give(intent)

    async def _take(self, need: int, until: float) -> None:
        if not self._line and self.held + need <= self.process_bytes_max:
            self.held += need
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append((need, future))
        try:
            async with asyncio.timeout_at(until):
                await future
        except (asyncio.CancelledError, TimeoutError):
            if future.done() and not future.cancelled():
                self.held -= need  # It was given in the very moment.
            self._serve()
            raise

    def _give(self, intent: IntentId) -> None:
        self.held -= self._taken.pop(intent, 0)
        self._serve()

    def _serve(self) -> None:
        """The queue moves: nobody is served before who came first."""
        while self._line:
            need, future = self._line[0]
            if not future.done():
                if self.held + need > self.process_bytes_max:
                    return
                self.held += need
                future.set_result(None)
            self._line.popleft()

    def notified(self, lane: LaneId, _records: Sequence[Any], results: Sequence[Result]) -> None:
        if not results:
            return
        for result in results:
            if result.intent in self._taken:
                self._give(result.intent)
        self._next(lane)
