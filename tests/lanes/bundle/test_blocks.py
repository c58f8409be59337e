"""Blocks from the pool."""

from typing import Any

import pytest
from tests.lanes.bundle.chain import digest
from tests.lanes.bundle.stage import GENESIS, SLOT_MS, Stage, queued, replace, submitted

from laneway.core.errors import BuildFailed
from laneway.core.ids import IntentId
from laneway.core.limits import REASON_BYTES_MAX
from laneway.core.rows import Head, Rows
from laneway.lanes.bundle import records as r
from laneway.lanes.bundle.blocks import (
    RESUME,
    SEE_DOCS,
    Capacity,
    build_ms,
    due_ms,
    fitting,
    has_urgent,
    in_order,
    is_drained,
    known_of,
    may_begin,
    next_number,
    picked,
    pool_ms,
    put_off,
    share,
    wants,
)
from laneway.lanes.bundle.lane import BundleLane, decode_history
from laneway.lanes.bundle.limits import (
    CONTENDED_SLOTS_MAX,
    FAULTS_MAX,
    FOREIGN_DOUBT_MS,
    HELP_TRIES_MAX,
    MADE_STEP_MS,
    OPEN_BYTES_MAX,
    SLOTS_OPEN_MAX,
)
from laneway.lanes.bundle.rows import Back, Deferral, Member, Slot, Tip
from laneway.lanes.bundle.settings import BundleSettings
from laneway.lanes.bundle.values import BuildBlock
from laneway.lanes.common.values import IntentsOffered, ModeChanged


def orders(stage: Stage) -> list[BuildBlock]:
    return [one for one in stage.out if isinstance(one, BuildBlock)]


def test_a_block_is_begun_with_transactions_in_their_order() -> None:
    stage = Stage()
    names = stage.accept(3)
    stage.pull()
    (order,) = orders(stage)
    assert order.intents == tuple(names)
    assert order.payloads == tuple(name.encode() for name in names)
    assert (order.number, order.parent, order.parent_root) == (1, b"", b"")
    stage.build()
    assert (stage.named(1).word, stage.named(1).queued) == ("queued", True)
    assert stage.indexes[digest(names[0]).hex()] == names[0]


def test_a_block_takes_as_many_as_its_settings_say() -> None:
    stage = Stage(block_txs_max=2)
    stage.accept(3)
    assert wants(stage.lane) == 2
    stage.post(IntentsOffered(stage.now_ms, tuple(stage.accepted.values())))
    assert len(orders(stage)[0].intents) == 2
    assert wants(stage.lane) == 0


def test_a_block_takes_as_many_bytes_as_its_settings_say_but_always_one() -> None:
    stage = Stage(block_bytes_max=80)
    stage.accept(3, payload=b"x" * 40)
    stage.pull()
    assert len(orders(stage)[0].intents) == 2
    large = Stage(block_bytes_max=80)
    large.accept(2, payload=b"x" * 100)
    large.pull()
    assert len(orders(large)[0].intents) == 1


def test_one_block_is_executed_at_a_time_and_the_next_on_its_state() -> None:
    stage = Stage(block_interval_ms=0)
    stage.accept(1)
    stage.pull()
    stage.tick(1)
    assert wants(stage.lane) == 0
    stage.build()
    assert wants(stage.lane) == 5
    stage.accept(1)
    stage.pull()
    (order,) = orders(stage)
    assert order.parent == stage.named(1).block
    assert order.parent_root == stage.named(1).post_root


def test_a_block_is_begun_every_six_seconds() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    stage.build()
    assert (wants(stage.lane), stage.lane.head.block_ms) == (0, stage.now_ms + 6_000)
    stage.tick(5_999)
    assert wants(stage.lane) == 0
    stage.tick(1)
    assert wants(stage.lane) == 5
    assert r.BlockDue() in stage.told


def test_a_full_queue_takes_nothing_from_the_pool() -> None:
    stage = queued(8)
    assert len(stage.picture().queued) == 8
    assert wants(stage.lane) == 0
    assert wants(queued(7).lane) == 1


def test_a_lane_with_too_many_blocks_begins_none() -> None:
    lane = BundleLane(Stage().lane.id, BundleSettings(max_queue_depth=10**6))
    for number in range(1, SLOTS_OPEN_MAX):
        lane.slots[number] = Slot(number, number, 1, 1, 1, 1, 1, 1, building=False)
    assert may_begin(lane)
    lane.slots[0] = lane.slots[1]
    assert not may_begin(lane)


def test_what_is_valid_no_longer_is_dropped_when_its_turn_comes() -> None:
    stage = Stage()
    stage.accept(1, valid_until_ms=1)
    stage.accept(1)
    stage.accept(1, valid_until_ms=1)
    stage.pull()
    (order,) = orders(stage)
    first, _, last = stage.accepted
    assert order.expired == (first, last), "the builder says whether a final block has them"
    assert stage.statuses() == ["", "", ""]
    stage.crash()
    stage.found()
    assert orders(stage) == [order]
    stage.build()
    assert stage.statuses() == ["expired", "", "expired"]
    assert stage.named(1).count == 1
    stage.check_places()


