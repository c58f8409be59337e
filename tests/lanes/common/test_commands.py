"""What a command means in every lane."""

import pytest
from msgspec.structs import replace

from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import IntentRow
from laneway.core.limits import NAME_BYTES_MAX, REASON_BYTES_MAX
from laneway.core.rows import Command
from laneway.lanes.common.commands import (
    LATE,
    cancelled,
    drained,
    expiry_of,
    is_expired,
    is_taken,
    mode_changed,
    refusal,
    unfit_cancel,
)
from laneway.lanes.common.values import CommandRefused, IntentDropped, ModeChanged
from laneway.lanes.sequence.rows import SequenceHead

TX = IntentId("tx_1")
LANE = LaneId("cosmos:a:b")
COMMAND = Command(1, LANE, "cancel", 5, "why", "ann", TX, seq=4, priority=1, size=7)
ROW = IntentRow(TX, LANE, 4, 1, 0, 50, None, "", b"", b"seven77")


def test_a_refusal_and_a_mode_are_short_whatever_was_said() -> None:
    said = replace(COMMAND, verb="x" * 9_999, reason="y" * 9_999, by="z" * 9_999)
    no = refusal(said, "n" * 9_999)
    assert (len(no.verb), len(no.reason), no.intent) == (NAME_BYTES_MAX, REASON_BYTES_MAX, TX)
    mode = mode_changed("paused", said, 9)
    assert (len(mode.reason), len(mode.by)) == (REASON_BYTES_MAX, NAME_BYTES_MAX)


def drain(word: str, head: SequenceHead, begun: int = 0, *, is_idle: bool = True) -> object:
    command = replace(COMMAND, verb="drain", word=word, seq=6)
    return drained(head, command, 9, begun=begun, is_idle=is_idle)


def test_a_drain_counts_what_is_neither_final_nor_begun() -> None:
    head = SequenceHead(settled_count=2, dropped_seq=7, cursors=(3, 8, 0, 0))
    assert drain("queue", head, 1) == ModeChanged("draining", "why", "ann", 9, 8, 5)
    head = SequenceHead(settled_count=2)
    assert drain("queue", head) == ModeChanged("draining", "why", "ann", 9, 6, 4)
    assert drain("running", head, is_idle=False) == ModeChanged("draining", "why", "ann", 9)


def test_a_lane_with_nothing_to_finish_is_paused_at_once() -> None:
    paused = ModeChanged("paused", "why", "ann", 9)
    assert drain("running", SequenceHead()) == paused
    assert drain("queue", SequenceHead(settled_count=6)) == paused
    assert drain("queue", SequenceHead(settled_count=5), 1, is_idle=False) != paused


def test_a_drain_is_of_the_queue_or_of_what_runs() -> None:
    no = "a lane drains its 'queue' or what is 'running'"
    assert drain("all", SequenceHead()) == CommandRefused("drain", no, TX)


def test_a_cancel_names_an_intent_and_no_more() -> None:
    assert unfit_cancel(COMMAND) is None
    no = unfit_cancel(replace(COMMAND, intent=None))
    assert no == CommandRefused("cancel", "it names no intent")
    no = unfit_cancel(replace(COMMAND, word="now"))
    assert no == CommandRefused("cancel", "a cancel takes no word", TX)


def test_what_waits_is_taken_back_where_it_stands() -> None:
    wanted = IntentDropped(TX, 4, 1, 7, "cancelled", "why", 9, passes=False)
    assert cancelled(COMMAND, 9) == wanted
    with pytest.raises(AssertionError):
        cancelled(replace(COMMAND, intent=None), 9)


def test_what_is_at_or_below_its_cursor_was_taken() -> None:
    assert is_taken(SequenceHead(cursors=(0, 4, 0, 0)), COMMAND)
    assert not is_taken(SequenceHead(cursors=(9, 3, 0, 0)), COMMAND)
    assert not is_taken(SequenceHead(cursors=(9,)), COMMAND)


def test_an_intent_is_late_after_its_time_and_not_before() -> None:
    row = replace(ROW, valid_until_ms=50)
    assert [is_expired(row, now_ms) for now_ms in (49, 50, 51)] == [False, False, True]
    assert not is_expired(replace(ROW, valid_until_ms=None), 10**15)
    size = row.size()
    assert expiry_of(row, 51) == IntentDropped(TX, 4, 1, size, "expired", LATE, 51)
    assert expiry_of(row, 51, "too late").reason == "too late"
