"""A real server, both clients under one face, and a proxy that loses what it is told to lose."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import islice
from typing import Any

from laneway.client.asynchronous import AsyncClient
from laneway.client.blocking import Client

KINDS = ["blocking", "asynchronous"]


class Either:
    """One client, whichever it is, for a test that awaits."""

    def __init__(self, kind: str, url: str, **given: Any) -> None:
        self.blocking = kind == "blocking"
        self.client: Any = (Client if self.blocking else AsyncClient)(url, **given)

    async def close(self) -> None:
        closed = self.client.close()
        if closed is not None:
            await closed

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        called = getattr(self.client, name)

        async def call(*args: Any, **given: Any) -> Any:
            if self.blocking:
                return await asyncio.to_thread(called, *args, **given)
            return await called(*args, **given)

        return call

    async def of(self, sent: Any, name: str, *args: Any, **given: Any) -> Any:
        """A method of what `send` gave back."""
        called = getattr(sent, name)
        if self.blocking:
            return await asyncio.to_thread(called, *args, **given)
        return await called(*args, **given)

    async def take(self, count: int | None, name: str, *args: Any, **given: Any) -> list[Any]:
        """The first so many of an iterator."""
        made = getattr(self.client, name)(*args, **given)
        if self.blocking:
            try:
                return await asyncio.to_thread(lambda: list(islice(made, count)))
            finally:
                made.close()
        found: list[Any] = []
        async for each in made:
            found.append(each)
            if len(found) == count:
                await made.aclose()
                break
        return found


@asynccontextmanager
async def either(kind: str, url: str, **given: Any) -> AsyncIterator[Either]:
    client = Either(kind, url, **given)
    try:
        yield client
    finally:
        await client.close()


class Proxy:
    """Passes bytes on. The first `drops` answers are read from the server and thrown away; the
    first `cuts` streams are cut after so many bytes."""

    def __init__(self, url: str, drops: int = 0, cuts: list[int] | None = None) -> None:
        self._port = int(url.rpartition(":")[2])
        self.drops = drops
        self.cuts = cuts or []
        self.asked = 0
        self.url = ""
        self.tasks: set[asyncio.Task[None]] = set()
        """Held here: the loop itself keeps no task from the collector."""

    def begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.tasks.add(asyncio.create_task(self.serve(reader, writer)))

    async def end(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._port)
        self.asked += 1
        drop = self.drops > 0
        self.drops -= drop
        cut = self.cuts.pop(0) if self.cuts else None
        upward = asyncio.create_task(self._pass(reader, back))
        try:
            passed = 0
            while chunk := await there.read(65_536):
                if drop:
                    break  # The server has done its work; its caller hears nothing.
                if cut is not None and passed + len(chunk) > cut:
                    writer.write(chunk[: cut - passed])
                    await writer.drain()
                    break
                passed += len(chunk)
                writer.write(chunk)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            upward.cancel()
            await asyncio.gather(upward, return_exceptions=True)
            writer.close()
            back.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await reader.read(65_536):
            writer.write(chunk)
            await writer.drain()


@asynccontextmanager
async def proxied(url: str, drops: int = 0, cuts: list[int] | None = None) -> AsyncIterator[Proxy]:
    proxy = Proxy(url, drops, cuts)
    server = await asyncio.start_server(proxy.begin, "127.0.0.1", 0)
    proxy.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield proxy
    finally:
        server.close()
        await proxy.end()
        # Give the connections that were just closed their last turn.
        await asyncio.sleep(0.01)
