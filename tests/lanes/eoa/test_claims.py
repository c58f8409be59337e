"""Who is given which number."""

import pytest
from tests.lanes.eoa.stage import begun, later, make_all, refuse, replace, run, take
from tests.lanes.eoa.test_laws import check

from laneway.lanes.common.values import ModeChanged
from laneway.lanes.eoa.claims import budget, claim_offered, retake, wants
from laneway.lanes.eoa.lane import EoaLane
from laneway.lanes.eoa.settings import EoaSettings
from laneway.lanes.eoa.timers import retake_ms
from laneway.lanes.eoa.tries import NOTHING, decided, look
from laneway.lanes.eoa.values import LookBegun, SlotClaimed


@pytest.mark.slow
def test_the_promises_are_kept_whoever_takes_which_number() -> None:
    for seed in range(15):
        check(run(seed, steps=300))


def test_before_the_account_was_read_nobody_gets_a_number() -> None:
    lane = EoaLane(begun(0).lane.id, EoaSettings())
    assert (budget(lane), wants(lane)) == (0, 1)
    decision = claim_offered(lane, (), 1_000)
    assert decision == decided([LookBegun()], [look(lane)])
    lane.head.looking = True
    assert wants(lane) == 0
    assert claim_offered(lane, (), 1) is NOTHING


def test_an_account_that_no_node_shows_is_read_again_at_its_time_and_not_before() -> None:
    """Otherwise what waits would order look after look, as quickly as they fail."""
    lane = EoaLane(begun(0).lane.id, EoaSettings())
    lane.head.poll_ms = 1_000
    assert claim_offered(lane, (), 999) is NOTHING
    assert claim_offered(lane, (), 1_000) == decided([LookBegun()], [look(lane)])


def test_the_window_bounds_what_is_in_flight() -> None:
    world = begun(30)
    assert len(world.lane.slots) == 16
    assert wants(world.lane) == 0


def test_a_slot_keeps_when_its_intent_was_accepted() -> None:
    world = begun(0)
    world.accept(1)
    row = replace(next(iter(world.accepted.values())), accepted_ms=world.now_ms - 60_000)
    world.accepted[row.id] = row
    world.backlog[:] = [row]
    world.pull()
    (slot,) = world.lane.slots.values()
    assert (slot.accepted_ms, slot.claimed_ms) == (row.accepted_ms, world.now_ms)


def test_what_came_too_late_is_expired_in_its_turn() -> None:
    world = begun(0)
    world.accept(1)
    row = replace(next(iter(world.accepted.values())), valid_until_ms=world.now_ms - 1)
    world.accepted[row.id] = row
    world.backlog[:] = [row]
    world.pull()
    assert world.results[row.id].status == "expired"


def test_a_returned_intent_that_came_too_late_is_expired_and_its_number_filled() -> None:
    world = begun(2)
    make_all(world)
    first = next(iter(world.accepted.values()))
    refuse(world, 1, 1)
    assert wants(world.lane) == 0
    late = replace(first, valid_until_ms=world.now_ms)
    world.accepted[first.id] = world.lane.intents[first.id] = late
    later(world, 5_000)
    assert world.results[first.id].status == "expired"
    assert [slot.purpose for slot in world.lane.slots.values() if slot.nonce == 0] == ["noop"]


def test_with_free_numbers_for_anyone_too_many_of_them_stop_new_ones() -> None:
    world = begun(8, recycled="any", recycled_max=1)
    make_all(world)
    for slot in (1, 2, 3):
        refuse(world, slot, 1, hopeless=True)
    assert world.lane.free.count == 3
    assert wants(world.lane) == 0
    world = begun(8, recycled="any")
    make_all(world)
    refuse(world, 1, 1, hopeless=True)
    world.accept(1)
    world.pull()
    assert 0 in world.lane.nonces, "the seed's rule: the next one takes it"


def test_with_free_numbers_for_returned_alone_nobody_overtakes() -> None:
    world = begun(3)
    make_all(world)
    refuse(world, 1, 1, hopeless=True)
    assert world.lane.free.count == 1
    assert wants(world.lane) == 0


