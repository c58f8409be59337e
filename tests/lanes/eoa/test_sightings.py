"""What a look at the chain proves."""

from itertools import pairwise

import pytest
from tests.lanes.eoa.stage import (
    SETTINGS,
    World,
    begun,
    chain,
    is_broke,
    later,
    make_all,
    offer,
    other,
    receipt,
    refuse,
    run,
    take,
)
from tests.lanes.eoa.test_laws import check

from laneway.core.outcome import Status
from laneway.core.units import amount
from laneway.lanes.eoa import sightings
from laneway.lanes.eoa import values as v
from laneway.lanes.eoa.lane import decode_history
from laneway.lanes.eoa.limits import GAP_NUMBERS_MAX
from laneway.lanes.eoa.rows import Cleanup, Inclusion, Purpose
from laneway.lanes.eoa.show import (
    NO_MAJORITY,
    UNPROVEN,
    describe,
    sight,
    status,
    wait_reason,
    waiting,
)
from laneway.lanes.eoa.sightings import is_telling, report_of
from laneway.lanes.eoa.timers import gap_ms
from laneway.lanes.eoa.values import SlotSettled


@pytest.mark.slow
def test_the_promises_are_kept_whatever_the_chain_shows() -> None:
    for seed in range(60):
        check(run(seed, steps=300))


def test_what_is_mined_is_included_and_final_only_at_depth() -> None:
    world = begun(1)
    make_all(world)
    take(world, 1)
    chain(world, 1, 1, receipt(world, 1, 1, 1))
    assert status(world.lane.slots[1], world.lane) is Status.INCLUDED
    chain(world, 1, 3)
    assert world.results == {}
    chain(world, 1, 4)
    assert [result.status for result in world.results.values()] == ["confirmed"]
    assert world.lane.head.poll_ms is None


def test_a_failed_execution_is_reverted() -> None:
    world = begun(1)
    make_all(world)
    chain(world, 1, 1, receipt(world, 1, 1, 1, ok=False))
    chain(world, 1, 9)
    assert [result.status for result in world.results.values()] == ["reverted"]


def test_a_reorg_takes_it_back_and_its_bytes_are_sent_again() -> None:
    world = begun(1)
    make_all(world)
    take(world, 1)
    world.out = []
    chain(world, 1, 5, receipt(world, 1, 1, 5))
    chain(world, 0, 6, fork=4)
    assert status(world.lane.slots[1], world.lane) is Status.SIGNED
    (sent,) = [effect for effect in world.out if isinstance(effect, v.SendAttempt)]
    assert sent.again
    (again,) = [one for one in world.last if isinstance(one, v.AttemptReoffered)]
    assert again.reorg
    chain(world, 1, 7, receipt(world, 1, 1, 7), fork=5)
    assert world.lane.slots[1].seen is not None
    chain(world, 1, 8, receipt(world, 1, 1, 7))
    assert world.lane.slots[1].seen.block == 7


def test_what_a_reorg_moved_to_another_block_is_not_sent_again() -> None:
    world = begun(1)
    make_all(world)
    chain(world, 1, 5, receipt(world, 1, 1, 5))
    world.out = []
    chain(world, 1, 6, receipt(world, 1, 1, 6), fork=4)
    assert world.out == []
    assert world.lane.slots[1].seen.block == 6  # type: ignore[union-attr]


def test_a_count_without_our_bytes_asks_who_used_the_number() -> None:
    world = begun(2)
    make_all(world)
    world.out = []
    chain(world, 1, 2)
    assert world.out == [], "a node may count what is in its next block"
    chain(world, 1, 3)
    (asked,) = world.out
    assert asked == v.ProveNonce(0, (world.lane.attempts[1][1].hash,), 3)
    chain(world, 1, 3)
    world.post(v.NonceProven(world.now_ms, 0, None))
    assert not world.lane.slots[1].proving, "nothing proves nothing"
    world.now_ms += 1_000
    chain(world, 1, 4)
    world.post(v.NonceProven(world.now_ms, 0, receipt(world, 1, 1, 2)))
    assert world.lane.slots[1].seen is not None
    other(world, 7, 1)


