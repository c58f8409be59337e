"""A bundle lane's records → events.

A block moves with all its transactions, so where it came to is one event, `bundle.` and a word,
with the number of them. Each transaction has two events of its own: when a block has it, so that
one knows which block to follow, and when it has its final status.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from laneway.core.rows import FeedEntry
from laneway.feeds.events import NamedEvent
from laneway.kinds.common.events import EventDraft, command_refused, ended, mode_changed
from laneway.kinds.rollup.marks import Marks, bundle_id
from laneway.lanes.bundle import records as v
from laneway.lanes.bundle.released import decode_records
from laneway.lanes.bundle.results import ENDS, RESULT_STATUSES, verdict_of
from laneway.lanes.bundle.rows import BlockState, Member
from laneway.lanes.bundle.show import STATUSES
from laneway.lanes.common.values import CommandRefused, IntentDropped, ModeChanged
from laneway.wire.hex import octets
from laneway.wire.values import EventBody, StatusWord


def bundle_events(entry: FeedEntry) -> Sequence[NamedEvent]:
    records = decode_records(entry.records)
    marks = Marks(records)
    return [
        (word, EventBody(lane=entry.lane, version=entry.version, **body))
        for record in records
        if (tell := BUNDLE.get(type(record))) is not None
        for word, body in tell(record, marks)
    ]


def of_block(word: str, slot: int, version: int, marks: Marks, **more: Any) -> EventDraft:
    body: dict[str, Any] = {
        "bundle": bundle_id(slot),
        "block": marks.number(slot),
        "count": marks.count(slot),
    }
    if version:
        found = marks.package(slot, version)
        body |= {
            "package_version": version,
            "package": None if found is None else octets(found),
        }
    return f"bundle.{word}", body | more


def of_member(status: str, member: Member, slot: int, marks: Marks, **more: Any) -> EventDraft:
    body: dict[str, Any] = {
        "tx": member.intent,
        "status": cast(StatusWord, status),
        "hash": octets(member.hash) if member.hash else None,
        "reason": member.reason,
        "bundle": bundle_id(slot),
        "block": marks.number(slot),
    }
    return f"transaction.{status}", body | more


def sealed(record: v.BlockSealed, marks: Marks) -> list[EventDraft]:
    """Who is in it, and who never will be in any."""
    slot = record.slot.id
    events = [
        of_member("queued", member, slot, marks)
        for member in record.members
        if member.verdict in RESULT_STATUSES
    ]
    return events + left_out(record.members)


def unmade(record: v.BlockUnmade, _marks: Marks) -> list[EventDraft]:
    return left_out(record.members)


def left_out(members: Sequence[Member]) -> list[EventDraft]:
    """Those that are final though no block of this lane has them."""
    return [*refused(members), *executed_before(members)]


def executed_before(members: Sequence[Member]) -> list[EventDraft]:
    events: list[EventDraft] = []
    for one in members:
        if one.receipt is not None:
            status = RESULT_STATUSES[verdict_of(one.receipt)]
            body: dict[str, Any] = {
                "tx": one.intent,
                "status": status,
                "hash": octets(one.hash),
                "reason": one.reason,
                "block": one.receipt.number,
                "package": octets(one.receipt.package_hash) if one.receipt.package_hash else None,
            }
            events.append((f"transaction.{status}", body))
    return events


def refused(members: Sequence[Member]) -> list[EventDraft]:
    """Those that are in no block and never will be."""
    ends = [(one, ENDS[one.verdict]) for one in members if one.verdict in ENDS]
    return [
        (f"transaction.{status}", {"tx": one.intent, "status": status, "reason": one.reason})
        for one, status in ends
    ]


def status(record: v.StatusChanged, marks: Marks) -> list[EventDraft]:
    more: dict[str, Any] = {}
    if record.word in STATUSES:
        more["status"] = STATUSES[record.word].value
    if record.word == BlockState.QUEUED and record.version:
        more["reason"] = f"it was {record.before}"
    return [of_block(record.word, record.slot, record.version, marks, **more)]


def finalised(record: v.BlockFinalised, marks: Marks) -> list[EventDraft]:
    found = marks.package(record.slot, record.version)
    package = None if found is None else octets(found)
    return [
        of_member(
            RESULT_STATUSES[member.verdict],
            member,
            record.slot,
            marks,
            package=package,
            package_version=record.version,
        )
        for member in record.members
    ]


def owed(record: v.TellOwed, marks: Marks) -> list[EventDraft]:
    """Only what no status says: an accumulation that was taken back."""
    tell = record.tell
    if tell.word != "restored":
        return []
    return [of_block("restored", tell.slot, tell.version, marks, reason=tell.reason)]


def dropped(record: v.BlockDropped, marks: Marks) -> list[EventDraft]:
    """Its transactions go back to the pool, and to another block."""
    more: dict[str, Any] = {"status": "queued", "reason": record.reason}
    return [of_block("dropped", record.slot, 0, marks, **more)]


def numbered(record: v.SlotNumbered, marks: Marks) -> list[EventDraft]:
    return [of_block("renumbered", record.slot, 0, marks)]


BUNDLE: Mapping[type, Callable[[Any, Marks], list[EventDraft]]] = {
    v.BlockSealed: sealed,
    v.BlockUnmade: unmade,
    v.StatusChanged: status,
    v.BlockFinalised: finalised,
    v.TellOwed: owed,
    v.BlockDropped: dropped,
    v.SlotNumbered: numbered,
    IntentDropped: lambda record, _marks: [event for event in (ended(record),) if event],
    ModeChanged: lambda record, _marks: [mode_changed(record)],
    CommandRefused: lambda record, _marks: [command_refused(record)],
}
"""The records that have events, and how each is made."""
