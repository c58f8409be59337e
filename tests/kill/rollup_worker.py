"""A real process that builds a ledger rollup, one line for each transfer; killed at any time.

Its first argument is its configuration, as `laneway up` takes it. A line `{"key", "raw"}` is a
transfer; what became of it comes back as a line.
"""

import asyncio
import os
import sys

import msgspec
from msgspec import Struct

from laneway.core.errors import LanewayError
from laneway.engine.listeners import Listener
from laneway.wiring.config import load
from laneway.wiring.embedded import Handle, Laneway
from laneway.wiring.logs import set_up_logs
from laneway.wiring.opening import open_laneway
from laneway.wiring.process import calm_collector
from laneway.wiring.process import run as run_loop

LANE = "rollup:ledger"
LINE_BYTES_MAX = 1 << 20
ENGINE_ENDED = 3


class Ask(Struct, frozen=True):
    key: str
    raw: str
    """Its bytes, in hexadecimal digits."""


class Told(Struct, frozen=True):
    key: str
    word: str
    """ready, accepted, refused, or a final status."""
    id: str = ""
    hash: str = ""
    block: int | None = None
    reason: str = ""
    retry: str = ""
    """Of a refusal: whether it helps to ask again."""


class End(Listener):
    """Hears why the engine ended, if it did: it was declared dead, or its store is gone."""

    def __init__(self) -> None:
        self.reason: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()

    def failed(self, error: Exception) -> None:
        if not self.reason.done():
            self.reason.set_result(error)


class Worker:
    def __init__(self, laneway: Laneway, end: End) -> None:
        self._laneway = laneway
        self._end = end
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> int:
        """What the process ends with."""
        reader = asyncio.StreamReader(limit=LINE_BYTES_MAX)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        async with self._laneway:
            calm_collector()
            say(Told("", "ready"))
            reading = asyncio.create_task(self._read(reader))
            waiting = (reading, self._end.reason)
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            reading.cancel()
        return ENGINE_ENDED if self._end.reason.done() else 0

    async def _read(self, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            # One behind the other: this is the order of the rollup.
            await self._submit(msgspec.json.decode(line, type=Ask))

    async def _submit(self, ask: Ask) -> None:
        try:
            handle = await self._laneway.transfer(LANE, ask.raw, key=ask.key)
        except LanewayError as error:
            say(Told(ask.key, "refused", reason=f"{error.code}: {error}", retry=error.retry))
            return
        say(Told(ask.key, "accepted", handle.id))
        task = asyncio.create_task(self._follow(ask.key, handle))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _follow(self, key: str, handle: Handle) -> None:
        try:
            done = await handle.result()
        except LanewayError:
            return  # The engine ended; whoever takes its place is asked again.
        say(Told(key, done.status, done.id, done.hash or "", done.block, done.reason))


def say(told: Told) -> None:
    os.write(1, msgspec.json.encode(told) + b"\n")


async def serve(path: str) -> int:
    configuration = load(path, os.environ)
    set_up_logs(configuration.config.log)
    end = End()
    return await Worker(open_laneway(configuration, (end,)), end).run()


if __name__ == "__main__":
    sys.exit(run_loop(serve(sys.argv[1])))
