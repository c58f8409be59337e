"""A sequence lane in memory, and its rows."""

import pytest
from tests.lanes.sequence.stage import HEIGHT, LANE, SETTINGS, begun, offered, out, replace

from laneway.core.cosmos import OfferKind, TxStanding
from laneway.core.rows import START, Head, RowPut, Rows, Table
from laneway.lanes.common.heads import encode
from laneway.lanes.sequence.lane import (
    SequenceLane,
    forget_hashes,
    is_clear_from,
    is_out,
    is_recovering,
    is_refused,
    is_taken,
    need_of,
    restore,
    shown_by,
    used_count,
)
from laneway.lanes.sequence.limits import RAW_INLINE_MAX
from laneway.lanes.sequence.rows import InclusionVote, Past, SequenceHead
from laneway.lanes.sequence.values import AttemptsMade, MakeAttempt


def test_a_lane_finds_its_slots_by_number_and_by_intent() -> None:
    lane = begun(2).lane
    assert lane.slot_at(1) is lane.slots[2]
    assert lane.slot_at(9) is None
    assert lane.slot_of(lane.slots[1].intent) is lane.slots[1]
    assert lane.slot_of(None) is None
    assert lane.slot_of(lane.slots[1].intent + "x") is None  # type: ignore[operator, arg-type]
    assert [slot.id for slot in lane.in_order()] == [1, 2]


def test_a_lane_stands_up_from_its_rows() -> None:
    stage = begun(2)
    stage.make(size=RAW_INLINE_MAX + 1)
    stage.crash()
    assert stage.lane.raw(stage.slot(1)) == stage.lane.raws[1]
    assert stage.lane.inherited == {"a": 1, "b": 1}
    assert stage.lane.life == stage.fence + 1
    assert list(stage.lane.intents) == list(stage.accepted)


def test_a_head_with_fewer_classes_is_read() -> None:
    state = encode(SequenceHead(cursors=(3,)))
    lane = restore(Rows(Head(LANE, state=state), (), (), ()), SETTINGS)
    assert lane.head.cursors == (3, *START[1:])
    assert restore(Rows(Head(LANE), (), (), ()), SETTINGS).head == SequenceHead()


def test_a_row_of_another_kind_is_no_row_of_this_lane() -> None:
    alien = RowPut(Table.ATTEMPT, "x", None, b"")
    with pytest.raises(AssertionError):
        restore(Rows(Head(LANE), (alien,), (), ()), SETTINGS)


def test_a_new_node_begins_with_what_is_out_and_one_that_left_is_remembered() -> None:
    stage = out(2)
    stage.crash(nodes=("b", "c"))
    assert (stage.node("c").next, stage.node("c").top, stage.node("c").look_ms) == (0, 0, 0)
    assert stage.node("a").gone
    assert not stage.node("a").looking
    assert is_out(stage.lane, stage.slot(1), [stage.node("a")])
    assert [node.name for node in stage.lane.live()] == ["b", "c"]
    stage.tick(0)
    assert stage.offered("c").first == 0
    stage.crash(nodes=("a",))
    assert not stage.node("a").gone
    assert stage.node("b").gone


def test_a_node_that_left_and_holds_nothing_is_forgotten() -> None:
    stage = begun(1)
    stage.crash(nodes=("b",))
    assert list(stage.lane.nodes) == ["b"]
    assert stage.lane.is_rewired


def test_work_is_work_though_no_time_is_set_for_it() -> None:
    stage = begun(1)
    assert (stage.kind.deadline(stage.lane), stage.wake_ms) == (None, 0)
    stage.fail(final=True)
    assert (stage.rows, stage.wake_ms) == ({}, None)
    stage.now_ms += 9_999
    stage.accept(1)
    stage.pull()
    # It is only looked at, and no slot is there yet.
    assert (stage.rows, stage.wake_ms) == ({}, 0)


