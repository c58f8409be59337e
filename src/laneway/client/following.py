"""One reader's place in the event stream, without any I/O: where it is, and how it comes back."""

import msgspec

from laneway.client.bodies import target
from laneway.client.errors import TEMPORARY, Unreachable, Unreadable
from laneway.client.limits import STREAM_PAUSE_S, STREAM_SILENCE_S
from laneway.client.retries import Ask, CallRules, NoAnswer, ServerAnswer, pause_before, refusal
from laneway.core.nesting import bounded
from laneway.wire import sse
from laneway.wire.values import Event

LAST_EVENT_ID = "Last-Event-ID"


class StreamedEvent(Event, frozen=True):
    """An event, and the cursor to go on after it.

    Events of one commit share the cursor of their commit, which the last of them carries: a reader
    who comes back with an earlier one gets the commit again.
    """

    cursor: str | None


class Following:
    """Every event once, in order, over as many connections as it takes."""

    def __init__(self, rules: CallRules, lane: str | None, after: str | None) -> None:
        self._rules = rules
        self._lane = lane
        self._cursor = after
        self._since = 0
        """Number of events seen since the cursor moved; they come again after a reconnect."""
        self._skip = 0
        self._parser = sse.Parser()
        self._failing_since: float | None = None
        self._tries = 0

    def ask(self) -> Ask:
        """Open the stream where it was lost."""
        self._parser = sse.Parser()
        # Without a cursor the stream begins with what is new.
        self._skip = self._since = 0 if self._cursor is None else self._since
        headers = {"Accept": sse.CONTENT_TYPE}
        if self._cursor is not None:
            headers[LAST_EVENT_ID] = self._cursor
        where = target("/v1/events", {"lane": self._lane})
        return Ask(target=where, timeout_s=STREAM_SILENCE_S, headers=headers)

    def take(self, chunk: bytes) -> list[StreamedEvent]:
        self._failing_since, self._tries = None, 0
        found: list[StreamedEvent] = []
        try:
            frames = self._parser.feed(chunk)
        except ValueError as error:
            raise Unreadable(self._rules.url, 200, str(error)) from error
        for frame in frames:
            seen_before = bool(frame.data) and self._skip > 0
            if seen_before:
                self._skip -= 1
            elif frame.data:
                self._since += 1
            # A stream begins by saying where it begins; there the cursor has not moved.
            if frame.cursor not in (None, self._cursor):
                self._cursor, self._since, self._skip = frame.cursor, 0, 0
            if frame.data and not seen_before:
                found.append(self._event(frame))
        return found

    def pause_s(self, lost: ServerAnswer | NoAnswer | None) -> float:
        """Seconds to wait before the stream is opened again; raises when that is of no use.

        `lost` is None if the server ended it, as it does when it stops or when we were too slow.
        """
        if lost is None:
            hint_ms = self._parser.retry_ms
            return STREAM_PAUSE_S if hint_ms is None else hint_ms / 1000
        now = self._rules.now()
        self._failing_since = now if self._failing_since is None else self._failing_since
        pause_s = pause_before(lost, self._tries, self._rules.chance())
        self._tries += 1
        lasting = isinstance(lost, ServerAnswer) and lost.status not in TEMPORARY
        if lasting or now + pause_s > self._failing_since + self._rules.retry_s:
            if isinstance(lost, ServerAnswer):
                raise refusal(self._rules, lost)
            raise Unreachable(self._rules.url, lost.problem)
        return pause_s

    def _event(self, frame: sse.Frame) -> StreamedEvent:
        try:
            event = msgspec.json.decode(bounded(frame.data), type=Event)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Unreadable(self._rules.url, 200, str(error)) from error
        return StreamedEvent(event.type, event.timestamp, event.data, self._cursor)
