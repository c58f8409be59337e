"""A name that leads to one server and then to another, as a proxy or a floating address does."""

import asyncio
from contextlib import suppress


class Relay:
    """Passes bytes on. It can be pointed elsewhere, and can swallow what it is given."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._open = asyncio.Event()
        self._open.set()
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: list[asyncio.Task[None]] = []
        self.port = 0

    async def __aenter__(self) -> "Relay":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._hang_up()

    def silence(self) -> None:
        """Connections stay, and nothing comes through: neither side is told."""
        self._open.clear()

    def point(self, port: int, *, hang_up: bool = True) -> None:
        """Who asks from now on reaches another server; those who are connected, if they must."""
        self._target = port
        if hang_up:
            self._hang_up()

    def _hang_up(self) -> None:
        for writer in self._writers:
            writer.close()
        self._writers.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.close()
            return
        self._writers += (writer, back)
        for one, other in ((reader, back), (there, writer)):
            self._tasks.append(asyncio.create_task(self._pass(one, other)))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while read := await reader.read(1 << 16):
                await self._open.wait()
                writer.write(read)
                await writer.drain()
        writer.close()
