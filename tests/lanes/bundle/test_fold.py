"""What each record does to a bundle lane."""

from typing import Any

import pytest
from tests.lanes.bundle.stage import LANE, Stage, queued, replace, shape, submitted
from tests.lanes.bundle.test_released import CHANGES, VERSIONS, before_change

from laneway.core.jam import JamBlockRef
from laneway.lanes.bundle import records as r
from laneway.lanes.bundle.fold import (
    changed,
    evolve,
    fold,
    fold_head,
    fold_tells,
)
from laneway.lanes.bundle.limits import CHAIN_KEPT_MAX
from laneway.lanes.bundle.released import SlotChanged, VersionChanged, slot_changed, version_changed
from laneway.lanes.bundle.rows import Ear, LinePlace, Tip
from laneway.lanes.common.values import CommandRefused, IntentDropped, ModeChanged


def ref(number: int) -> JamBlockRef:
    return JamBlockRef(number.to_bytes(32, "big"), number)


def test_what_is_unknown_is_a_bug() -> None:
    with pytest.raises(AssertionError):
        fold(Stage().lane, "a record")  # type: ignore[arg-type]
    for part in (fold_head, fold_tells):
        with pytest.raises(AssertionError):
            part(Stage().lane, "a record")  # type: ignore[arg-type]
    with pytest.raises(AssertionError):
        changed(queued().named(1), "a record")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("what", "field"),
    [
        ("duplicate_guarantee", "duplicate_guarantees"),
        ("duplicate_accumulate", "duplicate_accumulates"),
        ("version_cancelled", "versions_cancelled"),
        ("overruled", "overruled"),
    ],
)
def test_what_an_operator_should_know_is_counted(what: str, field: str) -> None:
    lane = Stage().lane
    evolve(lane, r.Counted(what, 1, 1))
    assert getattr(lane.head, field) == 1


def test_an_intent_that_is_dropped_while_it_waits_passes_no_cursor() -> None:
    stage = Stage()
    (name,) = stage.accept(1)
    stage.apply([IntentDropped(name, 1, 0, 5, "cancelled", "", 1, passes=False)])
    assert (stage.lane.head.dropped_seq, stage.lane.head.cursors[0]) == (1, 0)
    (name,) = stage.accept(1)
    stage.apply([IntentDropped(name, 2, 0, 5, "expired", "", 1)])
    assert (stage.lane.head.cursors[0], stage.lane.head.settled_bytes) == (2, 10)


def test_transactions_leave_a_block_for_the_pool_or_with_an_answer() -> None:
    stage = Stage()
    names = stage.accept(3)
    stage.pull()
    stage.build(t0="refused", t1="deferred")
    assert (stage.statuses(), list(stage.lane.returned)) == (["refused", "", ""], [names[1]])
    assert stage.lane.head.settled_count == 1
    stage.tick(7_000)
    stage.build(t0="deferred")
    assert list(stage.lane.numbers) == [1]
    assert list(stage.lane.returned) == [names[1]]
    stage.apply([r.BlockDropped(1, "why", 1)])
    assert list(stage.lane.returned) == [names[1], names[2]]
    head = stage.lane.head
    assert (head.number_next, head.drops, head.drops_total) == (1, 1, 1)
    stage.apply([ModeChanged("running", "", "", 1)])
    assert head.drops == 0
    stage.apply([ModeChanged("paused", "", "", 1)])
    stage.apply([IntentDropped(names[2], 3, 0, 5, "cancelled", "", 1, passes=False)])
    assert list(stage.lane.returned) == [names[1]]
    stage.check_places()


def test_a_block_that_no_package_can_be_made_of_is_begun_again_with_half_of_it() -> None:
    stage = queued()
    stage.accept(3)
    stage.pull()
    stage.build()
    head = stage.lane.head
    stage.apply([r.BlockDropped(2, "why", 1, is_unpackable=True)])
    assert (head.txs_max, head.unpacked) == (1, 0), "three of them are nobody's fault"
    stage.apply([r.BlockDropped(1, "why", 1, is_unpackable=True)])
    assert (head.txs_max, head.unpacked) == (1, 1), "it was alone in its block"


