"""Sends webhooks: one POST, signed, to a checked address, with bounds on time and size."""

import asyncio
from collections.abc import Sequence

from aiohttp import (
    ClientConnectorError,
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    TCPConnector,
)
from aiohttp.abc import AbstractResolver
from msgspec import Struct

from laneway.core.urls import scrubbed
from laneway.engine.delivery import NOT_CONFIGURED
from laneway.feeds.guard import Forbidden, guarded_socket
from laneway.feeds.limits import (
    POST_ANSWER_BYTES_MAX,
    POST_CONNECT_S,
    POST_S,
    RETRY_AFTER_S_MAX,
)
from laneway.feeds.signature import signed
from laneway.ports import Clock, DeliveryMessage, Posted
from laneway.version import __version__
from laneway.wire.retry_after import read_retry_after


class WebhookEndpoint(Struct, frozen=True, kw_only=True):
    """Where messages go, and what they are signed with. It is never shown or logged."""

    id: str
    url: str
    secrets: tuple[bytes, ...]
    allow_private: bool = False

    def __repr__(self) -> str:
        return f"Endpoint({self.id!r})"


class HttpSender:
    """Redirections are not followed: the answer to one is that it is not an endpoint."""

    def __init__(
        self,
        endpoints: Sequence[WebhookEndpoint],
        clock: Clock,
        resolver: AbstractResolver | None = None,
    ) -> None:
        self._endpoints = {endpoint.id: endpoint for endpoint in endpoints}
        self._clock = clock
        self._resolver = resolver
        self._sessions: dict[bool, ClientSession] = {}

    async def post(self, endpoint: str, message: DeliveryMessage) -> Posted:
        begun_ms = self._clock.monotonic_ms()
        known = self._endpoints.get(endpoint)
        if known is None:
            return Posted(None, 0, NOT_CONFIGURED)
        try:
            async with asyncio.timeout(POST_S):
                return await self._post(known, message, begun_ms)
        except TimeoutError:
            reason = f"no answer within {POST_S:g} s"
        except ClientConnectorError as error:
            reason = why_not(error.os_error)
        except (ClientError, OSError, ValueError) as error:
            # A ValueError: an address that only a server's answer or a resolver could refuse.
            reason = f"the connection failed: {type(error).__name__}"
        return Posted(None, self._clock.monotonic_ms() - begun_ms, reason)

    async def _post(
        self, endpoint: WebhookEndpoint, message: DeliveryMessage, begun_ms: int
    ) -> Posted:
        # The time is of the attempt, so that a receiver may refuse old ones (five minutes).
        timestamp_s = self._clock.now_ms() // 1000
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"laneway/{__version__}",
            **signed(endpoint.secrets, message.id, timestamp_s, message.body),
        }
        session = self._session(endpoint.allow_private)
        async with session.post(
            endpoint.url, data=message.body, headers=headers, allow_redirects=False
        ) as answer:
            body = (await beginning(answer)).decode("latin-1")
            preview = scrubbed(body, endpoint.url).encode("latin-1")[:POST_ANSWER_BYTES_MAX]
            code = answer.status
            return Posted(
                code,
                self._clock.monotonic_ms() - begun_ms,
                "" if 200 <= code < 300 else f"HTTP {code}",
                preview,
                retry_after_ms(answer.headers.get("Retry-After"), self._clock.now_ms()),
            )

    def _session(self, allow_private: bool) -> ClientSession:
        """Connections of guarded endpoints are shared with no others."""
        session = self._sessions.get(allow_private)
        if session is None:
            session = self._sessions[allow_private] = ClientSession(
                connector=TCPConnector(
                    resolver=self._resolver,
                    socket_factory=None if allow_private else guarded_socket,
                ),
                timeout=ClientTimeout(total=POST_S, sock_connect=POST_CONNECT_S),
                cookie_jar=DummyCookieJar(),
                # What is kept of an answer is its first bytes; a bomb stays packed.
                auto_decompress=False,
            )
        return session

    async def close(self) -> None:
        for session in self._sessions.values():
            await session.close()
        self._sessions.clear()


async def beginning(answer: ClientResponse) -> bytes:
    """The first bytes of an answer, and no more than these: the rest closes its connection."""
    preview = b""
    while len(preview) < POST_ANSWER_BYTES_MAX:
        chunk = await answer.content.read(POST_ANSWER_BYTES_MAX - len(preview))
        if not chunk:
            return preview
        preview += chunk
    answer.close()
    return preview


def why_not(error: OSError) -> str:
    found = forbidden_in(error)
    if found is not None:
        return str(found)
    return f"cannot connect: {error.strerror or type(error).__name__}"


def forbidden_in(error: BaseException | None) -> Forbidden | None:
    """The guard's own error, inside the one that the connector made of it."""
    while error is not None:
        if isinstance(error, Forbidden):
            return error
        error = error.__cause__ or error.__context__
    return None


def retry_after_ms(text: str | None, now_ms: int) -> int | None:
    """How long a receiver asks to wait; None where it does not say so."""
    wait_s = read_retry_after(text, now_ms / 1000, RETRY_AFTER_S_MAX)
    return None if wait_s is None else int(wait_s * 1000)