def test_nothing_is_taken_that_is_not_wanted() -> None:
    stage = Stage()
    stage.accept(1)
    stage.tell("pause")
    stage.post(IntentsOffered(stage.now_ms, tuple(stage.accepted.values())))
    assert stage.told == []


def test_a_draining_lane_takes_what_was_there_and_no_more() -> None:
    stage = Stage()
    stage.accept(2)
    stage.tell("drain", word="queue", seq=2)
    stage.accept(2)
    assert wants(stage.lane) == 2
    stage.post(IntentsOffered(stage.now_ms, tuple(stage.accepted.values())))
    assert len(orders(stage)[0].intents) == 2
    assert not is_drained(stage.lane)
    assert wants(stage.lane) == 0
    other = Stage()
    other.accept(1)
    other.tell("drain", word="queue", seq=1)
    (late,) = other.accept(1)
    other.post(IntentsOffered(other.now_ms, (other.accepted[late],)))
    assert orders(other) == [], "it came after"


def test_an_answer_that_comes_too_late_says_nothing() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    (order,) = stage.take(BuildBlock)
    built = stage.built(order)
    stage.post(replace(built, order=99))
    stage.post(replace(built, slot=99))
    assert stage.told == []
    stage.post(built)
    assert any(isinstance(one, r.BlockSealed) for one in stage.told)
    stage.post(built)
    assert stage.told == []
    stage.out.append(order)
    stage.not_built()
    assert stage.told == []


def test_a_block_that_could_not_be_built_is_asked_for_again_each_time_later() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    for pause_ms in (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 32_000):
        stage.not_built("the machine is asleep")
        assert orders(stage) == []
        assert stage.named(1).retry_ms == stage.now_ms + pause_ms
        assert stage.named(1).wait_reason == "the machine is asleep"
        if stage.lane.head.looking:
            stage.look()
        stage.until(stage.now_ms + pause_ms - 1)
        assert orders(stage) == []
        stage.tick(1)
        assert len(orders(stage)) == 1
    stage.build()
    assert (stage.named(1).tries, stage.named(1).wait_reason) == (0, "")


def test_an_answer_to_an_order_that_was_given_up_says_nothing() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    (order,) = orders(stage)
    stage.not_built()
    stage.post(stage.built(order))
    assert stage.told == []


def test_a_block_on_another_state_than_the_one_before_it_left_is_not_taken() -> None:
    stage = queued()
    stage.accept(1)
    stage.pull()
    (order,) = stage.take(BuildBlock)
    stage.post(replace(stage.built(order), pre_root=digest("elsewhere")))
    assert "another state" in stage.named(2).wait_reason
    assert stage.named(2).wait_reason.endswith(f"; {BuildFailed.REMEDY}")
    assert stage.named(2).building


def test_each_transaction_has_its_verdict() -> None:
    stage = Stage()
    names = stage.accept(4)
    stage.pull()
    stage.build(t1="reverted", t2="refused", t3="deferred")
    assert stage.statuses() == ["", "", "refused", ""]
    assert list(stage.lane.returned) == [names[3]]
    assert [one.intent for one in stage.lane.members[1]] == names[:2]
    assert stage.named(1).count == 2
    stage.check_places()
    stage.run(6)
    assert stage.statuses() == ["confirmed", "reverted", "refused", "confirmed"]


def test_members_have_the_order_of_the_block_and_what_goes_back_its_own() -> None:
    stage = Stage()
    names = stage.accept(5)
    stage.pull()
    (order,) = stage.take(BuildBlock)
    built = stage.built(order, t1="deferred", t3="deferred")
    places = dict(zip(names, (2, None, 0, None, 1), strict=True))
    judged = tuple(replace(one, place=places[one.intent]) for one in built.judged)
    stage.post(replace(built, judged=judged))
    inside = [names[2], names[4], names[0]]
    assert [one.intent for one in stage.lane.members[1]] == inside
    assert [one.intent for one in in_order(stage.lane)] == [names[1], names[3]]
    stage.run(6)
    found = [decode_history(stage.results[one].history).index for one in inside]
    assert found == [0, 1, 2]


def test_a_dropped_block_gives_its_transactions_back_in_the_order_of_their_arrival() -> None:
    stage = Stage()
    names = stage.accept(3)
    stage.pull()
    (order,) = stage.take(BuildBlock)
    built = stage.built(order)
    turned = [replace(one, place=2 - place) for place, one in enumerate(built.judged)]
    stage.post(replace(built, judged=tuple(turned)))
    assert [one.intent for one in stage.lane.members[1]] == names[::-1]
    stage.apply([r.BlockDropped(1, "it is gone", stage.now_ms)])
    assert [one.intent for one in in_order(stage.lane)] == names


