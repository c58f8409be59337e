"""Old records of a bundle lane are read as what they are called today, and fold to the same."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from tests.lanes.bundle.stage import Stage, submitted

from laneway.lanes.bundle.fold import changed, evolve
from laneway.lanes.bundle.records import OfSlot, OfVersion, StatusChanged
from laneway.lanes.bundle.released import (
    SlotChanged,
    VersionChanged,
    decode_records,
    slot_changed,
    version_changed,
)
from laneway.lanes.bundle.rows import Answered, Fact, FactKind, Making, Slot

MAKING = Making(9, 2, (), 0, 1, 5)
CALM: dict[str, Any] = {"overdue": 0, "overdue_ms": None, "wait_reason": ""}

CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("delayed", {"making": None, "retry_ms": 9, "tries": 2, "wait_reason": "no"}),
    ("retried", {"retry_ms": None, "order": 8}),
    ("popped", {"making": MAKING, "retry_ms": None}),
    ("unpopped", {"making": None, "version": 7}),
    (
        "requeued",
        {"queued": True, "event_id": 8, "add_ms": 9, "faults": 2, **CALM, "wait_reason": "so"},
    ),
    ("revived", {"queued": False, "making": None, "wait_reason": ""}),
    ("hopeless", {"is_hopeless": True}),
    (
        "won",
        {"winner": 1, "queued": False, "making": None, "version": 1, **CALM, "overdue_ms": 9},
    ),
    ("undecided", {"winner": 0, **CALM}),
    ("undecided", {"winner": 0}),
    ("reopened", {"wait_reason": ""}),
    ("waits", {"wait_reason": "its end"}),
    ("overdue", {"overdue": 4, "overdue_ms": None, "wait_reason": "late"}),
    ("accumulated", CALM),
    ("canonical", {"is_canonical": True}),
    ("told", {"told": True, "overdue_ms": None}),
    ("told", {"told": False, "overdue_ms": 9}),
]


def before_change(fields: dict[str, Any]) -> Slot:
    return replace(
        submitted().named(1), queued=True, making=replace(MAKING, order=3), retry_ms=4,
        winner=2, overdue=3, overdue_ms=5, wait_reason="why", told=not fields.get("told", True),
    )  # fmt: skip


@pytest.mark.parametrize(("what", "fields"), CHANGES)
def test_an_old_change_of_a_block_folds_to_the_block_that_it_held(
    what: str, fields: dict[str, Any]
) -> None:
    before = before_change(fields)
    old = SlotChanged(replace(before, **fields), what)
    (record,) = decode_records(msgspec.msgpack.encode((old,)))
    assert record == slot_changed(old)
    assert isinstance(record, OfSlot)
    assert changed(before, record) == old.slot


def test_that_a_block_is_submitted_the_offer_of_its_version_says() -> None:
    stage = submitted()
    waiting = replace(stage.named(1), queued=True)
    version = stage.version(1)
    stage.put(waiting, replace(version, first_ms=None, sends=0, serial=0, nodes=()))
    old = (SlotChanged(stage.named(1), "submitted"), VersionChanged(version, "offered"))
    (record,) = decode_records(msgspec.msgpack.encode(old))
    evolve(stage.lane, record)
    assert not stage.named(1).queued
    assert stage.version(1) == replace(version, offering=True)


FACT = Fact(FactKind.DEAD, submitted().version(1).anchor, 9)
ANSWER = Answered("a", 0, "taken", "accepted", False)
VERSIONS: list[tuple[str, dict[str, Any]]] = [
    (
        "offered",
        {"nodes": ("z",), "serial": 9, "sends": 8, "first_ms": 7, "last_ms": 6, "offering": True},
    ),
    (
        "answered",
        {
            "offering": False,
            "is_held": False,
            "is_refused": True,
            "is_hopeless": True,
            "core": 1,
            "answers": (ANSWER,),
        },
    ),
    ("seen", {"facts": (FACT,)}),
    ("gone", {"facts": (), "sends": 0}),
    ("dead", {"facts": (FACT,)}),
]


@pytest.mark.parametrize(("what", "fields"), VERSIONS)
def test_an_old_change_of_a_version_folds_to_the_version_that_it_held(
    what: str, fields: dict[str, Any]
) -> None:
    stage: Stage = submitted()
    before = replace(stage.version(1), offering=what == "answered")
    stage.put(before)
    old = VersionChanged(replace(before, **fields), what)
    (record,) = decode_records(msgspec.msgpack.encode((old,)))
    assert record == version_changed(old)
    assert isinstance(record, OfVersion)
    evolve(stage.lane, record)
    assert stage.version(1) == old.version


def test_how_many_a_block_holds_is_read_from_its_neighbours() -> None:
    slot = replace(submitted().named(1), count=5)
    moved = StatusChanged(1, 1, 1, "queued", "submitted")
    found = decode_records(msgspec.msgpack.encode((SlotChanged(slot, "revived"), moved)))
    assert found[1] == replace(moved, count=5)
    alone = StatusChanged(2, 1, 1, "queued", "submitted")
    found = decode_records(msgspec.msgpack.encode((SlotChanged(slot, "revived"), alone)))
    assert found[1].count is None


def test_an_unknown_word_is_a_bug() -> None:
    stage = submitted()
    with pytest.raises(KeyError):
        slot_changed(SlotChanged(stage.named(1), "danced"))
    with pytest.raises(AssertionError):
        version_changed(VersionChanged(stage.version(1), "danced"))
