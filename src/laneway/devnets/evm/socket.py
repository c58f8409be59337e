"""A node of the EVM devnet on a loopback socket: JSON-RPC over HTTP and WebSocket, on one port.

Over a WebSocket `eth_subscribe` tells new heads besides. A subscription ends with its connection,
and a reader that does not keep up is cut off.
"""

import asyncio
from collections.abc import Mapping
from typing import Final

from aiohttp import WSCloseCode, WSMsgType, web
from msgspec import json

from laneway.devnets.evm.block import Block
from laneway.devnets.evm.calls import answer, invalid
from laneway.devnets.evm.given import INVALID_PARAMS, Given, RpcRefused
from laneway.devnets.evm.host import EvmHost
from laneway.devnets.evm.limits import (
    BODY_BYTES_MAX,
    OUTGOING_COUNT_MAX,
    SHUTDOWN_S,
    SOCKETS_COUNT_MAX,
    SUBSCRIPTIONS_COUNT_MAX,
)
from laneway.devnets.evm.methods import Method
from laneway.devnets.evm.shown import Json, header_of
from laneway.wire.hex import quantity

LOOPBACK: Final = "127.0.0.1"
JSON: Final = "application/json"


class EvmSocket:
    """Serves one node of a chain; `open` says where."""

    def __init__(self, host: EvmHost, node: int = 0, *, port: int = 0) -> None:
        self.url = ""
        """Where it listens, once opened."""
        self.ws_url = ""
        self._host = host
        self._node = node
        self._port = port
        self._connections: dict[int, Connection] = {}
        self._runner: web.AppRunner | None = None

    async def open(self) -> None:
        app = web.Application(client_max_size=BODY_BYTES_MAX)
        app.router.add_post("/", self._post)
        app.router.add_get("/", self._listen)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=SHUTDOWN_S)
        await self._runner.setup()
        await web.TCPSite(self._runner, LOOPBACK, self._port).start()
        place = f"{LOOPBACK}:{self._runner.addresses[0][1]}"
        self.url, self.ws_url = f"http://{place}", f"ws://{place}"

    async def close(self) -> None:
        # Subscriptions have no end of their own, and the server would wait for them.
        for connection in tuple(self._connections.values()):
            connection.cut()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _post(self, request: web.Request) -> web.Response:
        if request.content_type != JSON:
            # A page in a browser may post text to any address without asking.
            return said(invalid())
        try:
            body = await request.read()
        except web.HTTPRequestEntityTooLarge:
            return said(invalid())
        answers = answer(self._host, self._node, body)
        return web.Response(status=204) if answers is None else said(answers)

    async def _listen(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(max_msg_size=BODY_BYTES_MAX, timeout=SHUTDOWN_S)
        if not socket.can_prepare(request).ok:
            return web.Response(status=405, text="JSON-RPC is posted", headers={"Allow": "POST"})
        if len(self._connections) >= SOCKETS_COUNT_MAX:
            return web.Response(status=503, text="too many connections")
        connection = Connection(socket, self._host, self._node)
        self._connections[id(connection)] = connection
        try:
            await socket.prepare(request)
            await connection.serve()
        finally:
            del self._connections[id(connection)]
        return socket


class Connection:
    """One WebSocket: calls are answered in their order, and heads are told between them."""

    def __init__(self, socket: web.WebSocketResponse, host: EvmHost, node: int) -> None:
        self._socket = socket
        self._host = host
        self._node = node
        self._subscriptions: dict[str, int] = {}
        self._outgoing: asyncio.Queue[bytes] = asyncio.Queue(OUTGOING_COUNT_MAX)
        self._ended = asyncio.Event()
        self._more: Mapping[str, Method] = {
            "eth_subscribe": self._subscribe,
            "eth_unsubscribe": self._unsubscribe,
        }

    async def serve(self) -> None:
        tasks = [
            asyncio.create_task(each) for each in (self._read(), self._write(), self._ended.wait())
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for number in self._subscriptions.values():
                self._host.unlisten(number)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        await self._socket.close(code=WSCloseCode.GOING_AWAY)

    def cut(self) -> None:
        self._ended.set()

    async def _read(self) -> None:
        async for message in self._socket:
            if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                return
            body = message.data.encode() if message.type is WSMsgType.TEXT else message.data
            answers = answer(self._host, self._node, body, self._more)
            if answers is not None:
                self._put(answers)

    async def _write(self) -> None:
        while True:
            content = await self._outgoing.get()
            await self._socket.send_str(content.decode())

    def _put(self, content: Json | list[Json]) -> None:
        try:
            self._outgoing.put_nowait(json.encode(content))
        except asyncio.QueueFull:
            self.cut()

    def _subscribe(self, host: EvmHost, node: int, given: Given) -> str:
        if given.at(0) != "newHeads":
            raise RpcRefused(INVALID_PARAMS, "this devnet tells newHeads alone")
        if len(self._subscriptions) >= SUBSCRIPTIONS_COUNT_MAX:
            raise RpcRefused(INVALID_PARAMS, f"at most {SUBSCRIPTIONS_COUNT_MAX} subscriptions")

        def tell(block: Block) -> None:
            params = {"subscription": name, "result": header_of(block)}
            self._put({"jsonrpc": "2.0", "method": "eth_subscription", "params": params})

        number = host.listen(node, tell)
        name = quantity(number)
        self._subscriptions[name] = number
        return name

    def _unsubscribe(self, host: EvmHost, _node: int, given: Given) -> bool:
        number = self._subscriptions.pop(str(given.at(0)), None)
        return number is not None and host.unlisten(number)


def said(answers: Json | list[Json]) -> web.Response:
    return web.Response(body=json.encode(answers), content_type=JSON)
