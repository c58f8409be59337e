"""Old records of a sequence lane are read as what they are called today, and fold to the same."""

from collections.abc import Callable

import msgspec
import pytest
from msgspec.structs import replace
from tests.lanes.sequence.stage import out

from laneway.lanes.sequence.fold import changed, ended
from laneway.lanes.sequence.released import SlotChanged, decode_records, slot_changed
from laneway.lanes.sequence.rows import InclusionVote, Past, Slot
from laneway.lanes.sequence.values import OfSlot

PAST = Past(b"p" * 32, 9, "gone", proven=False)
SHOWN = InclusionVote("a", b"h" * 8, 6, 0)


def slot() -> Slot:
    return replace(out(1, nodes=("a", "b")).slot(1), past=(PAST,), wait_reason="so")


def with_attempt(one: Slot, **fields: object) -> Slot:
    assert one.attempt is not None
    return replace(one, attempt=replace(one.attempt, **fields))


def bare(one: Slot) -> Slot:
    return replace(one, attempt=None, making=True)


Change = Callable[[Slot], Slot]

CHANGES: dict[str, tuple[Change, Change]] = {
    "delayed": (bare, lambda one: replace(one, delayed=True, make_tries=3, wait_reason="no")),
    "dead": (lambda one: one, lambda one: ended(one, "over", proven=False)),
    "over": (lambda one: one, lambda one: replace(one, past=(replace(PAST, proven=True),))),
    "shown": (lambda one: one, lambda one: replace(one, shown=(SHOWN,))),
    "proving": (lambda one: one, lambda one: replace(one, doubt_height=9, proving=True)),
    "doubted": (lambda one: replace(one, proving=True), lambda one: replace(one, proving=False)),
    "refused": (
        lambda one: one,
        lambda one: with_attempt(
            one, refused=("a",), final=("a",), word="no", code=5, codespace="sdk"
        ),
    ),
    "unsure": (
        lambda one: with_attempt(one, refused=("a", "b"), final=("b",)),
        lambda one: with_attempt(one, refused=("a",), final=()),
    ),
    "taken": (
        lambda one: with_attempt(one, refused=("a",), taken=False),
        lambda one: with_attempt(one, refused=(), taken=True),
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_an_old_change_of_a_slot_folds_to_the_slot_that_it_held(what: str) -> None:
    before_of, after_of = CHANGES[what]
    before = before_of(slot())
    old = SlotChanged(after_of(before), what)
    (record,) = decode_records(msgspec.msgpack.encode((old,)))
    assert record == slot_changed(old)
    assert isinstance(record, OfSlot)
    assert changed(before, record) == old.slot
    assert (record.intent, record.sequence) == (before.intent, before.sequence)


def test_an_unknown_word_is_a_bug() -> None:
    with pytest.raises(AssertionError):
        slot_changed(SlotChanged(slot(), "danced"))
    with pytest.raises(AssertionError):
        slot_changed(SlotChanged(bare(slot()), "taken"))
