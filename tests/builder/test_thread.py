"""The builder's thread: one job after the other, and each that is slow is at fault alone."""

import asyncio
import gc
import subprocess
import sys
from collections.abc import Awaitable, Callable
from threading import Event
from typing import Any

import pytest

from laneway.builder.orders import IF_IT_STAYS
from laneway.builder.thread import BuilderThread
from laneway.core.errors import BuildFailed, StoreBusy, StoreRefused

LONG_S = 30.0
SHORT_S = 0.05


def story(tale: Callable[[], Awaitable[None]]) -> None:
    complaints: list[dict[str, Any]] = []

    async def whole() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, what: complaints.append(what))
        async with asyncio.timeout(LONG_S):
            await tale()
        gc.collect()
        await asyncio.sleep(0)

    asyncio.run(whole())
    assert complaints == []


async def failure(coroutine: Awaitable[object]) -> BuildFailed:
    with pytest.raises(BuildFailed) as failed:
        await coroutine
    return failed.value


def nothing() -> None:
    pass


def test_jobs_are_done_one_after_the_other_also_those_nobody_waits_for() -> None:
    async def tale() -> None:
        thread = BuilderThread(LONG_S)
        may_end, done = Event(), list[int]()

        def slow() -> None:
            may_end.wait(LONG_S)
            done.append(1)

        given_up = asyncio.create_task(thread.in_time(slow))
        await asyncio.sleep(0)
        after = asyncio.create_task(thread.do(lambda: done.append(2)))
        await asyncio.sleep(0)
        given_up.cancel()
        may_end.set()
        await after
        assert done == [1, 2]
        await thread.close(nothing)

    story(tale)


