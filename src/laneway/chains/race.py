"""One read on several nodes: the next one is asked when one fails, or is silent for too long.

A node that answers what it is asked, one step after the other, is given some time, after which it
goes on beside the next one. One that was asked and says nothing costs a short wait and no more;
nothing is held against it here.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import Generic, TypeVar

from msgspec import Struct

from laneway.chains.endpoint import PROGRESS, NodeEndpoint, Progress, loop_s
from laneway.chains.limits import ALONE_HEDGES, NODE_READ_MS
from laneway.core.errors import ChainError
from laneway.wire.jsonrpc import RpcAnswerLost

T = TypeVar("T")
N = TypeVar("N", bound=NodeEndpoint)


class Patience(Struct, frozen=True):
    """How long reads wait for nodes."""

    turn_s: float | None = None
    """The time of one node with one read; None if every call has its own bound."""
    hedge_s: float | None = None
    """After this time without an answer, or ALONE_HEDGES of them with some, the next node is asked
    too; None: only after a failure."""
    silent_ms: int = NODE_READ_MS
    """The time in which a node that lost a race has to say anything at all."""


class Race(Generic[N, T]):
    """The nodes in their order, of which the first is asked at once. The caller ends it by `leave`,
    whatever comes of it."""

    def __init__(
        self, nodes: Iterable[N], ask: Callable[[N], Awaitable[T]], patience: Patience
    ) -> None:
        self._waiting = deque(nodes)
        self._ask = ask
        self._patience = patience
        self._asked: dict[asyncio.Task[T], tuple[N, Progress]] = {}

    async def next(self) -> tuple[N, T | ChainError] | None:
        """The next node that is done, with its answer or its trouble; None if all are."""
        while self._asked or self._waiting:
            left_s = self._left_s()
            if left_s is not None and left_s <= 0:
                self._start(self._waiting.popleft())
                continue
            await asyncio.wait(self._asked, timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
            done = next((task for task in self._asked if task.done()), None)
            if done is not None:
                node, _ = self._asked.pop(done)
                trouble = done.exception()
                # Any other exception is a bug, and raised.
                return node, trouble if isinstance(trouble, ChainError) else done.result()
        return None

    def lost(self) -> list[N]:
        """Somebody has won: what is still asked is not wanted any more, and the time that it took
        is no failure. The nodes that were silent for too long, or took too long altogether."""
        for _, progress in self._asked.values():
            progress.is_unwanted = True
        return [node for node, progress in self._asked.values() if self._due_s(progress) <= 0]

    async def leave(self) -> None:
        """Cancel whatever is still asked, and wait until it has ended."""
        for task in self._asked:
            task.cancel()
        await asyncio.gather(*self._asked, return_exceptions=True)

    def _left_s(self) -> float | None:
        """The time until the next node is asked; None if no other is, whatever happens."""
        if not self._waiting:
            return None
        if not self._asked:
            return 0.0
        if self._patience.hedge_s is None:
            return None
        return max(self._due_s(progress) for _, progress in self._asked.values())

    def _due_s(self, progress: Progress) -> float:
        """How long a node that is asked may still be silent, or go on answering alone."""
        hedge_s = self._patience.hedge_s
        if hedge_s is None:
            return float("inf")
        until_s = min(progress.at_s + hedge_s, progress.begun_s + ALONE_HEDGES * hedge_s)
        return until_s - loop_s()

    def _start(self, node: N) -> None:
        progress = Progress(loop_s())
        self._asked[asyncio.create_task(self._turn(node, progress))] = node, progress

    async def _turn(self, node: N, progress: Progress) -> T:
        PROGRESS.set(progress)
        turn_s = self._patience.turn_s
        try:
            async with asyncio.timeout(turn_s):
                return await self._ask(node)
        except TimeoutError as error:
            raise RpcAnswerLost(node.name, f"not done in {turn_s} s") from error
