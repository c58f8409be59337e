"""The laws of the contract execution queue (seed 004), through the library, on a real file.

Rounds of the devnet take a few milliseconds here instead of ten minutes; nothing else differs.
"""

import asyncio
import logging
import shutil
import threading
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from laneway.chains.contract_callable import CallableHost
from laneway.core.errors import Draining, IntentConflict, LaneFull
from laneway.core.ids import IntentId
from laneway.devnets.contract.model import ContractChain, RequestFault
from laneway.devnets.contract.node.host import EmbeddedHost
from laneway.lanes.contract import ContractSettings
from laneway.lanes.contract.show import QueueMetrics
from laneway.ports import ContractCall
from laneway.wiring.embedded import EngineStopped, Handle, Laneway, Settled

T = TypeVar("T")

ROUND_MS = 5
FAST = ContractSettings(retry_ms_min=5, retry_ms_max=20, search_ms=10)


class World:
    """A file and a chain that outlive the engines on them."""

    def __init__(self, folder: Path, round_ms: int = ROUND_MS) -> None:
        self.path = str(folder / "queue.db")
        self.chain = ContractChain(round_ms=round_ms, refuses=refuses)
        self.settings = FAST
        self.fault: Callable[[ContractCall], RequestFault] | None = None

    def host(self) -> EmbeddedHost:
        return EmbeddedHost(self.chain, fault=self.fault)

    @asynccontextmanager
    async def open(self, **settings: Any) -> Any:
        chosen = msgspec.structs.replace(self.settings, **settings)
        async with Laneway.open(self.path, self.host(), chosen) as laneway:
            yield laneway

    def data(self, contract: str) -> list[str]:
        """What the chain says was executed, in its order."""
        return [block.data for block in self.chain.history(contract)[1:]]


def refuses(call: ContractCall) -> str | None:
    return "the contract says no" if call.data.startswith("!") else None


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def results(handles: list[Handle]) -> list[Settled]:
    return list(await asyncio.gather(*(handle.result(20) for handle in handles)))


async def eventually(question: Callable[[], Awaitable[T]], answer: Callable[[T], bool]) -> T:
    """Ask until the answer is right; what is asked about moves by itself."""
    for _ in range(12_000):
        found = await question()
        if answer(found):
            return found
        await asyncio.sleep(0.005)
    raise AssertionError(f"it stayed {found}")


async def metrics(laneway: Laneway, contract: str = "Qm1") -> QueueMetrics:
    (row,) = [row for row in await laneway.metrics() if row.contract == contract]
    return row


# The seed's unit tests (§9).


def test_a_new_engine_has_no_queue_and_makes_one_on_demand(world: World) -> None:
    async def main() -> None:
        async with world.open() as laneway:
            assert await laneway.metrics() == []
            await laneway.submit("Qm1", "a")
            assert [row.contract for row in await laneway.metrics()] == ["Qm1"]
            await laneway.submit("Qm2", "a")
            assert [row.contract for row in await laneway.metrics()] == ["Qm1", "Qm2"]

    asyncio.run(main())


def test_a_single_request_is_executed_and_answered(world: World) -> None:
    async def main() -> None:
        async with world.open() as laneway:
            handle = await laneway.submit("Qm1", "transfer 5", executor="did:1")
            assert await handle.result(5) == Settled(handle.id, "confirmed", 1, "")

    asyncio.run(main())
    (block,) = world.chain.history("Qm1")[1:]
    assert (block.executor, block.data) == ("did:1", "transfer 5")


def test_the_first_five_fill_the_fast_queue(world: World) -> None:
    async def main() -> None:
        async with world.open() as laneway:
            await laneway.pause("Qm1")
            for number in range(5):
                await laneway.submit("Qm1", str(number))
            row = await metrics(laneway)
            assert (row.fast_queue_len, row.slow_queue_len) == (5, 0)
            assert (row.fast_hit_count, row.slow_hit_count) == (5, 0)

    asyncio.run(main())


def test_what_overflows_the_fast_queue_goes_to_the_slow_one(world: World) -> None:
    async def main() -> None:
        async with world.open() as laneway:
            await laneway.pause("Qm1")
            for number in range(10):
                await laneway.submit("Qm1", str(number))
            row = await metrics(laneway)
            assert (row.fast_queue_len, row.slow_queue_len) == (5, 5)
            assert (row.fast_hit_count, row.slow_hit_count) == (5, 5)

    asyncio.run(main())


