"""Blocking HTTP over kept connections, for any thread. Failures are values, never exceptions."""

import http.client
import os
import time
from collections.abc import AsyncGenerator

from laneway.client.limits import CHUNK_BYTES, CONNECT_S, IDLE_COUNT_MAX, IDLE_S_MAX
from laneway.client.place import ServerPlace
from laneway.client.retries import Ask, NoAnswer, ServerAnswer, message_of, server_answer

Failures = (OSError, http.client.HTTPException)


class BlockingWire:
    """Each call has a connection to itself, which is kept for the next one.

    Its coroutines never give way to a loop: each is done when its first step is.
    """

    def __init__(self, place: ServerPlace) -> None:
        self._place = place
        self._headers = place.headers()
        self._idle: list[tuple[http.client.HTTPConnection, float]] = []
        self._process = os.getpid()

    async def exchange(self, ask: Ask) -> ServerAnswer | NoAnswer:
        connection = self._rested() or self._new()
        try:
            response = self._begin(connection, ask)
            if isinstance(response, NoAnswer):
                return response
            body = response.read()
        except Failures as error:
            connection.close()
            return NoAnswer(True, message_of(error))
        except BaseException:
            connection.close()  # Half an answer may be left in it.
            raise
        if response.will_close:
            connection.close()
        else:
            self._rest(connection)
        return server_answer(response.status, response.getheaders(), body)

    async def stream(self, ask: Ask) -> AsyncGenerator[bytes | ServerAnswer | NoAnswer, None]:
        connection = self._new()
        try:
            response = self._begin(connection, ask)
            if isinstance(response, NoAnswer):
                yield response
            elif response.status != 200:
                yield server_answer(response.status, response.getheaders(), response.read())
            else:
                while chunk := response.read1(CHUNK_BYTES):
                    yield chunk
        except Failures as error:
            yield NoAnswer(True, message_of(error))
        finally:
            connection.close()

    async def pause(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251  There is no loop that it could hold up.

    async def close(self) -> None:
        while (resting := self._pop()) is not None:
            resting[0].close()

    def _begin(
        self, connection: http.client.HTTPConnection, ask: Ask
    ) -> http.client.HTTPResponse | NoAnswer:
        if connection.sock is None:
            try:
                connection.connect()
            except OSError as error:
                connection.close()
                return NoAnswer(False, message_of(error))
        connection.sock.settimeout(ask.timeout_s)
        # As bytes: names beyond Latin-1 may stand in an idempotency key.
        headers = {name: text.encode() for name, text in {**self._headers, **ask.headers}.items()}
        connection.request(ask.method, self._place.prefix + ask.target, ask.body, headers)
        return connection.getresponse()

    def _new(self) -> http.client.HTTPConnection:
        is_secure = self._place.scheme == "https"
        made = http.client.HTTPSConnection if is_secure else http.client.HTTPConnection
        return made(self._place.host, self._place.port, timeout=CONNECT_S)

    def _rested(self) -> http.client.HTTPConnection | None:
        if self._process != os.getpid():
            # After a fork both would read from one socket; the parent keeps it.
            self._idle, self._process = [], os.getpid()
        while (resting := self._pop()) is not None:
            connection, since = resting
            if time.monotonic() - since < IDLE_S_MAX:
                return connection
            connection.close()
        return None

    def _pop(self) -> tuple[http.client.HTTPConnection, float] | None:
        try:
            return self._idle.pop()
        except IndexError:  # Nothing rests, or another thread took the last.
            return None

    def _rest(self, connection: http.client.HTTPConnection) -> None:
        if len(self._idle) < IDLE_COUNT_MAX:
            self._idle.append((connection, time.monotonic()))
        else:
            connection.close()
