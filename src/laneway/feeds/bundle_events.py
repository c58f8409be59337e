"""A bundle lane's records → events.

A block moves with all its transactions, so where it came to is one event, `bundle.` and a word,
with the number of them. Each transaction is told by itself twice: when a block has it, so that one
knows which block to follow, and when it has its final word.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import msgspec

from laneway.core.rows import FeedEntry
from laneway.feeds.account_events import Said, Told, command_refused, ended, mode_changed
from laneway.feeds.bundle_marks import Marks, bundle_id
from laneway.lanes.bundle.fold import WORDS
from laneway.lanes.bundle.rows import Member, Verdict, Word
from laneway.lanes.bundle.show import STATUSES
from laneway.lanes.bundle.values import (
    BlockDropped,
    BlockFinalised,
    BlockSealed,
    BlockUnmade,
    CommandRefused,
    IntentDropped,
    ModeChanged,
    Record,
    SlotNumbered,
    StatusChanged,
    TellOwed,
)
from laneway.wire.hex import octets
from laneway.wire.values import EventBody, StatusWord

decode = msgspec.msgpack.Decoder(tuple[Record, ...]).decode


def bundle_events(entry: FeedEntry) -> Sequence[Told]:
    records = decode(entry.records)
    marks = Marks(records)
    return [
        (word, EventBody(lane=entry.lane, version=entry.version, **body))
        for record in records
        if (tell := BUNDLE.get(type(record))) is not None
        for word, body in tell(record, marks)
    ]


def of_block(word: str, slot: int, version: int, marks: Marks, **more: Any) -> Said:
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


def of_member(status: str, member: Member, slot: int, marks: Marks, **more: Any) -> Said:
    body: dict[str, Any] = {
        "tx": member.intent,
        "status": cast(StatusWord, status),
        "hash": octets(member.hash) if member.hash else None,
        "reason": member.reason,
        "bundle": bundle_id(slot),
        "block": marks.number(slot),
    }
    return f"transaction.{status}", body | more


def sealed(record: BlockSealed, marks: Marks) -> list[Said]:
    """Who is in it, and who never will be in any."""
    slot = record.slot.id
    told = [
        of_member("queued", member, slot, marks)
        for member in record.members
        if member.verdict in WORDS
    ]
    return told + refused(record.members)


def unmade(record: BlockUnmade, _marks: Marks) -> list[Said]:
    return refused(record.members)


def refused(members: Sequence[Member]) -> list[Said]:
    return [
        ("transaction.refused", {"tx": one.intent, "status": "refused", "reason": one.reason})
        for one in members
        if one.verdict == Verdict.REFUSED
    ]


def status(record: StatusChanged, marks: Marks) -> list[Said]:
    more: dict[str, Any] = {}
    if record.word in STATUSES:
        more["status"] = STATUSES[record.word].value
    if record.word == Word.QUEUED and record.version:
        more["reason"] = f"it was {record.before}"
    return [of_block(record.word, record.slot, record.version, marks, **more)]


def finalised(record: BlockFinalised, marks: Marks) -> list[Said]:
    found = marks.package(record.slot, record.version)
    package = None if found is None else octets(found)
    return [
        of_member(
            WORDS[member.verdict],
            member,
            record.slot,
            marks,
            package=package,
            package_version=record.version,
        )
        for member in record.members
    ]


def owed(record: TellOwed, marks: Marks) -> list[Said]:
    """Only what no status says: an accumulation that was taken back."""
    tell = record.tell
    if tell.word != "restored":
        return []
    return [of_block("restored", tell.slot, tell.version, marks, reason=tell.reason)]


def dropped(record: BlockDropped, marks: Marks) -> list[Said]:
    """Its transactions go back to the pool, and to another block."""
    more: dict[str, Any] = {"status": "queued", "reason": record.reason}
    return [of_block("dropped", record.slot, 0, marks, **more)]


def numbered(record: SlotNumbered, marks: Marks) -> list[Said]:
    return [of_block("renumbered", record.slot, 0, marks)]


BUNDLE: Mapping[type, Callable[[Any, Marks], list[Said]]] = {
    BlockSealed: sealed,
    BlockUnmade: unmade,
    StatusChanged: status,
    BlockFinalised: finalised,
    TellOwed: owed,
    BlockDropped: dropped,
    SlotNumbered: numbered,
    IntentDropped: lambda record, _marks: [said for said in (ended(record),) if said],
    ModeChanged: lambda record, _marks: [mode_changed(record)],
    CommandRefused: lambda record, _marks: [command_refused(record)],
}
"""Which records people hear of, and how each is told."""
