"""The one thread of a builder: one job after the other, and some of them in a time.

A thread cannot be stopped. One whose job takes too long is left with it, and another one does what
comes after: such a job changes nothing that is shared, and whatever comes of it is passed over.
With too many threads that were left so nothing else is done before one ends; what is asked
meanwhile is answered with that, and is at no fault.
"""

import asyncio
from asyncio import FIRST_COMPLETED, Task
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from laneway.builder.jobs import JobThread
from laneway.builder.limits import CLOSE_S_MAX, LEFT_JOBS_MAX
from laneway.builder.orders import carried_out, guarded, noticed
from laneway.core.errors import BuildFailed, StoreError, StoreRefused

T = TypeVar("T")


class TooLong(BuildFailed):
    """A job is not done in its time; it goes on, and nothing is done with what comes of it."""


class BuilderThread:
    def __init__(self, s_max: float, left_max: int = LEFT_JOBS_MAX) -> None:
        """`s_max`: how long a job that executes transactions may take. `left_max`: threads that
        may be left with such a job at a time."""
        self._s_max = s_max
        self._left_max = left_max
        self._left: list[Future[Any]] = []
        """Jobs with which a thread was left."""
        self._jobs = JobThread("laneway-builder")
        self._waiting: set[Future[Any]] = set()
        self._overdue: Task[Any] | None = None
        """The job that took too long last."""
        self.is_closed = False

    async def do(self, job: Callable[[], T]) -> T:
        """Run a job after all that was begun before, also when nobody waits for those any more."""
        return await self._answer(self._begun(job))

    def _begun(self, job: Callable[[], T]) -> Future[T]:
        if self.is_closed:
            raise BuildFailed("the builder is closed")
        if self.is_busy():
            raise self._busy()
        future = self._jobs.submit(job)
        self._waiting.add(future)
        return future

    async def _answer(self, future: Future[T]) -> T:
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if future.cancelled() and task is not None and not task.cancelling():
                raise self._busy() from None
            raise
        except StoreError as error:
            # A disk that is full passes; a file that is damaged does not.
            needs_help = isinstance(error, StoreRefused)
            raise BuildFailed(str(error), needs_help=needs_help) from error
        finally:
            self._waiting.discard(future)

    async def ruled(self, job: Callable[[], T]) -> T:
        """The same for what runs a rollup's rules before or after an order, or without one: what
        they raise is at nobody's fault."""
        return await self.do(lambda: guarded(job, final=False))

    async def in_time(self, job: Callable[[], T]) -> T:
        """Run what executes transactions, whose rules may be slow or wrong about some of them, and
        changes nothing. Its time begins when those before it are done."""
        loop = asyncio.get_running_loop()
        begun = asyncio.Event()

        def run() -> T:
            loop.call_soon_threadsafe(begun.set)
            return carried_out(job)

        future = self._begun(run)
        done = asyncio.create_task(self._answer(future))
        done.add_done_callback(noticed)
        beginning = asyncio.create_task(begun.wait())
        try:
            await asyncio.wait((done, beginning), return_when=FIRST_COMPLETED)
            finished, _ = await asyncio.wait((done,), timeout=self._s_max)
            if not finished:
                # A process that was stopped meanwhile wakes up with its time over.
                finished, _ = await asyncio.wait((done,), timeout=self._s_max / 10)
        except asyncio.CancelledError:
            loop.call_later(self._s_max, self._given_up, future, done)
            raise
        finally:
            beginning.cancel()
        if not finished:
            self._given_up(future, done)
            problem = f"it takes longer than {self._s_max:g} s to execute"
            raise TooLong(problem, final=True)
        return done.result()

    def _given_up(self, future: Future[Any], done: Task[Any]) -> None:
        """Nobody waits for a job any more. Its thread is left with it, and if that cannot be,
        nobody waits for the thread while the job is not done."""
        if done.done() or future.done():
            return
        if not self._jobs.is_doing(future):
            # Another one keeps it waiting, which has a time of its own.
            asyncio.get_running_loop().call_later(self._s_max, self._given_up, future, done)
            return
        self._left = [one for one in self._left if not one.done()]
        other = self._jobs.leave(future) if len(self._left) < self._left_max else None
        if other is not None:
            self._jobs = other
            self._left.append(future)
            return
        self._overdue = done
        for one in self._waiting:
            one.cancel()  # What is running is not cancelled by this.

    def is_busy(self) -> bool:
        """Whether a job that took too long is still under way."""
        return self._overdue is not None and not self._overdue.done()

    async def close(self, job: Callable[[], None], s_max: float = CLOSE_S_MAX) -> bool:
        """Run a last job when all others are done. False if they are not done in this time: then
        it is not run, and what is being done goes on until it returns or the process ends."""
        self.is_closed = True
        last = self._jobs.submit(job)
        self._jobs.shutdown()
        done = asyncio.wrap_future(last)
        finished, _ = await asyncio.wait((done,), timeout=s_max)
        if not finished and last.cancel():
            return False
        try:
            await done
        except StoreError as error:
            raise BuildFailed(str(error)) from error
        return True

    def _busy(self) -> BuildFailed:
        problem = f"it is still executing what it was to execute in {self._s_max:g} s"
        return BuildFailed(
            f"{problem}, and does nothing else before; if that does not end, restart"
        )
