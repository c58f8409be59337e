"""One connection: bad HTTP gets a problem like any other error, and so does one too many."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, cast

from aiohttp import web

from laneway.server.answers import encode, refuse
from laneway.server.limits import (
    CONNECTIONS_MAX,
    HEADER_COUNT_MAX,
    HEADER_LINE_BYTES_MAX,
    HEADER_READ_S,
    KEEP_ALIVE_S,
    LINGER_S,
    RETRY_AFTER_S,
)
from laneway.wire import problem as problems
from laneway.wire.problem import problem

log = logging.getLogger("laneway.server")

NO_LOG = logging.getLogger("laneway.access")
NO_LOG.disabled = True


class ConnectionGate:
    """Makes a protocol for every connection, and counts them."""

    def __init__(self, server: web.Server, connections_max: int = CONNECTIONS_MAX) -> None:
        self._server = server
        self._connections_max = connections_max
        self._loop = asyncio.get_running_loop()
        self.count = 0

    def __call__(self) -> asyncio.Protocol:
        if self.count >= self._connections_max:
            return Turned()
        return Connection(self, self._server, self._loop)


class Turned(asyncio.Protocol):
    """One connection too many: it gets a 503 and is closed."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = cast(asyncio.Transport, transport)  # uvloop's is one in all but its bases.
        body = encode(problem(503, "too_many_connections", "try again in a moment", retryable=True))
        head = (
            "HTTP/1.1 503 Service Unavailable\r\n"
            f"Content-Type: {problems.CONTENT_TYPE}\r\n"
            f"Content-Length: {len(body)}\r\n"
            f"Retry-After: {RETRY_AFTER_S}\r\nConnection: close\r\n\r\n"
        )
        transport.write(head.encode() + body)
        transport.close()


class Connection(web.RequestHandler):
    """Like aiohttp's own, with a deadline for headers and problems for bad HTTP."""

    __slots__ = ("_deadline", "_gate", "lost")

    def __init__(
        self, gate: ConnectionGate, server: web.Server, loop: asyncio.AbstractEventLoop
    ) -> None:
        super().__init__(
            server,
            loop=loop,
            access_log=NO_LOG,
            keepalive_timeout=KEEP_ALIVE_S,
            max_line_size=HEADER_LINE_BYTES_MAX,
            max_field_size=HEADER_LINE_BYTES_MAX,
            max_headers=HEADER_COUNT_MAX,
            lingering_time=LINGER_S,
            # Nobody needs a compressed body, and a small one may unfold to gigabytes.
            auto_decompress=False,
        )
        self._gate = gate
        self._deadline: asyncio.TimerHandle | None = None
        self.lost: Callable[[], object] | None = None
        """Called when the client goes away, for an action that would not notice by itself."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._gate.count += 1
        super().connection_made(transport)
        self._expect_headers()

    def connection_lost(self, exc: BaseException | None) -> None:
        self._gate.count -= 1
        self._headers_came()
        if self.lost is not None:
            self.lost()
        super().connection_lost(exc)

    def write_chunk(self, body: bytes) -> bool:
        """A part of a chunked body, straight to the socket; False if its reader is slow or gone.

        The response's own `write` costs twice as much for each part: a wait, and three writes.
        """
        if self.transport is None or self.transport.is_closing():
            return False
        self.transport.write(b"%x\r\n%b\r\n" % (len(body), body))
        return not self._paused

    async def drained(self) -> None:
        """Wait until the client has taken what was written."""
        await self._drain_helper()

    def data_received(self, data: bytes) -> None:
        count = self._request_count
        super().data_received(data)
        if self._request_count != count:
            self._headers_came()
        elif self._waiter is not None and self._deadline is None:
            # It waits for a request, and this was not all of its headers.
            self._expect_headers()

    def _expect_headers(self) -> None:
        self._deadline = self._loop.call_later(HEADER_READ_S, self.force_close)

    def _headers_came(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        if status == 500:
            # A bug of ours: its message is for the log, not for the caller.
            log.error("a request failed", exc_info=exc, extra={"fields": {"path": request.path}})
            refusal = problem(500, "bug", "the server has a bug; its log says more")
        else:
            refusal = problem(status, "bad_http", first_line(message or str(exc)))
        if request.writer.output_size > 0:
            raise ConnectionError("an answer was begun already; the connection is closed")
        response: Any = refuse(refusal)
        response.force_close()
        assert isinstance(response, web.StreamResponse)
        return response


def first_line(message: str) -> str:
    """A parser's error message without the bytes that it quotes below."""
    return message.strip().partition("\n")[0].rstrip(": ")[:200]
