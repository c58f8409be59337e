"""Server-sent events, as the HTML standard frames them."""

CONTENT_TYPE = "text/event-stream"


def frame(event: str, body: bytes, cursor: str | None = None) -> bytes:
    """One event. Its body is JSON, which has no line breaks of its own."""
    assert b"\n" not in body
    head = b"" if cursor is None else b"id: " + cursor.encode() + b"\n"
    return head + b"event: " + event.encode() + b"\ndata: " + body + b"\n\n"


def heartbeat(cursor: str) -> bytes:
    """A comment that keeps the connection open. The id without data fires no event, but a reader
    that resumes goes on behind what its filter left out."""
    if not cursor:
        return b":\n\n"
    return b":\nid: " + cursor.encode() + b"\n\n"


def hello(retry_ms: int) -> bytes:
    """How long a reader waits before it comes again."""
    return f"retry: {retry_ms}\n\n".encode()
