"""Records are folded into rows; what stands up from the rows is the same lane."""

import pytest
from tests.lanes.eoa.stage import (
    World,
    adopted,
    begun,
    chain,
    later,
    limited,
    make_all,
    receipt,
    refuse,
    replace,
    run,
    take,
)
from tests.lanes.eoa.test_laws import check

from laneway.lanes.common.values import CommandRefused, IntentDropped, ModeChanged
from laneway.lanes.eoa import values as v
from laneway.lanes.eoa.fees import EvmFee
from laneway.lanes.eoa.fold import evolve
from laneway.lanes.eoa.lane import put_slot
from laneway.lanes.eoa.limits import RESETS_KEPT
from laneway.lanes.eoa.rows import Attempt, Slot


@pytest.mark.slow
def test_the_promises_are_kept_by_every_fold() -> None:
    for seed in range(60):
        check(run(seed, steps=300))


def with_no_op() -> World:
    """Number 0 is filled by a no-op, number 1 is out."""
    world = begun(2)
    make_all(world)
    refuse(world, 1, 1, hopeless=True)
    later(world, 5_000)
    return world


def no_op(world: World) -> int:
    (found,) = [slot.id for slot in world.lane.slots.values() if slot.intent is None]
    return found


def test_a_no_op_that_is_final_or_gone_answers_nobody() -> None:
    world = with_no_op()
    make_all(world)
    answered = len(world.results)
    chain(world, 1, 1, receipt(world, no_op(world), 1, 1))
    chain(world, 1, 9)
    assert len(world.results) == answered
    world = with_no_op()
    world.apply([v.SlotDropped(no_op(world), "refused", "", 1)])
    assert world.lane.free.rows() == {0: 1}
    assert len(world.results) == 1
    world = with_no_op()
    world.apply([v.SlotDropped(no_op(world), "refused", "", 1, 5, recycle=False)])
    assert world.lane.free.count == 0


def test_a_no_op_may_fall_out_too() -> None:
    world = begun(1)
    make_all(world)
    refuse(world, 1, 1, hopeless=True)
    assert world.lane.head.nonce_next == 0
    world = with_no_op()
    slot = no_op(world)
    world.lane.head.offered_next = 0
    for other in [one.id for one in world.lane.slots.values() if one.intent is not None]:
        assert other != slot
    world.apply([v.SlotFellOut(slot, "refused", "", 1)])
    assert list(world.lane.nonces) == [0]


def test_what_was_settled_without_being_seen_has_no_hash() -> None:
    world = begun(1)
    make_all(world)
    world.apply([v.SlotSettled(1, "indeterminate", 5, "given up")])
    (result,) = world.results.values()
    assert (result.hash, result.number) == (None, None)


def test_a_reset_forgets_free_numbers_that_are_nobodys() -> None:
    world = begun(4)
    make_all(world)
    for slot in (1, 2):
        refuse(world, slot, 1, hopeless=True)
    take(world, 3)
    assert world.lane.free.rows() == {0: 2}
    world.lane.head.latest = 1
    world.apply([v.NoncesReset(4, 9)])
    assert world.lane.free.rows() == {1: 2}
    for at_ms in range(7):
        world.apply([v.NoncesReset(4, at_ms)])
    assert len(world.lane.head.health.resets_ms) == RESETS_KEPT


def test_modes_funds_and_refusals_change_the_head_alone() -> None:
    world = begun(0)
    rows = dict(world.rows)
    world.apply(
        [
            ModeChanged("paused", "r", "ann", 3, 7),
            v.FundsJudged(True, b"\x05"),
            CommandRefused("bump", "no"),
        ]
    )
    head = world.lane.head
    assert (head.mode, head.drain_seq, head.broke, head.health.threshold) == (
        "paused", 7, True, b"\x05",
    )  # fmt: skip
    assert world.rows == rows


def test_an_intent_that_never_had_a_number_passes_or_stays_behind_the_cursor() -> None:
    world = begun(17)
    last = list(world.accepted.values())[-1]
    dropped = IntentDropped(last.id, last.seq, 0, last.size(), "expired", "late", 5)
    world.apply([dropped])
    assert world.lane.head.cursors[0] == last.seq


def test_returned_intents_are_given_numbers_one_by_one() -> None:
    world = begun(3)
    make_all(world)
    refuse(world, 1, 1)
    refuse(world, 2, 1)
    assert len(world.lane.returned) == 2
    later(world, 5_000)
    assert world.lane.returned == {}
    assert world.lane.head.retake_ms is None


def test_a_free_number_that_the_chain_says_is_used_is_given_to_nobody() -> None:
    world = begun(2)
    make_all(world)
    refuse(world, 1, 1, hopeless=True)
    assert world.lane.free.count == 1
    chain(world, 1, 3)
    assert world.lane.free.count == 0


def test_a_freed_number_that_someone_used_is_not_recycled() -> None:
    world = begun(2)
    make_all(world)
    world.apply([v.SlotFreed(1, 5, "replaced", recycle=False)])
    assert world.lane.free.count == 0


def test_what_is_offered_again_by_time_says_when_and_why() -> None:
    world = begun(1)
    make_all(world)
    take(world, 1)
    world.apply([v.AttemptReoffered(1, 1)])
    assert world.lane.slots[1].tried_ms == 1_000_000
    world.apply([v.AttemptReoffered(1, 1, at_ms=1_000_777, reason="why")])
    assert (world.lane.slots[1].tried_ms, world.lane.slots[1].wait_reason) == (1_000_777, "why")
    assert world.lane.attempts[1][1].taken == ()


