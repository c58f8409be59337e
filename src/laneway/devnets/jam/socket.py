"""A node of the JAM devnet on a loopback socket: JIP-2 over WebSocket, and single calls over HTTP.

A message that is too large ends the connection that it came on, with the code that WebSocket has
for that, and nothing else.
"""

from typing import Final

from aiohttp import web
from msgspec import json

from laneway.devnets.jam.calls import answer, ask, refused
from laneway.devnets.jam.connection import Connection
from laneway.devnets.jam.given import INVALID_REQUEST, RpcRefused
from laneway.devnets.jam.host import JamHost
from laneway.devnets.jam.limits import MESSAGE_BYTES_MAX, SHUTDOWN_S, SOCKETS_COUNT_MAX
from laneway.devnets.jam.shown import Json

LOOPBACK: Final = "127.0.0.1"
JSON: Final = "application/json"


class JamSocket:
    """Serves one node of a devnet; `open` says where."""

    def __init__(self, host: JamHost, node: int = 0, *, port: int = 0) -> None:
        self.url = ""
        """Where it listens, once opened."""
        self._host = host
        self._node = node
        self._port = port
        self._connections: dict[int, Connection] = {}
        self._runner: web.AppRunner | None = None

    @property
    def http_url(self) -> str:
        return self.url.replace("ws:", "http:", 1)

    async def open(self) -> None:
        app = web.Application(client_max_size=MESSAGE_BYTES_MAX)
        app.router.add_post("/", self._post)
        app.router.add_get("/", self._listen)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=SHUTDOWN_S)
        await self._runner.setup()
        await web.TCPSite(self._runner, LOOPBACK, self._port).start()
        self._port = self._runner.addresses[0][1]
        self.url = f"ws://{LOOPBACK}:{self._port}"

    async def close(self) -> None:
        """Opened again it is at the same place."""
        # Subscriptions have no end of their own, and the server would wait for them.
        for connection in tuple(self._connections.values()):
            connection.cut()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _post(self, request: web.Request) -> web.Response:
        if request.content_type != JSON:
            # A page in a browser may post text to any address without asking.
            return said(refused(None, RpcRefused(INVALID_REQUEST, "Invalid request")))
        try:
            body = await request.read()
        except web.HTTPRequestEntityTooLarge:
            return said(refused(None, RpcRefused(INVALID_REQUEST, "Invalid request")))
        told = answer(lambda method, params: ask(self._host, self._node, method, params), body)
        return web.Response(status=204) if told is None else said(told)

    async def _listen(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(max_msg_size=MESSAGE_BYTES_MAX, timeout=SHUTDOWN_S)
        if not socket.can_prepare(request).ok:
            words = "JIP-2 is spoken over WebSocket, or posted"
            return web.Response(status=405, text=words, headers={"Allow": "POST"})
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


def said(content: Json) -> web.Response:
    return web.Response(body=json.encode(content), content_type=JSON)
