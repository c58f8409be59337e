"""Server-sent events, as the HTML standard frames them: written and read."""

import re

from msgspec import Struct

from laneway.wire.limits import EVENT_BYTES_MAX

CONTENT_TYPE = "text/event-stream"


def frame(event: str, body: bytes, cursor: str | None = None) -> bytes:
    """One event. Its body is JSON, which has no line breaks of its own."""
    assert b"\n" not in body
    head = b"" if cursor is None else b"id: " + cursor.encode() + b"\n"
    return head + b"event: " + event.encode() + b"\ndata: " + body + b"\n\n"


def heartbeat(cursor: str) -> bytes:
    """A comment that keeps the connection open. The id without data fires no event, but a reader
    that resumes goes on after what its filter left out."""
    if not cursor:
        return b":\n\n"
    return b":\nid: " + cursor.encode() + b"\n\n"


def hello(retry_ms: int, cursor: str) -> bytes:
    """How long a reader waits before it comes again, and from where: one that is cut off before
    its first event would otherwise miss what happens until it is back."""
    return f"retry: {retry_ms}\nid: {cursor}\n\n".encode()


class Frame(Struct, frozen=True):
    """What stood between two empty lines. Without data nothing happened, but a cursor counts."""

    event: str
    data: bytes
    cursor: str | None
    """None where none was sent; the one before stays in force."""


class Parser:
    """Bytes as they come → frames. A frame that was cut off is never returned."""

    def __init__(self) -> None:
        self.retry_ms: int | None = None
        """How long the server wants its readers to wait before they come again."""
        self._rest = b""
        self._event = ""
        self._data: list[bytes] = []
        self._cursor: str | None = None
        self._size = 0

    def feed(self, chunk: bytes) -> list[Frame]:
        *lines, rest = re.split(rb"\r\n|\n|\r(?!$)", self._rest + chunk)
        self._rest = rest
        self._size += len(chunk)
        frames = [frame for line in lines if (frame := self._line(line)) is not None]
        if frames:
            self._size = len(rest)
        if self._size > EVENT_BYTES_MAX:
            raise ValueError(f"an event is larger than {EVENT_BYTES_MAX} bytes")
        return frames

    def _line(self, line: bytes) -> Frame | None:
        if not line:
            return self._end()
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._event = value.decode("utf-8", "replace")
        elif field == b"id" and b"\0" not in value:
            self._cursor = value.decode("utf-8", "replace")
        elif field == b"retry" and value.isdigit() and len(value) < 10:
            self.retry_ms = int(value)
        return None

    def _end(self) -> Frame | None:
        frame = Frame(self._event, b"\n".join(self._data), self._cursor)
        self._event, self._data, self._cursor = "", [], None
        return frame if frame.data or frame.cursor is not None else None