def test_heads_count_what_is_open_filled_and_watched() -> None:
    stage = out(2, nodes=("a",))
    head = stage.lane.head
    assert (head.open_count, head.filler_count, head.watched_count) == (2, 0, 0)
    assert used_count(stage.lane) == 0
    stage.lane.head.committed = 1
    assert used_count(stage.lane) == 1


def test_bytes_are_out_where_a_node_may_have_them() -> None:
    stage = offered(2, nodes=("a",))
    slot = stage.slot(1)
    assert is_out(stage.lane, slot, stage.lane.nodes.values())
    stage.answer("a", OfferKind.MEMPOOL_FULL)
    assert not is_out(stage.lane, stage.slot(1), stage.lane.nodes.values())
    assert is_clear_from(stage.lane, 0, stage.lane.nodes.values())
    stage.change(1, refused=())
    assert is_out(stage.lane, stage.slot(1), stage.lane.nodes.values())
    assert not is_clear_from(stage.lane, 0, stage.lane.nodes.values())
    assert is_clear_from(stage.lane, 1, stage.lane.nodes.values())
    assert is_clear_from(stage.lane, 0, stage.lane.nodes.values(), dead=[1])
    assert not is_out(stage.lane, replace(slot, attempt=None), stage.lane.nodes.values())


def test_bytes_are_taken_when_some_node_took_them() -> None:
    stage = begun(1)
    assert not is_taken(stage.lane, stage.slot(1))
    stage.make()
    assert not is_taken(stage.lane, stage.slot(1))
    stage.answer("a")
    assert is_taken(stage.lane, stage.slot(1))


def test_a_lane_recovers_when_every_node_does_and_something_is_out() -> None:
    stage = offered(1)
    stage.answer("a", OfferKind.MEMPOOL_FULL)
    assert not is_recovering(stage.lane)
    stage.answer("b", OfferKind.MEMPOOL_FULL)
    assert is_recovering(stage.lane)
    stage.all_look(HEIGHT + 1, 1, {1: TxStanding.COMMITTED})
    assert not is_recovering(stage.lane)


def test_large_bytes_go_with_their_slot_and_with_their_attempt() -> None:
    stage = begun(2, nodes=("a",))
    stage.make(size=RAW_INLINE_MAX + 1)
    stage.answer("a")
    assert [key for table, key in stage.rows if table == Table.AUX] == ["raw/1", "raw/2"]
    stage.look_later("a", HEIGHT + 1, 1, {1: TxStanding.COMMITTED})
    assert list(stage.lane.raws) == [2]
    stage.look_later("a", HEIGHT + 11, 1)
    assert stage.lane.raws == {}
    # What can land no more is still looked for: had it landed, it would count.
    assert stage.lane.hashes == {stage.slot(2).past[0].hash: 2}
    stage.make()
    stage.answer("a")
    stage.look_later("a", HEIGHT + 12, 2, {2: TxStanding.COMMITTED})
    assert stage.lane.hashes == {}
    assert stage.rows == {}


def test_a_new_lane_has_its_nodes() -> None:
    lane = SequenceLane(LANE, SETTINGS)
    assert [(node.name, node.next) for node in lane.live()] == [("a", 0), ("b", 0)]


def test_a_slot_that_is_watched_has_no_number_and_no_intent() -> None:
    stage = out(1, nodes=("a",), conflict_blocks=0)
    stage.look_later("a", HEIGHT + 1, 1, {1: TxStanding.UNKNOWN})
    stage.prove()
    stage.look_later("a", HEIGHT + 2, 1, {1: TxStanding.UNKNOWN})
    stage.prove()
    stage.look_later("a", HEIGHT + 2, 1, {1: TxStanding.UNKNOWN})
    assert stage.statuses() == ["indeterminate"]
    assert (list(stage.lane.watched), stage.lane.numbers, stage.lane.bound) == ([1], {}, {})
    stage.crash()
    assert list(stage.lane.watched) == [1]
    stage.look_later("a", HEIGHT + 99, 1, {1: TxStanding.UNKNOWN})
    assert stage.lane.slots == {}


