"""One client on a WebSocket: its calls are answered in their order, notifications go in between.

What it was notified of ends with the connection. A client that asks and does not read is made to
wait; one that is notified of more than it reads is cut off.
"""

import asyncio
from collections import deque
from collections.abc import Callable

from aiohttp import WSMsgType, web
from msgspec import json

from laneway.wire.rpc_server.limits import RpcLimits
from laneway.wire.rpc_server.methods import Json
from laneway.wire.rpc_server.rpc import C, Rpc


class Outbox:
    def __init__(self, limits: RpcLimits) -> None:
        self._count_max = limits.outgoing_count
        self._bytes_max = limits.outgoing_bytes
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._filled = asyncio.Event()
        self._has_capacity = asyncio.Event()
        self._has_capacity.set()

    def put(self, content: bytes) -> bool:
        """Whether there was capacity for it. One message always has some, whatever its size."""
        is_full = len(self._waiting) >= self._count_max
        if is_full or (self._waiting and self._size + len(content) > self._bytes_max):
            return False
        self._waiting.append(content)
        self._size += len(content)
        self._filled.set()
        if self._is_half_full():
            self._has_capacity.clear()
        return True

    async def take(self) -> bytes:
        """The oldest message, as soon as there is one."""
        while not self._waiting:
            self._filled.clear()
            await self._filled.wait()
        content = self._waiting.popleft()
        self._size -= len(content)
        if not self._is_half_full():
            self._has_capacity.set()
        return content

    async def capacity(self) -> None:
        """Wait until half of it is free again, so that the other half stays for notifications."""
        await self._has_capacity.wait()

    def _is_half_full(self) -> bool:
        return 2 * len(self._waiting) >= self._count_max or 2 * self._size >= self._bytes_max


class ServedConnection:
    def __init__(self, socket: web.WebSocketResponse, limits: RpcLimits) -> None:
        self._socket = socket
        self._outbox = Outbox(limits)
        self._ended = asyncio.Event()
        self._afterwards: list[Callable[[], None]] = []

    def notify(self, method: str, params: Json) -> None:
        self._put({"jsonrpc": "2.0", "method": method, "params": params})

    def afterwards(self, do: Callable[[], None]) -> None:
        """Do something as soon as the call under way is answered: a client must have the number
        of its subscription before the first notification."""
        self._afterwards.append(do)

    def cut(self) -> None:
        """End it without another message."""
        self._ended.set()

    async def serve(self, rpc: Rpc[C], context: C) -> Exception | None:
        """Answer calls until either side ends; a bug that ended it is returned."""
        tasks = [
            asyncio.create_task(one)
            for one in (self._read(rpc, context), self._write(), self._ended.wait())
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
        return next((end for end in ends if isinstance(end, Exception)), None)

    async def _read(self, rpc: Rpc[C], context: C) -> None:
        async for message in self._socket:
            if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                return
            body = message.data.encode() if message.type is WSMsgType.TEXT else message.data
            answer = await rpc.answer(context, body)
            if answer is not None:
                self._put(answer)
            while self._afterwards:
                self._afterwards.pop(0)()
            await self._outbox.capacity()

    async def _write(self) -> None:
        try:
            while True:
                content = await self._outbox.take()
                await self._socket.send_str(content.decode())
        except ConnectionError:
            # The client is gone.
            return

    def _put(self, content: Json | list[Json]) -> None:
        if not self._outbox.put(json.encode(content)):
            self.cut()
