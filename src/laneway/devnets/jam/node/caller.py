"""A client of one node of the JAM devnet, and what it follows."""

from collections.abc import Callable

from laneway.devnets.jam.model.chain import JamModel
from laneway.devnets.jam.node.host import JamHost
from laneway.devnets.node.host import NodeCaller
from laneway.wire.rpc_server.methods import Json


class JamCaller(NodeCaller[JamHost]):
    @property
    def model(self) -> JamModel:
        return self.host.model

    def notify(self) -> None:
        for number in tuple(self._followed):
            self._notify(number)

    def follow(self, name: str, news: Callable[["JamCaller"], Json | None]) -> int:
        """Open a subscription by the method of this name; `news` returns what the client is to be
        notified of now, once: a result, or why there is none."""
        number = self.host.opened_count = self.host.opened_count + 1
        self._followed[number] = name, news
        self.connection.afterwards(lambda: self._notify(number))
        return number

    def leave(self, name: str, number: int) -> bool:
        """Whether there was such a subscription."""
        is_open = number in self._followed and self._followed[number][0] == name
        if is_open:
            del self._followed[number]
        return is_open

    def _notify(self, number: int) -> None:
        name, news = self._followed[number]
        params = news(self)
        if params is not None:
            self.connection.notify(name, {"subscription": number, **params})