@pytest.mark.parametrize("verdict", ["funny", "", "applied"])
def test_what_is_no_verdict_puts_a_transaction_off_and_is_not_asked_for_without_a_pause(
    verdict: str,
) -> None:
    """A block was begun and given up two hundred times a second. APPLIED needs a receipt."""
    stage = Stage(deferred_ms_max=60_000)
    (name,) = stage.accept(1)
    tries = 0
    stage.pull()
    while name not in stage.results and tries < 100:
        if any(isinstance(one, BuildBlock) for one in stage.out):
            stage.build(t0=verdict)
            tries += 1
        stage.now_ms = max(stage.now_ms + 1, stage.kind.deadline(stage.lane) or 0)
        stage.tick()
    assert tries < 12
    assert stage.results[name].status == "refused"
    assert stage.results[name].reason.startswith("the builder did not say what became of it")


def test_of_what_the_builder_says_nothing_goes_back() -> None:
    stage = Stage()
    names = stage.accept(2)
    stage.pull()
    (order,) = stage.take(BuildBlock)
    built = stage.built(order)
    stage.post(replace(built, judged=built.judged[:1]))
    assert list(stage.lane.returned) == names[1:]
    assert stage.lane.returned[names[1]].reason == "the builder did not say what became of it"


def test_there_are_no_empty_blocks() -> None:
    stage = Stage()
    names = stage.accept(2)
    stage.pull()
    stage.build(t0="refused", t1="deferred")
    assert isinstance(stage.told[0], r.BlockUnmade)
    assert stage.lane.slots == {}
    assert stage.statuses() == ["refused", ""]
    assert next_number(stage.lane) == 1
    stage.check_places()
    assert wants(stage.lane) == 4, "none was made, so another may be begun"
    stage.take(object)
    stage.tick(999)
    assert orders(stage) == []
    stage.tick(1)
    (claimed,) = [one for one in stage.told if isinstance(one, r.SlotClaimed)]
    assert claimed.returned
    assert [one.intent for one in claimed.members] == names[1:]


def test_what_was_put_off_is_in_the_next_block_before_what_comes_behind_it() -> None:
    stage = Stage(block_txs_max=4)
    names = stage.accept(4)
    stage.pull()
    stage.build(t0="deferred", t2="deferred")
    names += stage.accept(3)
    assert wants(stage.lane) == 0
    stage.take(object)
    stage.tick(6_000)
    assert orders(stage) == [], "others may come with them"
    assert wants(stage.lane) == 2
    stage.pull()
    (order,) = orders(stage)
    assert order.intents == (names[0], names[2], names[4], names[5])
    (claimed,) = stage.of(r.SlotClaimed)[1:]
    assert claimed.returned
    stage.check_places()
    assert stage.lane.head.cursors[0] == 6


def test_what_was_put_off_leaves_room_for_one_even_in_the_smallest_block() -> None:
    stage = Stage(block_txs_max=1)
    stage.accept(2)
    stage.pull()
    stage.build(t0="deferred")
    assert wants(stage.lane) == 1
    stage.pull()
    assert len(orders(stage)[0].intents) == 2


def test_what_was_put_off_counts_for_the_bytes_of_its_block() -> None:
    stage = Stage(block_bytes_max=100)
    stage.accept(5, payload=b"x" * 30)
    stage.pull()
    stage.build(t0="deferred", t1="refused", t2="refused")
    stage.pull()
    assert len(orders(stage)[0].intents) == 3


def test_what_comes_and_is_valid_no_longer_is_no_company() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    stage.build(t0="deferred")
    stage.accept(1, valid_until_ms=1)
    stage.pull()
    (order,) = orders(stage)
    assert order.expired == order.intents[1:]
    stage.build(t0="deferred")
    assert (stage.statuses(), orders(stage)) == (["", "expired"], [])


def test_nobody_overtakes_what_was_put_off_when_blocks_become_smaller() -> None:
    stage = Stage(block_txs_max=6)
    names = stage.accept(3)
    stage.pull()
    stage.build(t0="deferred", t1="deferred", t2="deferred")
    stage.crash(block_txs_max=2)
    stage.accept(1)
    stage.pull()
    assert orders(stage) == []
    stage.tick(1_000)
    assert orders(stage)[0].intents == (names[0],)


def test_a_dropped_block_is_made_up_for_at_once_and_by_nobody_else() -> None:
    stage = queued(block_txs_max=2)
    stage.apply([ModeChanged("paused", "", "", 1)])
    stage.apply([r.BlockDropped(1, "why", stage.now_ms)])
    stage.apply([ModeChanged("running", "", "", 1)])
    stage.accept(1)
    assert may_begin(stage.lane)
    assert wants(stage.lane) == 0
    assert stage.kind.deadline(stage.lane) == 0
    stage.post(IntentsOffered(stage.now_ms, tuple(stage.accepted.values())))
    (order,) = orders(stage)
    assert order.intents == tuple(stage.accepted)[:1]