def test_someone_elses_transaction_frees_the_intent_only_when_it_is_final() -> None:
    world = begun(2)
    make_all(world)
    chain(world, 1, 2)
    chain(world, 1, 3)
    assert world.lane.slots[1].proving
    other(world, 0, 3)
    assert 1 in world.lane.slots
    world.now_ms += 1_000
    chain(world, 1, 8)
    other(world, 0, 3)
    assert 1 not in world.lane.slots
    assert list(world.lane.returned) == [next(iter(world.accepted))]
    assert world.lane.free.count == 0
    later(world, 5_000)
    assert 2 in world.lane.nonces


def test_a_no_op_or_a_cancelled_one_that_was_replaced_is_over() -> None:
    world = begun(2)
    make_all(world)
    world.tell("cancel", next(iter(world.accepted.values())))
    make_all(world)
    chain(world, 1, 7)
    chain(world, 1, 8)
    other(world, 0, 3)
    assert [result.status for result in world.results.values()] == ["cancelled"]
    world = begun(2)
    make_all(world)
    world.post(v.NonceProven(world.now_ms, 0, None))
    refuse(world, 1, 1, hopeless=True)
    later(world, 5_000)
    make_all(world)
    (no_op,) = [slot for slot in world.lane.slots.values() if slot.intent is None]
    chain(world, 1, 7)
    chain(world, 1, 8)
    other(world, 0, 3)
    assert no_op.id not in world.lane.slots


def test_an_intent_whose_place_our_own_no_op_took_is_refused() -> None:
    world = begun(1)
    make_all(world)
    slot = world.lane.slots[1]
    order = v.BumpOrdered(slot.id, Purpose.NOOP, world.lane.attempts[1][1].fee, "stuck")
    world.apply([order])
    world.out = list(world.kind.resume(world.lane))
    make_all(world)
    chain(world, 1, 1, receipt(world, 1, 2, 1))
    chain(world, 1, 9)
    (result,) = world.results.values()
    assert (result.status, result.reason) == ("refused", "every node refused it")


def test_the_number_of_questions_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sightings, "PROOFS_MAX", 10)
    world = begun(16)
    make_all(world)
    world.out = []
    chain(world, 16, 3)
    chain(world, 16, 4)
    assert len(world.out) == 10
    world.now_ms += 1_000
    chain(world, 16, 5)
    assert len(world.out) == 16


def test_funds_that_came_end_the_wait() -> None:
    world = begun(0)
    world.post(v.AttemptsMade(world.now_ms, ()))
    world.apply([v.FundsJudged(True, b"\x01")])
    chain(world, 0, 1)
    assert not is_broke(world)


def test_a_poor_account_with_nothing_out_is_looked_at_seldom() -> None:
    world = begun(0)
    world.apply([v.FundsJudged(True, amount(10**20), at_ms=world.now_ms)])
    chain(world, 0, 1)
    assert is_broke(world)
    assert world.lane.head.poll_ms == world.now_ms + world.settings.funds_retry_ms
    world = begun(1)
    world.apply([v.FundsJudged(True, amount(10**20), at_ms=world.now_ms)])
    chain(world, 0, 1)
    assert world.lane.head.poll_ms == world.now_ms + world.settings.poll_ms


def test_an_account_out_of_funds_tries_again_after_a_while_whatever_its_balance_says() -> None:
    world = begun(1)
    make_all(world)
    world.apply([v.FundsJudged(True, amount(10**20), at_ms=world.now_ms)])
    world.now_ms += world.settings.funds_check_ms - 1
    chain(world, 0, 1, balance=7)
    assert is_broke(world)
    world.now_ms += 1
    chain(world, 0, 2, balance=7)
    assert not is_broke(world)


def test_an_account_out_of_funds_tries_again_when_the_lowest_number_can_be_paid() -> None:
    world = begun(2)
    make_all(world)
    world.apply([v.FundsJudged(True, amount(10), amount(8), 2, world.now_ms)])
    world.now_ms += world.settings.funds_retry_ms
    chain(world, 0, 1, balance=9)
    assert is_broke(world), "number 0 may take some of it"
    chain(world, 1, 2, receipt(world, 1, 1, 2), balance=7)
    assert is_broke(world)
    chain(world, 1, 3, balance=8)
    assert not is_broke(world)
    world.apply([v.FundsJudged(True, amount(10), amount(8), 2, world.now_ms)])
    chain(world, 1, 4, balance=8)
    assert is_broke(world), "a balance is a hint, and not asked for every second"


