"""Laws of a reader's place: every event once, whatever is cut where."""

import pytest

from laneway.client.errors import NotAllowed, Unavailable, Unreachable, Unreadable
from laneway.client.following import Following
from laneway.client.retries import CallRules, NoAnswer, ServerAnswer
from laneway.wire.sse import frame, heartbeat, hello

BODY = b'{"type":"t","timestamp":"2026-01-01T00:00:00Z","data":{"lane":"contract:Q","version":%d}}'


class Clock:
    now_s = 0.0


def following(after: str | None = None, clock: Clock | None = None) -> Following:
    clock = clock or Clock()
    rules = CallRules(
        url="http://there",
        retry_s=10.0,
        timeout_s=5.0,
        now=lambda: clock.now_s,
        chance=lambda: 1.0,
    )
    return Following(rules, None, after)


def event(version: int, cursor: str | None = None) -> bytes:
    return frame("t", BODY % version, cursor)


# Entry 7 tells two events, entry 8 one, entry 9 three; 10 is nothing for this reader.
ENTRIES = {
    "7": event(71) + event(72, "7"),
    "8": event(81, "8"),
    "9": event(91) + event(92) + event(93, "9"),
    "10": heartbeat("10"),
}
ALL = [71, 72, 81, 91, 92, 93]


def served(after: str) -> bytes:
    """As the server does it: everything behind a cursor."""
    behind = [body for cursor, body in ENTRIES.items() if int(cursor) > int(after)]
    return hello(2_000, after) + b"".join(behind)


def test_a_cut_at_any_byte_neither_repeats_nor_misses_an_event() -> None:
    whole = served("6")
    for first in range(len(whole) + 1):
        for second in (0, 60, 150, 400):
            reader = following()
            reader.ask()
            seen = reader.take(whole[:first])
            for size in (second, None):
                ask = reader.ask()
                after = ask.headers.get("Last-Event-ID", "6")
                seen += reader.take(served(after)[:size])
            assert [each.data.version for each in seen] == ALL


def test_bytes_may_come_one_by_one() -> None:
    reader = following("6")
    reader.ask()
    seen = [each for byte in served("6") for each in reader.take(bytes([byte]))]
    assert [each.data.version for each in seen] == ALL
    assert [each.cursor for each in seen] == ["6", "7", "8", "8", "8", "9"]
    assert reader.ask().headers["Last-Event-ID"] == "10"


def test_an_ended_stream_is_opened_again_when_the_server_says() -> None:
    reader = following()
    assert reader.pause_s(None) == 2.0
    reader.take(hello(700, "1"))
    assert reader.pause_s(None) == 0.7


def test_a_server_that_stays_away_is_given_up_and_one_that_came_back_is_not() -> None:
    clock = Clock()
    reader = following(clock=clock)
    for _ in range(3):
        reader.take(hello(1, "1"))
        clock.now_s += 9
        reader.pause_s(NoAnswer(True, "cut"))
    gone = NoAnswer(False, "refused")
    for _ in range(5):
        clock.now_s += reader.pause_s(gone)
    clock.now_s += 9
    with pytest.raises(Unreachable):
        reader.pause_s(gone)


def test_a_refusal_is_raised_at_once_and_a_503_is_waited_for() -> None:
    reader = following()
    assert reader.pause_s(ServerAnswer(503, {"retry-after": "3"}, b"")) == 3.0
    with pytest.raises(Unavailable):
        reader.pause_s(ServerAnswer(503, {"retry-after": "11"}, b""))
    with pytest.raises(NotAllowed):
        following().pause_s(ServerAnswer(401, {}, b""))


def test_an_event_that_is_none_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        following().take(frame("t", b"{}", "1"))
    with pytest.raises(Unreadable):
        following().take(b"x" * (2 << 20))
