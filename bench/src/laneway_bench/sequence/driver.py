"""An engine with Cosmos accounts' lanes in a process of its own, driven by the benchmark's
questions."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from laneway.cosmos.blobs import namespace_of
from laneway.cosmos.messages import Coin, MsgSend
from laneway.cosmos.protobuf import encode
from laneway.ports import CosmosBlob, CosmosRequest
from laneway_bench.contestant import rss_mb, say, serve, tune
from laneway_bench.limits import BATCH, BYTES_PRODUCERS, PROGRESS_STEPS
from laneway_bench.sequence.engine import SequenceContestant, open_bench_engine
from laneway_bench.watch import Stopwatch

NAMESPACE = namespace_of(b"laneway")


async def run(engine: SequenceContestant, question: dict[str, Any]) -> dict[str, float]:
    """Submit the transfers, a hundred a call, and wait until all answers are final."""
    request, jobs = transfer(question), question["jobs"]
    (lane,) = engine.lanes
    watch = Stopwatch()
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


async def fill(engine: SequenceContestant, blobs: int, size: int) -> dict[str, float]:
    """Submit blobs from every account in turn, as quickly as there is room for them. Callers hold
    one blob each while they wait for room, and none that is accepted."""
    idle_mb = rss_mb()
    forget_peak()
    watch, total = Stopwatch(), blobs * len(engine.lanes)
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


async def answer(engine: SequenceContestant, question: dict[str, Any]) -> dict[str, float]:
    match question["do"]:
        case "run":
            return await run(engine, question)
        case "fill":
            return await fill(engine, question["blobs"], question["size"])
        case unknown:
            raise ValueError(f"nobody here can {unknown}")


@asynccontextmanager
async def opened(question: dict[str, Any]) -> AsyncIterator[SequenceContestant]:
    async with open_bench_engine(question) as engine:
        tune()
        yield engine


def main() -> None:
    serve(opened, answer)


if __name__ == "__main__":
    main()
