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

    __slots__ = ("_late", "_urgent", "drained", "gone", "reading", "rows", "seq_seen")

    def __init__(self) -> None:
        self.rows: deque[IntentRow] = deque()
        self.drained = False
        """Whether the backlog after the page is known to be empty."""
        self.reading = False
        self.seq_seen = 0
        """The highest sequence that was taken or stands in the page."""
        self._late: deque[IntentRow] = deque()
        """What was accepted while the backlog is read, of one class and without a gap: whether the
        page has it, or it follows the page, is known when the page comes."""
        self._urgent = PRIORITY_CLASSES
        """The most urgent class that was woken while the backlog is read."""
        self.gone: set[IntentId] | None = None
        """Intents made final by commands that a read under way may not know of, if any."""

    def wake(self, priority: int) -> None:
        """Something of this class waits in the backlog."""
        self.drained = False
        if self.reading:
            self._urgent = min(self._urgent, priority)
        if self.rows and self.rows[-1].priority > priority:
            self.rows.clear()  # Something more urgent now goes before what was read ahead.

    def hand(self, arrival: Arrival, seq: int, limit: int) -> bool:
        """Append what was just accepted, if it is next; else it waits in the backlog.

        It is next only when nothing waits after the page and its sequence follows what the page
        holds: an intent that another process accepted in between is never passed over.
        """
        if not self.drained or len(self.rows) + len(self._late) >= limit:
            return False
        if len(arrival.payload) > HANDED_BYTES_MAX:
            return False
        rows = self._late if self.reading else self.rows
        if rows and rows[-1].priority != arrival.priority:
            return False
        if self.reading:
            if rows and seq != rows[-1].seq + 1:
                return False
        elif seq != self.seq_seen + 1:
            return False
        else:
            self.seq_seen = seq
        rows.append(placed(arrival, seq))
        return True

    def may_read(self) -> bool:
        """Whether the page is empty, and the backlog may hold more."""
        return not (self.rows or self.drained or self.reading)

    def begin_read(self) -> None:
        self.reading = True
        self.drained = True  # A wake that comes while the page is read takes this back.

    def read(self, page: BacklogPage, cursors: Cursors) -> None:
        """The answer to a read that began when this page was empty."""
        self.reading = False
        intents = page.intents
        if self._late and intents and intents[-1].priority != self._late[0].priority:
            # They wait in the backlog, like anything else that came while it was read.
            self._urgent = min(self._urgent, self._late[0].priority)
            self.drained = False
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
        self._follow()

    def _follow(self) -> None:
        """Append what came while the page was read, if it follows the page."""
        late, self._late = self._late, deque()
        for row in late:
            if row.seq == self.seq_seen + 1 and self.drained:
                self.rows.append(row)
                self.seq_seen = row.seq
            elif row.seq > self.seq_seen:
                self.drained = False

    def fail(self) -> None:
        """The store could not answer; nothing is known of the backlog."""
        self.reading = self.drained = False
        self._late.clear()

    def settle(self) -> None:
        """All that was decided is durable: what is read from here on knows of every result."""
        if not self.reading:
            self.gone = None

    def drop(self, gone: Iterable[IntentId]) -> None:
        """Drop intents that became final while they waited, from this page and from reads that do
        not know of it yet because they began before it was durable."""
        known = self.gone = {*(self.gone or ()), *gone}
        self.rows = deque(row for row in self.rows if row.id not in known)
        self._late = deque(row for row in self._late if row.id not in known)

    def take(self, count: int) -> tuple[IntentRow, ...]:
        rows = self.rows
        if count == 1:
            return (rows.popleft(),)
        return tuple([rows.popleft() for _ in range(min(count, len(rows)))])

    def put_back(self, intents: Iterable[IntentRow]) -> None:
        """They were offered and not taken: they wait where they were."""
        self.rows.extendleft(reversed(tuple(intents)))