def test_what_waited_for_money_is_made_at_once_when_it_is_there() -> None:
    world = begun(2)
    denied = v.NotMade(1, 1, final=False, reason="no funds", broke=True, needed=10**30)
    world.post(v.AttemptsMade(world.now_ms, (denied,)))
    assert world.lane.head.make_ms == world.now_ms + world.settings.funds_retry_ms
    world.now_ms += 1_000
    chain(world, 0, 1, balance=10**31)
    assert world.lane.head.make_ms == world.now_ms


def test_an_account_that_is_filled_all_the_time_is_believed_to_be_poor_now_and_then() -> None:
    """A rise ends what nodes said before; a rise with every look would silence them for ever."""
    world = begun(0, block_ms=1_000)
    chain(world, 0, 1)
    fills: list[int] = []
    for place in range(10):
        world.now_ms += 500
        chain(world, 0, 1, balance=2 * 10**19 + place)
        fills.append(world.lane.head.health.filled_ms)
    assert len(set(fills)) == 3
    assert all(later - earlier in (0, 2_000) for earlier, later in pairwise(fills))
    world.now_ms += 5_000
    chain(world, 0, 1, balance=10**19)
    assert world.lane.head.health.filled_ms == fills[-1], "less is no fill"


def test_numbers_that_others_used_hold_nobody_back() -> None:
    world = begun(2)
    world.out = [world.out[1]]
    make_all(world)
    assert world.lane.head.offered_next == 0
    world.out = []
    chain(world, 1, 1)
    assert [effect.slot for effect in world.out if isinstance(effect, v.SendAttempt)] == [2]


def test_a_second_receipt_of_the_same_changes_nothing() -> None:
    world = begun(1)
    make_all(world)
    fact = Inclusion(1, 1, b"b", True)
    world.apply([v.SlotIncluded(1, fact)])
    chain(world, 1, 1, receipt(world, 1, 1, 1), receipt(world, 1, 1, 1))
    assert world.lane.slots[1].seen == fact


def test_an_answer_to_an_older_look_is_not_one_to_this() -> None:
    """It was asked from a block below one that a reorg took back since: it would not say so, and
    what stood there would be taken for final."""
    world = begun(1)
    make_all(world)
    chain(world, 1, 3, receipt(world, 1, 1, 3))
    assert world.lane.slots[1].seen is not None
    chain(world, 0, 9, since=b"")
    assert world.results == {}
    assert world.lane.head.block == 3


def test_our_own_bytes_that_are_proven_are_included_and_settle_at_the_next_look() -> None:
    world = begun(1)
    make_all(world)
    chain(world, 1, 3)
    found = receipt(world, 1, 1, 3)
    world.post(v.NonceProven(world.now_ms, 0, found))
    assert 1 not in world.lane.seen, "nobody asked"
    chain(world, 1, 7)
    world.post(v.NonceProven(world.now_ms, 0, found))
    assert 1 in world.lane.seen
    chain(world, 1, 8)
    assert [result.status for result in world.results.values()] == ["confirmed"]


def test_a_receipt_of_nobody_is_passed_over() -> None:
    world = begun(1)
    make_all(world)
    chain(world, 1, 1, v.Receipt(b"another", 1, b"b", ok=True))
    assert world.lane.slots[1].seen is None


def test_a_reorg_of_what_took_our_number_lets_our_bytes_land_once() -> None:
    """Someone else's transaction stands at our number, and is taken back before it is final: the
    intent was given no other number, so that our bytes land once."""
    world = begun(1)
    make_all(world)
    take(world, 1)
    chain(world, 1, 1)
    chain(world, 1, 2)
    assert world.lane.slots[1].proving
    other(world, 0, 1)
    assert (list(world.lane.slots), len(world.lane.returned)) == ([1], 0)
    assert [type(effect) for effect in world.out if type(effect).__name__ == "MakeAttempt"] == []
    chain(world, 1, 3, receipt(world, 1, 1, 3))
    assert world.lane.slots[1].seen is not None
    assert world.lane.slots[1].nonce == 0


# Several nodes, of which one may lie.


