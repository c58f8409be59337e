"""The lane in memory equals its rows."""

import pytest
from tests.lanes.eoa.stage import (
    World,
    begun,
    chain,
    later,
    make_all,
    receipt,
    refuse,
    replace,
    run,
)
from tests.lanes.eoa.test_laws import check

from laneway.core.ids import intent_id
from laneway.core.outcome import Outcome
from laneway.core.rows import Head, RowPut, Rows, Table
from laneway.lanes.eoa import values as v
from laneway.lanes.eoa.fees import EvmFee
from laneway.lanes.eoa.fold import evolve
from laneway.lanes.eoa.lane import (
    decode_kept,
    drop_slot,
    head_write,
    is_next_taken,
    left_rows,
    restore,
)
from laneway.lanes.eoa.rows import Attempt, KeptSlot, Slot


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


def test_a_no_op_takes_a_free_number_and_leaves_nothing_behind() -> None:
    world = begun(2)
    make_all(world)
    refuse(world, 1, 1, hopeless=True)
    later(world, 5_000)
    (no_op,) = world.lane.noops
    assert (world.lane.slots[no_op].nonce, world.lane.free.count) == (0, 0)
    drop_slot(world.lane, world.lane.slots[no_op])
    assert world.lane.noops == {}


def test_what_is_out_or_looked_at_wakes_whoever_comes_though_no_time_does() -> None:
    """A process that dies over a no-op leaves no intent behind that would call another one."""
    world = begun(1)
    assert head_write(world.lane, None).wake_ms == 0
    assert head_write(world.lane, 7).wake_ms == 7
    drop_slot(world.lane, world.lane.slots[1])
    assert head_write(world.lane, None).wake_ms is None
    world.lane.head.looking = True
    assert head_write(world.lane, None).wake_ms == 0


def test_a_slot_whose_number_is_anothers_leaves_that_alone() -> None:
    world = begun(1)
    slot = world.lane.slots[1]
    world.lane.nonces[slot.nonce] = 99
    drop_slot(world.lane, slot)
    assert world.lane.nonces == {slot.nonce: 99}


def test_the_newest_attempt_that_a_node_may_take_is_the_live_one() -> None:
    world = begun(1)
    assert world.lane.live(1) is None
    make_all(world)
    first = world.lane.attempts[1][1]
    assert world.lane.live(1) == first
    second = replace(first, number=2, silent=(), refused=("a", "b"))
    world.lane.attempts[1][2] = second
    assert world.lane.live(1) == first
    world.lane.attempts[1][1] = replace(first, silent=(), refused=("a", "b"))
    assert world.lane.live(1) == second


def claimed(world: World, number: int) -> Slot:
    """A slot at the next nonce that nobody's turn has written yet."""
    intent = intent_id(number, bytes(10))
    return Slot(number, intent, number, 0, 0, world.lane.head.nonce_next or 0, world.now_ms)


def test_a_slot_that_is_just_claimed_is_written_once_at_the_end_of_its_turn() -> None:
    world = begun(1)
    assert evolve(world.lane, v.SlotClaimed(claimed(world, 2), returned=False)) == ()
    (row,) = left_rows(world.lane)
    assert isinstance(row, RowPut)
    assert decode_kept(row.body) == KeptSlot(world.lane.slots[2])
    assert left_rows(world.lane) == ()


def test_a_slot_that_is_signed_or_gone_in_its_turn_leaves_nothing_to_write() -> None:
    world = begun(1)
    for number in (2, 3):
        evolve(world.lane, v.SlotClaimed(claimed(world, number), returned=False))
    evolve(world.lane, v.SlotFellOut(3, "refused", "why", world.now_ms))
    attempt = Attempt(2, 1, b"h", "intent", EvmFee(2, 1), 21_000, world.now_ms, ("n",), raw=b"r")
    row, _ = evolve(world.lane, v.AttemptSigned(attempt, b"", b""))
    assert isinstance(row, RowPut)
    assert decode_kept(row.body) == KeptSlot(world.lane.slots[2], attempt)
    assert left_rows(world.lane) == ()