def test_what_had_no_room_makes_the_next_block() -> None:
    stage = Stage(block_interval_ms=0)
    names = stage.accept(3)
    stage.pull()
    stage.build(t1="full", t2="full")
    assert orders(stage)[0].intents == tuple(names[1:])
    assert stage.of(r.SlotClaimed)[1].members[0].deferral is None


def test_a_builder_that_has_no_room_for_anything_puts_off() -> None:
    stage = Stage(block_interval_ms=0)
    (name,) = stage.accept(1)
    stage.pull()
    stage.build(t0="full")
    assert orders(stage) == []
    assert stage.lane.returned[name].deferral is not None


def test_a_block_that_is_given_up_while_it_is_built_leaves_it_as_it_was() -> None:
    stage = queued()
    (name,) = stage.accept(1)
    stage.pull()
    stage.build(t0="deferred")
    before = stage.lane.returned[name]
    stage.tick(1_000)
    assert orders(stage)[0].intents == (name,)
    stage.apply([r.BlockDropped(3, "why", stage.now_ms)])
    assert stage.lane.returned[name] == before
    assert before.reason == "so it is"


def test_what_was_put_off_and_then_was_in_a_block_waits_for_nothing() -> None:
    stage = Stage()
    (name,) = stage.accept(1)
    stage.pull()
    stage.build(t0="deferred")
    stage.tick(1_000)
    stage.build()
    (member,) = stage.lane.members[stage.named(1).id]
    assert member.deferral is None
    stage.apply([r.BlockDropped(stage.named(1).id, "why", stage.now_ms)])
    back = stage.lane.returned[name]
    assert (back.deferral, back.reason) == (None, "")


def test_a_full_queue_keeps_what_was_put_off_waiting() -> None:
    stage = queued(max_queue_depth=1, block_txs_max=2)
    stage.crash(max_queue_depth=2)
    stage.accept(2)
    stage.pull()
    stage.build(t1="deferred")
    assert not may_begin(stage.lane)
    assert pool_ms(stage.lane) is None
    stage.tick(100_000)
    assert orders(stage) == []


def test_what_goes_back_makes_blocks_within_their_bounds() -> None:
    stage = Stage(block_txs_max=8, block_bytes_max=160)
    names = stage.accept(4, payload=b"x" * 20)
    stage.pull()
    stage.build(t0="deferred", t1="deferred", t2="deferred", t3="deferred")
    other = Stage(block_txs_max=8, block_bytes_max=160)
    other.accepted = dict(stage.accepted)
    other.pull()
    other.build(t0="deferred", t1="deferred", t2="deferred", t3="deferred")
    stage.crash(block_txs_max=4)
    stage.tick(1_000)
    assert orders(stage)[0].intents == tuple(names[:2])
    other.crash(block_bytes_max=120)
    other.tick(1_000)
    assert orders(other)[0].intents == tuple(names[:3])


def test_a_block_that_is_begun_when_another_was_dropped_is_later_than_that() -> None:
    stage = queued(2)
    made_ms = stage.named(2).made_ms
    stage.apply([r.BlockDropped(2, "why", stage.now_ms), r.BlockDropped(1, "why", stage.now_ms)])
    assert stage.lane.head.made_ms_min == made_ms + MADE_STEP_MS
    stage.tick()
    (order,) = orders(stage)
    assert order.made_ms == made_ms + MADE_STEP_MS > stage.now_ms
    assert stage.named(1).add_ms == stage.now_ms
    stage.build()
    stage.tick(60_000)
    stage.accept(1)
    stage.pull()
    assert orders(stage)[0].made_ms == stage.now_ms


def test_blocks_that_are_too_large_together_let_none_be_begun() -> None:
    stage = queued()
    assert may_begin(stage.lane)
    stage.lane.open_bytes = OPEN_BYTES_MAX
    assert not may_begin(stage.lane)
    stage.lane.open_bytes -= 1
    assert may_begin(stage.lane)


def test_what_went_back_and_is_valid_no_longer_is_dropped() -> None:
    stage = Stage()
    stage.accept(1, valid_until_ms=stage.now_ms + 10)
    stage.pull()
    stage.build(t0="deferred")
    stage.tick(1_000)
    (order,) = orders(stage)
    assert order.expired == order.intents
    stage.build()
    assert stage.statuses() == ["expired"]
    assert (stage.lane.returned, orders(stage)) == ({}, [])


def test_a_number_that_a_block_has_is_not_given_again() -> None:
    stage = queued(2)
    stage.lane.head.number_next = 1
    assert next_number(stage.lane) == 3


def test_a_block_is_built_again_after_a_crash_from_the_same_bytes() -> None:
    stage = Stage()
    stage.accept(2)
    stage.pull()
    before = orders(stage)
    stage.crash()
    stage.found()
    assert orders(stage) == before


def test_a_lane_drains_to_its_end() -> None:
    stage = submitted()
    stage.tell("drain", word="running")
    stage.run(5)
    assert stage.statuses() == ["confirmed"]
    assert stage.lane.head.mode == "paused"
    assert any(isinstance(one, ModeChanged) and one.mode == "paused" for one in stage.all)