def test_one_nodes_receipt_settles_nothing_before_a_majority_shows_it() -> None:
    world = begun(1)
    make_all(world)
    mined = receipt(world, 1, 1, 1)
    chain(world, 1, 1, mined)
    chain(world, 1, 9, agreed=())
    slot = world.lane.slots[1]
    assert world.results == {}
    assert status(slot, world.lane) is Status.INCLUDED
    assert wait_reason(world.lane, slot) == NO_MAJORITY
    chain(world, 1, 10, agreed=(mined,))
    assert [result.status for result in world.results.values()] == ["confirmed"]


def test_what_a_majority_shows_is_told_and_not_what_one_node_showed() -> None:
    world = begun(1)
    make_all(world)
    chain(world, 1, 1, receipt(world, 1, 1, 1))
    chain(world, 1, 9, agreed=(receipt(world, 1, 1, 2, ok=False),))
    (told,) = world.results.values()
    assert told.status == "reverted"
    assert decode_history(told.history).slot.seen.block == 2  # type: ignore[union-attr]


def test_one_node_alone_is_believed_at_depth() -> None:
    world = begun(1, nodes=("a",))
    make_all(world)
    chain(world, 1, 1, receipt(world, 1, 1, 1), agreed=())
    chain(world, 1, 3, agreed=())
    assert world.results == {}
    chain(world, 1, 4, agreed=())
    assert [result.status for result in world.results.values()] == ["confirmed"]


def test_what_a_majority_shows_nowhere_is_taken_back_and_sent_again() -> None:
    """One node invented the block or the receipt; nothing else would ever say that it is gone."""
    world = begun(2)
    make_all(world)
    take(world, 1)
    lie = receipt(world, 1, 1, 1)
    chain(world, 0, 1, lie)
    world.out = []
    chain(world, 0, 9, receipt(world, 2, 1, 9), agreed=(), denied=(lie.hash, b"nobody"))
    assert world.lane.slots[1].seen is None
    assert status(world.lane.slots[1], world.lane) is not Status.INCLUDED
    assert [effect.slot for effect in world.out if isinstance(effect, v.SendAttempt)] == [1]
    chain(world, 0, 10, agreed=(v.Receipt(b"nobody", 1, b"b", ok=True),), denied=(lie.hash,))
    assert world.results == {}


def test_a_receipt_that_is_denied_at_once_is_no_inclusion() -> None:
    world = begun(1)
    make_all(world)
    lie = receipt(world, 1, 1, 1)
    chain(world, 0, 9, lie, agreed=(), denied=(lie.hash,))
    assert world.lane.slots[1].seen is None


def test_a_reorg_does_not_send_again_what_a_majority_shows_to_be_final() -> None:
    world = begun(2)
    make_all(world)
    chain(world, 2, 1, receipt(world, 2, 1, 1), agreed=())
    world.out = []
    final = receipt(world, 2, 1, 1)
    chain(world, 2, 9, fork=0, agreed=(final,), denied=(final.hash,))
    assert [effect for effect in world.out if isinstance(effect, v.SendAttempt)] == []


EVIDENCE = "nonce 0 is used, by no transaction of this account"


def unproven(world: World, *, times: int, evidence: str = EVIDENCE) -> None:
    for _ in range(times):
        world.now_ms += 60_000
        chain(world, 1, 20, agreed=())
        world.post(v.NonceProven(world.now_ms, 0, None, evidence))


def test_a_number_that_nothing_proves_used_halts_the_lane_and_stays_bound() -> None:
    world = begun(2)
    make_all(world)
    chain(world, 1, 20, agreed=())
    assert wait_reason(world.lane, world.lane.slots[1]) == UNPROVEN
    unproven(world, times=5, evidence="")
    assert not world.lane.head.halted, "nobody could be asked, or it is not final yet"
    world.lane.head.prove_tries = 0
    unproven(world, times=1)
    assert not world.lane.head.halted, "nodes may be catching up"
    unproven(world, times=2)
    state = describe(world.head)
    assert (state.word, state.reason) == ("halted", EVIDENCE)
    assert wait_reason(world.lane, world.lane.slots[1]) == EVIDENCE
    assert waiting(world.lane.head, world.settings) == EVIDENCE
    assert world.kind.wants(world.lane) == 0
    assert world.lane.slots[1].nonce == 0
    assert sight(world.lane, next(iter(world.accepted))).status is not Status.QUEUED
    records = world.lane.head.halted_ms
    unproven(world, times=1)
    assert world.lane.head.halted_ms == records, "it is said once"


