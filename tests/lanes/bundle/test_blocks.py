"""Blocks from the pool."""

import pytest
from tests.lanes.bundle.chain import digest
from tests.lanes.bundle.stage import GENESIS, Stage, queued, replace, submitted

from laneway.core.rows import Head, Rows
from laneway.lanes.bundle.blocks import is_drained, may_begin, next_number, wants
from laneway.lanes.bundle.lane import BundleLane
from laneway.lanes.bundle.limits import SLOTS_OPEN_MAX
from laneway.lanes.bundle.rows import Slot
from laneway.lanes.bundle.settings import BundleSettings
from laneway.lanes.bundle.values import (
    BlockDue,
    BlockSealed,
    BlockUnmade,
    BuildBlock,
    IntentsOffered,
    ModeChanged,
    SlotClaimed,
)


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
    assert BlockDue() in stage.told


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
    assert stage.statuses() == ["expired", "", ""]
    assert len(orders(stage)[0].intents) == 1
    stage.build()
    stage.tick(6_000)
    stage.pull()
    assert stage.statuses() == ["expired", "", "expired"]
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
    assert any(isinstance(one, BlockSealed) for one in stage.told)
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


def test_of_what_the_builder_says_nothing_goes_back() -> None:
    stage = Stage()
    names = stage.accept(2)
    stage.pull()
    (order,) = stage.take(BuildBlock)
    built = stage.built(order)
    stage.post(replace(built, judged=built.judged[:1]))
    assert list(stage.lane.returned) == names[1:]


def test_there_are_no_empty_blocks() -> None:
    stage = Stage()
    names = stage.accept(2)
    stage.pull()
    stage.build(t0="refused", t1="deferred")
    assert isinstance(stage.told[0], BlockUnmade)
    assert stage.lane.slots == {}
    assert stage.statuses() == ["refused", ""]
    assert next_number(stage.lane) == 1
    stage.check_places()
    stage.take(object)
    stage.tick(6_000)
    (claimed,) = [one for one in stage.told if isinstance(one, SlotClaimed)]
    assert claimed.returned
    assert [one.intent for one in claimed.members] == names[1:]


def test_what_had_a_block_before_goes_first_and_keeps_its_order() -> None:
    stage = Stage(block_txs_max=3)
    names = stage.accept(3)
    stage.pull()
    stage.build(t0="deferred", t1="deferred")
    stage.accept(3)
    assert wants(stage.lane) == 0
    stage.take(object)
    stage.tick(6_000)
    (order,) = orders(stage)
    assert order.intents == tuple(names[:2])
    assert wants(stage.lane) == 0


def test_nothing_is_taken_from_the_backlog_while_the_pool_has_what_came_before() -> None:
    stage = Stage(max_queue_depth=1, block_interval_ms=0)
    stage.accept(2)
    stage.pull()
    stage.build(t1="deferred")
    stage.tick(1)
    assert stage.lane.returned
    stage.crash(max_queue_depth=8)
    assert may_begin(stage.lane)
    assert wants(stage.lane) == 0


def test_what_goes_back_makes_blocks_within_their_bounds() -> None:
    stage = Stage(block_txs_max=4, block_bytes_max=80)
    names = stage.accept(4, payload=b"x" * 20)
    stage.pull()
    stage.build(t0="deferred", t1="deferred", t2="deferred", t3="deferred")
    stage.crash(block_txs_max=2)
    stage.tick(6_000)
    assert orders(stage)[0].intents == tuple(names[:2])
    other = Stage(block_txs_max=4, block_bytes_max=80)
    names = other.accept(4, payload=b"x" * 20)
    other.pull()
    other.build(t0="deferred", t1="deferred", t2="deferred", t3="deferred")
    other.crash(block_bytes_max=60)
    other.tick(6_000)
    assert orders(other)[0].intents == tuple(names[:3])


def test_what_went_back_and_is_valid_no_longer_is_dropped() -> None:
    stage = Stage()
    stage.accept(1, valid_until_ms=stage.now_ms + 10)
    stage.pull()
    stage.build(t0="deferred")
    stage.tick(6_000)
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
