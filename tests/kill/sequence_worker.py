"""A real process that submits blobs from Cosmos accounts, one line for each; killed at any time.

Its first argument is a file that says where everything is. A line `{"key", "account", "size"}` is a
submission; what became of it comes back as a line. The blob of a key is always the same.
"""

import asyncio
import hashlib
import os
import sys
from pathlib import Path

import msgspec
from msgspec import Struct

from laneway.core.errors import LanewayError
from laneway.cosmos.blobs import namespace_of
from laneway.engine.heart import HeartPace
from laneway.engine.system import SystemClock
from laneway.kinds.cosmos.client import TxHandle
from laneway.kinds.cosmos.lanes import CosmosLanes
from laneway.kinds.cosmos.section import CosmosAccountSection, CosmosSection, SequenceSection
from laneway.kinds.cosmos.served import CosmosServed
from laneway.ports import CosmosBlob
from laneway.wiring.embedded import Laneway
from laneway.wiring.store import open_store

NAMESPACE = namespace_of(b"kills")


class Place(Struct, frozen=True):
    store: str
    chain_id: str
    urls: tuple[str, ...]
    accounts: dict[str, str]
    """The name of each, and the file with its key."""
    sequence: dict[str, int]


class Ask(Struct, frozen=True):
    key: str
    account: str
    size: int


class Told(Struct, frozen=True):
    key: str
    word: str
    """accepted, refused, or a final status."""
    id: str = ""
    hash: str = ""
    height: int = 0
    raw: bytes = b""
    reason: str = ""


def blob_of(key: str, size: int) -> bytes:
    return hashlib.shake_128(key.encode()).digest(size)


class Worker:
    def __init__(self, place: Place) -> None:
        clock = SystemClock()
        section = CosmosSection(
            name="dev",
            chain_id=place.chain_id,
            nodes=place.urls,
            accounts=tuple(
                CosmosAccountSection(name=name, signer=f"file:{file}")
                for name, file in place.accounts.items()
            ),
        )
        self._lanes = CosmosLanes((section,), SequenceSection(**place.sequence), clock)
        self.laneway = Laneway(
            open_store(place.store, clock),
            [CosmosServed(self._lanes, clock)],
            clock,
            pace=HeartPace(300, 1_500),
        )
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        reader = asyncio.StreamReader(limit=1 << 20)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        async with self.laneway:
            say(Told("", "ready"))
            while line := await reader.readline():
                ask = msgspec.json.decode(line, type=Ask)
                # One behind the other: this is the order of each account.
                await self._submit(ask)
            await asyncio.gather(*self._tasks)

    async def _submit(self, ask: Ask) -> None:
        client = self.laneway.cosmos_client(f"cosmos:dev:{ask.account}")
        blob = CosmosBlob(NAMESPACE, blob_of(ask.key, ask.size))
        try:
            handle = await client.submit_pay_for_blob_to_queue([blob], key=ask.key)
        except LanewayError as error:
            say(Told(ask.key, "refused", reason=str(error)))
            return
        say(Told(ask.key, "accepted", handle.id))
        task = asyncio.create_task(self._follow(ask.key, handle))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _follow(self, key: str, handle: TxHandle) -> None:
        done = await handle.confirmed()
        say(Told(key, done.status, done.id, done.hash, done.height, done.raw, done.log))


def say(told: Told) -> None:
    os.write(1, msgspec.json.encode(told) + b"\n")


if __name__ == "__main__":
    given = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Place)
    asyncio.run(Worker(given).run())
