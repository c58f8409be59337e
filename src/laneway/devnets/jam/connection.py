"""One client of a node: its calls are answered in their order, and news are told between them.

A subscription ends with its connection. A client that asks and does not read is made to wait; one
that is told more than it reads is cut off.
"""

import asyncio
from typing import Final

from aiohttp import WSCloseCode, WSMsgType, web
from msgspec import json

from laneway.devnets.jam.calls import answer, ask, told
from laneway.devnets.jam.given import TOO_MANY_SUBSCRIPTIONS, Method, RpcRefused, number, read
from laneway.devnets.jam.host import JamHost
from laneway.devnets.jam.limits import SUBSCRIPTIONS_COUNT_MAX
from laneway.devnets.jam.outbox import Outbox
from laneway.devnets.jam.shown import Json
from laneway.devnets.jam.subscriptions import SUBSCRIPTIONS, Subscription, left_by
from laneway.devnets.jam.values import Unavailable
from laneway.jam.errors import InvalidJam

LEAVING: Final = Method((number,), bool)
"""What a subscription is left with: its number."""


class Connection:
    def __init__(self, socket: web.WebSocketResponse, host: JamHost, node: int) -> None:
        self._socket = socket
        self._host = host
        self._node = node
        self._followed: dict[int, Subscription] = {}
        self._opened: int | None = None
        """The subscription whose number is not answered yet."""
        self._outbox = Outbox()
        self._ended = asyncio.Event()

    async def serve(self) -> None:
        self._host.listen(self)
        tasks = [
            asyncio.create_task(each) for each in (self._read(), self._write(), self._ended.wait())
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._host.unlisten(self)
            for task in tasks:
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
        await self._socket.close(code=WSCloseCode.GOING_AWAY)
        for end in ends:
            if isinstance(end, Exception):
                # A bug, which the server writes down; this connection has ended with it.
                raise end

    def open_count(self) -> int:
        return len(self._followed)

    def cut(self) -> None:
        self._ended.set()

    def tell(self) -> None:
        """What is new for each subscription."""
        for name in tuple(self._followed):
            self._tell(name)

    async def _read(self) -> None:
        async for message in self._socket:
            if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                return
            body = message.data.encode() if message.type is WSMsgType.TEXT else message.data
            said = answer(self._ask, body)
            if said is not None:
                self._put(said)
            if self._opened is not None:
                # The answer with its number went first.
                self._tell(self._opened)
                self._opened = None
            await self._outbox.room()

    async def _write(self) -> None:
        try:
            while True:
                content = await self._outbox.take()
                await self._socket.send_str(content.decode())
        except ConnectionError:
            # The client is gone.
            return

    def _put(self, content: Json) -> None:
        if not self._outbox.put(json.encode(content)):
            self.cut()

    def _tell(self, name: int) -> None:
        followed = self._followed[name]
        news = followed.news(self._host, self._node)
        if news is not None:
            params = {"subscription": name, **news}
            self._put({"jsonrpc": "2.0", "method": followed.name, "params": params})

    def _ask(self, method: str, params: object) -> object:
        if method in SUBSCRIPTIONS:
            return self._follow(method, params)
        opener = left_by(method)
        if opener is not None:
            return self._leave(opener, params)
        return ask(self._host, self._node, method, params)

    def _follow(self, method: str, params: object) -> int:
        topic = SUBSCRIPTIONS[method]
        given = read(topic.method, params)
        if len(self._followed) >= SUBSCRIPTIONS_COUNT_MAX:
            problem = "Too many subscriptions on the connection"
            raise RpcRefused(TOO_MANY_SUBSCRIPTIONS, problem)
        try:
            topic.method.call(self._host, self._node, *given)
        except (Unavailable, InvalidJam) as problem:
            raise told(problem) from problem
        name = self._host.opened_count = self._host.opened_count + 1
        self._followed[name] = Subscription(method, given)
        self._opened = name
        return name

    def _leave(self, opener: str, params: object) -> bool:
        (name,) = read(LEAVING, params)
        followed = self._followed.get(name)
        if followed is None or followed.name != opener:
            return False
        del self._followed[name]
        return True
