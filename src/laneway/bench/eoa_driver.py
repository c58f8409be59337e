"""An engine with an account's lane in a process of its own, driven by the benchmark's questions."""

import asyncio
import gc
import json
import sys
from typing import Any

from laneway.bench.driver import rss_mb, say
from laneway.bench.eoa_engine import BenchEngine, Transfer, open_bench_engine
from laneway.bench.limits import BATCH, CALLERS, FILL_BATCH, GC_GENERATION_0, SETTLED_S
from laneway.bench.watch import Watch


async def run(engine: BenchEngine, transfer: Transfer, warm: int, jobs: int) -> dict[str, float]:
    """Submit so many, a hundred a call, and wait until all are in blocks."""
    await submit(engine, transfer, warm, BATCH)
    await engine.all_included()
    watch = Watch()
    await submit(engine, transfer, jobs, BATCH)
    await engine.all_included()
    return watch.read()


async def submit(engine: BenchEngine, transfer: Transfer, jobs: int, batch: int) -> None:
    """By two callers, as the raw sender has two lines; each waits for its last batch."""
    firsts = iter(range(0, jobs, batch))

    async def call() -> None:
        for first in firsts:
            await engine.submit_many([transfer] * min(batch, jobs - first))

    await asyncio.gather(*(call() for _ in range(CALLERS)))


async def fill(engine: BenchEngine, transfer: Transfer, waiting: int) -> dict[str, float]:
    """Submit until so many wait behind a window that is full; nothing is mined meanwhile."""
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


def asked_for(question: dict[str, Any]) -> Transfer:
    return Transfer(
        to=bytes.fromhex(question["to"][2:]),
        value_wei=1,
        gas_limit=21_000,
        fee_wei_max=question["fee_wei_max"],
        tip_wei_max=question["tip_wei_max"],
    )


async def serve() -> None:
    """Answer the benchmark's questions until it hangs up."""
    loop = asyncio.get_running_loop()
    question = json.loads(sys.stdin.readline())
    opened = open_bench_engine(question["store"], question["url"], question["key"])
    async with opened as engine:
        # As a service would run: what was imported is never looked at again, the young rarely.
        gc.collect()
        gc.freeze()
        gc.set_threshold(GC_GENERATION_0, 20, 100)
        say(result={})
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            say(result=await answer(engine, json.loads(line)))


def main() -> None:
    import uvloop

    uvloop.run(serve())


if __name__ == "__main__":
    main()