def test_a_block_that_was_never_built_leaves_no_time_behind() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    stage.apply([r.BlockDropped(1, "why", 1)])
    assert stage.lane.head.made_ms_min == 0


def test_callbacks_wait_and_are_made() -> None:
    lane = Stage().lane
    evolve(lane, r.TellsBegun(3))
    assert (lane.head.telling, lane.head.tell_ms) == (3, None)
    evolve(lane, r.TellsDelayed(77, "busy"))
    assert (lane.head.telling, lane.head.tell_ms) == (0, 77)
    assert (lane.head.tell_tries, lane.head.tell_reason) == (1, "busy")
    evolve(lane, r.TellsDone(3))
    assert (lane.head.telling, lane.head.tell_tries, lane.head.tell_reason) == (0, 0, "")


def test_the_builder_hears_for_itself() -> None:
    lane = Stage().lane
    evolve(lane, r.TellsBegun(3, Ear.BUILDER))
    assert (lane.head.hearing, lane.head.hear_ms, lane.head.telling) == (3, None, 0)
    evolve(lane, r.TellsDelayed(77, "no disk", Ear.BUILDER))
    assert (lane.head.hearing, lane.head.hear_ms, lane.head.tell_ms) == (0, 77, None)
    assert (lane.head.hear_tries, lane.head.tell_reason) == (1, "no disk")
    evolve(lane, r.TellsDone(3, Ear.BUILDER))
    assert (lane.head.heard, lane.head.hear_tries, lane.head.tell_reason) == (3, 0, "")


def test_a_reason_stays_while_one_of_the_two_does_not_hear() -> None:
    lane = Stage().lane
    evolve(lane, r.TellsDelayed(77, "the user"))
    evolve(lane, r.TellsDone(3, Ear.BUILDER))
    assert lane.head.tell_reason == "the user"
    evolve(lane, r.TellsDelayed(78, "the builder", Ear.BUILDER))
    evolve(lane, r.TellsDone(3))
    assert lane.head.tell_reason == "the builder"


def test_a_refused_command_changes_nothing() -> None:
    stage = submitted()
    before = shape(stage.lane)
    assert evolve(stage.lane, CommandRefused("x", "y")) == ()
    assert shape(stage.lane) == before


def test_the_chain_is_remembered_for_so_many_blocks() -> None:
    lane = Stage().lane
    evolve(lane, r.ChainSeen(None, (ref(1),), None))
    first = lane.head.height
    for number in range(2, CHAIN_KEPT_MAX + 4):
        evolve(lane, r.ChainSeen(lane.head.height, (ref(number),), None))
    assert len(lane.chain) == CHAIN_KEPT_MAX
    assert lane.head.height == first + CHAIN_KEPT_MAX + 2
    evolve(lane, r.ChainSeen(lane.head.height - 2, (ref(500),), ref(3)))
    assert (lane.head.best, lane.head.finalised) == (ref(500), ref(3))
    assert len(lane.chain) == CHAIN_KEPT_MAX - 1
    evolve(lane, r.ChainSeen(lane.head.height, (), ref(2)))
    assert lane.head.finalised == ref(3)


def test_finished_blocks_are_kept_within_the_window() -> None:
    stage = Stage(block_txs_max=1, retention_window=2)
    stage.accept(4)
    stage.run(14)
    assert stage.picture().finalised == ("3v1", "4v1")
    kept = [key for _, key in stage.rows if key.startswith("finished/")]
    assert kept == ["finished/3", "finished/4"]