def test_a_halted_lane_goes_on_by_itself_when_our_own_receipt_appears() -> None:
    world = begun(2)
    make_all(world)
    chain(world, 1, 20, agreed=())
    unproven(world, times=3)
    world.now_ms += 60_000
    chain(world, 1, 21, agreed=())
    world.post(v.NonceProven(world.now_ms, 0, receipt(world, 1, 1, 2)))
    assert world.lane.head.prove_tries == 0
    chain(world, 1, 22)
    assert [result.status for result in world.results.values()] == ["confirmed"]
    assert not world.lane.head.halted
    assert world.kind.wants(world.lane) > 0


def test_a_halted_lane_goes_on_when_the_number_turns_out_to_be_unused() -> None:
    world = begun(1)
    make_all(world)
    chain(world, 1, 20, agreed=())
    unproven(world, times=3)
    chain(world, 0, 21, agreed=())
    assert not world.lane.head.halted
    assert world.lane.head.prove_tries == 0
    assert world.lane.slots[1].nonce == 0


def test_whose_number_is_used_is_asked_ever_more_rarely() -> None:
    world = begun(1)
    make_all(world)
    chain(world, 1, 20)
    asked: list[int] = []
    for _ in range(200):
        world.out = []
        world.now_ms += 1_000
        chain(world, 1, 20)
        if world.out:
            asked.append(world.now_ms)
            world.post(v.NonceProven(world.now_ms, 0, None))
    pauses = [later - earlier for earlier, later in pairwise(asked)]
    assert pauses[:5] == [1_000, 2_000, 4_000, 8_000, 16_000]
    assert set(pauses[5:]) == {32_000}


def test_a_count_that_no_account_has_costs_nothing() -> None:
    """A loop up to it would stop the whole process."""
    world = begun(3, nodes=("a",))
    make_all(world)
    take(world, 1)
    chain(world, 2**40, 1, receipt(world, 1, 1, 1))
    chain(world, 2**40, 9)
    assert [result.status for result in world.results.values()] == ["confirmed"]
    chain(world, 1, 10)
    later(world, 120_000)
    assert world.lane.slots[2].nonce == 1


def test_a_count_below_what_was_final_is_not_believed() -> None:
    world = begun(2)
    make_all(world)
    mined = receipt(world, 1, 1, 1)
    chain(world, 0, 9, mined, agreed=(mined,))
    assert world.lane.head.latest == 1, "what is final is used, whatever a node counts"
    before = world.lane.head.block
    for _ in range(2):
        chain(world, 0, 12)
        assert (world.lane.head.latest, world.lane.head.block) == (1, before)
    assert "another chain" in describe(world.head).reason
    chain(world, 1, 13)
    assert not world.lane.head.halted
    chain(world, 0, 14)
    world.tell("reset-nonce")
    chain(world, 0, 15)
    assert world.lane.head.latest == 0, "a person knows that the chain was begun anew"


def test_of_two_numbers_that_nothing_proves_used_the_second_halts_the_lane_in_its_turn() -> None:
    world = begun(2)
    make_all(world)
    first = next(iter(world.accepted.values()))
    chain(world, 2, 20, agreed=())
    for _ in range(4):
        world.now_ms += 60_000
        chain(world, 2, 20, agreed=())
        for nonce in (0, 1):
            world.post(v.NonceProven(world.now_ms, nonce, None, f"nonce {nonce} is used"))
    assert world.lane.head.halted_nonce == 0
    world.tell("cancel", first)
    world.now_ms += 600_000
    chain(world, 2, 21, agreed=())
    world.post(v.NonceProven(world.now_ms, 1, None, "nonce 1 is used"))
    assert (world.lane.head.halted, world.lane.head.halted_nonce) == ("nonce 1 is used", 1)


