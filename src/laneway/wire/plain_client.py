"""The JSON-RPC client of nodes at plain http:// addresses, on sockets of its own.

A general HTTP client spends four times the CPU on a post, and an account's lane posts all day. What
is known of a request that failed is the same.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import cast

from yarl import URL

from laneway.core.errors import ChainUnreachable, ChainUnreadable
from laneway.wire.http_answer import BadAnswer, HttpAnswer
from laneway.wire.jsonrpc import RpcAnswerLost, RpcClient
from laneway.wire.limits import RPC_CONNECTIONS_MAX, RPC_KEEPALIVE_S
from laneway.wire.trouble import no_answer, trouble_of


class PlainConnection(asyncio.Protocol):
    """One request at a time."""

    def __init__(self, lost: Callable[[], None]) -> None:
        self._lost = lost
        self.used_s = 0.0
        self.is_open = False
        self._transport: asyncio.Transport
        self._answer: HttpAnswer | None = None
        self._waiting: asyncio.Future[HttpAnswer] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.is_open = True

    def data_received(self, data: bytes) -> None:
        if self._answer is None:
            self.close()  # Nobody asked.
            return
        try:
            self._answer.feed(data)
        except BadAnswer as error:
            self._end(error)
        else:
            if self._answer.is_whole:
                self._end()

    def connection_lost(self, error: Exception | None) -> None:
        if self.is_open:
            self._lost()
        self.is_open = False
        if self._answer is not None:
            self._answer.end()
            is_whole = self._answer.is_whole
            self._end(None if is_whole else error or ConnectionResetError())

    async def post(self, request: bytes, timeout_s: float) -> HttpAnswer:
        """TimeoutError, OSError and BadAnswer all leave it closed: the rest may come later."""
        loop = asyncio.get_running_loop()
        self._answer = HttpAnswer()
        self._waiting = loop.create_future()
        late = loop.call_later(timeout_s, self._end, TimeoutError())
        try:
            self._transport.write(request)
            answer = await self._waiting
            if not answer.keeps_alive():
                self.close()
            return answer
        except BaseException:
            self.close()
            raise
        finally:
            late.cancel()
            self._answer = self._waiting = None

    def _end(self, error: Exception | None = None) -> None:
        assert self._waiting is not None
        assert self._answer is not None
        if self._waiting.done():
            return
        if error is None:
            self._waiting.set_result(self._answer)
        else:
            self._waiting.set_exception(error)

    def close(self) -> None:
        self.is_open = False
        self._transport.abort()


class PlainClient(RpcClient):
    def __init__(self, place: str, *, name: str) -> None:
        super().__init__(place, name=name)
        url = URL(place)
        assert url.host is not None
        assert url.port is not None
        self._host, self._port = url.host, url.port
        self._head = (
            f"POST {url.raw_path_qs} HTTP/1.1\r\nHost: {url.raw_authority}\r\n"
            "Content-Type: application/json\r\nAccept: */*\r\nUser-Agent: laneway\r\n"
            "Content-Length: "
        ).encode()
        self._idle: list[PlainConnection] = []
        self._places = asyncio.Semaphore(RPC_CONNECTIONS_MAX)

    async def _exchange(self, content: bytes, timeout_ms: int) -> tuple[int, str | None, bytes]:
        connection = await self._connected()
        try:
            request = b"%s%d\r\n\r\n%s" % (self._head, len(content), content)
            answer = await connection.post(request, timeout_ms / 1000)
        except TimeoutError as error:
            raise RpcAnswerLost(self.name, no_answer(timeout_ms)) from error
        except OSError as error:
            raise RpcAnswerLost(self.name, f"cut off ({type(error).__name__})") from error
        except BadAnswer as error:
            raise ChainUnreadable(self.name, str(error)) from error
        finally:
            self._give_back(connection)
        return answer.status, answer.header(b"retry-after"), answer.content

    async def _connected(self) -> PlainConnection:
        """A connection that is nobody else's; ChainUnreachable: nothing has left."""
        if self._closed:
            raise ChainUnreachable(self.name, "this client was closed")
        if self._places.locked() or not self._idle:
            try:
                async with asyncio.timeout(self._connect_s):
                    await self._places.acquire()
            except TimeoutError as error:
                raise ChainUnreachable(self.name, "all its connections are in use") from error
        else:
            await self._places.acquire()
        try:
            return self._rested() or await self._connect()
        except BaseException:
            self._places.release()
            raise

    def _rested(self) -> PlainConnection | None:
        """The one used last; a server closes those that rest for long."""
        oldest_s = asyncio.get_running_loop().time() - RPC_KEEPALIVE_S
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open and connection.used_s > oldest_s:
                return connection
            connection.close()
        return None

    async def _connect(self) -> PlainConnection:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._connect_s):
                _, connection = await loop.create_connection(
                    lambda: PlainConnection(self._count_loss), self._host, self._port
                )
        except (TimeoutError, OSError) as error:
            raise ChainUnreachable(self.name, trouble_of(error, self._connect_s)) from error
        return connection

    def _count_loss(self) -> None:
        self._losses_count += 1

    def _give_back(self, connection: PlainConnection) -> None:
        self._places.release()
        if connection.is_open and not self._closed:
            connection.used_s = asyncio.get_running_loop().time()
            self._idle.append(connection)
        else:
            connection.close()

    async def close(self) -> None:
        await super().close()
        while self._idle:
            self._idle.pop().close()


def client_of(place: str, *, name: str, headers: Mapping[str, str]) -> RpcClient:
    """The quick one where the address is plain; secrets and certificates are left to the other."""
    url = URL(place)
    is_plain = url.scheme == "http" and not url.user and not url.password and not headers
    if is_plain:
        return PlainClient(place, name=name)
    return RpcClient(place, name=name, headers=headers)
