"""One lane held in memory, and what its current turn has made true so far."""

from collections import deque
from typing import Any

from laneway.core.ids import LaneId
from laneway.core.intent import IntentRow
from laneway.core.rows import Command, Lease, Touch, Write
from laneway.lanes.kind import LaneKind


class Draft:
    """What one turn makes true, gathered until its commit."""

    __slots__ = ("answered", "effects", "records", "touched")

    def __init__(self) -> None:
        self.records: list[Any] = []
        self.effects: list[Any] = []
        self.touched: list[Touch] = []
        self.answered: list[int] = []

    def apply(self, kind: LaneKind, lane: Any, event: Any) -> None:
        """Decide on one event, and evolve at once."""
        decision = kind.decide(lane, event)
        for record in decision.records:
            self.records.append(record)
            self.touched += kind.evolve(lane, record)
        if decision.effects:
            self.effects += decision.effects

    def write(self, kind: LaneKind, lane: Any, wake_ms: int | None, now_ms: int) -> Write:
        return Write(
            kind.head(lane, wake_ms),
            tuple(self.touched),
            tuple(self.answered),
            now_ms,
            kind.encode(tuple(self.records)) if self.records else b"",
        )


class Run:
    """One lane held in memory by this process."""

    __slots__ = (
        "again",
        "called",
        "command_last",
        "deadline_ms",
        "draft",
        "drained",
        "heap_ms",
        "id",
        "kind",
        "lane",
        "lease",
        "mail",
        "mailbox",
        "page",
        "queued",
        "reading",
        "retries",
        "retry_ms",
        "seq_seen",
        "version",
        "write",
    )

    def __init__(self, lane: LaneId, kind: LaneKind) -> None:
        self.id = lane
        self.kind = kind
        self.lane: Any = None
        self.lease: Lease | None = None
        self.version = 0
        self.mailbox: deque[Any] = deque()
        self.mail: deque[Command] = deque()
        self.command_last = 0
        self.page: deque[IntentRow] = deque()
        self.drained = False
        """Whether the backlog behind the page is known to be empty."""
        self.seq_seen = 0
        """The highest sequence that was taken or stands in the page."""
        self.called = False
        """Whether the mailbox in the store may hold something new."""
        self.reading = False
        self.again = False
        """Whether something came up while the commit was under way."""
        self.queued = False
        self.draft: Draft | None = None
        """The turn whose commit is under way."""
        self.write: Write | None = None
        self.retries = 0
        self.retry_ms: int | None = None
        self.deadline_ms: int | None = None
        self.heap_ms: int | None = None