def test_executions_run_first_in_first_out_also_past_the_fast_queue(world: World) -> None:
    """The seed's own two queues let a later job overtake one that had overflowed."""

    async def main() -> None:
        async with world.open() as laneway:
            handles = [await laneway.submit("Qm1", str(number)) for number in range(8)]
            await handles[2].result(5)
            handles += [await laneway.submit("Qm1", str(number)) for number in range(8, 16)]
            assert [done.block for done in await results(handles)] == list(range(1, 17))

    asyncio.run(main())
    assert world.data("Qm1") == [str(number) for number in range(16)]


@pytest.mark.slow
def test_concurrent_enqueues_from_many_tasks_lose_and_double_nothing(world: World) -> None:
    async def main() -> list[Settled]:
        async with world.open() as laneway:

            async def caller(name: int) -> list[Handle]:
                return [await laneway.submit("Qm1", f"{name}.{n}") for n in range(5)]

            handles = await asyncio.gather(*(caller(name) for name in range(20)))
            return await results([handle for own in handles for handle in own])

    settled = asyncio.run(main())
    assert sorted(done.block or 0 for done in settled) == list(range(1, 101))
    executed = world.data("Qm1")
    assert len(set(executed)) == 100
    for name in range(20):
        own = [datum for datum in executed if datum.startswith(f"{name}.")]
        assert own == [f"{name}.{n}" for n in range(5)], "each caller's order is kept"


@pytest.mark.slow
def test_concurrent_enqueues_from_many_threads_lose_and_double_nothing(world: World) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        async with world.open() as laneway:
            handles: list[Handle] = []

            def caller(name: int) -> None:
                for n in range(5):
                    submitting = laneway.submit("Qm1", f"{name}.{n}")
                    handles.append(asyncio.run_coroutine_threadsafe(submitting, loop).result(20))

            threads = [threading.Thread(target=caller, args=(name,)) for name in range(10)]
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                await asyncio.sleep(0.01)
            assert len(await results(handles)) == 50

    asyncio.run(main())
    executed = world.data("Qm1")
    assert len(set(executed)) == len(executed) == 50
    for name in range(10):
        own = [datum for datum in executed if datum.startswith(f"{name}.")]
        assert own == [f"{name}.{n}" for n in range(5)]


def test_the_metrics_are_exact_at_every_stage_and_bear_the_seeds_names(world: World) -> None:
    async def main() -> None:
        async with world.open() as laneway:
            await laneway.pause("Qm1")
            handles = [await laneway.submit("Qm1", str(number)) for number in range(7)]
            row = msgspec.to_builtins(await metrics(laneway))
            assert {name: row[name] for name in SEED_NAMES} == {
                "contract": "Qm1",
                "fastQueueLen": 5,
                "slowQueueLen": 2,
                "enqueueCount": 7,
                "executeCount": 0,
                "fastHitCount": 5,
                "slowHitCount": 2,
                "workerRunning": False,
            }
            await laneway.resume("Qm1")
            await results(handles)
            last = await metrics(laneway)
            assert (last.fast_queue_len, last.slow_queue_len) == (0, 0)
            assert (last.enqueue_count, last.execute_count) == (7, 7)
            assert (last.fast_hit_count, last.slow_hit_count) == (5, 2)
            assert last.worker_running

    asyncio.run(main())


SEED_NAMES = (
    "contract",
    "fastQueueLen",
    "slowQueueLen",
    "enqueueCount",
    "executeCount",
    "fastHitCount",
    "slowHitCount",
    "workerRunning",
)


def test_while_one_runs_the_lengths_count_what_waits(tmp_path: Path) -> None:
    world = World(tmp_path, round_ms=100)

    async def main() -> None:
        async with world.open() as laneway:
            for number in range(8):
                await laneway.submit("Qm1", str(number))
            row = await eventually(lambda: metrics(laneway), lambda row: row.execute_count == 1)
            assert (row.fast_queue_len, row.slow_queue_len) == (5, 2)

    asyncio.run(main())


def test_a_shutdown_loses_nothing_and_the_next_start_goes_on(world: World) -> None:
    async def first() -> None:
        async with world.open() as laneway:
            for number in range(6):
                await laneway.submit("Qm1", str(number))
            await laneway.close()
            with pytest.raises(Draining):
                await laneway.submit("Qm1", "late")

    async def second() -> None:
        async with world.open() as laneway:
            await eventually(lambda: metrics(laneway), lambda row: row.execute_count == 6)
            assert await laneway.close("queue")

    asyncio.run(first())
    asyncio.run(second())
    assert world.data("Qm1") == [str(number) for number in range(6)]