def test_a_number_that_the_service_gives_moves_those_that_it_would_overtake() -> None:
    stage = queued(4)
    ids = [stage.named(number).id for number in (1, 2, 3, 4)]
    stage.apply([r.SlotNumbered(ids[1], 4)])
    assert [stage.lane.slots[one].number for one in ids] == [1, 4, 5, 6]
    assert stage.lane.head.number_next == 7
    stage.apply([r.SlotNumbered(ids[3], 1)])
    assert [stage.lane.slots[one].number for one in ids] == [2, 4, 5, 1]
    assert sorted(stage.lane.numbers) == [1, 2, 4, 5]
    stage.apply([r.SlotNumbered(ids[0], 3)])
    assert [stage.lane.slots[one].number for one in ids] == [3, 4, 5, 1]


def test_a_version_that_is_discarded_leaves_nothing() -> None:
    stage = submitted()
    stage.apply([r.VersionDiscarded(1, 1, "why")])
    assert (stage.lane.versions, stage.lane.hashes, stage.lane.packages) == ({}, {}, {})
    assert not [key for table, key in stage.rows if table == "attempt"]


def test_one_of_two_versions_is_discarded() -> None:
    stage = submitted()
    other = replace(stage.version(1), version=2)
    stage.lane.versions[1] = (stage.version(1), other)
    stage.lane.packages[1, 2] = b""
    fold(stage.lane, r.VersionDiscarded(1, 2, "why"))
    assert [one.version for one in stage.lane.of(1)] == [1]
    assert stage.lane.hashes[stage.hash_of(1)] == (1, 1), "the hash is the other's"


def test_only_what_accumulated_is_final() -> None:
    stage = submitted()
    with pytest.raises(AssertionError):
        fold(stage.lane, r.BlockFinalised(1, 1, 1))


def test_a_block_whose_time_was_set_forward_was_not_begun_after_it_was_final() -> None:
    stage = Stage()
    stage.accept(1)
    stage.lane.head.made_ms_min = stage.now_ms + 10**9
    stage.run(6)
    assert stage.lane.finished[1].begun_ms == stage.lane.finished[1].finished_ms


def test_the_newest_final_block_is_what_the_next_is_built_on() -> None:
    stage = Stage(block_txs_max=1)
    stage.accept(2)
    stage.run(8)
    tip = stage.lane.head.tip
    assert (tip.number, tip.root) == (2, stage.lane.finished[2].post_root)
    lane = stage.lane
    lane.head.tip = replace(tip, number=99)
    other = queued()
    assert other.lane.id == LANE
    stage.accept(1)
    stage.lane.head.tip = tip
    stage.run(8)
    assert stage.chain.line() == list(stage.accepted)


def test_an_earlier_block_that_becomes_final_later_is_not_built_on() -> None:
    stage = submitted(2, order="parallel", keeps_records=False, block_interval_ms=10**9)
    stage.chain.orders_blocks = False
    first, second = stage.hash_of(1), stage.hash_of(2)
    stage.slot(second)
    stage.slot()
    stage.chain.finalise()
    stage.slot(first)
    assert stage.lane.head.tip.number == 2
    stage.slot()
    stage.chain.finalise()
    stage.slot()
    assert (stage.lane.slots, stage.lane.head.tip.number) == ({}, 2)


@pytest.mark.parametrize(("what", "fields"), CHANGES)
def test_a_record_of_a_block_sets_what_it_says_and_nothing_else(
    what: str, fields: dict[str, Any]
) -> None:
    before = before_change(fields)
    after = replace(before, **fields)
    record = slot_changed(SlotChanged(after, what))
    assert changed(before, record) == after  # type: ignore[arg-type]


@pytest.mark.parametrize(("what", "fields"), VERSIONS)
def test_a_record_of_a_version_sets_what_it_says_and_nothing_else(
    what: str, fields: dict[str, Any]
) -> None:
    stage = submitted()
    stage.put(
        replace(stage.version(1), offering=what == "answered"), replace(stage.named(1), queued=True)
    )
    after = replace(stage.version(1), **fields)
    stage.apply([version_changed(VersionChanged(after, what))])
    assert stage.version(1) == after
    assert stage.named(1).queued == (what != "offered")


# The service's line, blocks that cannot be built, and clocks.

