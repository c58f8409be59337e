"""A chain to try things on, in this process: its clock, and the sockets of its nodes."""

from collections.abc import Sequence
from typing import Any, Generic, Self

from laneway.devnets.node.host import H
from laneway.devnets.node.socket import NodeSocket


class Devnet(Generic[H]):
    """Everything is forgotten when the process ends."""

    def __init__(self, host: H, sockets: Sequence[NodeSocket[Any]]) -> None:
        self._host = host
        self._sockets = sockets

    @property
    def url(self) -> str:
        """The first node's."""
        return self.urls[0]

    @property
    def urls(self) -> tuple[str, ...]:
        """Each node's."""
        return tuple(socket.url for socket in self._sockets)

    async def start(self) -> None:
        try:
            for socket in self._sockets:
                await socket.open()
        except OSError:
            await self.close()
            raise
        self._host.start()

    async def close(self) -> None:
        self._host.close()
        for socket in self._sockets:
            await socket.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def settle(self) -> None:
        """Notify subscribers of what is new; it follows a change of the chain by hand."""
        self._host.settle()

    async def stop_node(self, node: int) -> None:
        """It answers nobody; the chain goes on without it."""
        await self._sockets[node].close()

    async def start_node(self, node: int) -> None:
        """Back at the same address, with all that it has missed."""
        await self._sockets[node].open()
