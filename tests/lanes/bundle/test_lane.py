"""A bundle lane in memory, and its rows."""

import pytest
from tests.lanes.bundle.chain import digest
from tests.lanes.bundle.scenes import aged
from tests.lanes.bundle.stage import LANE, SETTINGS, Stage, queued, replace, shape, submitted

from laneway.builder.shelf import REMEDY
from laneway.core.jam import JamBlockRef
from laneway.core.limits import REASON_BYTES_MAX
from laneway.core.rows import Head, RowPut, Rows, Table
from laneway.lanes.bundle.lane import (
    OPEN_BYTES_FULL,
    BundleLane,
    decode_history,
    drop_slot,
    drop_version,
    head_write,
    index_slot,
    is_large,
    put_returned,
    put_version,
    redraw,
    restore,
    shorten,
    shortened,
)
from laneway.lanes.bundle.limits import (
    HEAD_REASONS_BYTES_MAX,
    OPEN_BYTES_MAX,
    TROUBLE_BYTES_MAX,
    WAITS_BYTES_MAX,
)
from laneway.lanes.bundle.rows import Back, LinePlace
from laneway.lanes.common.heads import encode


def test_a_lane_stands_up_from_its_rows() -> None:
    stage = submitted(3)
    stage.slot(stage.hash_of(1))
    stage.slot()
    stage.chain.finalise()
    stage.look()
    assert shape(stage.restored()) == shape(stage.lane)
    tables = {row.table for row in stage.rows.values()}
    assert tables >= {Table.SLOT, Table.ATTEMPT, Table.AUX}


def test_an_empty_head_and_short_cursors_are_as_new() -> None:
    lane = restore(Rows(Head(LANE), (), (), ()), SETTINGS)
    assert lane.head == BundleLane(LANE, SETTINGS).head
    state = head_write(lane, None).state
    assert restore(Rows(Head(LANE, state=state), (), (), ()), SETTINGS).head == lane.head


def test_a_block_leaves_with_all_that_it_had() -> None:
    stage = queued(2)
    drop_slot(stage.lane, stage.named(2))
    assert (list(stage.lane.slots), list(stage.lane.payloads)) == ([1], [1])
    stage = Stage()
    stage.accept(1)
    stage.pull()
    drop_slot(stage.lane, stage.named(1))
    assert (stage.lane.slots, stage.lane.members) == ({}, {})
    stage = submitted()
    gone = drop_slot(stage.lane, stage.named(1))
    assert len(gone) == 5
    assert stage.lane.hashes == {}


def test_one_of_two_versions_with_one_hash_leaves_the_other() -> None:
    stage = submitted()
    other = replace(stage.version(1), version=2)
    stage.lane.versions[1] = (stage.version(1), other)
    stage.lane.packages[1, 2] = b""
    drop_version(stage.lane, other)
    assert stage.lane.of(1) == (stage.version(1),)
    assert stage.lane.hashes[stage.hash_of(1)] == (1, 1)


def test_what_goes_back_keeps_its_place() -> None:
    stage = queued()
    (member,) = stage.lane.members[1]
    put_returned(stage.lane, member)
    assert stage.lane.returned[member.intent].seq == 1


def test_a_row_of_another_kind_is_a_bug() -> None:
    for row in (RowPut("outbox", "1", None, b""), RowPut("aux", "what/1", None, b"1")):
        with pytest.raises(AssertionError):
            restore(Rows(Head(LANE), (row,), (), ()), SETTINGS)


def test_a_fork_is_a_lane_of_its_own() -> None:
    stage = submitted(2)
    before = shape(stage.lane)
    twin = stage.lane.fork()
    put_version(twin, replace(stage.version(1), is_held=False))
    twin.head.height += 1
    twin.slots.clear()
    twin.tells.clear()
    assert shape(stage.lane) == before
    assert twin.finished is stage.lane.finished, "what may be large is shared"


def test_what_was_being_submitted_when_it_stood_up_is_remembered() -> None:
    stage = submitted()
    assert stage.restored().inherited == {}
    stage.put(replace(stage.version(1), offering=True))
    assert stage.restored().inherited == {(1, 1): None}
    assert stage.restored().cut_off == {}
    stage.lane.head.mode = "paused"
    stage.commit()
    assert stage.restored().cut_off == {(1, 1): stage.version(1).serial}


def test_versions_are_found_by_number_and_by_hash() -> None:
    stage = submitted()
    lane = stage.lane
    assert lane.version(1, 1) == stage.version(1)
    assert lane.version(1, 2) is None
    assert lane.version(9, 1) is None
    assert lane.named(stage.hash_of(1)) == stage.version(1)
    assert lane.named(b"") is None
    assert lane.package(stage.version(1)).encoded


def test_heights_are_those_of_the_best_chain() -> None:
    stage = submitted()
    best = stage.lane.head.best
    assert best is not None
    assert stage.lane.height_of(best) == stage.lane.head.height
    assert stage.lane.height_of(JamBlockRef(b"", 1)) is None


def test_a_block_is_final_up_to_the_newest_that_is() -> None:
    stage = submitted()
    lane, best = stage.lane, stage.chain.best.ref
    lane.head.finalised = None
    assert not lane.is_final(best)
    lane.head.finalised = best
    assert lane.is_final(best)
    assert not lane.is_final(JamBlockRef(b"", best.slot + 1))


def test_a_lane_with_work_is_loaded_again_should_this_process_die() -> None:
    stage = Stage()
    assert head_write(stage.lane, None).wake_ms is None
    stage.accept(1)
    stage.pull()
    assert head_write(stage.lane, None).wake_ms == 0
    assert head_write(stage.lane, 7).wake_ms == 7
    stage.build(t0="deferred")
    assert head_write(stage.lane, None).wake_ms == 0


