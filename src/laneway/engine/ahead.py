"""What a lane has read ahead of its backlog, and what it knows about the rest of it."""

from collections import deque
from collections.abc import Iterable

from laneway.core.ids import IntentId
from laneway.core.intent import Arrival, BacklogPage, IntentRow, placed
from laneway.core.limits import PRIORITY_CLASSES
from laneway.core.rows import Cursors
from laneway.engine.limits import HANDED_BYTES_MAX


class Ahead:
    """A page of waiting intents in the lane's order. The backlog itself stays in the store."""

    __slots__ = ("_urgent", "drained", "gone", "reading", "rows", "seq_seen")

    def __init__(self) -> None:
        self.rows: deque[IntentRow] = deque()
        self.drained = False
        """Whether the backlog behind the page is known to be empty."""
        self.reading = False
        self.seq_seen = 0
        """The highest sequence that was taken or stands in the page."""
        self._urgent = PRIORITY_CLASSES
        """The most urgent class that was woken while the backlog is read."""
        self.gone: set[IntentId] | None = None
        """Intents made final by commands that a read under way may not know of; None: no such."""

    def wake(self, priority: int) -> None:
        """Something of this class waits in the backlog."""
        self.drained = False
        if self.reading:
            self._urgent = min(self._urgent, priority)
        if self.rows and self.rows[-1].priority > priority:
            self.rows.clear()  # What was read ahead now stands behind something more urgent.

    def hand(self, arrival: Arrival, seq: int, limit: int) -> bool:
        """Append what was just accepted, if it is next; else it waits in the backlog.

        It is next only when nothing waits behind the page and its sequence follows what the page
        holds: an intent that another process accepted in between is never passed over.
        """
        rows = self.rows
        if not self.drained or self.reading or len(rows) >= limit or seq != self.seq_seen + 1:
            return False
        if len(arrival.payload) > HANDED_BYTES_MAX:
            return False
        if rows and rows[-1].priority != arrival.priority:
            return False
        self.seq_seen = seq
        rows.append(placed(arrival, seq))
        return True

    def begin_read(self) -> None:
        self.reading = True
        self.drained = True  # A wake that comes while the page is read takes this back.

    def read(self, page: BacklogPage, cursors: Cursors) -> None:
        """The answer to a read that began when this page was empty."""
        self.reading = False
        intents = page.intents
        if intents and intents[-1].priority > self._urgent:
            # While it was read, something more urgent came: it goes before what was read.
            intents = ()
        elif self.gone:
            gone = self.gone
            intents = tuple(row for row in intents if row.id not in gone)
        self._urgent = PRIORITY_CLASSES
        self.drained = self.drained and not page.more
        self.rows.extend(intents)
        self.seq_seen = max((*cursors, *(row.seq for row in intents)))

    def fail(self) -> None:
        """The store could not tell; nothing is known of the backlog."""
        self.reading = self.drained = False

    def settle(self) -> None:
        """All that was decided is durable: what is read from here on knows of every result."""
        if not self.reading:
            self.gone = None

    def drop(self, gone: Iterable[IntentId]) -> None:
        """These became final while they waited.

        They may have been read ahead; and a read that is under way, or begins before that is
        durable, does not know of it.
        """
        known = self.gone = {*(self.gone or ()), *gone}
        self.rows = deque(row for row in self.rows if row.id not in known)

    def take(self, count: int) -> tuple[IntentRow, ...]:
        rows = self.rows
        if count == 1:
            return (rows.popleft(),)
        return tuple([rows.popleft() for _ in range(min(count, len(rows)))])

    def put_back(self, intents: Iterable[IntentRow]) -> None:
        """They were offered and not taken: they wait where they were."""
        self.rows.extendleft(reversed(tuple(intents)))
