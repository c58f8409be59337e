"""A devnet on the event loop, which moves by the clock or only on command, and its clients.

The host drives one chain, and notifies its clients when there may be something new.
"""

import asyncio
from typing import Any, Generic, TypeVar

from laneway.wire.rpc_server.connection import ServedConnection


class DevnetHost:
    """The clock of a chain; a caller who changes the chain from outside calls `settle` after it."""

    def __init__(self, interval_ms: int) -> None:
        """With `interval_ms` 0 nothing happens by the clock."""
        assert interval_ms >= 0
        self.interval_ms = interval_ms
        self._is_running = False
        self._timer: asyncio.TimerHandle | None = None
        self._listeners: dict[int, NodeCaller[Any]] = {}

    def start(self) -> None:
        self._is_running = True
        self._arm()

    def close(self) -> None:
        """Stop the clock; the chain stays as it is."""
        self._is_running = False
        self._disarm()

    def tick(self) -> None:
        """Let the chain move on, at the clock's command."""
        raise NotImplementedError

    def set_interval(self, interval_ms: int) -> None:
        self.interval_ms = interval_ms
        self._disarm()
        self._arm()

    def listen(self, listener: "NodeCaller[Any]") -> None:
        self._listeners[id(listener)] = listener

    def unlisten(self, listener: "NodeCaller[Any]") -> None:
        del self._listeners[id(listener)]

    def settle(self) -> None:
        """Notify the clients of what is new."""
        for listener in tuple(self._listeners.values()):
            listener.notify()

    def open_count(self) -> int:
        """How many subscriptions all clients have; closed connections must leave none."""
        return sum(listener.open_count() for listener in self._listeners.values())

    def _arm(self) -> None:
        if self._is_running and self.interval_ms > 0:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self.interval_ms / 1000, self._fire)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fire(self) -> None:
        self._arm()
        self.tick()


H = TypeVar("H", bound=DevnetHost)


class NodeCaller(Generic[H]):
    """A client of one node, which the methods are called with: for one posted request, or for as
    long as its WebSocket is open."""

    def __init__(self, host: H, node: int, connection: ServedConnection | None = None) -> None:
        self.host = host
        self.node = node
        self._connection = connection
        self._followed: dict[Any, Any] = {}
        """Its subscriptions, by their numbers."""
        if connection is not None:
            host.listen(self)

    @property
    def is_connected(self) -> bool:
        return self._connection is not None

    def notify(self) -> None:
        """Send what is new; without subscriptions there is nothing to send."""

    def cut(self) -> None:
        """End the connection: the chain that it was about is gone."""
        self.connection.cut()

    def open_count(self) -> int:
        return len(self._followed)

    def close(self) -> None:
        if self._connection is not None:
            self.host.unlisten(self)

    @property
    def connection(self) -> ServedConnection:
        assert self._connection is not None, "only methods that need a connection ask for it"
        return self._connection