# The seed's integration and load tests (§9).


def test_ten_concurrent_executions_of_one_contract_all_succeed_in_order(world: World) -> None:
    async def main() -> list[Settled]:
        async with world.open() as laneway:
            submitting = (laneway.submit("Qm1", f"d{number}") for number in range(10))
            return await results(await asyncio.gather(*submitting))

    for number in range(3):  # Others were here before: N is 3.
        world.chain.begin(ContractCall("Qm1", "did:other", f"earlier{number}"), None, number * 10)
        world.chain.step(number * 10 + 10)
    settled = asyncio.run(main())
    assert [done.status for done in settled] == ["confirmed"] * 10
    assert [done.block for done in settled] == list(range(4, 14))
    assert world.data("Qm1")[3:] == [f"d{number}" for number in range(10)]


def test_three_contracts_run_in_parallel_and_each_in_order(tmp_path: Path) -> None:
    world = World(tmp_path, round_ms=8)
    contracts = ("QmA", "QmB", "QmC")
    running: list[tuple[int, ...]] = []

    def watch(_: ContractCall) -> RequestFault:
        running.append(tuple(world.chain.running(contract) for contract in contracts))
        return RequestFault.NONE

    world.fault = watch

    async def main() -> None:
        async with world.open() as laneway:
            submitting = [
                laneway.submit(contract, f"d{number}")
                for number in range(10)
                for contract in contracts
            ]
            assert len(await results(list(await asyncio.gather(*submitting)))) == 30

    asyncio.run(main())
    for contract in contracts:
        assert world.data(contract) == [f"d{number}" for number in range(10)]
        blocks = world.chain.history(contract)
        assert [block.number for block in blocks] == list(range(11))
    assert max(sum(counts) for counts in running) == 2, "two run while the third begins"
    assert max(max(counts) for counts in running) == 1, "never two of one contract"
    spans = [
        (world.chain.history(c)[1].made_ms, world.chain.history(c)[10].made_ms) for c in contracts
    ]
    assert max(begun for begun, _ in spans) < min(ended for _, ended in spans)


@pytest.mark.slow
def test_a_load_of_fifty_concurrent_requests_leaves_nothing_behind(world: World) -> None:
    async def main() -> None:
        async with world.open() as laneway:
            await asyncio.sleep(0.01)
            before = len(asyncio.all_tasks())
            handles = await asyncio.gather(*(laneway.submit("Qm1", str(n)) for n in range(50)))
            row = await metrics(laneway)
            assert (row.fast_hit_count, row.slow_hit_count) == (5, 45)
            settled = await results(list(handles))
            assert [done.block for done in settled] == list(range(1, 51))
            await asyncio.sleep(0.01)
            assert len(asyncio.all_tasks()) == before
            assert laneway.engine.reactor.is_idle()

    asyncio.run(main())


# Never a rejection.


@pytest.mark.slow
def test_ten_thousand_submissions_to_one_contract_are_all_accepted(tmp_path: Path) -> None:
    world = World(tmp_path, round_ms=60_000)

    async def main() -> None:
        async with world.open() as laneway:
            handles = await asyncio.gather(*(laneway.submit("Qm1", str(n)) for n in range(10_000)))
            assert len({handle.id for handle in handles}) == 10_000
            row = await metrics(laneway)
            assert (row.enqueue_count, row.fast_hit_count) == (10_000, 5)

    asyncio.run(main())


