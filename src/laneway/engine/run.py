"""One lane held in memory, and what its current turn has made true so far."""

from collections import deque
from typing import Any

from laneway.core.ids import LaneId
from laneway.core.intent import IntentRow
from laneway.core.rows import Command, Lease, Rows, Touch, Write, all_classes
from laneway.engine.ahead import Ahead
from laneway.engine.orders import Open, Prompt, Told
from laneway.lanes.kind import LaneKind
from laneway.ports import Commit


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
        self.records += decision.records
        evolve, touched = kind.evolve, self.touched
        for record in decision.records:
            touched += evolve(lane, record)
        if decision.effects:
            self.effects += decision.effects

    def answer(self, kind: LaneKind, lane: Any, prompt: Prompt, now_ms: int) -> bool:
        """What changes nothing anywhere need not wait for the commit of the turn that ordered it:
        its answer is part of that commit.

        True if that made room for more, or left some: no event will come that wakes the lane.
        """
        event, rest = prompt(lane.id, self.effects, now_ms)
        if event is None:
            return False
        self.effects = rest
        self.apply(kind, lane, event)
        return kind.wants(lane) > 0

    def write(self, kind: LaneKind, lane: Any, wake_ms: int | None, now_ms: int) -> Write:
        if wake_ms is None and kind.passed is not None and kind.resume(lane):
            # A message still to be handed over is work, though no intent waits for it.
            wake_ms = 0
        return Write(
            kind.head(lane, wake_ms),
            (*self.touched, *kind.left(lane)),
            tuple(self.answered),
            now_ms,
            kind.encode(tuple(self.records)) if self.records else b"",
        )


class Run:
    """One lane held in memory by this process."""

    __slots__ = (
        "again",
        "ahead",
        "called",
        "command_last",
        "deadline_ms",
        "doubted",
        "draft",
        "heap_ms",
        "hearing",
        "id",
        "kind",
        "lane",
        "lease",
        "leaving",
        "mail",
        "mailbox",
        "queued",
        "retries",
        "retry_ms",
        "rows",
        "version",
        "write",
    )

    def __init__(self, lane: LaneId, kind: LaneKind) -> None:
        self.id = lane
        self.kind = kind
        self.lane: Any = None
        self.lease: Lease | None = None
        self.rows: Rows | None = None
        """Loaded, and not yet stood up: that is done in the lane's own turn."""
        self.leaving = False
        """Whether it belongs to another process now, and only finishes what is under way."""
        self.version = 0
        self.mailbox: deque[Any] = deque()
        self.mail: deque[Command] = deque()
        self.command_last = 0
        self.ahead = Ahead()
        self.called = False
        """Whether the mailbox in the store may hold something new."""
        self.hearing = 0
        """Reads of the mailbox under way: what was told before is heard before more is begun."""
        self.again = False
        """Whether something came up while the commit was under way."""
        self.queued = False
        self.draft: Draft | None = None
        """The turn whose commit is under way."""
        self.write: Write | None = None
        self.doubted: tuple[int, Draft, Write] | None = None
        """A commit whose answer was lost, and its version: loading the lane tells what it was."""
        self.retries = 0
        self.retry_ms: int | None = None
        self.deadline_ms: int | None = None
        self.heap_ms: int | None = None

    def afresh(self) -> "Run":
        """The same lane, to be opened again: nothing that stood in memory counts."""
        again = Run(self.id, self.kind)
        again.doubted, again.leaving = self.doubted, self.leaving
        return again

    def undoubted(self, rows: Rows) -> tuple[Told, ...]:
        """What the commit told whose answer was lost, if it is the one the store holds."""
        doubted, self.doubted = self.doubted, None
        if doubted is None:
            return ()
        version, draft, write = doubted
        if (rows.head.version, rows.head.digest) != (version, write.digest()):
            return ()
        return (Told(self.id, draft.records, write.results()),)

    def again_order(self) -> Open | Commit | None:
        """What is ordered once more after a pause; None: nothing but its turn."""
        if self.lease is None:
            return Open(self.id)
        return None if self.write is None else Commit(self.lease, self.version + 1, self.write)

    def put_back(self, intents: tuple[IntentRow, ...]) -> None:
        """It changed its mind: a drain came to its end, or its account must be read first."""
        cursors = all_classes(self.kind.cursors(self.lane))
        left = [intent for intent in intents if intent.seq > cursors[intent.priority]]
        for intent in left:
            del self.lane.intents[intent.id]
        self.ahead.put_back(left)

    def wakes(self) -> bool:
        """Whether some time wakes this lane, and not only a message."""
        return self.deadline_ms is not None or self.retry_ms is not None

    def is_asking(self) -> bool:
        return self.ahead.reading or self.hearing > 0

    def is_stuck(self) -> bool:
        """Whether only a person, or another owner, can move this lane."""
        if self.lease is None:
            return self.retry_ms is not None
        if self.draft is not None or self.mailbox or self.mail or self.is_asking():
            return False
        return self.kind.describe(self.kind.head(self.lane, None).state).word == "halted"
