"""One lane held in memory, and what its current turn has made true so far."""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from laneway.core.ids import LaneId
from laneway.core.intent import IntentRow
from laneway.core.rows import Command, Lease, Rows, Touch, Write, all_classes, taken
from laneway.engine.ahead import Ahead
from laneway.engine.faults import REVIVE, passed_over
from laneway.engine.limits import (
    BACKLOG_PAGE,
    CAREFUL_TURNS,
    EVENTS_PER_TURN_MAX,
    FAR_MS,
    IDLE_LANES_MAX,
)
from laneway.engine.orders import CommitDone, Open, Prompt
from laneway.lanes.kind import LaneKind
from laneway.ports import Commit


class Windows(Struct, frozen=True):
    """How much one lane, and one turn, may hold in memory. The simulator makes them tiny, so that
    their edges are met often."""

    backlog_page: int = BACKLOG_PAGE
    events_per_turn: int = EVENTS_PER_TURN_MAX
    idle_lanes: int = IDLE_LANES_MAX


class CommitDraft:
    """What one turn makes true, gathered until its commit."""

    __slots__ = ("answered", "doing", "effects", "records", "touched")

    def __init__(self) -> None:
        self.records: list[Any] = []
        self.effects: list[Any] = []
        self.touched: list[Touch] = []
        self.answered: list[int] = []
        self.doing: Any = None
        """What is being decided on, for the case that it is what stops the lane."""

    def apply(self, kind: LaneKind, lane: Any, event: Any) -> None:
        """Decide on one event, and evolve at once."""
        self.doing = event
        decision = kind.decide(lane, event)
        self.records += decision.records
        evolve, touched = kind.evolve, self.touched
        for record in decision.records:
            touched += evolve(lane, record)
        if decision.effects:
            self.effects += decision.effects

    def has_stepped(self) -> bool:
        """Whether anything was decided on, or ordered."""
        return self.doing is not None or bool(self.answered or self.effects)

    def answer(self, kind: LaneKind, lane: Any, prompt: Prompt, now_ms: int) -> bool:
        """What changes nothing anywhere need not wait for the commit of the turn that ordered it:
        its answer is part of that commit.

        True if the lane can take more now: no event will come that wakes it.
        """
        self.doing = tuple(self.effects)
        event, rest = prompt(lane.id, self.effects, now_ms)
        if event is None:
            return False
        self.effects = rest
        self.apply(kind, lane, event)
        return kind.wants(lane) > 0

    def write(self, kind: LaneKind, lane: Any, wake_ms: int | None, now_ms: int) -> Write:
        return Write(
            kind.head(lane, wake_ms),
            (*self.touched, *kind.left(lane)),
            tuple(self.answered),
            now_ms,
            kind.encode(tuple(self.records)) if self.records else b"",
        )


