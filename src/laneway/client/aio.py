"""Asynchronous HTTP over aiohttp. Failures are values, never exceptions."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from io import BytesIO

from aiohttp import (
    ClientConnectorError,
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    ConnectionTimeoutError,
    DummyCookieJar,
)
from yarl import URL

from laneway.client.limits import CONNECT_S, WHOLE_BYTES_MAX
from laneway.client.place import ServerPlace
from laneway.client.retries import Ask, NoAnswer, ServerAnswer, message_of, server_answer

Opening = AbstractAsyncContextManager[ClientResponse]


class AioWire:
    """Requests over the connections of one session, which is opened for the first of them."""

    def __init__(self, place: ServerPlace) -> None:
        self._place = place
        self._session: ClientSession | None = None

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def exchange(self, ask: Ask) -> ServerAnswer | NoAnswer:
        try:
            timeout = ClientTimeout(total=ask.timeout_s, sock_connect=CONNECT_S)
            async with self._request(ask, timeout) as response:
                return await read(response)
        except (ClientError, TimeoutError, OSError) as error:
            return lost_by(error)

    async def stream(self, ask: Ask) -> AsyncGenerator[bytes | ServerAnswer | NoAnswer, None]:
        try:
            timeout = ClientTimeout(sock_connect=CONNECT_S, sock_read=ask.timeout_s)
            async with self._request(ask, timeout) as response:
                if response.status != 200:
                    yield await read(response)
                    return
                async for chunk in response.content.iter_any():
                    yield chunk
        except (ClientError, TimeoutError, OSError) as error:
            yield lost_by(error)

    def _request(self, ask: Ask, timeout: ClientTimeout) -> Opening:
        if self._session is None or self._session.closed:
            self._session = ClientSession(
                cookie_jar=DummyCookieJar(), headers=self._place.headers()
            )
        return self._session.request(
            ask.method,
            URL(self._place.url + ask.target, encoded=True),
            data=body_of(ask),
            headers=ask.headers,
            timeout=timeout,
            allow_redirects=False,
        )


def body_of(ask: Ask) -> bytes | BytesIO | None:
    """The body; a large one as a file, which is written in pieces and holds up no other call."""
    body = ask.body
    return body if body is None or len(body) <= WHOLE_BYTES_MAX else BytesIO(body)


def lost_by(error: BaseException) -> NoAnswer:
    reached = not isinstance(error, ClientConnectorError | ConnectionTimeoutError)
    return NoAnswer(reached, message_of(error))


async def read(response: ClientResponse) -> ServerAnswer:
    return server_answer(response.status, response.headers.items(), await response.read())
