"""What every client over HTTP has: connections that are opened late, and bodies within a bound."""

from collections.abc import Mapping

from aiohttp import ClientSession, DummyCookieJar, StreamReader, TCPConnector


class HttpSession:
    """Connections to one server, opened by the first request, inside the running loop."""

    def __init__(
        self, connections_max: int, keepalive_s: float, headers: Mapping[str, str] | None = None
    ) -> None:
        self._connections_max = connections_max
        self._keepalive_s = keepalive_s
        self._headers = headers
        self._session: ClientSession | None = None

    def opened(self) -> ClientSession:
        if self._session is None:
            connector = TCPConnector(
                limit=self._connections_max, keepalive_timeout=self._keepalive_s
            )
            self._session = ClientSession(
                connector=connector, cookie_jar=DummyCookieJar(), headers=self._headers
            )
        return self._session

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None


async def read_body(content: StreamReader, bytes_max: int) -> bytes | None:
    """None if it is larger."""
    body = bytearray()
    async for chunk in content.iter_any():
        body += chunk
        if len(body) > bytes_max:
            return None
    return bytes(body)