def test_an_empty_lane_wants_a_block() -> None:
    lane = Stage().kind.restore(Rows(Head(Stage().lane.id), (), (), ()))
    assert wants(lane) == 5
    assert GENESIS


@pytest.mark.parametrize("mode", ["paused", "halted"])
def test_a_lane_that_does_not_run_wants_nothing(mode: str) -> None:
    stage = Stage()
    stage.apply([ModeChanged(mode, "", "", 1)])
    assert wants(stage.lane) == 0


WAITS = Deferral(1_000, 1, 9_000)


def returned(*deferrals: Deferral | None, size: int = 10, **settings: Any) -> Stage:
    """A transaction for each of these; they have no block."""
    stage = Stage(**settings)
    for name in stage.accept(len(deferrals), payload=b"x" * size):
        row = stage.accepted[name]
        stage.lane.intents[name] = row
        stage.lane.returned[name] = Back(name, row.seq, 0, deferrals[row.seq - 1])
    return stage


def seqs(stage: Stage, now_ms: int = 0) -> list[int]:
    return [one.seq for one in picked(stage.lane, now_ms)]


def member(size: int = 10, deferral: Deferral | None = None) -> Member:
    return Member(IntentId("tx"), 1, 0, size, b"#", "deferred", "that comes first", deferral)


def test_more_urgent_ones_come_first_and_then_those_that_came_first() -> None:
    stage = returned(None, None, None)
    (_, second, third) = stage.accepted
    stage.lane.returned[second] = replace(stage.lane.returned[second], priority=1)
    assert [one.seq for one in in_order(stage.lane)] == [1, 3, 2]
    assert list(stage.lane.returned)[2] == third


def test_what_waits_for_nothing_is_due_at_once() -> None:
    empty, mixed = returned(), returned(WAITS, None)
    waiting = returned(WAITS, replace(WAITS, again_ms=8_000))
    assert [has_urgent(one.lane) for one in (empty, waiting, mixed)] == [False, False, True]
    assert [due_ms(one.lane) for one in (empty, waiting, mixed)] == [None, 8_000, 0]


def test_half_a_block_may_be_put_off() -> None:
    assert share(BundleSettings(block_txs_max=512, block_bytes_max=1_000)) == (256, 500)
    assert share(BundleSettings(block_txs_max=1)) == (1, 1 << 19)


def test_a_block_has_room_for_all_that_is_put_off_and_for_others_behind_them() -> None:
    assert seqs(returned(None, WAITS, None, WAITS, None, block_txs_max=4)) == [1, 2, 3, 4]
    assert seqs(returned(None, WAITS, None, block_txs_max=1)) == [1, 2], "one at least of each"
    assert seqs(returned(None, None, None, block_txs_max=2)) == [1, 2]
    assert seqs(returned(WAITS, block_txs_max=9)) == [1]
    assert seqs(returned()) == []


def test_those_whose_time_has_come_go_first_where_there_is_no_room_for_all() -> None:
    late = replace(WAITS, again_ms=5_000)
    stage = returned(WAITS, WAITS, late, late, late, block_txs_max=4)
    assert seqs(stage, 4_999) == [1, 2]
    assert seqs(stage, 5_000) == [3, 4]


def test_bytes_count_too_and_one_always_fits() -> None:
    stage = returned(None, None, None, size=40)
    backs = in_order(stage.lane)
    for size, count in ((0, 1), (79, 1), (80, 2), (120, 3)):
        assert len(fitting(stage.lane, backs, 9, size)) == count
    assert len(fitting(stage.lane, backs, 2, 999)) == 2
    mixed = returned(WAITS, None, None, None, size=40, block_bytes_max=120)
    assert seqs(mixed) == [1, 2, 3]


def test_a_pause_grows_and_ends_when_its_time_is_over() -> None:
    settings = BundleSettings()
    room = Capacity(Stage().lane)
    found, now_ms, pauses = None, 1_000, []
    while True:
        one = put_off(settings, member(1, found), room, now_ms=now_ms, begin_ms=now_ms)
        room = Capacity(Stage().lane)
        found = one.deferral
        if found is None:
            break
        assert (one.verdict, one.reason, found.since_ms) == ("deferred", "that comes first", 1_000)
        pauses.append(found.again_ms - now_ms)
        now_ms = found.again_ms
    assert pauses == [1_000, 2_000, 4_000, 8_000, 16_000, 29_000]
    assert now_ms == 61_000
    assert one.verdict == "refused"
    assert one.reason.startswith("that comes first; that did not come in 60 s: send it first")


def test_what_comes_until_the_next_block_is_tried_with_it_first() -> None:
    one = put_off(BundleSettings(), member(), Capacity(Stage().lane), now_ms=1_000, begin_ms=5_000)
    assert one.deferral == Deferral(1_000, 1, 6_000)


