"""Deadlines of many calls under one timer."""

import asyncio

import pytest
from tests.engine.virtual import VirtualTime

from laneway.engine.expiry import Expiries


async def call(expiries: Expiries, deadline_ms: int, lasts_s: float) -> str:
    task = expiries.watch(deadline_ms)
    try:
        await asyncio.sleep(lasts_s)
    except asyncio.CancelledError:
        if not expiries.has_passed(task):
            raise
        return "passed"
    finally:
        expiries.end(task)
    return "done"


def test_a_call_that_hangs_is_cancelled_at_its_deadline_and_told_why() -> None:
    time = VirtualTime()

    async def main() -> tuple[str, int]:
        expiries = Expiries(time)
        begun_ms = time.now_ms()
        answer = await asyncio.create_task(call(expiries, begun_ms + 1_500, 1e9))
        return answer, time.now_ms() - begun_ms

    assert time.run(main()) == ("passed", 1_500)


def test_a_call_that_ends_in_time_is_left_alone() -> None:
    time = VirtualTime()

    async def main() -> str:
        return await asyncio.create_task(call(Expiries(time), time.now_ms() + 1_500, 1))

    assert time.run(main()) == "done"


def test_many_calls_share_one_timer_and_each_ends_at_its_own_deadline() -> None:
    time = VirtualTime()
    ended: list[tuple[int, str]] = []

    async def one(expiries: Expiries, begun_ms: int, number: int) -> None:
        answer = await call(expiries, begun_ms + 1_000 * (50 - number), 25)
        ended.append(((time.now_ms() - begun_ms) // 1_000, answer))

    async def main() -> None:
        expiries = Expiries(time)
        begun_ms = time.now_ms()
        tasks = [asyncio.create_task(one(expiries, begun_ms, number)) for number in range(50)]
        await asyncio.sleep(0.001)
        # Each call sleeps by a timer of its own; all deadlines have one between them.
        assert len(time.timers()) == 50 + 1
        await asyncio.gather(*tasks)

    time.run(main())
    assert [at for at, answer in ended if answer == "passed"] == list(range(1, 26))
    assert sum(answer == "done" for _, answer in ended) == 25


def test_nothing_under_way_needs_no_timer() -> None:
    time = VirtualTime()

    async def main() -> int:
        expiries = Expiries(time)
        await asyncio.create_task(call(expiries, time.now_ms() + 1_800_000, 1))
        return len(time.timers())

    assert time.run(main()) == 0


def test_a_call_cancelled_by_someone_else_is_not_taken_for_late() -> None:
    time = VirtualTime()

    async def main() -> None:
        expiries = Expiries(time)
        task = asyncio.create_task(call(expiries, time.now_ms() + 1_500, 1e9))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    time.run(main())


def test_a_wall_clock_that_is_set_back_only_makes_the_call_wait() -> None:
    time = VirtualTime()

    async def main() -> int:
        expiries = Expiries(time)
        begun_ms = time.monotonic_ms()
        task = asyncio.create_task(call(expiries, time.now_ms() + 1_000, 1e9))
        await asyncio.sleep(0.5)
        time.wall_ms -= 10_000
        assert await task == "passed"
        return time.monotonic_ms() - begun_ms

    assert time.run(main()) == 11_000
