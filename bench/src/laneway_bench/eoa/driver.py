"""An engine with an account's lane in a process of its own, driven by the benchmark's questions."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from laneway_bench.contestant import rss_mb, serve, tune
from laneway_bench.eoa.engine import BenchEngine, BenchTransfer, open_bench_engine
from laneway_bench.limits import BATCH, CALLERS, FILL_BATCH, SETTLED_S
from laneway_bench.watch import Stopwatch


async def run(
    engine: BenchEngine, transfer: BenchTransfer, warm: int, jobs: int
) -> dict[str, float]:
    """Submit `count`, a hundred a call, and wait until all are in blocks."""
    await submit(engine, transfer, warm, BATCH)
    await engine.all_included()
    watch = Stopwatch()
    await submit(engine, transfer, jobs, BATCH)
    await engine.all_included()
    return watch.read()


async def submit(engine: BenchEngine, transfer: BenchTransfer, jobs: int, batch: int) -> None:
    """By two callers, as the raw sender has two lines; each waits for its last batch."""
    firsts = iter(range(0, jobs, batch))

    async def call() -> None:
        for first in firsts:
            await engine.submit_many([transfer] * min(batch, jobs - first))

    await asyncio.gather(*(call() for _ in range(CALLERS)))


async def fill(engine: BenchEngine, transfer: BenchTransfer, waiting: int) -> dict[str, float]:
    """Submit until `count` wait while the window is full; nothing is mined meanwhile."""
    while (lacking := waiting - await settled(engine)) > 0:
        await submit(engine, transfer, lacking, FILL_BATCH)
    return {"waiting": await settled(engine)}


async def settled(engine: BenchEngine) -> int:
    """How many wait once the lane takes no more of them."""
    before, now = -1, await engine.waiting()
    while now != before:
        await asyncio.sleep(SETTLED_S)
        before, now = now, await engine.waiting()
    return now


async def answer(engine: BenchEngine, question: dict[str, Any]) -> dict[str, float]:
    match question["do"]:
        case "run":
            return await run(engine, asked_for(question), question["warm"], question["jobs"])
        case "fill":
            return await fill(engine, asked_for(question), question["waiting"])
        case "rss":
            await settled(engine)
            return {"rss_mb": rss_mb()}
        case unknown:
            raise ValueError(f"nobody here can {unknown}")


def asked_for(question: dict[str, Any]) -> BenchTransfer:
    return BenchTransfer(
        to=bytes.fromhex(question["to"][2:]),
        value_wei=1,
        gas_limit=21_000,
        fee_wei_max=question["fee_wei_max"],
        tip_wei_max=question["tip_wei_max"],
    )


@asynccontextmanager
async def opened(question: dict[str, Any]) -> AsyncIterator[BenchEngine]:
    async with open_bench_engine(question["store"], question["url"], question["key"]) as engine:
        tune()
        yield engine


def main() -> None:
    serve(opened, answer)


if __name__ == "__main__":
    main()
