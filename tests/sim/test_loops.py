"""The virtual event loop: time jumps, order is the seed's, and death is final."""

import asyncio
from random import Random

import pytest
from msgspec.structs import replace

from laneway.sim.contract.plan import contract_plan
from laneway.sim.contract.world import ContractWorld
from laneway.sim.disks import MemoryDisk
from laneway.sim.loops import NothingHappens, SimLoop


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


# The loop of one process, in the layers without the shell.


def quiet_world() -> ContractWorld:
    """A world in which nothing goes wrong and nobody wants anything."""
    plan = replace(
        contract_plan(1), crash=0.0, freeze=0.0, lose=0.0, fault=0.0, delay_ms=40, processes=1
    )
    world = ContractWorld(plan, MemoryDisk())
    world.boot()
    return world


def pass_ms(world: ContractWorld, wait_ms: int) -> None:
    until_ms = world.now_ms + wait_ms
    world.after(wait_ms, "until", lambda: None)
    while world.now_ms < until_ms:
        world._step()


def test_what_a_process_waits_for_takes_the_time_of_its_world() -> None:
    world = quiet_world()
    (process,) = world.processes
    woken: list[int] = []

    async def sleeper() -> None:
        await asyncio.sleep(0.5)
        woken.append(world.now_ms)

    begun_ms = world.now_ms
    process.loop.run(lambda: process.loop.create_task(sleeper()))
    pass_ms(world, 499)
    assert woken == []
    pass_ms(world, 2)
    assert woken == [begun_ms + 500]
    process.end()


def test_a_timer_that_was_cancelled_takes_no_step() -> None:
    world = quiet_world()
    (process,) = world.processes
    pass_ms(world, 100)
    process.loop.run(lambda: process.loop.call_later(0.01, lambda: None).cancel())
    steps = world.steps
    pass_ms(world, 20)
    assert world.steps == steps + 1
    process.end()


def test_an_error_in_a_callback_ends_the_world() -> None:
    world = quiet_world()
    (process,) = world.processes
    process.loop.run(lambda: process.loop.call_later(0.01, [].pop))
    with pytest.raises(IndexError):
        pass_ms(world, 20)
    process.end()


def test_what_is_on_its_way_arrives_though_its_process_died() -> None:
    world = quiet_world()
    (process,) = world.processes
    arrived: list[int] = []
    done: list[str] = []

    async def sender() -> None:
        try:
            await process.link.begin("offer", lambda _: arrived.append(world.now_ms))
        finally:
            done.append("acted")

    process.loop.run(lambda: process.loop.create_task(sender()))
    world.crash(process, "test")
    assert done == ["acted"]  # Closed, with nothing that could act any more.
    pass_ms(world, 50)
    assert len(arrived) == 1
    world.processes[-1].end()


def test_an_answer_that_nobody_waits_for_any_more_is_dropped() -> None:
    world = quiet_world()
    (process,) = world.processes
    late: list[bool] = []

    async def hasty() -> None:
        try:
            async with asyncio.timeout(0.001):
                await process.link.answer("late", 30)
        except TimeoutError:
            late.append(True)

    process.loop.run(lambda: process.loop.create_task(hasty()))
    pass_ms(world, 50)
    assert late == [True]
    process.end()
