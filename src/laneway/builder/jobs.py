"""A thread that does one job after the other, and that the end of the process does not wait for.

Jobs run a rollup's own rules, which may never return. The threads of an executor are joined when
the interpreter ends, so one such job would outlive every request to stop. A thread cannot be
stopped, but it can be left with its job, and another one does what was handed in after that.
"""

from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
Jobs: TypeAlias = SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]


class JobThread:
    def __init__(self, name: str, jobs: Jobs | None = None) -> None:
        self._name = name
        self._jobs: Jobs = SimpleQueue() if jobs is None else jobs
        self._thread = Thread(target=self._work, name=name, daemon=True)
        self._is_begun = False
        self._lock = Lock()
        """Held for a moment: what is being done, and whether the thread is left with it."""
        self._doing: Future[Any] | None = None
        self._is_left = False

    def submit(self, job: Callable[[], T]) -> Future[T]:
        """Do a job after all that were handed in before."""
        future: Future[T] = Future()
        self._jobs.put((future, job))
        self._begin()
        return future

    def is_doing(self, future: Future[Any]) -> bool:
        """Whether this job was begun, and is not done."""
        with self._lock:
            return self._doing is future

    def leave(self, future: Future[Any]) -> "JobThread | None":
        """Leave the thread with this job, after which it ends; the other one does what was handed
        in after it. None if it is not what is being done."""
        with self._lock:
            if self._doing is not future:
                return None
            self._is_left = True
        other = JobThread(self._name, self._jobs)
        other._begin()
        return other

    def shutdown(self) -> None:
        """End the thread when all that was handed in is done. Nobody waits for that."""
        self._jobs.put(None)

    def _begin(self) -> None:
        if not self._is_begun:
            self._is_begun = True
            self._thread.start()

    def _work(self) -> None:
        while not self._is_left and (found := self._jobs.get()) is not None:
            future, job = found
            if future.set_running_or_notify_cancel():
                self._do(future, job)
            del found, future, job  # A job holds a state, and the next one may be long in coming.

    def _do(self, future: Future[Any], job: Callable[[], Any]) -> None:
        with self._lock:
            self._doing = future
        settle(future, job)
        with self._lock:
            self._doing = None


def settle(future: Future[T], job: Callable[[], T]) -> None:
    try:
        future.set_result(job())
    except BaseException as error:  # noqa: BLE001 - it is the answer, of whatever kind.
        future.set_exception(error)
