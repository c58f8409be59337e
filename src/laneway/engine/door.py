"""Where intents come in. The caller hears "accepted" only when it is durable."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from laneway.core.errors import Draining, LanewayError
from laneway.core.intent import Accepted, Answer, Arrival
from laneway.engine.limits import ACCEPT_BATCH_MAX
from laneway.ports import Store

Entered = Callable[[Arrival, Accepted], None]
"""Called for each arrival that is durable now."""


class Door:
    """Gathers the arrivals of one loop turn into one write."""

    def __init__(self, store: Store, entered: Entered) -> None:
        self._store = store
        self._entered = entered
        self._waiting: deque[tuple[Arrival, asyncio.Future[Answer]]] = deque()
        self._scheduled = False
        self._writes = 0
        self._closed = False

    def submit(self, arrival: Arrival) -> "asyncio.Future[Answer]":
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answer] = loop.create_future()
        if self._closed:
            future.set_exception(Draining())
            return future
        self._waiting.append((arrival, future))
        if not self._scheduled:
            self._scheduled = True
            loop.call_soon(self._flush)
        return future

    def submit_many(self, arrivals: Sequence[Arrival]) -> "asyncio.Future[Sequence[Answer]]":
        """A batch that its caller gathered: one write, one answer for each."""
        if self._closed:
            future = asyncio.get_running_loop().create_future()
            future.set_exception(Draining())
            return future
        self._writes += 1
        written = self._store.accept(arrivals)
        written.add_done_callback(partial(self._written_many, arrivals))
        return written

    def _written_many(
        self, arrivals: Sequence[Arrival], written: "asyncio.Future[Sequence[Answer]]"
    ) -> None:
        self._writes -= 1
        if written.cancelled() or written.exception() is not None:
            return  # Its caller hears of it.
        for arrival, answer in zip(arrivals, written.result(), strict=True):
            if isinstance(answer, Accepted):
                self._entered(arrival, answer)

    def is_quiet(self) -> bool:
        return not self._waiting and self._writes == 0

    def close(self) -> None:
        """Accept nothing more; what already waits is still written and answered."""
        self._closed = True

    def _flush(self) -> None:
        self._scheduled = False
        while self._waiting:
            count = min(len(self._waiting), ACCEPT_BATCH_MAX)
            batch = [self._waiting.popleft() for _ in range(count)]
            self._writes += 1
            written = self._store.accept([arrival for arrival, _ in batch])
            written.add_done_callback(partial(self._written, batch))

    def _written(
        self,
        batch: list[tuple[Arrival, "asyncio.Future[Answer]"]],
        written: "asyncio.Future[Sequence[Answer]]",
    ) -> None:
        self._writes -= 1
        error = written.exception()
        if error is not None:
            assert isinstance(error, LanewayError)
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
            return
        for (arrival, future), answer in zip(batch, written.result(), strict=True):
            if isinstance(answer, Accepted):
                self._entered(arrival, answer)
            if not future.done():
                future.set_result(answer)