def test_without_patience_it_is_refused_at_once() -> None:
    settings = BundleSettings(deferred_ms_max=0)
    one = put_off(settings, member(), Capacity(Stage().lane), now_ms=7, begin_ms=7)
    assert (one.verdict, one.deferral) == ("refused", None)


@pytest.mark.parametrize(
    ("size", "limits", "taken"),
    [
        (10, {"block_txs_max": 6}, 3),
        (10, {"block_bytes_max": 40}, 2),
        (99, {"block_bytes_max": 40}, 1),
        (10, {"block_txs_max": 1}, 1),
    ],
)
def test_so_many_are_put_off_and_no_more(size: int, limits: dict[str, Any], taken: int) -> None:
    room = Capacity(Stage(**limits).lane)
    assert [room.take(size) for _ in range(5)] == [True] * taken + [False] * (5 - taken)


def test_those_that_wait_already_have_their_room() -> None:
    stage = returned(WAITS, None, WAITS, block_txs_max=4)
    one = put_off(stage.settings, member(), Capacity(stage.lane), now_ms=7, begin_ms=7)
    assert one.verdict == "refused"
    assert one.reason.startswith("that comes first; too many others are put off already")


def test_a_reason_without_end_does_not_hide_what_to_do() -> None:
    settings = BundleSettings(deferred_ms_max=0)
    long = replace(member(), reason="r" * REASON_BYTES_MAX)
    one = put_off(settings, long, Capacity(Stage().lane), now_ms=7, begin_ms=7)
    assert one.reason.endswith("and then this one again")
    assert len(one.reason.encode()) <= REASON_BYTES_MAX


# Blocks that cannot be built.


def settle_chain(stage: Stage) -> None:
    """The chain has come as far as the clock, and the lane looks at it."""
    while (stage.chain.best.ref.slot + 1) * SLOT_MS <= stage.now_ms:
        stage.chain.produce()
    if stage.lane.head.looking:
        stage.look()


def poisoned(stage: Stage, *poison: IntentId) -> None:
    """The builder is asked until it has answered all; it fails for these transactions, for good."""
    for _ in range(40):
        found = orders(stage)
        if not found:
            return
        if any(one in poison for one in found[0].intents):
            stage.not_built("its rules fail", final=True)
        else:
            stage.build()
            stage.pull()


def test_what_no_block_can_be_built_with_is_found_and_refused_alone() -> None:
    stage = Stage(block_txs_max=8, block_interval_ms=0)
    names = stage.accept(8)
    stage.pull()
    poisoned(stage, names[5])
    assert stage.statuses()[5] == "refused"
    assert stage.results[names[5]].reason == "no block can be built with it: its rules fail"
    assert len(stage.results) == 1
    stage.run(20)
    assert stage.statuses() == ["confirmed"] * 5 + ["refused"] + ["confirmed"] * 2
    assert stage.chain.line() == [one for one in names if one != names[5]]
    stage.check_places()


def test_what_was_put_off_before_is_left_out_first() -> None:
    """It may be what the block fails for, and then those that come after it need not wait."""
    stage = Stage(block_txs_max=4, block_interval_ms=0)
    names = stage.accept(2)
    stage.pull()
    stage.build(t0="deferred")
    names += stage.accept(2)
    stage.pull()
    (order,) = orders(stage)
    assert order.intents == (names[0], *names[2:])
    stage.not_built("its rules fail", final=True)
    (smaller,) = orders(stage)
    assert smaller.intents == tuple(names[2:])
    assert list(stage.lane.returned) == [names[0]]
    stage.check_places()


def test_a_block_whose_time_to_be_asked_for_has_not_come_waits() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    assert build_ms(stage.lane) is None, "it is being built"
    stage.not_built()
    due = build_ms(stage.lane)
    assert due is not None
    stage.tick(due - stage.now_ms - 1)
    assert orders(stage) == []
    stage.tick(1)
    assert len(orders(stage)) == 1


def test_transactions_that_fail_one_after_the_other_halt_the_lane_and_are_not_refused() -> None:
    stage = Stage(block_txs_max=1, block_interval_ms=0)
    names = stage.accept(5)
    stage.pull()
    for _ in range(FAULTS_MAX):
        stage.not_built("it raised KeyError('x')", final=True)
        stage.pull()
    assert stage.statuses() == ["refused"] * (FAULTS_MAX - 1) + [""] * (5 - FAULTS_MAX + 1)
    head = stage.lane.head
    assert (head.mode, head.faults) == ("halted", FAULTS_MAX - 1)
    assert "KeyError" in head.reason
    assert head.reason.endswith("; fix the builder, and resume the lane")
    stage.tick(600_000)
    assert orders(stage) == [], "nothing is tried while it is halted"
    stage.tell("resume")
    stage.build()
    assert (stage.lane.head.mode, stage.lane.head.faults) == ("running", 0)
    settle_chain(stage)
    stage.run(20)
    assert stage.statuses()[FAULTS_MAX - 1 :] == ["confirmed"] * (6 - FAULTS_MAX)
    assert stage.chain.line() == names[FAULTS_MAX - 1 :]


