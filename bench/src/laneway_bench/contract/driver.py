"""laneway as a contestant: a thin, fair driver over its public library.

Work is offered by `submit_many`, a bounded number outstanding, without busy waiting; a job counts
when the listener gets its final answer, which is after the sync that made it durable.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from heapq import heappop, heappush
from typing import Any

from laneway.chains.contract_callable import CallableHost, InlineHost
from laneway.core.errors import Bug
from laneway.core.ids import LaneId
from laneway.core.rows import Result
from laneway.engine.listeners import Listener
from laneway.ports import ContractCall
from laneway.wiring.embedded import Laneway
from laneway_bench.contestant import rss_mb, say, serve, tune
from laneway_bench.limits import (
    BATCH,
    FILL_BATCH,
    GUARD_S,
    LANES_PAGE,
    OUTSTANDING_MIN,
    OUTSTANDING_PER_CONTRACT,
    PRODUCERS_MAX,
)
from laneway_bench.watch import Stopwatch


def noop(_call: ContractCall, parent: int) -> int:
    """The work itself."""
    return parent + 1


async def noop_coroutine(_call: ContractCall, parent: int) -> int:
    """The same as a coroutine, in a task of its own as every call over a network is."""
    return parent + 1


class Count(Listener):
    """A listener that counts final answers, and wakes those who wait for a number of them."""

    def __init__(self) -> None:
        self.done = 0
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._asked = 0

    async def reach(self, done: int) -> None:
        if self.done < done:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._asked += 1
            heappush(self._waiting, (done, self._asked, future))
            await future

    def notified(self, _lane: LaneId, _records: Sequence[Any], results: Sequence[Result]) -> None:
        self.done += len(results)
        while self._waiting and self._waiting[0][0] <= self.done:
            heappop(self._waiting)[2].set_result(None)


class JobGate:
    """A no-op that runs only so often, so that a backlog stands still while it is filled."""

    def __init__(self) -> None:
        self._left = 0
        self._shut: list[asyncio.Future[None]] = []

    def let_pass(self, jobs: int) -> None:
        self._left += jobs
        shut, self._shut = self._shut, []
        for future in shut:
            future.set_result(None)

    async def execute(self, _call: ContractCall, parent: int) -> int:
        while self._left == 0:
            future = asyncio.get_running_loop().create_future()
            self._shut.append(future)
            await future
        self._left -= 1
        return parent + 1


def outstanding_max(contracts: int) -> int:
    return max(OUTSTANDING_MIN, OUTSTANDING_PER_CONTRACT * contracts)


def producers(outstanding: int, batch: int) -> int:
    """How many submit at once: enough to reach the bound, and no crowd."""
    return max(1, min(PRODUCERS_MAX, outstanding // batch))


class Driven:
    """One engine on one store, and how much was offered to it."""

    def __init__(self, store: str, host: str) -> None:
        self._gate = JobGate() if host == "gated" else None
        self._count = Count()
        self._laneway = Laneway.open(store, self._host(host), listeners=[self._count])
        self._sent = 0

    def _host(self, name: str) -> CallableHost:
        if self._gate is not None:
            return CallableHost(self._gate.execute)
        return InlineHost(noop) if name == "inline" else CallableHost(noop_coroutine)

    async def start(self) -> None:
        await self._laneway.__aenter__()

    async def guard(self) -> None:
        """Raise what stopped the engine or a lane of it; a count would be waited for in vain."""
        while True:
            await asyncio.sleep(GUARD_S)
            if self._laneway.engine.failure is not None:
                raise self._laneway.engine.failure
            for fault in self._laneway.engine.faults.values():
                raise Bug(fault.evidence())

    async def run(self, jobs: int, contracts: int, outstanding: int) -> dict[str, float]:
        """Offer and execute `jobs`; whatever waited before still waits afterwards."""
        waiting = self._sent - self._count.done
        if self._gate is not None:
            self._gate.let_pass(jobs)
        watch = Stopwatch()
        await self._offer(jobs, contracts, waiting + outstanding, BATCH)
        await self._count.reach(self._sent - waiting)
        return watch.read()

    async def share(self, jobs: int, contracts: int) -> dict[str, float]:
        """Offer `jobs` beside other processes; any of them may execute them, each exactly once."""
        watch = Stopwatch()
        first = iter(range(0, jobs, BATCH))

        async def produce() -> None:
            for number in first:
                calls = [
                    ContractCall(f"c{other % contracts}", "did:bench", f"data{other}")
                    for other in range(number, min(jobs, number + BATCH))
                ]
                handles = await self._laneway.submit_many(calls)
                await asyncio.gather(*(handle.result() for handle in handles))

        outstanding = outstanding_max(contracts)
        await asyncio.gather(*(produce() for _ in range(producers(outstanding, BATCH))))
        return watch.read()

    async def fill(self, jobs: int, contracts: int) -> None:
        """Let `count` wait; nothing is executed meanwhile."""
        begun, step = self._sent, max(1, jobs // 100)
        while self._sent - begun < jobs:
            some = min(step, jobs - (self._sent - begun))
            await self._offer(some, contracts, sys.maxsize, FILL_BATCH)
            say(progress=(self._sent - begun) / jobs)

    async def _offer(self, jobs: int, contracts: int, outstanding: int, batch: int) -> None:
        """Several producers take turns over the contracts; each waits for its own answers."""
        end = self._sent + jobs

        async def produce() -> None:
            while self._sent < end:
                first, size = self._sent, min(batch, end - self._sent)
                self._sent += size
                await self._count.reach(first + size - outstanding)
                await self._laneway.submit_many(
                    [
                        ContractCall(f"c{number % contracts}", "did:bench", f"data{number}")
                        for number in range(first, first + size)
                    ]
                )

        await asyncio.gather(*(produce() for _ in range(producers(outstanding, batch))))

    async def close(self) -> int:
        """End what runs, take nothing more, and say how many executions the store holds."""
        if self._gate is not None:
            self._gate.let_pass(sys.maxsize)
        await self._laneway.engine.drain("running")
        held, after = 0, None
        while views := await self._laneway.store.lanes(after, LANES_PAGE):
            held += sum(view.head.settled_count for view in views)
            after = views[-1].tail.lane
        await self._laneway.close()
        return held


async def answer(driven: Driven, question: dict[str, Any]) -> dict[str, float]:
    contracts = question.get("contracts", 1)
    match question["do"]:
        case "once":
            # As many contracts as jobs: each runs once and then idles.
            return await driven.run(question["jobs"], question["jobs"], outstanding_max(1))
        case "run":
            return await driven.run(question["jobs"], contracts, outstanding_max(contracts))
        case "share":
            return await driven.share(question["jobs"], contracts)
        case "fill":
            await driven.fill(question["jobs"], contracts)
            return {}
        case "rss":
            return {"rss_mb": rss_mb()}
        case "close":
            return {"executed": await driven.close()}
        case unknown:
            raise ValueError(f"nobody here can {unknown}")


@asynccontextmanager
async def opened(question: dict[str, Any]) -> AsyncIterator[Driven]:
    driven = Driven(question["store"], question["host"])
    await driven.start()
    tune()
    yield driven


async def guarded(driven: Driven, question: dict[str, Any]) -> dict[str, float]:
    """The answer, or what stopped the engine meanwhile."""
    guard = asyncio.ensure_future(driven.guard())
    working = asyncio.ensure_future(answer(driven, question))
    await asyncio.wait((guard, working), return_when=asyncio.FIRST_COMPLETED)
    if guard.done():
        guard.result()
    guard.cancel()
    return working.result()


def main() -> None:
    serve(opened, guarded)


if __name__ == "__main__":
    main()