def test_whoever_took_bytes_that_nobody_here_has_is_not_asked_for_them_again() -> None:
    world = begun(1)
    make_all(world)
    take(world, 1)
    bare = adopted(world)
    slot = world.lane.slots[1]
    assert evolve(world.lane, v.AttemptReoffered(1, 1, at_ms=1_000_777)) == (
        put_slot(world.lane, replace(slot, tried_ms=1_000_777)),
    )
    assert world.lane.attempts[1][1] == bare


def test_attempts_that_were_taken_are_said_so_in_the_head_and_no_row_is_touched() -> None:
    world = begun(2)
    make_all(world)
    hashes = tuple(world.lane.attempts[slot][1].hash for slot in (1, 2))
    intents = tuple(world.lane.slots[slot].intent for slot in (1, 2))
    assert evolve(world.lane, v.AttemptsTaken(1, intents, hashes)) == ()
    assert (world.lane.head.taken_next, world.lane.unsure) == (3, {})
    assert list(world.lane.submitted) == [1, 2]


def test_resends_in_a_row_are_counted_while_the_same_bytes_are_in_doubt() -> None:
    world = begun(1)
    make_all(world)
    counts = []
    for _ in range(3):
        world.apply([v.ResendPlanned(5), v.ResendPlanned(None)])
        counts.append(world.lane.head.resends)
    assert counts == [0, 1, 2]
    take(world, 1)
    world.apply([v.ResendPlanned(5), v.ResendPlanned(None)])
    assert world.lane.head.resends == 0


def test_a_no_op_fills_a_hole_that_someone_else_left() -> None:
    """The number is below the next one, and no free one: nobody of ours ever had it."""
    world = begun(2)
    make_all(world)
    world.apply([v.SlotFreed(1, 5, "replaced", recycle=False)])
    hole = Slot(world.lane.head.slot_next, None, 0, 0, 0, 0, 5, purpose="noop")
    world.apply([v.SlotClaimed(hole, returned=False)])
    assert world.lane.head.nonce_next == 2
    assert world.lane.slot_at(0) == hole


def test_a_hole_that_someone_else_left_is_filled_and_many_bytes_stand_apart() -> None:
    world = begun(2)
    hole = Slot(9, None, 0, 0, 0, 0, 1, purpose="noop")
    world.apply([v.SlotDropped(1, "refused", "no", 1, recycle=False), v.SlotClaimed(hole, False)])
    assert world.lane.nonces == {0: 9, 1: 2}
    attempt = Attempt(9, 1, b"h", "noop", EvmFee(2, 1), 21_000, 1, ("a",))
    world.apply([v.AttemptSigned(attempt, b"r" * 1_000, b"")])
    assert world.lane.raws == {"9/1": b"r" * 1_000}


def test_contents_of_others_stay_when_a_number_is_given_out() -> None:
    world = begun(17)
    rows = list(world.accepted.values())
    world.tell("replace", rows[0], "b")
    world.tell("replace", rows[-1], "c")
    make_all(world)
    chain(world, 1, 1, receipt(world, 1, 2, 1))
    world.pull()
    assert list(world.lane.contents) == [rows[0].id, rows[-1].id]


def test_without_anything_bound_the_chain_alone_says_which_number_is_next() -> None:
    """Free numbers from the count on are given out anew as the next ones, and not a second time as
    free ones."""
    world = begun(0)
    lane = world.lane
    lane.free.load(1, 3)
    lane.head.nonce_next = lane.head.offered_next = 5
    evolve(lane, v.AccountSeen(1, 1, b"\1", 100, 1, world.now_ms))
    assert (lane.head.nonce_next, lane.free.count) == (1, 0)


def test_until_when_an_intent_is_valid_counts_until_its_bytes_are_out_or_it_is_final() -> None:
    world = begun(3)
    limited(world, 1, 2, 3)
    make_all(world)
    assert world.lane.dated == {}
    refuse(world, 1, 1)
    (first,) = world.lane.returned
    assert list(world.lane.dated) == [first], "it waits for a number again"
    later(world, world.settings.make_retry_ms)
    make_all(world)
    assert world.lane.dated == {}, "below others that were offered it is out at once"
    refuse(world, 2, 1)
    (second,) = world.lane.returned
    world.apply([IntentDropped(second, 2, 0, 1, "expired", "", 1)])
    assert (world.lane.dated, world.lane.returned) == ({}, {})


def test_what_a_majority_denies_is_in_no_block() -> None:
    world = begun(1)
    make_all(world)
    chain(world, 1, 1, receipt(world, 1, 1, 1))
    world.apply([v.InclusionDenied(1)])
    assert world.lane.seen == {}


def test_a_halt_and_the_pace_of_proofs_stand_in_the_head() -> None:
    world = begun(1)
    world.apply([v.ProofsPaced(9, 2), v.HaltJudged("used", 5, 7)])
    head = world.lane.head
    assert (head.prove_ms, head.prove_tries) == (9, 2)
    assert (head.halted, head.halted_nonce, head.halted_ms) == ("used", 7, 5)


def test_what_was_final_is_forgotten_by_the_reset_of_a_halted_lane_alone() -> None:
    world = begun(1)
    world.lane.head.final_next = 4
    world.apply([v.NoncesReset(9, 1)])
    assert world.lane.head.final_next == 4
    world.apply([v.HaltJudged("used", 5, 7), v.NoncesReset(9, 1)])
    assert world.lane.head.final_next == 0


def test_a_number_that_a_majority_showed_to_be_used_is_used_for_good() -> None:
    world = begun(1)
    make_all(world)
    world.apply([v.SlotDropped(1, "refused", "", 1, recycle=False, proven=True)])
    assert (world.lane.head.latest, world.lane.head.final_next) == (1, 1)
