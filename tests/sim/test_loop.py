"""The virtual event loop: time jumps, order is the seed's, and death is final."""

import asyncio
from random import Random

import pytest

from laneway.sim.loop import NothingHappens, SimLoop


def drive(loop: SimLoop, main: "asyncio.Future[object]") -> None:
    main.add_done_callback(lambda _: loop.stop())
    loop.run_forever()


def test_time_jumps_to_the_next_timer() -> None:
    loop = SimLoop(Random(1), 100.0)
    drive(loop, loop.create_task(asyncio.sleep(3_600)))
    assert loop.time() == pytest.approx(3_700.0)
    loop.close()


def test_the_seed_orders_what_is_ready_at_once() -> None:
    def order(seed: int) -> list[int]:
        loop = SimLoop(Random(seed), 0.0)
        ran: list[int] = []
        for number in range(6):
            loop.call_soon(ran.append, number)
        drive(loop, loop.create_task(asyncio.sleep(1)))
        loop.close()
        return ran

    assert order(1) == order(1)
    assert len({tuple(order(seed)) for seed in range(10)}) > 1


def test_a_loop_that_dies_runs_no_further_callback() -> None:
    loop = SimLoop(Random(1), 0.0)
    loop.dies_at = 3
    ran: list[int] = []
    for number in range(10):
        loop.call_soon(ran.append, number)
    drive(loop, loop.create_task(asyncio.sleep(1)))
    assert loop.is_dead()
    assert len(ran) <= 2
    loop.bury()


def test_the_buried_do_nothing_in_their_finally() -> None:
    loop = SimLoop(Random(1), 0.0)
    loop.dies_at = 5
    done: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(1_000)
            await asyncio.sleep(1_000)
        finally:
            asyncio.get_running_loop().call_soon(done.append, "acted")

    drive(loop, loop.create_task(work()))
    loop.bury()
    assert done == []


def test_waiting_for_ever_is_an_error() -> None:
    loop = SimLoop(Random(1), 0.0)
    future = loop.create_future()
    with pytest.raises(NothingHappens):
        drive(loop, future)
    loop.close()


def test_an_error_in_a_callback_is_kept() -> None:
    loop = SimLoop(Random(1), 0.0)

    def fail() -> None:
        raise ValueError("seen")

    loop.call_soon(fail)
    drive(loop, loop.create_task(asyncio.sleep(1)))
    assert "seen" in str(loop.errors[0]["exception"])
    loop.close()
