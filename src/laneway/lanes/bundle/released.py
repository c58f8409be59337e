"""Records of a bundle lane as earlier releases wrote them, read as what they are called today."""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from laneway.lanes.bundle import records as r
from laneway.lanes.bundle.lane import name_of
from laneway.lanes.bundle.rows import Slot, Version
from laneway.lanes.common.released import (
    Dropped,
    OldCommandRefused,
    dropped,
    records_reader,
    refused,
)
from laneway.lanes.common.values import LaneRecord


class SlotChanged(LaneRecord, frozen=True):
    """A block as it stood then, and the name of what had changed."""

    slot: Slot
    what: str


class VersionChanged(LaneRecord, frozen=True):
    """A version as it stood then, and the name of what had changed."""

    version: Version
    what: str


def slot_changed(old: SlotChanged) -> r.Record | None:
    return SLOTS[old.what](old.slot)


def ordered(slot: Slot) -> r.Record:
    assert slot.making is not None
    return r.VersionOrdered(slot.id, slot.making)


SLOTS: dict[str, Callable[[Slot], r.Record | None]] = {
    "delayed": lambda one: r.BuildDelayed(one.id, one.retry_ms or 0, one.tries, one.wait_reason),
    "retried": lambda one: r.BuildRetried(one.id, one.order),
    "popped": ordered,
    "unpopped": lambda one: r.VersionPutBack(one.id, one.version),
    "requeued": lambda one: r.BlockRequeued(
        one.id, one.event_id, one.add_ms, one.faults, one.wait_reason
    ),
    "revived": lambda one: r.BlockRevived(one.id),
    "hopeless": lambda one: r.BlockHopeless(one.id),
    "submitted": lambda _one: None,
    "won": lambda one: r.VersionWon(one.id, one.winner, one.version, one.overdue_ms or 0),
    "undecided": lambda one: r.WinnerLost(
        one.id, not (one.overdue or one.overdue_ms or one.wait_reason)
    ),
    "reopened": lambda one: r.WaitChanged(one.id, one.wait_reason),
    "waits": lambda one: r.WaitChanged(one.id, one.wait_reason),
    "overdue": lambda one: r.OverdueCounted(one.id, one.overdue, one.overdue_ms, one.wait_reason),
    "accumulated": lambda one: r.OverdueEnded(one.id),
    "canonical": lambda one: r.NumberConfirmed(one.id),
    "told": lambda one: r.AccumulationNotified(one.id, one.told, one.overdue_ms),
}
"""By the name of the change. A submission is recorded by the offer of its version."""


def version_changed(old: VersionChanged) -> r.Record:
    one = old.version
    name = name_of(one)
    match old.what:
        case "offered":
            first_ms, last_ms = one.first_ms or 0, one.last_ms or 0
            return r.VersionOffered(
                *name, one.nodes, one.serial, one.sends, first_ms, last_ms, one.core
            )
        case "answered":
            return r.VersionAnswered(
                *name, one.is_held, one.is_refused, one.is_hopeless, one.core, one.answers
            )
        case "seen":
            return r.FactsSeen(*name, one.facts)
        case "gone":
            return r.FactsTakenBack(*name, one.facts, one.sends)
        case _:
            assert old.what == "dead"
            return r.VersionDied(*name, one.facts)


def counted(records: Sequence[Any]) -> list[Any]:
    """How many transactions a block holds stood in the rows of its neighbours alone."""
    counts = {one.slot.id: one.slot.count for one in records if isinstance(one, SlotChanged)}
    return [
        replace(one, count=counts.get(one.slot))
        if isinstance(one, r.StatusChanged | r.SlotNumbered)
        else one
        for one in records
    ]


decode_records = records_reader(
    r.Record,
    {
        SlotChanged: slot_changed,
        VersionChanged: version_changed,
        Dropped: dropped,
        OldCommandRefused: refused,
    },
    counted,
)
