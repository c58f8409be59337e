"""What a process of the benchmark does: it reads questions, a line of JSON each, and answers them.

`child.py` is the other end.
"""

import asyncio
import gc
import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, TypeVar

from laneway_bench.limits import GC_GENERATION_0
from laneway_bench.machine import resident_bytes

Work = TypeVar("Work")


def say(**words: object) -> None:
    print(json.dumps(words), flush=True)


def answer_all(work: Callable[[dict[str, Any]], Any]) -> None:
    """Answer one question after the other until the benchmark hangs up."""
    while line := sys.stdin.readline():
        say(result=work(json.loads(line)))


def answer_each(work: Callable[[dict[str, Any]], Awaitable[Any]]) -> None:
    """The same by a coroutine, each time on a loop of its own."""
    import uvloop

    async def answered(question: dict[str, Any]) -> Any:
        return await work(question)

    answer_all(lambda question: uvloop.run(answered(question)))


def serve(
    opened: Callable[[dict[str, Any]], AbstractAsyncContextManager[Work]],
    answer: Callable[[Work, dict[str, Any]], Awaitable[Any]],
    hello: Callable[[Work], dict[str, Any]] = lambda _: {},
) -> None:
    """Open what the first question asks for, say `hello`, and answer until the benchmark hangs
    up."""
    import uvloop

    async def serving() -> None:
        loop = asyncio.get_running_loop()
        async with opened(json.loads(sys.stdin.readline())) as work:
            say(result=hello(work))
            while line := await loop.run_in_executor(None, sys.stdin.readline):
                say(result=await answer(work, json.loads(line)))

    uvloop.run(serving())


def tune() -> None:
    """As a service would run: what was imported is never looked at again, the young rarely."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_GENERATION_0, 20, 100)


def rss_mb() -> float:
    gc.collect()
    return resident_bytes(Path("/proc/self/statm").read_text()) / 1e6
