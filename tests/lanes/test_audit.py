"""The audit lane keeps what it is given, in its order, and does nothing with it."""

from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import IntentRow
from laneway.core.records import Decision
from laneway.core.rows import Command, Head, Result, Rows
from laneway.lanes.audit import (
    AuditLane,
    EntryKept,
    audit_kind,
    decide,
    evolve,
    head_write,
)
from laneway.lanes.common.values import CommandReceived, TimerFired

LANE = LaneId("audit:log")
KIND = audit_kind()


def entry(seq: int) -> IntentRow:
    return IntentRow(IntentId(f"tx_{seq:032x}"), LANE, seq, 0, 5, None, None, "", b"", b"words")


def kept(lane: AuditLane, *seqs: int) -> list[Result]:
    rows = tuple(entry(seq) for seq in seqs)
    lane.intents |= {row.id: row for row in rows}
    decision = decide(lane, KIND.offered(7, rows))
    touched = [touch for record in decision.records for touch in evolve(lane, record)]
    assert all(isinstance(touch, Result) for touch in touched)
    return [touch for touch in touched if isinstance(touch, Result)]


def test_entries_are_kept_in_their_order_and_nothing_is_ordered_for_them() -> None:
    lane = KIND.empty(LANE)
    assert KIND.wants(lane) > 1
    assert [(r.intent, r.status, r.settled_ms) for r in kept(lane, 1, 2)] == [
        (entry(1).id, "confirmed", 7),
        (entry(2).id, "confirmed", 7),
    ]
    assert lane.intents == {}
    assert KIND.cursors(lane) == (2,)
    assert KIND.resume(lane) == ()
    assert KIND.deadline(lane) is None


def test_the_rows_of_a_lane_are_the_lane() -> None:
    lane = AuditLane(LANE)
    kept(lane, 1, 2, 3)
    head = head_write(lane, None)
    written = Head(
        LANE,
        cursors=(*head.cursors, 0, 0, 0),
        settled_count=head.settled_count,
        settled_bytes=head.settled_bytes,
    )
    again = KIND.restore(Rows(written, (), (), ()))
    assert (again.settled_count, again.settled_bytes) == (3, 15)
    assert head_write(again, None) == head


def test_no_word_and_no_time_changes_what_was_said() -> None:
    lane = AuditLane(LANE)
    kept(lane, 1)
    for verb in ("pause", "cancel", "settle"):
        command = Command(1, LANE, verb, 9, intent=entry(1).id)
        assert decide(lane, KIND.commanded(9, command)) == Decision()
    assert isinstance(KIND.commanded(9, command), CommandReceived)
    assert decide(lane, KIND.woken(9)) == Decision()
    assert isinstance(KIND.woken(9), TimerFired)


def test_its_records_are_read_back_and_its_state_is_idle() -> None:
    records = (EntryKept(entry(1).id, 1, 5, 7),)
    assert KIND.decode(KIND.encode(records)) == records
    assert KIND.describe(b"").word == "idle"