@dataclass(slots=True, eq=False)
class Run:
    """One lane held in memory by this process."""

    id: LaneId
    kind: LaneKind
    lane: Any = None
    lease: Lease | None = None
    rows: Rows | None = None
    """Loaded, and not yet restored: that is done in the lane's own turn."""
    leaving: bool = False
    """Whether it belongs to another process now, and only finishes what is under way."""
    version: int = 0
    mailbox: deque[Any] = field(default_factory=deque)
    mail: deque[Command] = field(default_factory=deque)
    command_last: int = 0
    ahead: Ahead = field(default_factory=Ahead)
    called: bool = False
    """Whether the mailbox in the store may hold something new."""
    hearing: int = 0
    """Reads of the mailbox under way: earlier commands are read before more work is begun."""
    again: bool = False
    """Whether something came up while the commit was under way."""
    queued: bool = False
    draft: CommitDraft | None = None
    """The turn whose commit is under way."""
    write: Write | None = None
    doubted: tuple[int, CommitDraft, Write] | None = None
    """A commit whose answer was lost, and its version: loading the lane shows what became of it."""
    turn: CommitDraft | None = None
    """The turn that is taken now."""
    careful: int = 0
    """How many more turns take one step alone, so that what breaks one is known."""
    held_back: bool = False
    """Whether effects that a crash may have lost wait until the revival is committed: one of them
    may be what stopped the lane."""
    aside: tuple[int, ...] = ()
    """Commands that are answered without being carried out."""
    retries: int = 0
    retry_ms: int | None = None
    deadline_ms: int | None = None
    heap_ms: int | None = None

    def afresh(self) -> "Run":
        """The same lane, to be opened again: nothing that stood in memory counts."""
        again = Run(self.id, self.kind)
        again.doubted, again.leaving = self.doubted, self.leaving
        if self.careful:
            again.revive()
        return again

    def version_last(self) -> int:
        """The last version that may be this run's own."""
        return self.version + (self.draft is not None)

    def revive(self) -> None:
        """What stopped it is put aside; the rest follows step by step."""
        self.careful = CAREFUL_TURNS
        self.held_back = True

    def take_commands(self, rows: Rows) -> None:
        """Queue the commands that the lane was loaded with."""
        self.mail.extend(c for c in rows.mailbox if c.id > self.command_last)
        self.aside = passed_over(rows.mailbox)

    def drain(self, draft: CommitDraft, most: int, now_ms: int) -> None:
        """Decide on what waits: answers first, then commands. However many answers wait, a command
        is carried out in every turn: it may be what ends them."""
        kind, lane, mailbox = self.kind, self.lane, self.mailbox
        least = 1
        if self.careful:
            self.careful -= 1
            most, least = 1, 0
        events = 0 if self.held_back else min(len(mailbox), most)
        for _ in range(events):
            draft.apply(kind, lane, mailbox.popleft())
        for _ in range(min(len(self.mail), max(least, most - events))):
            command = self.mail.popleft()
            self.command_last = command.id
            draft.answered.append(command.id)
            if command.verb != REVIVE and command.id not in self.aside:
                draft.apply(kind, lane, kind.commanded(now_ms, command))
        if self.held_back:
            self._hold_back(draft)

    def _hold_back(self, draft: CommitDraft) -> None:
        """Until its commands are answered a revived lane orders nothing; then all of it at once,
        for by the law of `resume` that holds whatever the commands ordered."""
        self.held_back = bool(draft.answered)
        draft.effects = [] if self.held_back else list(self.kind.resume(self.lane))

    def pull(self, draft: CommitDraft, now_ms: int) -> int:
        """Hand over what the lane wants of its page; how many more it wants."""
        kind, lane, ahead = self.kind, self.lane, self.ahead
        wanted = kind.wants(lane)
        while wanted > 0 and ahead.rows:
            if self.held_back or (self.careful and draft.has_stepped()):
                break
            intents = ahead.take(1 if self.careful else wanted)
            for intent in intents:
                lane.intents[intent.id] = intent
            draft.apply(kind, lane, kind.offered(now_ms, intents))
            wanted = kind.wants(lane)
            if intents[-1].seq > taken(kind.cursors(lane), intents[-1].priority):
                self.put_back(intents)
                break
        return wanted

    def undoubted(self, rows: Rows) -> tuple[CommitDone, ...]:
        """The notification of the commit whose answer was lost, if the store holds that commit."""
        doubted, self.doubted = self.doubted, None
        if doubted is None:
            return ()
        version, draft, write = doubted
        if (rows.head.version, rows.head.digest) != (version, write.digest()):
            return ()
        return (CommitDone(self.id, draft.records, write.results()),)

    def again_order(self) -> Open | Commit | None:
        """What is ordered once more after a pause; None if it only takes its turn."""
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

    def wake(self, now_ms: int) -> None:
        """Its lane is woken with the next turn."""
        self.mailbox.append(self.kind.woken(now_ms))

    def wake_if_far(self, now_ms: int) -> None:
        """The lane of one that was just stood up may wait by a clock that was set back since: the
        lane itself knows what is too far ahead."""
        deadline_ms = self.kind.deadline(self.lane)
        if deadline_ms is not None and 0 < now_ms < deadline_ms - FAR_MS:
            self.wake(now_ms)

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
