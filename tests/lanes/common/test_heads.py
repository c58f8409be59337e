"""What every lane's head holds."""

import pytest

from laneway.core.ids import IntentId
from laneway.core.rows import START, Result
from laneway.lanes.common.heads import (
    change_mode,
    count_drained,
    drop,
    drop_waiting,
    encode,
    head_reader,
    head_row,
    passed,
    settle,
)
from laneway.lanes.common.values import IntentDropped, ModeChanged
from laneway.lanes.sequence.rows import SequenceHead

TX = IntentId("tx_1")


def dropped(seq: int, *, passes: bool = True) -> IntentDropped:
    return IntentDropped(TX, seq, 1, 7, "expired", "late", 40, passes)


def test_a_cursor_goes_up_in_its_own_class() -> None:
    assert passed((3,), 0, 4) == (4,)
    assert passed((3, 0, 0, 0), 2, 9) == (3, 0, 9, 0)
    assert passed((3, 1, 0, 0), 0, 9) == (9, 1, 0, 0)
    assert passed((1, 2, 3, 4), 1, 9) == (1, 9, 3, 4)
    assert passed(START, 1, 5) == (0, 5, 0, 0)


def test_an_intent_of_a_class_from_before_priorities_were_switched_off_is_passed_too() -> None:
    assert passed((3,), 2, 9) == (3, 0, 9, 0)


@pytest.mark.parametrize("cursors", [(4,), (4, 0, 0, 0)])
def test_a_cursor_never_goes_back(cursors: tuple[int, ...]) -> None:
    for seq in (3, 4):
        with pytest.raises(AssertionError):
            passed(cursors, 0, seq)


def test_a_lane_that_never_ran_has_an_empty_head() -> None:
    read = head_reader(SequenceHead)
    assert read(b"") == SequenceHead()
    head = SequenceHead(settled_count=3, mode="paused")
    assert read(head_row(head, 5).state) == head
    row = head_row(head, 5)
    assert (row.cursors, row.settled_count, row.settled_bytes, row.wake_ms) == (START, 3, 0, 5)
    assert row.state == encode(head)


def test_what_is_final_is_counted_with_its_bytes() -> None:
    head = SequenceHead()
    settle(head, 7)
    assert drop(head, dropped(1)) == Result(TX, "expired", 40, reason="late")
    assert (head.settled_count, head.settled_bytes, head.cursors) == (2, 14, START)


def test_what_is_dropped_from_the_backlog_is_passed_or_remembered() -> None:
    head = SequenceHead(drain_seq=5, drain_left=2)
    assert drop_waiting(head, dropped(4)) == Result(TX, "expired", 40, reason="late")
    assert (head.cursors, head.dropped_seq, head.drain_left) == ((0, 4, 0, 0), 0, 1)
    drop_waiting(head, dropped(9, passes=False))
    drop_waiting(head, dropped(7, passes=False))
    assert (head.cursors, head.dropped_seq, head.drain_left) == ((0, 4, 0, 0), 9, 1)
    assert (head.settled_count, head.settled_bytes) == (3, 21)


def test_a_drain_waits_for_none_less_than_none() -> None:
    head = SequenceHead(drain_seq=5, drain_left=1)
    for seq in (6, 5, 4):
        count_drained(head, seq)
    assert head.drain_left == 0


def test_a_mode_is_kept_with_who_said_it_when_and_why() -> None:
    head = SequenceHead()
    change_mode(head, ModeChanged("draining", "lunch", "ann", 9, 5, 2))
    assert (head.mode, head.reason, head.by, head.mode_ms) == ("draining", "lunch", "ann", 9)
    assert (head.drain_seq, head.drain_left) == (5, 2)
