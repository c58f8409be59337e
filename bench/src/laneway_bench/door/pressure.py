"""A crowd of HTTP clients: each keeps one connection and asks again when it was answered.

It runs in a process of its own and does as little as it can for each request, so that what is
measured is the server. Nothing is asked twice, and an answer that is not the one wanted ends it.
"""

import asyncio
from typing import Any, cast

from laneway_bench.child import BenchFailed
from laneway_bench.contestant import answer_each
from laneway_bench.watch import Stopwatch

HEAD_END = b"\r\n\r\n"


class Crowd:
    """What is left to ask, and who is notified that all was answered."""

    def __init__(
        self, port: int, requests: int, contracts: int, *, path: str, settle: bool
    ) -> None:
        self._port = port
        self._path = path
        self._left = iter(range(requests + (contracts if settle else 0)))
        self._requests = requests
        self._contracts = contracts
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._busy = 0

    def next(self) -> bytes | None:
        """The next request; the last of each contract wait until all before them are executed."""
        number = next(self._left, None)
        if number is None:
            return None
        wait = "?wait=confirmed&timeout=60" if number >= self._requests else ""
        body = (
            f'{{"lane":"contract:c{number % self._contracts}",'
            f'"payload":{{"data":"data{number}","executor":"did:bench"}}}}'
        )
        return (
            f"POST {self._path}{wait} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        ).encode()

    def begun(self) -> None:
        self._busy += 1

    def ended(self) -> None:
        self._busy -= 1
        if self._busy == 0 and not self.over.done():
            self.over.set_result(None)

    def failed(self, why: str) -> None:
        if not self.over.done():
            self.over.set_exception(BenchFailed(why))


class PressureConnection(asyncio.Protocol):
    """One connection."""

    def __init__(self, crowd: Crowd) -> None:
        self._crowd = crowd
        self._heard = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = cast(asyncio.Transport, transport)  # uvloop's is one in all but its bases.
        self._transport = transport

    def ask(self) -> None:
        assert self._transport is not None
        request = self._crowd.next()
        if request is None:
            self._crowd.ended()
            self._transport.close()
            self._transport = None
        else:
            self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._heard += data
        head, found, rest = self._heard.partition(HEAD_END)
        if not found:
            return
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        if len(rest) < length:
            return
        self._heard = rest[length:]
        if not head.startswith((b"HTTP/1.1 202", b"HTTP/1.1 200")):
            self._crowd.failed((head + HEAD_END + rest).decode("utf-8", "replace")[:500])
            return
        self.ask()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is not None:
            self._crowd.failed(f"the server closed a connection: {exc}")


async def press(question: dict[str, Any]) -> dict[str, float]:
    """Ask so much; how long that took."""
    loop = asyncio.get_running_loop()
    crowd = Crowd(
        question["port"],
        question["jobs"],
        question["contracts"],
        path=question.get("path", "/v1/transactions"),
        settle=question["settle"],
    )
    clients = [
        (
            await loop.create_connection(
                lambda: PressureConnection(crowd), "127.0.0.1", question["port"]
            )
        )[1]
        for _ in range(question["connections"])
    ]
    watch = Stopwatch()
    for client in clients:
        crowd.begun()
        client.ask()
    await crowd.over
    return watch.read()


def main() -> None:
    answer_each(press)


if __name__ == "__main__":
    main()