def test_one_that_is_built_ends_the_row_of_failures() -> None:
    stage = Stage(block_txs_max=1, block_interval_ms=0)
    stage.accept(3)
    stage.pull()
    stage.not_built("no", final=True)
    assert stage.lane.head.faults == 1
    stage.pull()
    stage.build()
    assert stage.lane.head.faults == 0


def test_a_builder_that_needs_help_halts_the_lane_with_what_to_do() -> None:
    stage = Stage()
    stage.accept(2)
    stage.pull()
    for number in range(HELP_TRIES_MAX):
        assert stage.lane.head.mode == "running"
        stage.not_built("no node has it; name one that kept it", needs_help=True)
        assert stage.named(1).tries == number + 1
        if stage.lane.head.mode == "running":
            stage.tick(60_000)
    assert stage.lane.head.mode == "halted"
    assert stage.lane.head.reason == "no node has it; name one that kept it, then resume the lane"
    stage.tick(600_000)
    assert orders(stage) == [], "nothing is tried while it is halted"
    stage.tell("resume")
    stage.build()
    settle_chain(stage)
    stage.run(9)
    assert stage.statuses() == ["confirmed", "confirmed"]


def test_what_a_machine_is_too_small_for_is_found_and_named_and_not_refused() -> None:
    """It was asked for again for ever, and nobody knew which of them it was."""
    problem = "this machine has no memory left for it; give it more, or cancel it"
    stage = Stage()
    stage.accept(4)
    stage.pull()
    stage.not_built(problem, final=True, needs_help=True)
    stage.not_built(problem, final=True, needs_help=True)
    (slot,) = stage.lane.slots.values()
    ((member,),) = stage.lane.members.values()
    for number in range(HELP_TRIES_MAX):
        assert (stage.lane.head.mode, stage.lane.head.faults) == ("running", 0)
        stage.not_built(problem, final=True, needs_help=True)
        assert stage.named(slot.id).tries == number + 1
        if stage.lane.head.mode == "running":
            stage.tick(60_000)
    named = f"no block can be built with {member.intent}: {problem}"
    assert stage.named(slot.id).wait_reason == named
    assert stage.lane.head.reason == f"{named}, then resume the lane"
    stage.tell("cancel", member.intent)
    stage.tell("resume")
    stage.build()
    settle_chain(stage)
    stage.run(9)
    assert stage.statuses() == ["cancelled", "confirmed", "confirmed", "confirmed"]


@pytest.mark.parametrize(
    ("reason", "kept"),
    [
        ("no", f"no; {SEE_DOCS}"),
        ("x" * 500, f"x; {SEE_DOCS}"),
        ("no node has it; name one", "no node has it; name one, then resume the lane"),
        ("x" * 500 + "; " + "d" * 85, "…; " + "d" * 85 + ", then resume the lane"),
        (f"no; {RESUME}", f"no; {RESUME}"),
    ],
)
def test_a_builder_that_halts_a_lane_does_so_with_what_to_do(reason: str, kept: str) -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    while stage.lane.head.mode == "running":
        stage.not_built(reason, needs_help=True)
        stage.tick(60_000)
    assert stage.lane.head.reason.endswith(kept)
    assert len(stage.lane.head.reason.encode()) <= REASON_BYTES_MAX


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_block_on_whatever_the_service_has_is_tried_again_every_two_slots(
    is_restarted: bool,
) -> None:
    """Another deployment builds there too, and leaves a gap at times."""
    stage = Stage()
    stage.apply([r.LineMoved(4, 4, stage.now_ms)])
    if is_restarted:
        stage.crash(first_number=5)  # After the newest block that the service has.
    stage.accept(1)
    stage.pull()
    pauses = []
    for _ in range(8):
        stage.not_built("the service has block 9")
        pauses.append((stage.named(5).retry_ms or 0) - stage.now_ms)
        stage.tick(pauses[-1])
    assert pauses == [1_000, 2_000, 4_000, 8_000, *[CONTENDED_SLOTS_MAX * SLOT_MS] * 4]


def test_a_longer_first_pause_of_the_settings_is_kept() -> None:
    stage = Stage(build_retry_ms=20_000)
    stage.apply([r.LineMoved(4, 4, stage.now_ms)])
    stage.accept(1)
    stage.pull()
    stage.not_built()
    assert stage.named(5).retry_ms == stage.now_ms + 20_000


def test_calls_for_help_are_counted_anew_after_a_resume() -> None:
    """An operator may need more than one try."""
    stage = Stage()
    stage.accept(1)
    stage.pull()
    for _ in range(2):
        for _ in range(HELP_TRIES_MAX):
            assert stage.lane.head.mode == "running"
            stage.not_built("no node has it; name one", needs_help=True)
            stage.tick(60_000)
        assert stage.lane.head.mode == "halted"
        stage.tell("resume")
        assert stage.named(1).helps == 0