def test_a_paused_lane_gives_out_nothing() -> None:
    world = begun(2)
    make_all(world)
    refuse(world, 1, 1)
    world.apply([ModeChanged("paused", "", "", 1)])
    assert retake(world.lane, world.now_ms) is NOTHING
    assert wants(world.lane) == 0


def test_a_draining_lane_leaves_what_came_later() -> None:
    world = begun(1)
    world.apply([ModeChanged("draining", "", "", 1, drain_seq=2, drain_left=1)])
    world.accept(2)
    rows = tuple(replace(row, valid_until_ms=None) for row in world.backlog[-2:])
    records = claim_offered(world.lane, (rows[1],), world.now_ms).records
    assert [one for one in records if isinstance(one, SlotClaimed)] == []
    records = claim_offered(world.lane, rows, world.now_ms).records
    assert [one.slot.seq for one in records if isinstance(one, SlotClaimed)] == [2]


def test_a_drained_account_is_not_even_read() -> None:
    lane = EoaLane(begun(0).lane.id, EoaSettings())
    assert wants(lane) == 1
    lane.head.mode = "draining"
    assert wants(lane) == 0


def test_returned_intents_take_numbers_in_their_order_before_any_that_waits() -> None:
    world = begun(17)
    make_all(world)
    for slot in (3, 1, 2):
        refuse(world, slot, 1)
    assert world.kind.wants(world.lane) == 0
    later(world, world.settings.make_retry_ms)
    seqs = {slot.nonce: slot.seq for slot in world.lane.slots.values()}
    assert seqs == {nonce: nonce + 1 for nonce in range(16)}


def test_an_intent_that_comes_back_brings_with_it_how_often_it_was_refused() -> None:
    world = begun(1)
    make_all(world)
    refuse(world, 1, 1)
    (back,) = world.lane.returned.values()
    assert (back.refusals, back.reason) == (1, "no")
    world.accept(1)
    later(world, 2_000)
    assert [slot.refusals for slot in world.lane.slots.values()] == [1]


def test_at_the_top_too_nobody_overtakes_one_that_was_returned() -> None:
    world = begun(1)
    make_all(world)
    refuse(world, 1, 1)
    assert world.lane.free.count == 0
    assert world.kind.wants(world.lane) == 0


def test_a_returned_intent_takes_no_number_below_an_older_one() -> None:
    """Number 0 was freed by one that is refused for good; number 2 is free at the top. The third
    intent must not take number 0, for the second is at number 1."""
    world = begun(3)
    make_all(world)
    take(world, 2)
    refuse(world, 1, 1, hopeless=True)
    refuse(world, 3, 1)
    later(world, world.settings.make_retry_ms)
    bound = {slot.nonce: slot.seq for slot in world.lane.slots.values()}
    assert bound == {0: 0, 1: 2, 2: 3}


def test_free_numbers_that_are_left_over_are_filled() -> None:
    """Three refusals in a batch and one new payment, which takes the lowest of the three: the other
    two lie below numbers in flight, and nobody else comes for them."""
    world = begun(5, recycled="any")
    make_all(world)
    for slot in (1, 2, 3):
        refuse(world, slot, 1, hopeless=True)
    world.accept(1)
    world.backlog[-1] = replace(world.backlog[-1], valid_until_ms=None)
    world.pull()
    assert world.lane.free.first(3) == [1, 2]
    assert retake_ms(world.lane) == world.now_ms + world.settings.make_retry_ms
    later(world, world.settings.make_retry_ms)
    assert world.lane.free.count == 0
    purposes = {slot.nonce: slot.purpose for slot in world.lane.slots.values()}
    assert purposes == {0: "intent", 1: "noop", 2: "noop", 3: "intent", 4: "intent"}


def test_free_numbers_of_a_lane_that_forgot_its_timer_are_filled() -> None:
    """Rows of an earlier release may have free numbers and no time to look after them."""
    world = begun(2)
    make_all(world)
    refuse(world, 1, 1, hopeless=True)
    world.lane.head.retake_ms = None
    assert world.kind.deadline(world.lane) == 0
    later(world, 1)
    assert {slot.nonce: slot.purpose for slot in world.lane.slots.values()} == {
        0: "noop",
        1: "intent",
    }