def test_a_number_that_others_used_for_good_is_never_given_out_again() -> None:
    """A node that lags beside one that lies counted less, and the number was claimed once more."""
    world = begun(1)
    make_all(world)
    chain(world, 1, 20, agreed=())
    chain(world, 1, 21, agreed=())
    world.post(v.NonceProven(world.now_ms, 0, v.Receipt(b"other" * 6, 1, b"b", ok=True)))
    assert [*world.lane.returned] == [*world.accepted]
    assert world.lane.head.final_next == 1
    chain(world, 0, 21, agreed=())
    assert "nonce 0 was final" in world.lane.head.halted
    assert world.lane.head.nonce_next == 1


def test_a_no_op_that_others_replaced_for_good_leaves_its_number_used() -> None:
    world = begun(1)
    make_all(world)
    world.tell("cancel", next(iter(world.accepted.values())))
    make_all(world)
    chain(world, 1, 20, agreed=())
    chain(world, 1, 21, agreed=())
    world.post(v.NonceProven(world.now_ms, 0, v.Receipt(b"other" * 6, 1, b"b", ok=True)))
    assert (world.lane.head.final_next, [*world.lane.nonces]) == (1, [])


# A count that was false.


def test_a_hole_that_a_false_count_left_is_not_filled_and_the_lane_halts() -> None:
    """A no-op for each number up to one that a node named would cost the account's money."""
    world = World(1, SETTINGS)
    world.faults = False
    chain(world, 2**40, 1)
    offer(world, 2)
    make_all(world)
    take(world, 1)
    take(world, 2)
    assert sorted(world.lane.nonces) == [2**40, 2**40 + 1]
    chain(world, 5, 2)
    head = world.lane.head
    assert head.halted.startswith(f"nodes count 5, and our lowest nonce is {2**40}")
    assert gap_ms(world.lane) is None
    later(world, world.settings.bump_after_ms)
    assert sorted(world.lane.nonces) == [2**40, 2**40 + 1], "nothing is filled"
    chain(world, 5, 3)
    assert head.halted, "it is held as long as the hole is there"
    first, second = world.accepted.values()
    world.tell("cancel", first)
    assert [one.status for one in world.results.values()] == ["indeterminate"]
    assert "far above the account's count of 5" in world.results[first.id].reason
    chain(world, 5, 4)
    assert head.halted_nonce == 2**40 + 1, "the next one can be given up too"
    world.tell("cancel", second)
    chain(world, 5, 5)
    assert (head.halted, head.nonce_next) == ("", 5)


def test_a_hole_that_a_reorg_left_is_narrow_and_filled() -> None:
    world = World(1, SETTINGS)
    world.faults = False
    chain(world, GAP_NUMBERS_MAX, 1)
    offer(world, 1)
    make_all(world)
    take(world, 1)
    chain(world, 0, 2)
    assert not world.lane.head.halted
    assert gap_ms(world.lane) is not None


def test_a_look_that_cleared_nothing_away_reports_nothing() -> None:
    world = begun(1)
    chain(world, 0, 1)
    assert not is_telling(world.lane.head.report)


def test_what_ended_is_counted_by_how_it_ended() -> None:
    world = begun(3)
    make_all(world)
    for slot in (1, 2, 3):
        take(world, slot)
    rows = list(world.accepted.values())
    world.tell("cancel", rows[1])
    make_all(world)
    seen = (receipt(world, 1, 1, 1), receipt(world, 2, 2, 1), receipt(world, 2, 1, 1))
    chain(world, 3, 1, *seen)
    report = world.lane.head.report
    assert (report.nonces_without_receipts, report.per_nonce_violations) == (1, 1)
    chain(world, 3, 9)
    report = world.lane.head.report
    assert (report.moved_to_success, report.noop_count) == (1, 1)
    assert report.at_ms == world.now_ms
    other(world, 2, 1)
    assert world.lane.head.report == Cleanup(world.now_ms, moved_to_pending=1)
    assert world.results[rows[0].id].status == Status.CONFIRMED.value


def test_an_intent_at_two_numbers_is_a_violation() -> None:
    row = next(iter(begun(1).accepted))
    twice = [SlotSettled(slot, "confirmed", 5, intent=row, nonce=slot) for slot in (1, 2)]
    report = report_of(5, twice, 0, 0)
    assert (report.moved_to_success, report.cross_nonce_violations) == (2, 1)
