"""The lane in memory equals its rows."""

import pytest
from tests.lanes.eoa.stage import begun, make_all, refuse, run
from tests.lanes.eoa.test_laws import check

from laneway.core.rows import Head, Rows
from laneway.lanes.eoa.fees import Fee
from laneway.lanes.eoa.lane import drop_slot, passed, restore
from laneway.lanes.eoa.values import AttemptsMade, Made


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