def test_delayed_slots_are_known() -> None:
    stage = begun(1)
    stage.fail()
    assert list(stage.lane.delayed) == [1]
    stage.tick(50)
    assert list(stage.lane.delayed) == []


def test_bytes_that_nobody_had_are_forgotten_when_their_slot_moves() -> None:
    stage = offered(2)
    stage.answer("a", OfferKind.TOO_LARGE)
    stage.answer("b", OfferKind.TOO_LARGE)
    assert stage.lane.hashes == {}
    assert stage.lane.head.signed_bytes == 0


def test_a_filler_has_no_intent() -> None:
    stage = out(2, attempts_max=1, nodes=("a",))
    stage.change(2, timeout_height=99)
    stage.look_later("a", HEIGHT + 11, 0)
    assert list(stage.lane.bound.values()) == [2]
    assert stage.lane.head.filler_count == 1
    stage.make()
    stage.answer("a")
    stage.look_later("a", HEIGHT + 12, 1, {1: TxStanding.COMMITTED})
    assert stage.sequences() == {1: 2}


def test_bytes_that_are_made_again_just_the_same_are_still_known() -> None:
    """A node that refused a fee may take it in the next block, with the same last one."""
    stage = offered(1, nodes=("a",))
    stage.answer("a", OfferKind.FEE_TOO_LOW)
    (order,) = stage.take(MakeAttempt)
    gone = stage.slot(1).past[0].hash
    same = replace(stage.made(order), hash=gone)
    stage.post(AttemptsMade(stage.now_ms, (same,)))
    assert stage.lane.hashes == {gone: 1}
    stage.answer("a")
    stage.look_later("a", HEIGHT + 1, 1, {1: TxStanding.COMMITTED})
    assert stage.statuses() == ["confirmed"]
    assert stage.lane.hashes == {}


def test_bytes_that_another_slot_has_now_are_its_own() -> None:
    stage = offered(1, nodes=("a",))
    stage.lane.hashes[stage.attempt(1).hash] = 9
    forget_hashes(stage.lane, stage.slot(1))
    assert list(stage.lane.hashes.values()) == [9]


def test_what_all_nodes_refused_one_of_them_may_have() -> None:
    stage = offered(1)
    stage.answer("a", OfferKind.MEMPOOL_FULL)
    stage.answer("b", OfferKind.MEMPOOL_FULL)
    nodes = stage.lane.nodes.values()
    assert is_out(stage.lane, stage.slot(1), nodes)
    assert not is_refused(stage.lane, stage.attempt(1))
    stage.change(1, final=("a", "b"))
    assert is_refused(stage.lane, stage.attempt(1))
    assert not is_out(stage.lane, stage.slot(1), nodes)
    # Bytes before them may be out all the same.
    past = Past(b"x" * 32, 9, "why", proven=False)
    assert is_out(stage.lane, replace(stage.slot(1), past=(past,), attempt=None), nodes)
    # Whoever was offered nothing has nothing.
    assert not is_out(stage.lane, stage.slot(1), [])
    assert need_of(stage.lane) == 2


def test_nodes_that_show_bytes_in_a_block_are_named_while_they_are_nodes_of_the_lane() -> None:
    stage = out(1)
    failed = InclusionVote("b", b"h", 6, 5, unused=True)
    words = (InclusionVote("a", b"h", 6, 0), failed, InclusionVote("gone", b"h", 6, 0))
    slot = replace(stage.slot(1), shown=words)
    assert shown_by(stage.lane, slot) == (
        "shown in a block by 1 of 2 nodes, 2 are needed: a in block 6"
    )
    assert shown_by(stage.lane, replace(slot, shown=(failed,))) == ""
