"""The lane in memory equals its rows."""

import pytest
from tests.lanes.eoa.stage import World, begun, chain, later, make_all, receipt, refuse, run, take
from tests.lanes.eoa.test_laws import check

from laneway.core.outcome import Outcome
from laneway.core.rows import Head, Rows, Table
from laneway.lanes.eoa.fees import Fee
from laneway.lanes.eoa.lane import decode_attempt, drop_slot, passed, restore
from laneway.lanes.eoa.rows import Attempt
from laneway.lanes.eoa.values import (
    AttemptReoffered,
    AttemptsMade,
    BroadcastReturned,
    Made,
    SendResult,
)


@pytest.mark.slow
def test_rows_and_memory_agree_in_every_world() -> None:
    for seed in range(15):
        check(run(seed, steps=300))


def test_an_empty_lane_stands_up_from_no_rows() -> None:
    world = begun(0)
    lane = restore(Rows(Head(world.lane.id), (), (), ()), world.settings)
    assert (lane.slots, lane.head.nonce_next, lane.last(1)) == ({}, None, None)


def test_numbers_at_the_top_are_given_out_anew_and_those_below_are_kept() -> None:
    world = begun(3)
    make_all(world)
    refuse(world, 2, 1, hopeless=True)
    assert world.lane.free.rows() == {1: 2}
    refuse(world, 3, 1, hopeless=True)
    assert (world.lane.free.count, world.lane.head.nonce_next) == (0, 1)
    assert world.lane.head.offered_next == 1


def test_a_slot_whose_number_is_anothers_leaves_that_alone() -> None:
    world = begun(1)
    slot = world.lane.slots[1]
    world.lane.nonces[slot.nonce] = 99
    drop_slot(world.lane, slot)
    assert world.lane.nonces == {slot.nonce: 99}


def test_a_cursor_never_goes_back() -> None:
    assert passed((1, 0, 0, 0), 0, 5) == (5, 0, 0, 0)
    with pytest.raises(AssertionError):
        passed((5, 0, 0, 0), 0, 5)


def test_many_bytes_have_a_row_of_their_own_which_goes_with_them() -> None:
    world = begun(1)
    (effect,) = world.out
    world.out = []
    raw = b"r" * 1_000
    made = Made(effect.slot, effect.number, raw, b"h", Fee(2, 1), 21_000, 1)
    world.post(AttemptsMade(world.now_ms, (made,)))
    attempt = world.restored().attempts[1][1]
    assert (attempt.raw, world.restored().raw(attempt)) == (b"", raw)
    refuse(world, 1, 1, hopeless=True)
    assert world.rows == {}


def written(world: World, slot: int) -> Attempt:
    """The first attempt of a slot as its row has it."""
    return decode_attempt(world.rows[Table.ATTEMPT, f"{slot}/1"].body)


def test_what_every_node_took_in_order_stands_in_the_head_alone() -> None:
    world = begun(4, nodes=("a",))
    make_all(world)
    take(world, 1)
    assert (written(world, 1).silent, world.lane.head.taken_next) == (("a",), 2)
    assert world.restored().attempts[1][1].taken == ("a",)
    assert world.restored().unsure.keys() == {(2, 1), (3, 1), (4, 1)}
    take(world, 3)
    assert (written(world, 3).taken, world.lane.head.taken_next) == (("a",), 2)
    take(world, 2)
    take(world, 4)
    assert world.lane.head.taken_next == 5, "what was written by itself is in nobody's way"
    assert world.restored().unsure == world.lane.unsure == {}


def test_a_slot_without_bytes_and_one_that_waits_stand_in_the_way() -> None:
    world = begun(3, nodes=("a",))
    first, second, third = world.out
    world.out = []
    for one in (first, second, third):
        world.post(AttemptsMade(world.now_ms, (world.make(one),)))
    world.tell("bump", next(iter(world.accepted.values())))
    take(world, 2)
    assert world.lane.head.taken_next == 1, "the first waits for its answer"
    world.post(BroadcastReturned(world.now_ms, (SendResult(1, 1, "a", Outcome.UNKNOWN),)))
    later(world, world.settings.resend_ms)
    take(world, 3)
    assert world.lane.head.taken_next == 3, "all were offered again, and are never new again"
    world.accept(2)
    world.pull()
    *_, fifth = world.out
    world.post(AttemptsMade(world.now_ms, (world.make(fifth),)))
    take(world, 5)
    assert world.lane.head.taken_next == 4, "the fourth is still to be made"


def test_slots_that_are_gone_stand_in_nobodys_way() -> None:
    world = begun(3, nodes=("a",))
    make_all(world)
    world.post(BroadcastReturned(world.now_ms, (SendResult(1, 1, "a", Outcome.UNKNOWN),)))
    chain(world, 1, 1, receipt(world, 1, 1, 1))
    chain(world, 1, 9)
    take(world, 2)
    assert (list(world.lane.slots), world.lane.head.taken_next) == ([2, 3], 3)
    take(world, 3)
    chain(world, 3, 10, receipt(world, 2, 1, 10), receipt(world, 3, 1, 10))
    chain(world, 3, 20)
    world.accept(1)
    world.pull()
    assert world.lane.head.taken_next == 4


def test_of_several_nodes_the_last_answer_is_the_one_that_is_not_written() -> None:
    world = begun(1, nodes=("a", "b"))
    make_all(world)
    take(world, 1)
    assert (written(world, 1).taken, written(world, 1).silent) == (("a",), ("b",))
    assert world.restored().attempts[1][1].taken == ("a", "b")


def test_bytes_that_were_offered_again_are_not_taken_for_taken() -> None:
    world = begun(1, nodes=("a",))
    make_all(world)
    take(world, 1)
    world.apply([AttemptReoffered(1, 1)])
    assert world.restored().attempts[1][1] == world.lane.attempts[1][1]
    assert world.restored().attempts[1][1].silent == ("a",)
    take(world, 1)
    assert written(world, 1).taken == ("a",)
