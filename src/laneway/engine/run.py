"""One lane held in memory, and what its current turn has made true so far."""

from collections import deque
from typing import Any

from laneway.core.ids import LaneId
from laneway.core.intent import IntentRow
from laneway.core.rows import Command, Index, Lease, Result, RowKey, RowPut, Table, Write
from laneway.lanes.kind import LaneKind


class Draft:
    """What one turn makes true, gathered until its commit."""

    __slots__ = ("answered", "effects", "indexes", "records", "results", "rows")

    def __init__(self) -> None:
        self.records: list[Any] = []
        self.effects: list[Any] = []
        self.rows: dict[tuple[Table, str], RowPut | None] = {}
        self.results: list[Result] = []
        self.indexes: list[Index] = []
        self.answered: list[int] = []

    def write(self, kind: LaneKind, lane: Any, wake_ms: int | None, now_ms: int) -> Write:
        puts = []
        drops = []
        for (table, key), row in self.rows.items():
            if row is None:
                drops.append(RowKey(table, key))
            else:
                puts.append(row)
        return Write(
            head=kind.head(lane, wake_ms),
            puts=tuple(puts),
            drops=tuple(drops),
            results=tuple(self.results),
            indexes=tuple(self.indexes),
            answered=tuple(self.answered),
            at_ms=now_ms,
            feed=kind.encode(tuple(self.records)) if self.records else b"",
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
        "effects_out",
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
        self.effects_out = 0
        self.deadline_ms: int | None = None
        self.heap_ms: int | None = None
