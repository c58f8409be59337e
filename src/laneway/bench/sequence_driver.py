"""An engine with Cosmos accounts' lanes in a process of its own, driven by the benchmark's
questions."""

import asyncio
import gc
import json
import os
import sys
from pathlib import Path
from typing import Any

from laneway.bench.driver import rss_mb, say
from laneway.bench.limits import BATCH, BYTES_PRODUCERS, GC_GENERATION_0, PROGRESS_STEPS
from laneway.bench.sequence_engine import Contestant, open_bench_engine
from laneway.bench.watch import Watch
from laneway.cosmos.blobs import namespace_of
from laneway.cosmos.messages import Coin, MsgSend
from laneway.cosmos.protobuf import encode
from laneway.ports import CosmosBlob, CosmosRequest

NAMESPACE = namespace_of(b"laneway")


async def run(engine: Contestant, question: dict[str, Any]) -> dict[str, float]:
    """Submit so many transfers, a hundred a call, and wait until all answers are final."""
    request, jobs = transfer(question), question["jobs"]
    (lane,) = engine.lanes
    watch = Watch()
    for first in range(0, jobs, BATCH):
        await engine.submit_many(lane, [request] * min(BATCH, jobs - first))
    await engine.reach(jobs)
    return watch.read()


def transfer(question: dict[str, Any]) -> CosmosRequest:
    coin = Coin(question["denom"], "1")
    message = MsgSend(question["sender"], question["to"], (coin,))
    return CosmosRequest(
        messages=((MsgSend.url, encode(message)),),
        gas=int(question["gas"]),
        fee=int(question["fee"]),
    )


async def fill(engine: Contestant, blobs: int, size: int) -> dict[str, float]:
    """So many blobs from every account in turn, as quickly as there is room for them. Callers hold
    one blob each while they wait for room, and none that is accepted."""
    idle_mb = rss_mb()
    forget_peak()
    watch, total = Watch(), blobs * len(engine.lanes)
    turns = iter(range(total))

    async def produce() -> None:
        for turn in turns:
            lane = engine.lanes[turn % len(engine.lanes)]
            await engine.submit_blob(lane, CosmosBlob(NAMESPACE, os.urandom(size)))

    producing = asyncio.gather(*(produce() for _ in range(BYTES_PRODUCERS)))
    for step in range(1, 1 + PROGRESS_STEPS):
        await engine.reach(total * step // PROGRESS_STEPS)
        say(progress=step / PROGRESS_STEPS)
    await producing
    return {"idle_mb": idle_mb, "peak_mb": peak_mb(), "end_mb": rss_mb(), **watch.read()}


def forget_peak() -> None:
    """From here on the kernel counts the peak anew (proc(5))."""
    Path("/proc/self/clear_refs").write_text("5")


def peak_mb() -> float:
    """The most that was resident at once."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1_024 / 1e6


async def answer(engine: Contestant, question: dict[str, Any]) -> dict[str, float]:
    match question["do"]:
        case "run":
            return await run(engine, question)
        case "fill":
            return await fill(engine, question["blobs"], question["size"])
        case unknown:
            raise ValueError(f"nobody here can {unknown}")


async def serve() -> None:
    """Answer the benchmark's questions until it hangs up."""
    loop = asyncio.get_running_loop()
    async with open_bench_engine(json.loads(sys.stdin.readline())) as engine:
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
