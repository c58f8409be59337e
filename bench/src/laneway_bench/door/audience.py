"""A crowd of readers of the event stream, in a process of its own; each follows one contract."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

from laneway_bench.contestant import serve


class StreamListener(asyncio.Protocol):
    """One stream; it counts the events it receives and keeps none."""

    def __init__(self, port: int, lane: str) -> None:
        self.events = 0
        self.hello: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._ask = (
            f"GET /v1/events?lane={lane} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            "Accept: text/event-stream\r\n\r\n"
        ).encode()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = cast(asyncio.Transport, transport)  # uvloop's is one in all but its bases.
        transport.write(self._ask)

    def data_received(self, data: bytes) -> None:
        self.events += data.count(b"event:")
        if not self.hello.done():
            if data.startswith(b"HTTP/1.1 200"):
                self.hello.set_result(None)
            else:
                self.hello.set_exception(ConnectionError(data[:300].decode("utf-8", "replace")))

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.hello.done():
            self.hello.set_exception(exc or ConnectionError("the server closed a stream"))


@asynccontextmanager
async def attending(question: dict[str, Any]) -> AsyncIterator[list[StreamListener]]:
    loop = asyncio.get_running_loop()
    port, lanes = question["port"], question["contracts"]
    readers = []
    for number in range(question["readers"]):
        reader = StreamListener(port, f"contract:c{number % lanes}")
        await loop.create_connection(lambda made=reader: made, "127.0.0.1", port)  # type: ignore[misc]
        readers.append(reader)
    await asyncio.gather(*(reader.hello for reader in readers))
    yield readers


async def answer(readers: list[StreamListener], _question: dict[str, Any]) -> dict[str, int]:
    return {"events": sum(reader.events for reader in readers)}


def main() -> None:
    serve(attending, answer)


if __name__ == "__main__":
    main()