def test_above_its_limit_a_queue_accepts_and_warns(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with world.open(count_max=2) as laneway:
            handles = [await laneway.submit("Qm1", str(number)) for number in range(4)]
            assert len(await results(handles)) == 4

    with caplog.at_level(logging.WARNING, "laneway.contract"):
        asyncio.run(main())
    warned = [r for r in caplog.records if "Queue above its limit" in r.getMessage()]
    assert len(warned) == 2
    assert "contract=Qm1" in warned[0].getMessage()


@pytest.mark.parametrize("limit", [{"count_max": 2}, {"bytes_max": 25}])
def test_where_rejecting_is_wanted_a_full_lane_says_when_to_come_again(
    world: World, limit: dict[str, int]
) -> None:
    async def main() -> None:
        async with world.open(limit_policy="reject", **limit) as laneway:
            await laneway.pause("Qm1")
            handles = [await laneway.submit("Qm1", f"d{number}") for number in range(2)]
            with pytest.raises(LaneFull) as full:
                await laneway.submit("Qm1", "d2")
            assert full.value.retry_after_s > 0
            assert full.value.retry == "later"
            assert await laneway.submit("Qm2", "d0"), "the limit is each contract's own"
            await laneway.resume("Qm1")
            await results(handles)
            again = await laneway.submit("Qm1", "d2")
            assert (await again.result(5)).block == 3

    asyncio.run(main())
    assert world.data("Qm1") == ["d0", "d1", "d2"]


def test_a_batch_that_meets_the_limit_half_way_loses_none_of_what_was_accepted(
    world: World,
) -> None:
    async def main() -> None:
        async with world.open(limit_policy="reject", count_max=3) as laneway:
            await laneway.pause("Qm1")
            calls = [ContractCall("Qm1", "did:1", f"d{number}") for number in range(5)]
            handles = await laneway.submit_many(calls)
            assert [handle.refusal is None for handle in handles] == [True] * 3 + [False] * 2
            with pytest.raises(LaneFull):
                await handles[4].result()
            await laneway.resume("Qm1")
            assert [done.block for done in await results(handles[:3])] == [1, 2, 3]

    asyncio.run(main())


# Order of another kind.


def test_with_priorities_the_urgent_run_first_and_in_order_within_their_class(
    world: World,
) -> None:
    async def main() -> None:
        async with world.open(priorities=True) as laneway:
            await laneway.pause("Qm1")
            handles = [
                await laneway.submit("Qm1", f"{priority}{letter}", priority=priority)
                for letter in "abc"
                for priority in (2, 0, 3, 1)
            ]
            await laneway.resume("Qm1")
            await results(handles)

    asyncio.run(main())
    assert world.data("Qm1") == sorted(f"{p}{letter}" for p in range(4) for letter in "abc")


def test_something_urgent_overtakes_what_waits_and_not_what_runs(tmp_path: Path) -> None:
    world = World(tmp_path, round_ms=30)

    async def main() -> None:
        async with world.open(priorities=True) as laneway:
            handles = [await laneway.submit("Qm1", f"low{n}", priority=3) for n in range(3)]
            await eventually(lambda: metrics(laneway), lambda row: row.execute_count == 1)
            handles.append(await laneway.submit("Qm1", "urgent", priority=0))
            await results(handles)

    asyncio.run(main())
    assert world.data("Qm1") == ["low0", "urgent", "low1", "low2"]


def test_priorities_are_off_unless_asked_for(world: World) -> None:
    async def main() -> None:
        async with world.open() as laneway:
            await laneway.pause("Qm1")
            handles = [await laneway.submit("Qm1", str(p), priority=p) for p in (3, 0, 2)]
            await laneway.resume("Qm1")
            await results(handles)

    asyncio.run(main())
    assert world.data("Qm1") == ["3", "0", "2"]


# When it goes wrong.


def test_a_refused_execution_is_final_and_the_next_one_runs(world: World) -> None:
    async def main() -> None:
        async with world.open() as laneway:
            handles = [await laneway.submit("Qm1", data) for data in ("a", "!b", "c")]
            first, refused, last = await results(handles)
            assert (first.status, last.status, last.block) == ("confirmed", "confirmed", 2)
            assert (refused.status, refused.block) == ("refused", None)
            assert refused.reason == "the contract says no"
            assert not refused.is_confirmed()

    asyncio.run(main())


def test_the_breaker_opens_after_so_many_failures_and_half_opens_after_a_while(
    world: World,
) -> None:
    broken = True
    calls: list[float] = []

    def fail(_: ContractCall) -> RequestFault:
        calls.append(asyncio.get_running_loop().time())
        return RequestFault.CRASH_TOLD if broken else RequestFault.NONE

    world.fault = fail

    async def main() -> None:
        nonlocal broken
        async with world.open(breaker_failures=3, breaker_open_ms=150) as laneway:
            handles = [await laneway.submit("Qm1", f"d{number}") for number in range(2)]
            tripped = await eventually(
                lambda: laneway.lane("Qm1"), lambda lane: lane.state == "tripped"
            )
            assert tripped.failures == 3
            assert len(calls) == 3
            broken = False
            assert [done.block for done in await results(handles)] == [1, 2]
            assert calls[3] - calls[2] >= 0.15, "a tripped lane rests"
            assert (await laneway.lane("Qm1")).failures == 0

    asyncio.run(main())


def test_a_tripped_lane_leaves_the_others_alone(world: World) -> None:
    world.fault = lambda call: (
        RequestFault.CRASH_TOLD if call.contract == "Qm1" else RequestFault.NONE
    )

    async def main() -> None:
        async with world.open(breaker_failures=2, breaker_open_ms=60_000) as laneway:
            await laneway.submit("Qm1", "d")
            await eventually(lambda: laneway.lane("Qm1"), lambda lane: lane.state == "tripped")
            assert (await (await laneway.submit("Qm2", "d")).result(5)).block == 1

    asyncio.run(main())


@pytest.mark.parametrize("fault", [RequestFault.CRASH, RequestFault.LOST])
def test_an_execution_that_hangs_has_a_deadline_and_is_looked_for(
    world: World, fault: RequestFault
) -> None:
    """Whether the round died or only its answer: it is executed once."""
    faults = [fault]
    world.fault = lambda _: faults.pop() if faults else RequestFault.NONE

    async def main() -> None:
        async with world.open(execution_ms_max=60) as laneway:
            handles = [await laneway.submit("Qm1", data) for data in ("a", "b")]
            assert [done.block for done in await results(handles)] == [1, 2]

    asyncio.run(main())
    assert world.data("Qm1") == ["a", "b"]


def test_the_ages_of_the_oldest_waiting_and_of_the_running_job_are_shown(tmp_path: Path) -> None:
    world = World(tmp_path, round_ms=60_000)

    async def main() -> None:
        async with world.open() as laneway:
            await laneway.submit("Qm1", "runs")
            shown = await eventually(lambda: laneway.lane("Qm1"), lambda lane: lane.running == 1)
            assert shown.oldest_waiting_ms is None
            await laneway.submit("Qm1", "waits")
            await asyncio.sleep(0.05)
            await laneway.submit("Qm1", "waits too")
            shown = await laneway.lane("Qm1")
            assert (shown.state, shown.waiting, shown.running) == ("running", 2, 1)
            assert shown.running_ms is not None
            assert shown.oldest_waiting_ms is not None
            assert 50 <= shown.oldest_waiting_ms <= shown.running_ms < 5_000
            assert [lane.id for lane in await laneway.lanes()] == ["contract:Qm1"]

    asyncio.run(main())


# Draining.


def test_closing_can_finish_what_runs_and_leave_the_rest_for_the_next_start(
    tmp_path: Path,
) -> None:
    world = World(tmp_path, round_ms=40)

    async def first() -> None:
        async with world.open() as laneway:
            for number in range(3):
                await laneway.submit("Qm1", str(number))
            await eventually(lambda: metrics(laneway), lambda row: row.execute_count == 1)
            assert await laneway.close("running")

    async def second() -> None:
        async with world.open() as laneway:
            assert await laneway.close("queue")

    asyncio.run(first())
    assert world.data("Qm1") == ["0"]
    asyncio.run(second())
    assert world.data("Qm1") == ["0", "1", "2"]


def test_closing_can_finish_the_queue(world: World) -> None:
    async def main() -> None:
        async with world.open() as laneway:
            handles = [await laneway.submit(f"Qm{n % 3}", str(n)) for n in range(12)]
            assert await laneway.close("queue")
            assert len(await results(handles)) == 12

    asyncio.run(main())
    assert sum(len(world.data(f"Qm{n}")) for n in range(3)) == 12


def test_closing_now_waits_for_nothing_and_says_so_to_whoever_waits(tmp_path: Path) -> None:
    world = World(tmp_path, round_ms=100)

    async def first() -> IntentId:
        async with world.open() as laneway:
            handle: Handle = await laneway.submit("Qm1", "d", key="k")
            waiting = asyncio.ensure_future(handle.result())
            await eventually(lambda: metrics(laneway), lambda row: row.execute_count == 1)
            begun = asyncio.get_running_loop().time()
            await laneway.close("now")
            assert asyncio.get_running_loop().time() - begun < 0.09
            with pytest.raises(EngineStopped):
                await waiting
            with pytest.raises(EngineStopped):
                await handle.result()
            return handle.id

    async def second() -> None:
        async with world.open() as laneway:
            handle = await laneway.submit("Qm1", "d", key="k")
            assert handle.id == intent
            assert (await handle.result(5)).block == 1

    intent = asyncio.run(first())
    asyncio.run(second())
    assert world.data("Qm1") == ["d"], "the round that ran on is found, not repeated"


def test_closing_gives_up_a_drain_at_its_timeout(tmp_path: Path) -> None:
    world = World(tmp_path, round_ms=60_000)

    async def main() -> None:
        async with world.open() as laneway:
            await laneway.submit("Qm1", "d")
            assert not await laneway.close("queue", timeout_s=0.05)
            assert await laneway.close(), "closing twice is closing once"

    asyncio.run(main())


def test_a_lane_told_to_finish_its_queue_takes_nothing_that_came_after(tmp_path: Path) -> None:
    world = World(tmp_path, round_ms=10)

    async def main() -> None:
        async with world.open() as laneway:
            before = [await laneway.submit("Qm1", str(number)) for number in range(3)]
            await laneway.drain_lane("Qm1", "queue", reason="upgrade", by="ann")
            after = await laneway.submit("Qm1", "after")
            await results(before)
            shown = await eventually(
                lambda: laneway.lane("Qm1"), lambda lane: lane.state == "paused"
            )
            assert shown.waiting == 1
            await asyncio.sleep(0.03)
            assert world.data("Qm1") == ["0", "1", "2"]
            await laneway.resume("Qm1")
            assert (await after.result(5)).block == 4

    asyncio.run(main())


def test_a_lane_told_to_finish_what_runs_begins_nothing_more(tmp_path: Path) -> None:
    world = World(tmp_path, round_ms=30)

    async def main() -> None:
        async with world.open() as laneway:
            handles = [await laneway.submit("Qm1", str(number)) for number in range(3)]
            await eventually(lambda: metrics(laneway), lambda row: row.execute_count == 1)
            await laneway.drain_lane("Qm1", "running")
            await handles[0].result(5)
            await asyncio.sleep(0.05)
            assert world.data("Qm1") == ["0"]
            await laneway.resume("Qm1")
            await results(handles)

    asyncio.run(main())


# Operators.


def test_a_pause_survives_a_restart(world: World) -> None:
    async def first() -> None:
        async with world.open() as laneway:
            await laneway.pause("Qm1", reason="audit", by="ann")
            await laneway.submit("Qm1", "d")
            await eventually(lambda: laneway.lane("Qm1"), lambda lane: lane.state == "paused")

    async def second() -> None:
        async with world.open() as laneway:
            await asyncio.sleep(0.03)
            shown = await laneway.lane("Qm1")
            assert (shown.state, shown.reason, shown.waiting) == ("paused", "audit", 1)
            (queue,) = await laneway.metrics()
            assert not queue.worker_running
            assert world.data("Qm1") == []
            await laneway.resume("Qm1")
            await eventually(lambda: metrics(laneway), lambda row: row.execute_count == 1)
            assert await laneway.close("queue")

    asyncio.run(first())
    asyncio.run(second())
    assert world.data("Qm1") == ["d"]


def test_a_pause_that_was_answered_lets_nothing_more_begin(tmp_path: Path) -> None:
    world = World(tmp_path, round_ms=3)

    async def main() -> None:
        async with world.open() as laneway:
            await laneway.submit_many([ContractCall("Qm1", "did:1", str(n)) for n in range(300)])
            await eventually(lambda: metrics(laneway), lambda row: row.execute_count >= 3)
            await laneway.pause("Qm1")
            begun = (await metrics(laneway)).execute_count
            await eventually(
                lambda: laneway.lane("Qm1"),
                lambda lane: (lane.state, lane.running) == ("paused", 0),
            )
            await asyncio.sleep(0.03)
            # One may have been begun by the turn that was under way when the word was given.
            assert (await metrics(laneway)).execute_count <= begun + 1 < 300

    asyncio.run(main())


def test_a_waiting_execution_can_be_cancelled_and_a_running_one_cannot(tmp_path: Path) -> None:
    world = World(tmp_path, round_ms=30)

    async def main() -> None:
        async with world.open() as laneway:
            handles = [await laneway.submit("Qm1", str(number)) for number in range(3)]
            await eventually(lambda: metrics(laneway), lambda row: row.execute_count == 1)
            await handles[0].cancel()
            await handles[1].cancel(reason="changed my mind", by="ann")
            first, cancelled, last = await results(handles)
            assert (first.status, first.block) == ("confirmed", 1)
            assert (cancelled.status, cancelled.reason) == ("cancelled", "changed my mind")
            assert (last.status, last.block) == ("confirmed", 2)
            row = await metrics(laneway)
            assert (row.enqueue_count, row.execute_count) == (3, 2)

    asyncio.run(main())


def test_an_intent_cancelled_while_paused_is_not_executed_after_the_resume(world: World) -> None:
    async def main() -> None:
        async with world.open() as laneway:
            await laneway.pause("Qm1")
            handles = [await laneway.submit("Qm1", str(number)) for number in range(3)]
            await asyncio.gather(handles[0].cancel(), laneway.resume("Qm1"))
            settled = await results(handles)
            assert [done.status for done in settled] == ["cancelled", "confirmed", "confirmed"]

    asyncio.run(main())
    assert world.data("Qm1") == ["1", "2"]


def test_an_execution_that_waited_too_long_expires_and_is_passed(world: World) -> None:
    async def main() -> None:
        async with world.open() as laneway:
            await laneway.pause("Qm1")
            late = await laneway.submit("Qm1", "late", valid_until_ms=1)
            handles = [late, await laneway.submit("Qm1", "valid")]
            await laneway.resume("Qm1")
            assert [done.status for done in await results(handles)] == ["expired", "confirmed"]

    asyncio.run(main())
    assert world.data("Qm1") == ["valid"]


# Doubt.

DOUBTFUL = msgspec.structs.replace(FAST, execution_ms_max=30)


async def halted(laneway: Laneway) -> Handle:
    """A lane whose only execution failed in a way that proves nothing."""
    handle = await laneway.submit("Qm1", "d")
    await eventually(lambda: laneway.lane("Qm1"), lambda lane: lane.state == "halted")
    return handle


class Flaky:
    """A callable that fails once, nobody knows how far it came."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def __call__(self, call: ContractCall, parent: int) -> int:
        self.calls.append(call.data)
        if len(self.calls) == 1:
            raise ConnectionResetError("cut off")
        return parent + 1


def test_an_unknown_outcome_of_a_callable_halts_the_lane_and_says_why(tmp_path: Path) -> None:
    async def main() -> None:
        path = str(tmp_path / "q.db")
        flaky = Flaky()
        async with Laneway.open(path, CallableHost(flaky), DOUBTFUL) as laneway:
            handle = await halted(laneway)
            shown = await laneway.lane("Qm1")
            assert "unknown" in shown.reason
            assert shown.running == 1
            seen = await laneway.show(handle.id)
            assert seen.status == "submitted"
            assert "halted" in seen.reason
            assert "unknown" in seen.reason
            later = await laneway.submit("Qm1", "later")
            assert (await laneway.show(later.id)).status == "queued"
            await asyncio.sleep(0.1)
            assert flaky.calls == ["d"], "it is never simply repeated"

    asyncio.run(main())


@pytest.mark.parametrize(
    ("word", "status", "calls"),
    [("executed", "confirmed", ["d", "later"]), ("not_executed", "confirmed", ["d", "d", "later"])],
)
def test_a_person_settles_what_only_a_person_can_know(
    tmp_path: Path, word: str, status: str, calls: list[str]
) -> None:
    async def main() -> None:
        flaky = Flaky()
        path = str(tmp_path / "q.db")
        async with Laneway.open(path, CallableHost(flaky), DOUBTFUL) as laneway:
            handle = await halted(laneway)
            later = await laneway.submit("Qm1", "later")
            await laneway.settle(handle.id, word, reason="I looked", by="ann")
            first, second = await results([handle, later])
            assert (first.status, second.status) == (status, "confirmed")
            assert flaky.calls == calls

    asyncio.run(main())


def test_a_halted_lane_does_not_hold_up_a_close_for_ever(tmp_path: Path) -> None:
    async def main() -> None:
        path = str(tmp_path / "q.db")
        async with Laneway.open(path, CallableHost(Flaky()), DOUBTFUL) as laneway:
            await halted(laneway)
            async with asyncio.timeout(5):
                assert not await laneway.close("queue"), "its work has not ended"

    asyncio.run(main())


# Crashes.


@pytest.mark.slow
def test_after_a_hard_stop_everything_is_executed_exactly_once(tmp_path: Path) -> None:
    """The files are copied while the engine runs, as a crash would leave them."""
    world = World(tmp_path, round_ms=4)
    contracts = [f"Qm{n}" for n in range(4)]

    calls = [ContractCall(contract, "did:1", str(n)) for n in range(10) for contract in contracts]
    keys = [f"{call.contract}.{call.data}" for call in calls]

    def executed() -> int:
        return sum(len(world.data(contract)) for contract in contracts)

    async def life(number: int, *, last: bool) -> None:
        laneway = Laneway.open(world.path, world.host(), world.settings)
        await laneway.__aenter__()
        handles = await laneway.submit_many(calls, keys)
        if last:
            assert {done.status for done in await results(handles)} == {"confirmed"}
            await laneway.close()
            return
        while executed() < 10 * (number + 1):
            await asyncio.sleep(0.001)
        copy = str(tmp_path / f"life{number}.db")
        for suffix in ("", "-wal"):
            shutil.copyfile(world.path + suffix, copy + suffix)
        world.path = copy
        # Nothing is closed: the loop ends, and with it all that this process had under way.

    for number in range(4):
        asyncio.run(life(number, last=number == 3))
    for contract in contracts:
        assert world.data(contract) == [str(n) for n in range(10)]


# Idempotency.


def test_the_same_key_and_body_are_one_intent_also_after_a_restart(world: World) -> None:
    async def first() -> IntentId:
        async with world.open() as laneway:
            one = await laneway.submit("Qm1", "pay 5", executor="did:1", key="order-7")
            two = await laneway.submit("Qm1", "pay 5", executor="did:1", key="order-7")
            assert (one.replayed, two.replayed) == (False, True)
            assert one.id == two.id
            assert await one.result(5) == await two.result(5)
            found: IntentId = one.id
            return found

    async def second() -> None:
        async with world.open() as laneway:
            again = await laneway.submit("Qm1", "pay 5", executor="did:1", key="order-7")
            assert (again.id, again.replayed) == (intent, True)
            assert (await again.result(5)).block == 1
            with pytest.raises(IntentConflict) as conflict:
                await laneway.submit("Qm1", "pay 6", executor="did:1", key="order-7")
            assert conflict.value.intent == intent

    intent = asyncio.run(first())
    asyncio.run(second())
    assert world.data("Qm1") == ["pay 5"]


def test_the_same_key_with_another_body_is_a_conflict_and_changes_nothing(world: World) -> None:
    async def main() -> None:
        async with world.open() as laneway:
            first = await laneway.submit("Qm1", "pay 5", key="order-7")
            for other in (
                laneway.submit("Qm1", "pay 6", key="order-7"),
                laneway.submit("Qm2", "pay 5", key="order-7"),
                laneway.submit("Qm1", "pay 5", executor="did:2", key="order-7"),
            ):
                with pytest.raises(IntentConflict):
                    await other
            assert (await first.result(5)).block == 1
            row = await metrics(laneway)
            assert row.enqueue_count == 1

    asyncio.run(main())


def test_a_handle_of_a_replay_waits_for_the_result(tmp_path: Path) -> None:
    world = World(tmp_path, round_ms=30)

    async def main() -> None:
        async with world.open() as laneway:
            await laneway.submit("Qm1", "pay 5", key="order-7")
            replay = await laneway.submit("Qm1", "pay 5", key="order-7")
            assert replay.replayed
            assert (await replay.result(5)).block == 1
            assert (await replay.result(5)).block == 1

    asyncio.run(main())


def test_many_callers_with_one_key_make_one_intent(world: World) -> None:
    async def main() -> None:
        async with world.open() as laneway:
            handles = await asyncio.gather(
                *(laneway.submit("Qm1", "pay 5", key="order-7") for _ in range(100))
            )
            assert len({handle.id for handle in handles}) == 1
            assert sum(not handle.replayed for handle in handles) == 1
            await results(list(handles))

    asyncio.run(main())
    assert world.data("Qm1") == ["pay 5"]


# Idleness.


class CountingLoop(asyncio.SelectorEventLoop):
    turns = 0

    def _run_once(self) -> None:
        self.turns += 1
        super()._run_once()  # type: ignore[misc]


@pytest.mark.slow
def test_a_thousand_idle_contracts_cost_no_task_no_timer_and_no_wakeup(tmp_path: Path) -> None:
    world = World(tmp_path, round_ms=1)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, CountingLoop)
        async with world.open() as laneway:
            calls = [ContractCall(f"Qm{n}", "did:1", "d") for n in range(1_000)]
            await results(await laneway.submit_many(calls))
            await asyncio.sleep(0.05)
            assert len(laneway.engine.reactor._idle) == 1_000
            others = asyncio.all_tasks() - {asyncio.current_task()}
            assert [task.get_name() for task in others] == ["laneway-heart"]
            timers = [t for t in loop._scheduled if not t.cancelled()]  # type: ignore[attr-defined]
            assert len(timers) == 1, "the heartbeat's"
            turns = loop.turns
            await asyncio.sleep(1)
            # One sleep of ours and at most one heartbeat of the process.
            assert loop.turns - turns <= 10

    with asyncio.Runner(loop_factory=CountingLoop) as runner:
        runner.run(main())
