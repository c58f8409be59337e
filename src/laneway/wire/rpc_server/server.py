"""JSON-RPC for an aiohttp application: calls that are posted, and connections that stay."""

from collections.abc import Callable
from contextlib import closing
from typing import Final, Generic

from aiohttp import WSCloseCode, web
from msgspec import json

from laneway.wire.http_session import read_body
from laneway.wire.rpc_server.connection import ServedConnection
from laneway.wire.rpc_server.methods import Json
from laneway.wire.rpc_server.rpc import C, Rpc

JSON: Final = "application/json"


class RpcServer(Generic[C]):
    """Two routes, `post` and `listen`, which may share a path.

    `welcome` makes the context of a request or of a connection, from what was asked for: a key in
    the path, for example. It turns a client away by raising one of aiohttp's HTTP exceptions.
    """

    def __init__(
        self, rpc: Rpc[C], welcome: Callable[[web.Request, ServedConnection | None], C]
    ) -> None:
        self._rpc = rpc
        self._welcome = welcome
        self._connections: dict[int, ServedConnection] = {}

    def add_to(self, app: web.Application, path: str = "/") -> None:
        app.router.add_post(path, self.post)
        app.router.add_get(path, self.listen)

    def cut(self) -> None:
        """End all connections: they have no end of their own, and a shutdown would wait."""
        for connection in tuple(self._connections.values()):
            connection.cut()

    async def post(self, request: web.Request) -> web.Response:
        dialect = self._rpc.dialect
        with closing(self._welcome(request, None)) as context:
            if not dialect.takes_any_content and request.content_type != JSON:
                return self._said(dialect.refused(None, dialect.invalid()))
            # What the application allows elsewhere does not matter.
            body = await read_body(request.content, self._rpc.limits.body_bytes)
            if body is None:
                return self._said(dialect.refused(None, dialect.invalid()))
            return self._said(await self._rpc.answer(context, body))

    async def listen(self, request: web.Request) -> web.StreamResponse:
        limits = self._rpc.limits
        socket = web.WebSocketResponse(max_msg_size=limits.body_bytes, timeout=limits.close_s)
        if not socket.can_prepare(request).ok:
            usage = self._rpc.dialect.usage
            return web.Response(status=405, text=usage, headers={"Allow": "POST"})
        if len(self._connections) >= limits.connections_count:
            return web.Response(status=503, text="too many connections")
        connection = ServedConnection(socket, limits)
        with closing(self._welcome(request, connection)) as context:
            self._connections[id(connection)] = connection
            try:
                await socket.prepare(request)
                bug = await connection.serve(self._rpc, context)
            finally:
                del self._connections[id(connection)]
        await socket.close(code=WSCloseCode.GOING_AWAY)
        if bug is not None:
            raise bug  # The server logs it; this connection has ended with it.
        return socket

    def _said(self, answer: Json | list[Json] | None) -> web.Response:
        if answer is None:
            return web.Response(status=204)
        status = self._rpc.dialect.status(answer)
        return web.Response(status=status, body=json.encode(answer), content_type=JSON)
