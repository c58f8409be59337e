"""Laws of server-sent events, read back as the HTML standard says."""

from laneway.wire.sse import frame, heartbeat, hello


def parsed(stream: bytes) -> tuple[list[tuple[str, str]], str]:
    """Events (type, data) and the last id, by the standard's own steps."""
    events: list[tuple[str, str]] = []
    last = kind = ""
    lines: list[str] = []
    for line in stream.decode().split("\n"):
        if not line:
            if lines:
                events.append((kind or "message", "\n".join(lines)))
            kind, lines = "", []
        elif not line.startswith(":"):
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "id":
                last = value
            elif field == "event":
                kind = value
            elif field == "data":
                lines.append(value)
    return events, last


def test_an_event_carries_its_type_its_body_and_its_cursor() -> None:
    stream = hello(2_000) + frame("lane.paused", b'{"a":1}', "7")
    assert parsed(stream) == ([("lane.paused", '{"a":1}')], "7")


def test_an_event_without_a_cursor_leaves_the_last_one_in_force() -> None:
    stream = frame("a", b"1", "7") + frame("b", b"2")
    assert parsed(stream) == ([("a", "1"), ("b", "2")], "7")


def test_a_heartbeat_fires_nothing_but_moves_the_cursor() -> None:
    assert parsed(heartbeat("9")) == ([], "9")
    assert parsed(heartbeat("")) == ([], "")
