"""Blocking HTTP over kept connections, for any thread. Failures are values, never exceptions."""

import http.client
import os
import time
from collections.abc import Iterator

from laneway.client.limits import CHUNK_BYTES, CONNECT_S, IDLE_COUNT_MAX, IDLE_S_MAX
from laneway.client.place import Place
from laneway.client.steps import Answer, Ask, Lost

Failures = (OSError, http.client.HTTPException)


class Connections:
    """Each call has a connection to itself; between calls they rest here."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._headers = place.headers()
        self._idle: list[tuple[http.client.HTTPConnection, float]] = []
        self._process = os.getpid()

    def exchange(self, ask: Ask) -> Answer | Lost:
        connection = self._rested() or self._new()
        try:
            response = self._begin(connection, ask)
            if isinstance(response, Lost):
                return response
            body = response.read()
        except Failures as error:
            connection.close()
            return Lost(True, words(error))
        except BaseException:
            connection.close()  # Half an answer may be left in it.
            raise
        if response.will_close:
            connection.close()
        else:
            self._rest(connection)
        return Answer(response.status, small(response), body)

    def stream(self, ask: Ask) -> Iterator[bytes | Answer | Lost]:
        """Chunks as they come; ends with why it is no more, or silently when it was ended."""
        connection = self._new()
        try:
            response = self._begin(connection, ask)
            if isinstance(response, Lost):
                yield response
            elif response.status != 200:
                yield Answer(response.status, small(response), response.read())
            else:
                while chunk := response.read1(CHUNK_BYTES):
                    yield chunk
        except Failures as error:
            yield Lost(True, words(error))
        finally:
            connection.close()

    def close(self) -> None:
        while (resting := self._pop()) is not None:
            resting[0].close()

    def _begin(
        self, connection: http.client.HTTPConnection, ask: Ask
    ) -> http.client.HTTPResponse | Lost:
        if connection.sock is None:
            try:
                connection.connect()
            except OSError as error:
                connection.close()
                return Lost(False, words(error))
        connection.sock.settimeout(ask.timeout_s)
        # As bytes: names beyond Latin-1 may stand in an idempotency key.
        headers = {name: text.encode() for name, text in {**self._headers, **ask.headers}.items()}
        connection.request(ask.method, self._place.prefix + ask.target, ask.body, headers)
        return connection.getresponse()

    def _new(self) -> http.client.HTTPConnection:
        place = self._place
        if place.scheme == "https":
            return http.client.HTTPSConnection(place.host, place.port, timeout=CONNECT_S)
        return http.client.HTTPConnection(place.host, place.port, timeout=CONNECT_S)

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


def small(response: http.client.HTTPResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in response.getheaders()}


def words(error: BaseException) -> str:
    strerror = error.strerror if isinstance(error, OSError) else None
    return strerror or str(error) or type(error).__name__
