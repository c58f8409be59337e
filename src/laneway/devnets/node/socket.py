"""A node of a devnet on a loopback socket: JSON-RPC over HTTP and WebSocket, on one port.

A message that is too large ends the connection that it came on, with the code that WebSocket has
for that, and nothing else.
"""

from collections.abc import Callable
from typing import Any, Final, Generic

from aiohttp import web

from laneway.devnets.node.limits import SHUTDOWN_S
from laneway.wire.rpc_server.connection import ServedConnection
from laneway.wire.rpc_server.rpc import C, Rpc
from laneway.wire.rpc_server.server import RpcServer

LOOPBACK: Final = "127.0.0.1"


class NodeSite:
    """A web application on a port of this machine, until it is closed."""

    def __init__(self, *, host: str = LOOPBACK, port: int = 0) -> None:
        self.address = ""
        """Host and port, once opened."""
        self._host = host
        self._port = port
        self._runner: web.AppRunner | None = None

    async def open(self, app: web.Application) -> None:
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=SHUTDOWN_S)
        await self._runner.setup()
        await web.TCPSite(self._runner, self._host, self._port).start()
        host, self._port = self._runner.addresses[0][:2]
        self.address = f"{host}:{self._port}"

    async def close(self) -> None:
        """Stop serving; opened again it is at the same address."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None


class NodeSocket(Generic[C]):
    """Serves one node; opened again it is at the same address."""

    def __init__(
        self,
        rpc: Rpc[C],
        caller: Callable[[Any, int, ServedConnection | None], C],
        host: object,
        node: int,
        *,
        port: int = 0,
    ) -> None:
        """`caller` makes a client of one of the host's nodes."""
        self._rpc = rpc
        self._node = node
        self._server = RpcServer(rpc, lambda _, connection: caller(host, self._node, connection))
        self._site = NodeSite(port=port)

    @property
    def url(self) -> str:
        return f"http://{self._site.address}"

    @property
    def ws_url(self) -> str:
        return f"ws://{self._site.address}"

    async def open(self) -> None:
        app = web.Application(client_max_size=self._rpc.limits.body_bytes)
        self.add_routes(app, self._server)
        await self._site.open(app)

    def add_routes(self, app: web.Application, server: RpcServer[C]) -> None:
        server.add_to(app)

    async def close(self) -> None:
        self._server.cut()
        await self._site.close()
