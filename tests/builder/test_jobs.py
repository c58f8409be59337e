"""A thread of jobs: each is done in its turn, and what it raises is its answer."""

import gc
import weakref
from threading import Event, current_thread

import pytest

from laneway.builder.jobs import JobThread

LONG_S = 30.0


def test_jobs_are_done_in_their_order_by_one_thread_that_nothing_waits_for() -> None:
    thread, done = JobThread("jobs"), list[int]()
    futures = [thread.submit(lambda n=n: done.append(n)) for n in range(5)]  # type: ignore[misc]
    worker = thread.submit(current_thread).result(LONG_S)
    assert (worker.name, worker.daemon, done) == ("jobs", True, [0, 1, 2, 3, 4])
    assert all(one.done() for one in futures)
    thread.shutdown()
    worker.join(LONG_S)
    assert not worker.is_alive()


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(3)])
def test_what_a_job_raises_is_its_answer_and_the_next_one_is_done(error: BaseException) -> None:
    def failing() -> None:
        raise error

    thread = JobThread("jobs")
    with pytest.raises(type(error)):
        thread.submit(failing).result(LONG_S)
    assert thread.submit(lambda: 3).result(LONG_S) == 3
    thread.shutdown()


def test_a_job_that_is_taken_back_in_time_is_not_done() -> None:
    thread, may_end, done = JobThread("jobs"), Event(), list[int]()
    first = thread.submit(lambda: may_end.wait(LONG_S))
    second = thread.submit(lambda: done.append(2))
    assert second.cancel()
    may_end.set()
    assert first.result(LONG_S)
    assert thread.submit(lambda: 3).result(LONG_S) == 3
    assert done == []
    thread.shutdown()


def test_a_thread_is_left_with_what_it_does_and_ends_after_that() -> None:
    thread, began, may_end = JobThread("jobs"), Event(), Event()
    worker = thread.submit(current_thread).result(LONG_S)

    def endless() -> int:
        began.set()
        may_end.wait(LONG_S)
        return 1

    stuck, after = thread.submit(endless), thread.submit(current_thread)
    assert thread.leave(after) is None, "it was not begun"
    assert began.wait(LONG_S)
    assert (thread.is_doing(stuck), thread.is_doing(after)) == (True, False)
    other = thread.leave(stuck)
    assert other is not None
    assert after.result(LONG_S) is other.submit(current_thread).result(LONG_S) is not worker
    assert worker.is_alive()
    may_end.set()
    assert stuck.result(LONG_S) == 1
    worker.join(LONG_S)
    assert not worker.is_alive()
    assert thread.leave(stuck) is None, "it is done"
    other.shutdown()


def test_nothing_is_held_of_a_job_that_is_done() -> None:
    class Large:
        pass

    large, thread = Large(), JobThread("jobs")
    kept = weakref.ref(large)
    thread.submit(lambda large=large: None).result(LONG_S)  # type: ignore[misc]
    del large
    while kept() is not None:
        gc.collect()
    thread.shutdown()


def test_a_thread_without_jobs_is_none() -> None:
    thread = JobThread("jobs")
    thread.shutdown()
    assert not thread._thread.is_alive()
