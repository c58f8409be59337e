"""What the web framework and the file could do at best: aiohttp, one INSERT, one shared sync.

Each request is decoded, queued and answered 202 when the commit it went into is durable. No lane,
no order, no checks, no engine. Commits are made on the loop, as laneway makes them: with a thread
for them this server is slower.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import apsw
import msgspec
from aiohttp import web

from laneway.stores.sqlite.database import connect
from laneway.wire.values import NewTx
from laneway_bench.contestant import serve


class Group:
    """Rows that wait for the next commit, each with who waits for it."""

    def __init__(self, path: str) -> None:
        self._db: apsw.Connection = connect(path)
        self._db.execute(
            "CREATE TABLE bare (no INTEGER PRIMARY KEY, lane TEXT NOT NULL, body BLOB NOT NULL)"
        )
        self._waiting: list[tuple[tuple[str, bytes], asyncio.Future[None]]] = []

    async def add(self, lane: str, body: bytes) -> None:
        loop = asyncio.get_running_loop()
        durable: asyncio.Future[None] = loop.create_future()
        self._waiting.append(((lane, body), durable))
        if len(self._waiting) == 1:
            # Behind everything the loop has at hand now, so that one sync serves many.
            loop.call_soon(self._commit)
        await durable

    def _commit(self) -> None:
        waiting, self._waiting = self._waiting, []
        with self._db:
            self._db.executemany(
                "INSERT INTO bare (lane, body) VALUES (?, ?)", [row for row, _ in waiting]
            )
        for _, durable in waiting:
            durable.set_result(None)


@asynccontextmanager
async def opened(question: dict[str, Any]) -> AsyncIterator[web.AppRunner]:
    group = Group(str(Path(question["folder"]) / "bare.db"))
    decoder = msgspec.json.Decoder(NewTx)

    async def take(request: web.Request) -> web.Response:
        body = await request.read()
        new = decoder.decode(body)
        await group.add(new.lane, body)
        return web.Response(body=body, status=202, content_type="application/json")

    app = web.Application()
    app.router.add_post("/v1/transactions", take)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield runner
    await runner.cleanup()


async def answer(_runner: web.AppRunner, _question: dict[str, Any]) -> dict[str, Any]:
    return {}


def main() -> None:
    serve(opened, answer, lambda runner: {"port": runner.addresses[0][1]})


if __name__ == "__main__":
    main()