PLACE = LinePlace(b"their package", ref(9))


def test_a_block_that_the_line_has_waits_for_nothing() -> None:
    stage = queued(1)
    stage.apply([r.BlockOnLine(1, PLACE)])
    slot = stage.named(1)
    assert (slot.line, slot.is_canonical, slot.queued, slot.making) == (PLACE, True, False, None)
    assert stage.lane.words[1] == "accumulated"
    stage.apply([r.BlockFinalised(1, 0, 5, stage.lane.members[1])])
    (finished,) = stage.lane.finished.values()
    assert (finished.package_hash, finished.version) == (PLACE.package_hash, 0)
    assert finished.accumulated == PLACE.at


def test_a_block_that_the_line_has_by_a_known_version_came_by_that() -> None:
    stage = submitted(1)
    stage.apply([r.BlockOnLine(1, LinePlace(stage.hash_of(1), ref(9)))])
    stage.apply([r.BlockFinalised(1, 0, 5, stage.lane.members[1])])
    (finished,) = stage.lane.finished.values()
    assert finished.version == 1


def test_a_line_that_others_moved_is_where_the_lane_goes_on() -> None:
    stage = Stage()
    stage.apply([r.LineMoved(4, 2, 9)])
    head = stage.lane.head
    assert (head.tip, head.number_next, head.foreign_count) == (Tip(4), 5, 2)


def test_a_second_move_of_the_line_leaves_the_first_block_that_is_unknown() -> None:
    stage = Stage()
    head = stage.lane.head
    stage.apply([r.LineMoved(4, 2, 5)])
    assert (head.tip.number, head.foreign_first, head.foreign_ms) == (4, 3, 5)
    stage.apply([r.LineMoved(9, 2, 6)])
    assert (head.tip.number, head.foreign_first, head.foreign_ms) == (9, 3, 6)
    stage.apply([r.LineMoved(8, 0, 7)])
    assert head.foreign_ms == 6, "a line that is shorter has no block of others"


def test_a_lane_is_overtaken_only_while_something_waits_in_it() -> None:
    stage = Stage()
    stage.apply([r.LineMoved(4, 2, 5)])
    assert stage.lane.head.overtaken == 0, "it rests, and others build"
    waiting = queued()
    waiting.apply([r.LineMoved(4, 2, 5), r.LineMoved(5, 1, 6)])
    assert waiting.lane.head.overtaken == 2


def test_a_block_that_is_made_smaller_gives_the_rest_back() -> None:
    stage = Stage()
    names = stage.accept(3)
    stage.pull()
    stay = stage.lane.members[1][:1]
    stage.apply([r.BlockShrunk(1, 7, stay, "why")])
    slot = stage.named(1)
    assert (slot.order, slot.count, slot.size, slot.wait_reason) == (7, 1, stay[0].size, "why")
    assert list(stage.lane.returned) == names[1:]
    assert stage.lane.head.order_next == 8
    stage.check_places()


def test_starts_are_counted_until_the_builder_answers_or_the_order_is_another() -> None:
    stage = Stage()
    stage.accept(2)
    stage.pull()
    stage.apply([r.StartsCounted(1, 2)])
    assert stage.named(1).starts == 2
    stage.apply([r.BuildDelayed(1, 9, 1, "no")])
    assert stage.named(1).starts == 0
    stage.apply([r.StartsCounted(1, 2), r.BlockShrunk(1, 7, stage.lane.members[1][:1], "why")])
    assert stage.named(1).starts == 0


def test_a_clock_that_was_set_back_brings_forward_what_is_waited_for() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    stage.not_built()
    stage.apply([r.ClockSetBack(5)])
    assert stage.named(1).retry_ms == 5


def test_a_block_whose_package_is_awaited_says_so_and_since_when() -> None:
    stage = submitted()
    stage.apply([r.PackageAwaited(1, 99, "why")])
    slot = stage.named(1)
    assert (slot.unnamed_slot, slot.wait_reason) == (99, "why")
