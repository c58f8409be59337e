"""Laws of server-sent events, read back as the HTML standard says."""

import pytest

from laneway.wire.limits import EVENT_BYTES_MAX
from laneway.wire.sse import Parser, frame, heartbeat, hello


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
    stream = hello(2_000, "6") + frame("lane.paused", b'{"a":1}', "7")
    assert parsed(stream) == ([("lane.paused", '{"a":1}')], "7")


def test_an_event_without_a_cursor_leaves_the_last_one_in_force() -> None:
    stream = frame("a", b"1", "7") + frame("b", b"2")
    assert parsed(stream) == ([("a", "1"), ("b", "2")], "7")


def test_a_heartbeat_fires_nothing_but_moves_the_cursor() -> None:
    assert parsed(heartbeat("9")) == ([], "9")
    assert parsed(heartbeat("")) == ([], "")


def test_the_parser_reads_what_the_standard_reads_however_it_is_cut() -> None:
    stream = (
        hello(700, "3") + frame("a", b"1", "4") + heartbeat("5") + b":note\n\n" + frame("b", b"2")
    )
    odd = stream.replace(b"\n", b"\r\n") + b"data: x\rdata:y\r\rdata\n\nunknown: z\nid: a\0b\n\n"
    for text in (stream, odd):
        for step in (1, 2, 3, 7, len(text)):
            parser = Parser()
            frames = [
                each
                for start in range(0, len(text), step)
                for each in parser.feed(text[start : start + step])
            ]
            told = [(each.event, each.data, each.cursor) for each in frames]
            assert told[:4] == [("", b"", "3"), ("a", b"1", "4"), ("", b"", "5"), ("b", b"2", None)]
            assert told[4:] == ([] if text is stream else [("", b"x\ny", None)])
            assert parser.retry_ms == 700


def test_an_event_that_is_cut_off_is_not_told() -> None:
    assert Parser().feed(b"data: 1\nid: 7\n") == []


def test_an_event_without_end_is_refused() -> None:
    with pytest.raises(ValueError):
        Parser().feed(b"data: " + b"x" * EVENT_BYTES_MAX)
