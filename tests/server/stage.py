"""A server on a loopback socket over a real engine, and a client that speaks to it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, NamedTuple

import msgspec
from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

from laneway.wiring.config import load
from laneway.wiring.server import Up

CALL = {"lane": "contract:Qm1", "payload": {"data": "transfer 5", "executor": "did:1"}}
QUICK = {"store.path": ":memory:", "store.durability": "memory", "host.round_ms": "5"}
SLOW_ROUNDS = {"host.round_ms": "60000"}
"""Nothing settles while the test looks."""


class Heard(NamedTuple):
    status: int
    body: Any
    headers: Any

    @property
    def code(self) -> str:
        return str(self.body.get("code"))


class Client:
    def __init__(self, url: str) -> None:
        self.url = url
        self.session = ClientSession(
            timeout=ClientTimeout(total=30),
            cookie_jar=DummyCookieJar(),
            connector=TCPConnector(limit=0),
        )

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.session.close()

    async def ask(self, method: str, path: str, **given: Any) -> Heard:
        async with self.session.request(method, self.url + path, **given) as answer:
            raw = await answer.read()
            body = msgspec.json.decode(raw) if "json" in answer.content_type else raw.decode()
            return Heard(answer.status, body, answer.headers)

    async def get(self, path: str, **headers: str) -> Heard:
        return await self.ask("GET", path, headers=headers)

    async def post(self, path: str, body: object, **headers: str) -> Heard:
        return await self.ask("POST", path, json=body, headers=headers)

    async def send(self, data: str = "transfer 5", lane: str = "contract:Qm1", **more: Any) -> Any:
        """Queue one; the transaction as it was accepted."""
        heard = await self.post(
            "/v1/transactions", {"lane": lane, "payload": {"data": data}, **more}
        )
        assert heard.status == 202, heard
        return heard.body

    async def finish(self, intent: str) -> Any:
        heard = await self.get(f"/v1/transactions/{intent}?wait=confirmed&timeout=20")
        assert heard.body["final"], heard
        return heard.body


@asynccontextmanager
async def running(**flags: str) -> AsyncIterator[tuple[Up, Client]]:
    """Flags are configuration keys with `__` for the dot."""
    given = {name.replace("__", "."): value for name, value in flags.items()}
    configuration = load(None, {}, QUICK | {"server.port": "0"} | given)
    async with Up(configuration) as up, Client(up.server.urls[0]) as client:
        yield up, client


@asynccontextmanager
async def serving(**flags: str) -> AsyncIterator[Client]:
    async with running(**flags) as (_, client):
        yield client
