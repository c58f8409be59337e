"""The audit lane: who did what and why, kept in the order in which it happened.

Its intents are entries that want nothing done. The door makes them durable, and the lane only says
that they are kept, so that retention finds them; what an entry means is not known here.
"""

from typing import TypeAlias

from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import IntentRow
from laneway.core.outcome import Status
from laneway.core.records import Decision
from laneway.core.rows import Cursors, HeadWrite, Result, Rows, Touched
from laneway.lanes.common.heads import settle
from laneway.lanes.common.released import records_reader
from laneway.lanes.common.values import CommandReceived, IntentsOffered, LaneRecord, TimerFired
from laneway.lanes.kind import LaneKind, LaneState
from laneway.lanes.limits import ENTRIES_BATCH

KIND = "audit"
KEPT = Status.CONFIRMED.value
IDLE = LaneState("idle", "", 0)


Event: TypeAlias = IntentsOffered | CommandReceived | TimerFired
"""No command does anything: an entry cannot be paused, cancelled or settled."""


class EntryKept(LaneRecord, frozen=True):
    intent: IntentId
    seq: int
    size: int
    at_ms: int


class AuditLane:
    """How far the entries of an audit lane were taken."""

    __slots__ = ("cursors", "id", "intents", "settled_bytes", "settled_count")

    def __init__(self, lane: LaneId) -> None:
        self.id = lane
        self.cursors: Cursors = (0,)
        self.settled_count = 0
        self.settled_bytes = 0
        self.intents: dict[str, IntentRow] = {}


def restore(rows: Rows) -> AuditLane:
    lane = AuditLane(rows.head.lane)
    lane.cursors = rows.head.cursors[:1]
    lane.settled_count = rows.head.settled_count
    lane.settled_bytes = rows.head.settled_bytes
    return lane


def decide(_lane: AuditLane, event: Event) -> Decision[EntryKept, None]:
    if not isinstance(event, IntentsOffered):
        return Decision()
    return Decision(
        tuple(EntryKept(row.id, row.seq, row.size(), event.now_ms) for row in event.intents)
    )


def evolve(lane: AuditLane, record: EntryKept) -> Touched:
    assert record.seq > lane.cursors[0]
    lane.cursors = (record.seq,)
    settle(lane, record.size)
    lane.intents.pop(record.intent, None)
    return (Result(record.intent, KEPT, record.at_ms),)


def head_write(lane: AuditLane, wake_ms: int | None) -> HeadWrite:
    return HeadWrite(
        cursors=lane.cursors,
        settled_count=lane.settled_count,
        settled_bytes=lane.settled_bytes,
        wake_ms=wake_ms,
        state=b"",
    )


def audit_kind() -> LaneKind:
    return LaneKind(
        name=KIND,
        empty=AuditLane,
        restore=restore,
        decide=decide,
        evolve=evolve,
        resume=lambda _lane: (),
        wants=lambda _lane: ENTRIES_BATCH,
        deadline=lambda _lane: None,
        head=head_write,
        cursors=lambda lane: lane.cursors,
        decode=records_reader(EntryKept, {}),
        describe=lambda _state: IDLE,
    )
