"""The audit lane: who did what and why, kept in the order in which it was said.

Its intents are entries that want nothing done. The door makes them durable, and the lane only says
that they are kept, so that retention finds them; what an entry means is not known here.
"""

from typing import TypeAlias

import msgspec
from msgspec import Struct

from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import IntentRow
from laneway.core.outcome import Status
from laneway.core.records import Decision
from laneway.core.rows import Command, Cursors, HeadWrite, Result, Rows, Touched
from laneway.lanes.kind import LaneKind, LaneState
from laneway.lanes.limits import ENTRIES_BATCH

KIND = "audit"
KEPT = Status.CONFIRMED.value
IDLE = LaneState("idle", "", 0)


class EntriesOffered(Struct, frozen=True):
    now_ms: int
    intents: tuple[IntentRow, ...]


class CommandTold(Struct, frozen=True):
    """Nothing here can be paused, cancelled or settled: an entry that is said stays said."""

    now_ms: int
    command: Command


class TimerFired(Struct, frozen=True):
    now_ms: int


Event: TypeAlias = EntriesOffered | CommandTold | TimerFired


class EntryKept(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    intent: IntentId
    seq: int
    size: int
    at_ms: int


class AuditLane:
    """How far the entries were taken, and no more."""

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
    if not isinstance(event, EntriesOffered):
        return Decision()
    return Decision(
        tuple(EntryKept(row.id, row.seq, row.size(), event.now_ms) for row in event.intents)
    )


def evolve(lane: AuditLane, record: EntryKept) -> Touched:
    assert record.seq > lane.cursors[0]
    lane.cursors = (record.seq,)
    lane.settled_count += 1
    lane.settled_bytes += record.size
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
        offered=EntriesOffered,
        told=CommandTold,
        woken=TimerFired,
        encode=msgspec.msgpack.Encoder().encode,
        decode=msgspec.msgpack.Decoder(tuple[EntryKept, ...]).decode,
        describe=lambda _state: IDLE,
    )