def test_transactions_that_halt_a_lane_do_so_with_what_to_do() -> None:
    stage = Stage(block_txs_max=1, block_interval_ms=0)
    stage.accept(FAULTS_MAX)
    for _ in range(FAULTS_MAX):
        stage.pull()
        stage.not_built("x" * 500, final=True)
    assert stage.lane.head.reason.endswith("x; fix the builder, and resume the lane")


def test_ordinary_failures_are_no_calls_for_help() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    for _ in range(HELP_TRIES_MAX):
        stage.not_built("no node answers")
        stage.tick(60_000)
    stage.not_built("no node has it", needs_help=True)
    assert (stage.lane.head.mode, stage.named(1).helps) == ("running", 1)
    stage.tick(60_000)
    stage.not_built("no node answers")
    assert stage.named(1).helps == 0


def test_a_paused_lane_is_not_halted_and_its_builder_is_left_alone() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    for _ in range(HELP_TRIES_MAX - 1):
        stage.not_built("no", needs_help=True)
        stage.tick(60_000)
    stage.tell("pause")
    stage.not_built("no", needs_help=True)
    stage.tick(600_000)
    assert (stage.lane.head.mode, orders(stage)) == ("paused", [])


def test_an_order_that_is_repeated_keeps_its_id_and_a_smaller_one_has_another() -> None:
    stage = Stage()
    stage.accept(4)
    stage.pull()
    (first,) = orders(stage)
    stage.not_built("busy")
    stage.tick(60_000)
    (again,) = orders(stage)
    assert again == first, "what was begun is not done a second time"
    stage.not_built("no", final=True)
    (smaller,) = orders(stage)
    assert (smaller.intents, smaller.slot) == (first.intents[:2], first.slot)
    assert smaller.order == first.order + 1
    assert stage.named(1).wait_reason == "no"
    stage.crash()
    stage.found()
    assert orders(stage) == [smaller]


def test_an_order_says_up_to_which_block_the_lane_knows_what_became_of_its_transactions() -> None:
    stage = Stage(block_txs_max=1)
    stage.accept(1)
    stage.pull()
    (order,) = stage.take(BuildBlock, 1)
    assert order.known == 0
    stage.post(stage.built(order))
    stage.run(10)
    stage.accept(1)
    stage.pull()
    (order,) = stage.take(BuildBlock, 1)
    assert (order.number, order.known) == (2, 1)


def test_what_came_in_before_others_moved_the_line_may_be_in_any_of_their_blocks() -> None:
    """Also when the lane has final blocks of its own after theirs, until a day is over."""
    stage = Stage()
    stage.accept(1)
    head = stage.lane.head
    head.tip, head.foreign_first, head.foreign_ms = Tip(9), 4, stage.now_ms
    (first,) = stage.accepted.values()
    doubted_ms = head.foreign_ms + FOREIGN_DOUBT_MS
    intents = [replace(first, accepted_ms=doubted_ms + late) for late in (0, 1)]
    assert known_of(stage.lane, 12, intents) == 3
    assert known_of(stage.lane, 12, intents[1:]) == 11, "two of its own are open"


# What is taken out.


DOUBTFUL = "a transaction may have been executed in blocks 2 to 9; put them back, or cancel it"


def test_what_keeps_its_block_from_being_built_is_taken_back_and_the_others_go_on() -> None:
    stage = Stage()
    names = stage.accept(3)
    stage.pull()
    for _ in range(HELP_TRIES_MAX):
        stage.not_built(DOUBTFUL, needs_help=True)
        stage.tick(60_000)
    assert stage.lane.head.mode == "halted"
    stage.tell("cancel", names[1])
    assert stage.statuses() == ["", "cancelled", ""]
    assert stage.take(BuildBlock) == [], "nothing is built before the lane is resumed"
    slot = stage.named(1)
    assert (slot.count, slot.size) == (2, sum(stage.accepted[names[one]].size() for one in (0, 2)))
    assert (slot.tries, slot.wait_reason) == (HELP_TRIES_MAX, DOUBTFUL)
    stage.tell("resume")
    (order,) = stage.take(BuildBlock)
    assert (order.intents, order.order) == ((names[0], names[2]), slot.order)
    stage.post(stage.built(order))
    inside = [member.intent for member in stage.lane.members[slot.id]]
    assert (stage.named(1).building, inside) == (False, [names[0], names[2]])
    stage.check_places()


@pytest.mark.parametrize("valid_ms", [None, 1])
def test_the_only_transaction_of_a_block_that_cannot_be_built_is_taken_back(
    valid_ms: int | None,
) -> None:
    stage = Stage()
    (name,) = stage.accept(1, valid_until_ms=valid_ms)
    stage.pull()
    stage.not_built(DOUBTFUL, needs_help=True)
    stage.tell("cancel", name)
    assert stage.statuses() == ["cancelled"]
    assert (stage.lane.slots, stage.lane.returned, stage.lane.bound) == ({}, {}, {})
    assert stage.lane.head.settled_count == 1
    stage.check_places()
