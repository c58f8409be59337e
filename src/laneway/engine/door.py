"""Where intents come in. The caller is answered "accepted" only when it is durable."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from laneway.core.errors import Draining
from laneway.core.intent import Accepted, Answer, Arrival
from laneway.engine.limits import ACCEPT_BATCH_MAX
from laneway.ports import Store

Entered = Callable[[Arrival, Accepted], None]
"""Called for each arrival that is durable now."""

Written = Callable[[Sequence[Arrival], BaseException | None], None]
"""Called at the end of each write, with the error that ended it."""

Answers = Sequence[Answer]


class Door:
    """Gathers the arrivals of one loop turn into one write."""

    def __init__(self, store: Store, entered: Entered, written: Written) -> None:
        self._store = store
        self._entered = entered
        self._written = written
        self._waiting: deque[tuple[Arrival, asyncio.Future[Answer]]] = deque()
        self._scheduled = False
        self._writes = 0
        self._closed: Exception | None = None

    def submit(self, arrival: Arrival) -> "asyncio.Future[Answer]":
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answer] = loop.create_future()
        if self._closed is not None:
            future.set_exception(self._closed)
            return future
        self._waiting.append((arrival, future))
        if not self._scheduled:
            self._scheduled = True
            loop.call_soon(self._flush)
        return future

    def submit_many(self, arrivals: Sequence[Arrival]) -> "asyncio.Future[Answers]":
        """A batch that its caller gathered: one write, one answer for each."""
        # Not the store's own future: a caller that cancels it must not hide what was accepted.
        future: asyncio.Future[Answers] = asyncio.get_running_loop().create_future()
        if self._closed is not None:
            future.set_exception(self._closed)
            return future
        self._write(arrivals, [future], is_batch=True)
        return future

    def is_quiet(self) -> bool:
        return not self._waiting and self._writes == 0

    def close(self, error: Exception | None = None) -> None:
        """Accept nothing more; what already waits is still written and answered."""
        if self._closed is None or error is not None:
            self._closed = error or Draining()

    def _flush(self) -> None:
        self._scheduled = False
        while self._waiting:
            count = min(len(self._waiting), ACCEPT_BATCH_MAX)
            batch = [self._waiting.popleft() for _ in range(count)]
            futures = [future for _, future in batch]
            self._write([arrival for arrival, _ in batch], futures, is_batch=False)

    def _write(
        self, arrivals: Sequence[Arrival], futures: "list[asyncio.Future[Any]]", *, is_batch: bool
    ) -> None:
        """Write these; a batch has one future for all answers, else each arrival has its own."""
        self._writes += 1
        written = self._store.accept(arrivals)
        written.add_done_callback(partial(self._end, arrivals, futures, is_batch=is_batch))

    def _end(
        self,
        arrivals: Sequence[Arrival],
        futures: "list[asyncio.Future[Any]]",
        written: "asyncio.Future[Answers]",
        *,
        is_batch: bool,
    ) -> None:
        self._writes -= 1
        error = written.exception()
        if error is None:
            answers = written.result()
            for arrival, answer in zip(arrivals, answers, strict=True):
                if isinstance(answer, Accepted):
                    self._entered(arrival, answer)
            for future, found in zip(futures, [answers] if is_batch else answers, strict=True):
                if not future.done():
                    future.set_result(found)
        else:
            for future in futures:
                if not future.done():
                    future.set_exception(error)
        self._written(arrivals, error)
