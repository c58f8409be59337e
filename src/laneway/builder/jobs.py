"""A thread that does one job after the other, and that the end of the process does not wait for.

Jobs run a rollup's own rules, which may never return. The threads of an executor are joined when
the interpreter ends, so one such job would outlive every request to stop.
"""

from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


class JobThread:
    def __init__(self, name: str) -> None:
        self._jobs: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name=name, daemon=True)
        self._is_begun = False

    def submit(self, job: Callable[[], T]) -> Future[T]:
        """Do a job after all that were handed in before."""
        future: Future[T] = Future()
        self._jobs.put((future, job))
        if not self._is_begun:
            self._is_begun = True
            self._thread.start()
        return future

    def shutdown(self) -> None:
        """End the thread when all that was handed in is done. Nobody waits for that."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (found := self._jobs.get()) is not None:
            future, job = found
            if future.set_running_or_notify_cancel():
                settle(future, job)
            del found, future, job  # A job holds a state, and the next one may be long in coming.


def settle(future: Future[T], job: Callable[[], T]) -> None:
    try:
        future.set_result(job())
    except BaseException as error:  # noqa: BLE001 - it is the answer, of whatever kind.
        future.set_exception(error)
