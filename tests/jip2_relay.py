"""Stands before a JAM node as a bad network does: cuts, swallows, loses answers, or adds a method.

It reads each message and passes on what it does not touch, byte for byte. Several connections may
go through it; each has its own to the node.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

from aiohttp import ClientError, ClientSession, ClientWebSocketResponse, WSMsgType, web
from msgspec import json

Json = dict[str, Any]


class Jip2Relay:
    def __init__(self, target: str) -> None:
        self.target = target
        self.url = ""
        self.heard: Counter[str] = Counter()
        """Calls by their methods, whatever became of them."""
        self.added: dict[str, Callable[..., Any]] = {}
        """Methods that the relay answers itself."""
        self.cut_after: set[str] = set()
        """A call is passed on, and then the caller is cut off."""
        self.cut_at: dict[str, int] = {}
        """Calls of a method that are still answered; with the next one the caller is cut off."""
        self.lost: set[str] = set()
        """A call is passed on, and its answer is not."""
        self.swallowed: set[str] = set()
        """A call is not even passed on."""
        self.swallows_all = False
        """No call is passed on, whatever its method."""
        self.write: Callable[[Json], Json] | None = None
        """Changes what the node says."""
        self.rewrite: Callable[[str, Json], Json] | None = None
        """The same, with the method of the call that it answers; "" for a notification."""
        self._pairs: list[tuple[web.Request, ClientWebSocketResponse]] = []

    async def __aenter__(self) -> "Jip2Relay":
        self._session = ClientSession()
        app = web.Application()
        app.router.add_get("/", self._serve)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"ws://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self.cut()
        await self._runner.cleanup()
        await self._session.close()

    def cut(self) -> None:
        """All connections end without a word."""
        for request, _ in self._pairs:
            if request.transport is not None:
                request.transport.abort()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(max_msg_size=0)
        try:
            connecting = await self._session.ws_connect(self.target, max_msg_size=0)
        except ClientError:
            return web.Response(status=503)  # No node listens there now.
        await socket.prepare(request)
        async with connecting as node:
            self._pairs.append((request, node))
            lost: set[int] = set()
            methods: dict[int, str] = {}
            back = asyncio.create_task(self._pass_back(node, socket, lost, methods))
            try:
                async for message in socket:
                    if message.type is WSMsgType.TEXT:
                        await self._pass_on(message.data, socket, node, lost, methods)
            finally:
                back.cancel()
                await asyncio.wait([back])
                self._pairs.remove((request, node))
        return socket

    async def _pass_on(
        self,
        data: str,
        socket: web.WebSocketResponse,
        node: ClientWebSocketResponse,
        lost: set[int],
        methods: dict[int, str],
    ) -> None:
        call = json.decode(data)
        method = methods[call["id"]] = call["method"]
        self.heard[method] += 1
        if method in self.added:
            result = self.added[method](*call["params"])
            answer = {"jsonrpc": "2.0", "id": call["id"], "result": result}
            await socket.send_str(json.encode(answer).decode())
            return
        if self.swallows_all or method in self.swallowed:
            return
        if method in self.cut_at:
            if not self.cut_at[method]:
                self.cut()
                return
            self.cut_at[method] -= 1
        if method in self.lost | self.cut_after:
            lost.add(call["id"])
        await node.send_str(data)
        if method in self.cut_after:
            # The node has it before the caller is cut off: it answers calls in their order.
            await node.ping()
            await asyncio.sleep(0.02)
            self.cut()

    async def _pass_back(
        self,
        node: ClientWebSocketResponse,
        socket: web.WebSocketResponse,
        lost: set[int],
        methods: dict[int, str],
    ) -> None:
        async for message in node:
            if message.type is not WSMsgType.TEXT or socket.closed:
                break
            said = json.decode(message.data)
            if said.get("id") in lost:
                continue
            told = message.data
            method = methods.pop(said.get("id"), "")
            if self.write is not None:
                told = json.encode(self.write(said)).decode()
            elif self.rewrite is not None:
                told = json.encode(self.rewrite(method, said)).decode()
            await socket.send_str(told)
        await socket.close()