def test_what_the_rules_raise_is_final_and_what_the_file_says_is_not() -> None:
    async def tale() -> None:
        thread = BuilderThread(LONG_S)

        def busy() -> None:
            raise StoreBusy("the disk")

        assert await thread.in_time(lambda: 3) == 3
        failed = await failure(thread.in_time(lambda: 1 // 0))
        assert ("ZeroDivisionError" in str(failed), failed.final) == (True, True)
        for ask in (thread.do, thread.in_time):
            failed = await failure(ask(busy))
            assert ("the disk" in str(failed), failed.final) == (True, False)
        assert not failed.needs_help, "a full disk is no reason to halt"
        failed = await failure(thread.ruled(lambda: 1 // 0))
        assert ("ZeroDivisionError" in str(failed), failed.final) == (True, False)
        with pytest.raises(ZeroDivisionError):
            await thread.do(lambda: 1 // 0)
        failed = await failure(thread.close(busy))
        assert "the disk" in str(failed)

    story(tale)


def test_what_the_rules_of_an_order_call_passing_says_what_to_do() -> None:
    async def tale() -> None:
        thread = BuilderThread(LONG_S)

        def away() -> None:
            raise BuildFailed("an oracle is away")

        failed = await failure(thread.in_time(away))
        assert (str(failed), failed.final) == (f"an oracle is away{IF_IT_STAYS}", False)
        assert str(await failure(thread.ruled(away))) == "an oracle is away"
        await thread.close(nothing)

    story(tale)


def test_a_file_that_is_refused_while_it_is_in_use_needs_an_operator() -> None:
    async def tale() -> None:
        thread = BuilderThread(LONG_S)

        def refused() -> None:
            raise StoreRefused("rollup.db", "it is damaged")

        for ask in (thread.do, thread.in_time, thread.ruled):
            failed = await failure(ask(refused))
            assert "it is damaged" in str(failed)
            assert (failed.final, failed.needs_help) == (False, True)
        await thread.close(nothing)

    story(tale)


def test_what_takes_longer_than_its_time_is_final_and_others_are_not_blamed() -> None:
    async def tale() -> None:
        thread = BuilderThread(SHORT_S, left_max=0)
        begun, may_end = asyncio.Event(), Event()
        loop = asyncio.get_running_loop()

        def slow() -> None:
            loop.call_soon_threadsafe(begun.set)
            may_end.wait(LONG_S)

        late = asyncio.create_task(thread.in_time(slow))
        waiting: list[asyncio.Task[Any]] = []
        await begun.wait()
        while not late.done():
            # Those that came before its time was over, and never began.
            waiting.append(asyncio.create_task(thread.do(nothing)))
            waiting.append(asyncio.create_task(thread.in_time(nothing)))
            await asyncio.sleep(SHORT_S / 10)
        failed = await failure(late)
        assert ("it takes longer than 0.05 s to execute" in str(failed), failed.final) == (
            True,
            True,
        )
        for one in (*waiting, thread.do(nothing), thread.in_time(nothing)):
            failed = await failure(one)
            assert "it is still executing what it was to execute in 0.05 s" in str(failed)
            assert not failed.final
        may_end.set()
        while True:
            try:
                assert await thread.do(lambda: 3) == 3
                break
            except BuildFailed:
                await asyncio.sleep(0.001)
        await thread.close(nothing)

    story(tale)


def test_the_time_of_a_job_begins_when_those_before_it_are_done() -> None:
    async def tale() -> None:
        thread = BuilderThread(LONG_S / 2)
        before = Event()
        asked = asyncio.create_task(thread.do(lambda: before.wait(LONG_S)))
        await asyncio.sleep(0)
        thread._s_max = SHORT_S
        after = asyncio.create_task(thread.in_time(lambda: 3))
        await asyncio.sleep(4 * SHORT_S)
        was_answered = after.done()
        thread._s_max = LONG_S / 2
        before.set()
        assert not was_answered
        assert (await asked, await after) == (True, 3)
        await thread.close(nothing)

    story(tale)


def test_a_caller_who_gives_up_is_cancelled_and_not_answered() -> None:
    async def tale() -> None:
        thread = BuilderThread(LONG_S)
        may_end = Event()
        asked = [asyncio.create_task(thread.do(lambda: may_end.wait(LONG_S))) for _ in range(2)]
        await asyncio.sleep(0)
        for one in asked:
            one.cancel()
        answers = await asyncio.gather(*asked, return_exceptions=True)
        assert [type(one) for one in answers] == [asyncio.CancelledError] * 2
        may_end.set()
        await thread.close(nothing)
        assert str(await failure(thread.do(nothing))) == "the builder is closed"

    story(tale)


def test_a_job_that_was_given_up_and_does_not_end_keeps_nobody_waiting_without_a_word() -> None:
    async def tale() -> None:
        thread = BuilderThread(LONG_S, left_max=0)
        may_end, began = Event(), Event()

        def endless() -> None:
            began.set()
            may_end.wait(LONG_S)

        given_up = asyncio.create_task(thread.in_time(endless))
        while not began.is_set():
            await asyncio.sleep(0.001)
        thread._s_max = SHORT_S
        given_up.cancel()
        failed = await failure(thread.in_time(nothing))
        assert ("restart" in str(failed), failed.final) == (True, False)
        assert thread.is_busy()
        may_end.set()
        while thread.is_busy():
            await asyncio.sleep(0.001)
        thread._s_max = LONG_S
        await thread.in_time(nothing)
        await thread.close(nothing)

    story(tale)


def test_a_thread_is_left_with_a_job_that_does_not_end_and_another_one_goes_on() -> None:
    async def tale() -> None:
        thread = BuilderThread(SHORT_S, left_max=2)
        may_end, done = Event(), list[int]()

        def endless() -> None:
            may_end.wait(LONG_S)

        async def too_long() -> None:
            after = asyncio.create_task(thread.do(lambda: done.append(len(done))))
            failed = await failure(thread.in_time(endless))
            assert ("takes longer than 0.05 s" in str(failed), failed.final) == (True, True)
            await after

        await too_long()
        late = asyncio.create_task(thread.in_time(endless))
        await asyncio.sleep(0)
        after = asyncio.create_task(thread.do(lambda: done.append(len(done))))
        assert (await failure(late)).final
        await after  # It was handed in before that thread was left, and lost nothing by it.
        assert done == [0, 1]
        assert (await failure(thread.in_time(endless))).final
        failed = await failure(thread.do(nothing))
        assert "restart" in str(failed), "as many threads were left as may be"
        may_end.set()
        while thread.is_busy():
            await asyncio.sleep(0.001)
        may_end.clear()
        await too_long()  # Those that ended count no longer.
        may_end.set()
        await thread.close(nothing)

    story(tale)


def test_a_job_that_nobody_waits_for_has_its_time_when_its_turn_comes() -> None:
    """A thread is never left while it does something else than what took too long."""

    async def tale() -> None:
        thread = BuilderThread(LONG_S)
        before, may_end, done = Event(), Event(), list[int]()
        first = asyncio.create_task(thread.do(lambda: before.wait(LONG_S)))
        given_up = asyncio.create_task(thread.in_time(lambda: may_end.wait(LONG_S)))
        last = asyncio.create_task(thread.do(lambda: done.append(1)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        thread._s_max = SHORT_S
        given_up.cancel()
        await asyncio.sleep(3 * SHORT_S)
        assert (done, thread.is_busy()) == ([], False)
        before.set()
        await first
        await last
        assert done == [1]
        assert not may_end.is_set(), "the job that was given up goes on alone"
        may_end.set()
        await thread.close(nothing)

    story(tale)


def test_closing_waits_for_what_ends_and_not_for_what_does_not() -> None:
    async def tale() -> None:
        may_end, closed = Event(), list[int]()
        for s_max in (LONG_S, SHORT_S):
            thread = BuilderThread(SHORT_S, left_max=0)
            late = await failure(thread.in_time(lambda: may_end.wait(LONG_S)))
            assert late.final
            closing = asyncio.create_task(thread.close(lambda: closed.append(1), s_max))
            if s_max == LONG_S:
                await asyncio.sleep(0)
                assert not closing.done()
                may_end.set()
            assert await closing == (s_max == LONG_S)
            may_end.clear()
        may_end.set()
        assert closed == [1]

    story(tale)


STUCK = """
import asyncio
from threading import Event
from laneway.builder.thread import BuilderThread
from laneway.core.errors import BuildFailed

async def main():
    thread = BuilderThread(0.05, left_max=0)
    try:
        await thread.in_time(Event().wait)
    except BuildFailed as error:
        print(error)
    print(await thread.close(print, 0.05))

asyncio.run(main())
"""


@pytest.mark.slow
def test_a_process_ends_although_a_job_never_does() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STUCK], capture_output=True, timeout=120, check=True, text=True
    )
    assert done.stdout.splitlines() == ["it takes longer than 0.05 s to execute", "False"]