def test_the_head_counts_what_people_ask_for() -> None:
    stage = queued(3)
    head = stage.lane.head
    assert (head.open_count, head.queued_count, head.returned_count, head.waits) == (3, 3, 0, "")


def test_the_bytes_of_open_blocks_are_counted() -> None:
    stage = submitted(2)
    lane = stage.lane
    sizes = [len(one) for one in (*lane.payloads.values(), *lane.packages.values())]
    assert lane.open_bytes == sum(sizes) > 0
    assert stage.restored().open_bytes == lane.open_bytes
    assert stage.lane.fork().open_bytes == lane.open_bytes
    stage.run(6)
    assert stage.lane.open_bytes == 0


def test_blocks_that_are_too_large_together_are_told_to_people() -> None:
    stage = queued()
    lane = stage.lane
    lane.open_bytes = OPEN_BYTES_MAX
    head_write(lane, None)
    assert (is_large(lane), lane.head.waits) == (True, OPEN_BYTES_FULL)
    lane.open_bytes -= 1
    head_write(lane, None)
    assert (is_large(lane), lane.head.waits) == (False, "")


def test_a_row_of_before_is_of_one_that_waits_for_nothing() -> None:
    stage = Stage()
    (name,) = stage.accept(1)
    row = RowPut(Table.RETURNED, name, name, encode((name, 1, 0)))
    lane = restore(Rows(Head(LANE), (row,), (stage.accepted[name],), ()), SETTINGS)
    assert lane.returned == {name: Back(name, 1, 0)}


def test_a_transactions_history_says_where_it_is() -> None:
    stage = Stage()
    stage.accept(2)
    stage.run(6)
    results = list(stage.results.values())
    assert [decode_history(one.history).index for one in results] == [0, 1]
    finished = decode_history(results[0].history).finished
    assert (finished.number, finished.version, finished.count) == (1, 1, 2)
    assert finished == stage.lane.finished[1]


def test_finished_blocks_keep_their_order_when_the_clock_is_set_back() -> None:
    stage = submitted(2, order="parallel")
    stage.run(6)
    assert list(stage.lane.finished) == [1, 2]
    first = replace(stage.lane.finished[1], finished_ms=stage.lane.finished[2].finished_ms + 1)
    stage.rows[Table.AUX, "finished/1"] = RowPut(Table.AUX, "finished/1", None, encode(first))
    assert list(stage.restored().finished) == [1, 2]


def test_a_version_finds_its_block_whichever_row_comes_first() -> None:
    stage = submitted()
    rows = tuple(reversed(stage.rows.values()))
    head = Head(LANE, state=stage.head, cursors=stage.cursors)
    intents = tuple(stage.accepted.values())
    assert restore(Rows(head, rows, intents, ()), stage.settings).words == {1: "submitted"}


def test_a_block_whose_versions_are_all_dead_is_over() -> None:
    stage = aged(guarantee_timeout_ms=600_000)
    assert stage.lane.over == {1: None}
    parent = stage.chain.best
    for _ in range(5):
        parent = stage.chain.states[parent.parent]
    stage.chain.best = stage.chain.produce(parent=parent, skip=6)
    stage.look()
    assert stage.lane.over == {}, "a fork brought it back"


def test_the_line_is_all_that_stands_on_the_one_before() -> None:
    stage = queued(3)
    lane = stage.lane
    assert (lane.line_top, lane.line) == (3, [lane.payloads[one] for one in (1, 2, 3)])
    broken = replace(stage.named(2), block=digest("another"))
    index_slot(lane, broken)
    redraw(lane)
    assert lane.line == [lane.payloads[3]]
    shorten(lane, 1)
    assert lane.line == [lane.payloads[3]], "it was not in it"


def test_the_reasons_in_the_head_fit_together() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    stage.not_built("w" * 500)
    assert len(stage.lane.head.waits) == WAITS_BYTES_MAX
    stage.lane.head.look_reason = "l" * TROUBLE_BYTES_MAX
    stage.lane.head.tell_reason = "t" * TROUBLE_BYTES_MAX
    for mode_bytes, waits_bytes in ((0, WAITS_BYTES_MAX), (280, 100), (281, 0), (300, 0)):
        stage.lane.head.reason = "r" * mode_bytes
        stage.commit()
        assert len(stage.lane.head.waits) == waits_bytes
    left = HEAD_REASONS_BYTES_MAX - REASON_BYTES_MAX - 2 * TROUBLE_BYTES_MAX
    assert shortened("w" * left, left) == "w" * left, "what fits stays"
    assert len(OPEN_BYTES_FULL) <= left, "it is known by its whole text"


def test_no_reason_in_the_head_is_cut_before_its_remedy() -> None:
    """Here the longest that a builder has, beside two other reasons of full length."""
    stage = Stage()
    stage.accept(1)
    stage.pull()
    stage.not_built("the chain has another block 7 than the builder: " + "p" * 300 + "; " + REMEDY)
    stage.lane.head.look_reason = "l" * TROUBLE_BYTES_MAX
    stage.lane.head.tell_reason = "t" * TROUBLE_BYTES_MAX
    for mode_bytes in range(0, REASON_BYTES_MAX + 1, 20):
        stage.lane.head.reason = "r" * mode_bytes
        stage.commit()
        assert not stage.lane.head.waits or stage.lane.head.waits.endswith(f"; {REMEDY}")


def test_a_block_that_the_line_has_counts_as_accumulated() -> None:
    stage = queued(1)
    place = LinePlace(b"their package", JamBlockRef(b"\7" * 32, 7))
    stage.put(replace(stage.named(1), line=place))
    assert stage.lane.words[1] == "accumulated"
