"""A crowd of readers of the event stream, in a process of its own; each follows one contract."""

import asyncio
import json
import sys
from typing import Any, cast


class Reader(asyncio.Protocol):
    """One stream; it counts the events it hears and keeps none."""

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


async def attend(question: dict[str, Any]) -> list[Reader]:
    loop = asyncio.get_running_loop()
    port, lanes = question["port"], question["contracts"]
    readers = []
    for number in range(question["readers"]):
        reader = Reader(port, f"contract:c{number % lanes}")
        await loop.create_connection(lambda made=reader: made, "127.0.0.1", port)  # type: ignore[misc]
        readers.append(reader)
    await asyncio.gather(*(reader.hello for reader in readers))
    return readers


async def serve() -> None:
    loop = asyncio.get_running_loop()
    readers = await attend(json.loads(sys.stdin.readline()))
    print(json.dumps({"result": {}}), flush=True)
    while await loop.run_in_executor(None, sys.stdin.readline):
        heard = sum(reader.events for reader in readers)
        print(json.dumps({"result": {"events": heard}}), flush=True)


def main() -> None:
    import uvloop

    uvloop.run(serve())


if __name__ == "__main__":
    main()