def test_many_bytes_have_a_row_of_their_own_which_goes_with_them() -> None:
    world = begun(1)
    (effect,) = world.out
    world.out = []
    raw = b"r" * 1_000
    made = v.Made(effect.slot, effect.number, raw, b"h", EvmFee(2, 1), 21_000, 1)
    world.post(v.AttemptsMade(world.now_ms, (made,)))
    attempt = world.restored().attempts[1][1]
    assert (attempt.raw, world.restored().raw(attempt)) == (b"", raw)
    refuse(world, 1, 1, hopeless=True)
    assert world.rows == {}


def written(world: World, slot: int) -> Attempt:
    """The first attempt of a slot as its row has it."""
    first = decode_kept(world.rows[Table.SLOT, str(slot)].body).first
    assert first is not None
    return first


def took(world: World, *slots: int) -> None:
    """Every node took the first attempts of these, and said so in one answer."""
    nodes = world.settings.nodes
    results = [v.SendResult(slot, 1, node, Outcome.ACCEPTED) for slot in slots for node in nodes]
    world.post(v.BroadcastReturned(world.now_ms, tuple(results)))


@pytest.mark.parametrize("nodes", [("a",), ("a", "b")])
def test_what_every_node_took_in_a_row_stands_in_the_head_alone(nodes: tuple[str, ...]) -> None:
    world = begun(6, nodes=nodes)
    make_all(world)
    took(world, 1, 2)
    assert (written(world, 1).silent, world.lane.head.taken_next) == (nodes, 3)
    assert world.restored().attempts[1][1].taken == nodes
    assert len(world.restored().unsure) == 4
    took(world, 5)
    assert (written(world, 5).taken, world.lane.head.taken_next) == (nodes, 3)
    took(world, 3, 4)
    assert world.lane.head.taken_next == 5
    took(world, 6)
    assert world.restored().unsure == world.lane.unsure == {}


def test_a_slot_that_waits_or_is_still_to_be_made_stands_in_the_way() -> None:
    world = begun(3, nodes=("a",))
    make_all(world)
    took(world, 2, 3)
    assert (world.lane.head.taken_next, written(world, 2).taken) == (1, ("a",))
    world.accept(3)
    world.pull()
    _, fifth, sixth = world.out[-3:]
    took(world, 1)
    world.post(v.AttemptsMade(world.now_ms, (world.make(fifth), world.make(sixth))))
    took(world, 5, 6)
    assert written(world, 5).taken == ("a",), "the fourth is still to be made"


def test_slots_that_are_gone_or_were_made_again_stand_in_nobodys_way() -> None:
    world = begun(7, nodes=("a",))
    make_all(world)
    world.post(v.BroadcastReturned(world.now_ms, (v.SendResult(1, 1, "a", Outcome.UNKNOWN),)))
    chain(world, 1, 1, receipt(world, 1, 1, 1))
    chain(world, 1, 9)
    took(world, 2, 3)
    assert (next(iter(world.lane.slots)), world.lane.head.taken_next) == (2, 4)
    world.apply([v.AttemptReoffered(4, 1)])
    took(world, 5)
    took(world, 6, 7)
    assert world.lane.head.taken_next == 8, "the fourth is never new again, the fifth was written"


def test_slots_of_a_long_past_are_not_asked_for_one_by_one() -> None:
    world = begun(2, nodes=("a",))
    make_all(world)
    world.lane.head.taken_next = -1_000_000
    assert is_next_taken(world.lane, 1)
    assert not is_next_taken(world.lane, 2)


def test_a_lane_that_was_empty_looks_at_no_slots_from_before() -> None:
    world = begun(1, nodes=("a",))
    make_all(world)
    chain(world, 1, 1, receipt(world, 1, 1, 1))
    chain(world, 1, 9)
    world.accept(1)
    world.pull()
    assert world.lane.head.taken_next == 2


def test_bytes_that_were_offered_again_are_not_taken_for_taken() -> None:
    world = begun(2, nodes=("a",))
    make_all(world)
    took(world, 1, 2)
    world.apply([v.AttemptReoffered(1, 1)])
    assert world.restored().attempts[1][1] == world.lane.attempts[1][1]
    assert world.restored().attempts[1][1].silent == ("a",)
    took(world, 1, 2)
    assert written(world, 1).taken == ("a",)
