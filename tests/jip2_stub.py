"""A JAM node made of one Python function, over WebSocket: for what no real node can be made to say.

It keeps its own count of subscriptions, as a node does: opened by a call, ended by another one or
with the connection, and by nothing else.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import WSMsgType, web
from msgspec import json
from tests.rpc_stub import Drop, No

Json = dict[str, Any]
Answering = Callable[[str, list[Any]], Any]


class Silence(Exception):
    """No answer, ever."""


class Raw(Exception):
    """These words instead of an answer."""

    def __init__(self, text: str) -> None:
        self.text = text


class Connection:
    def __init__(self, socket: web.WebSocketResponse, request: web.Request) -> None:
        self.socket = socket
        self.request = request
        self.open: dict[Any, str] = {}
        """Subscriptions: their number, and the method that opened them."""

    def abort(self) -> None:
        if self.request.transport is not None:
            self.request.transport.abort()


class Jip2Stub:
    """Serves `answer(method, params)`; it may return a value or an awaitable, or raise. Calls are
    answered side by side. `numbers` gives the numbers of subscriptions, `write` changes whatever is
    sent."""

    def __init__(
        self,
        answer: Answering,
        *,
        numbers: Callable[[int], Any] = lambda count: count,
        write: Callable[[Json], Json] = lambda message: message,
    ) -> None:
        self.answer = answer
        self.heard: list[tuple[str, list[Any]]] = []
        self.url = ""
        self.port = 0
        self.connections: list[Connection] = []
        self.connections_count = 0
        self.opened_count = 0
        self.opened_max = 0
        self.left_count = 0
        self.stray_leaves: list[Any] = []
        """Numbers that were left and not open."""
        self.closing = asyncio.Event()
        self._numbers = numbers
        self._write = write

    async def __aenter__(self) -> "Jip2Stub":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.closing.set()
        await self.stop()

    async def start(self) -> None:
        app = web.Application()
        app.router.add_get("/", self._serve)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()
        self.port = self._runner.addresses[0][1]
        self.url = f"ws://127.0.0.1:{self.port}"

    async def stop(self) -> None:
        for connection in self.connections:
            connection.abort()
        await self._runner.cleanup()

    def open_count(self) -> int:
        return sum(len(connection.open) for connection in self.connections)

    def methods(self) -> list[str]:
        return [method for method, _ in self.heard]

    async def hang(self) -> None:
        await self.closing.wait()

    def cut(self) -> None:
        """All connections end without a word."""
        for connection in self.connections:
            connection.abort()

    async def tell(self, method: str, result: Any) -> None:
        """To all who opened a subscription by this method."""
        for connection in list(self.connections):
            for number, opener in list(connection.open.items()):
                if opener == method:
                    await self.notify(connection, number, {"result": result})

    async def notify(self, connection: Connection, number: Any, told: Json) -> None:
        method = connection.open.get(number, "subscribeNothing")
        params = {"subscription": number, **told}
        await self._send(connection, {"jsonrpc": "2.0", "method": method, "params": params})

    async def _serve(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(max_msg_size=0)
        await socket.prepare(request)
        connection = Connection(socket, request)
        self.connections.append(connection)
        self.connections_count += 1
        tasks: list[asyncio.Task[None]] = []
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    call = json.decode(message.data)
                    self.heard.append((call["method"], list(call["params"])))
                    tasks.append(asyncio.create_task(self._reply(connection, call)))
        finally:
            self.connections.remove(connection)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return socket

    async def _reply(self, connection: Connection, call: Json) -> None:
        answered: Json
        try:
            result = self.answer(call["method"], list(call["params"]))
            if isinstance(result, Awaitable):
                result = await result
            answered = {"result": self._done(connection, call, result)}
        except No as no:
            answered = {"error": no.error}
        except Raw as raw:
            await connection.socket.send_str(raw.text)
            return
        except Silence:
            return
        except Drop:
            connection.abort()
            return
        await self._send(connection, {"jsonrpc": "2.0", "id": call["id"], **answered})

    def _done(self, connection: Connection, call: Json, result: Any) -> Any:
        """What a subscription's coming and going leaves behind."""
        method = call["method"]
        if method.startswith("subscribe") and result is None:
            self.opened_count += 1
            number = self._numbers(self.opened_count)
            connection.open[number] = method
            self.opened_max = max(self.opened_max, self.open_count())
            return number
        if method.startswith("unsubscribe"):
            (number,) = call["params"]
            if connection.open.pop(number, None) is None:
                self.stray_leaves.append(number)
            else:
                self.left_count += 1
            return True
        return result

    async def _send(self, connection: Connection, message: Json) -> None:
        if not connection.socket.closed:
            await connection.socket.send_str(json.encode(self._write(message)).decode())
