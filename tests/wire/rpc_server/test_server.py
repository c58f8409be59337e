"""A server of JSON-RPC in an application: keys in paths, bounds, notifications, and its end."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import ClientSession, WSMsgType, WSServerHandshakeError, web
from aiohttp.test_utils import TestServer
from msgspec import json

from laneway.wire.rpc_server.connection import ServedConnection
from laneway.wire.rpc_server.dialect import Dialect
from laneway.wire.rpc_server.limits import RpcLimits
from laneway.wire.rpc_server.methods import Method, RpcRefused
from laneway.wire.rpc_server.rpc import Rpc
from laneway.wire.rpc_server.server import RpcServer

LIMITS = RpcLimits(body_bytes=1_000, connections_count=2, outgoing_count=4)
WAIT_S = 10


class Wallet:
    """A client with a key, which is in the path."""

    def __init__(self, house: "House", key: str, connection: ServedConnection | None) -> None:
        self.house = house
        self.key = key
        self.connection = connection
        house.open.append(self)

    @property
    def is_connected(self) -> bool:
        return self.connection is not None

    def close(self) -> None:
        self.house.open.remove(self)

    def follow(self) -> str:
        assert self.connection is not None
        self.connection.afterwards(lambda: self.notify("first"))
        return "0x1"

    def notify(self, what: str) -> None:
        assert self.connection is not None
        self.connection.notify("told", {"subscription": "0x1", "result": what})


async def late(wallet: Wallet) -> str:
    await asyncio.sleep(0)
    return wallet.key


def broken(_wallet: Wallet) -> str:
    raise ZeroDivisionError


METHODS = {
    "key": Method((), late),
    "follow": Method((), Wallet.follow, needs_connection=True),
    "broken": Method((), broken),
}


class House:
    """An application with a server at a path that holds a key."""

    def __init__(self) -> None:
        self.open: list[Wallet] = []
        self.server = RpcServer(Rpc[Wallet](METHODS, Dialect(), LIMITS), self.welcome)
        self.session: ClientSession
        self.url = ""

    def welcome(self, request: web.Request, connection: ServedConnection | None) -> Wallet:
        if request.match_info["key"] == "unknown":
            raise web.HTTPUnauthorized
        return Wallet(self, request.match_info["key"], connection)

    async def post(self, body: bytes, key: str = "k1", kind: str = "application/json") -> Any:
        headers = {"Content-Type": kind}
        async with self.session.post(f"{self.url}/{key}", data=body, headers=headers) as answer:
            content = await answer.read()
            is_json = answer.content_type == "application/json"
            return answer.status, json.decode(content) if is_json else None


@asynccontextmanager
async def house() -> AsyncIterator[House]:
    found = House()
    app = web.Application(client_max_size=10)
    found.server.add_to(app, "/{key}")
    async with TestServer(app) as server, ClientSession() as session:
        found.url, found.session = str(server.make_url("")).rstrip("/"), session
        yield found
        found.server.cut()


def run(story: Callable[[House], Coroutine[Any, Any, None]]) -> None:
    async def whole() -> None:
        async with asyncio.timeout(WAIT_S), house() as found:
            await story(found)
            await until(lambda: found.open == [])

    asyncio.run(whole())


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        await asyncio.sleep(0.002)


def call(method: str, *params: object) -> bytes:
    return json.encode({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


def answered(result: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "result": result}


def test_the_context_is_made_from_the_request_and_ends_with_it() -> None:
    async def story(it: House) -> None:
        assert await it.post(call("key"), "k7") == (200, answered("k7"))
        assert it.open == []
        assert (await it.post(call("key"), "unknown"))[0] == 401
        with pytest.raises(WSServerHandshakeError) as refused:
            await it.session.ws_connect(f"{it.url}/unknown")
        assert refused.value.status == 401

    run(story)


def test_what_is_posted_has_a_kind_and_a_bound_of_its_own() -> None:
    async def story(it: House) -> None:
        status, said = await it.post(call("key"), kind="text/plain")
        assert (status, said["error"]["code"]) == (200, -32600)
        assert (await it.post(b" " * 900 + call("key")))[1] == answered("k1")
        status, said = await it.post(b" " * 1_001)
        assert (status, said["error"]["code"]) == (200, -32600)
        assert (await it.post(b'{"jsonrpc":"2.0","method":"key"}'))[0] == 204
        async with it.session.get(f"{it.url}/k1") as response:
            assert (response.status, response.headers["Allow"]) == (405, "POST")

    run(story)


def test_a_client_has_the_number_before_the_first_notification() -> None:
    async def story(it: House) -> None:
        async with it.session.ws_connect(f"{it.url}/k2") as socket:
            await socket.send_bytes(call("key"))
            assert await socket.receive_json() == answered("k2")
            await socket.send_str(call("follow").decode())
            assert await socket.receive_json() == answered("0x1")
            assert (await socket.receive_json())["params"]["result"] == "first"
            it.open[0].notify("second")
            told = await socket.receive_json()
            assert told == {
                "jsonrpc": "2.0",
                "method": "told",
                "params": {"subscription": "0x1", "result": "second"},
            }

    run(story)


def test_one_who_does_not_read_what_it_is_notified_of_is_cut_off() -> None:
    async def story(it: House) -> None:
        async with it.session.ws_connect(f"{it.url}/k1") as socket:
            await socket.send_bytes(call("follow"))
            assert await socket.receive_json() == answered("0x1")
            for _ in range(5):
                it.open[0].notify("news")
            while (message := await socket.receive()).type is WSMsgType.TEXT:
                pass
            assert message.type is WSMsgType.CLOSE

    run(story)


def test_connections_have_a_bound_and_are_all_cut_at_the_end() -> None:
    async def story(it: House) -> None:
        first = await it.session.ws_connect(f"{it.url}/k1")
        second = await it.session.ws_connect(f"{it.url}/k2")
        with pytest.raises(WSServerHandshakeError) as refused:
            await it.session.ws_connect(f"{it.url}/k3")
        assert refused.value.status == 503
        await until(lambda: len(it.open) == 2)
        it.server.cut()
        for socket in (first, second):
            assert (await socket.receive()).type is WSMsgType.CLOSE
            await socket.close()

    run(story)


def test_a_bug_ends_the_connection_that_found_it_alone(caplog: pytest.LogCaptureFixture) -> None:
    async def story(it: House) -> None:
        async with it.session.ws_connect(f"{it.url}/k1") as other:
            async with it.session.ws_connect(f"{it.url}/k2") as socket:
                await socket.send_bytes(call("broken"))
                assert (await socket.receive()).type is WSMsgType.CLOSE
            await other.send_bytes(call("key"))
            assert await other.receive_json() == answered("k1")
        assert "ZeroDivisionError" in caplog.text

    run(story)


def test_a_refusal_says_what_it_is() -> None:
    assert str(RpcRefused(3, "execution reverted", "0x")) == "3 execution reverted: 0x"
    assert str(RpcRefused(3, "execution reverted")) == "3 execution reverted"
