"""What a look at the chain proves."""

from itertools import pairwise

import pytest
from tests.lanes.eoa.stage import (
    begun,
    chain,
    is_broke,
    later,
    make_all,
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
from laneway.lanes.eoa.rows import Inclusion, Purpose
from laneway.lanes.eoa.show import status
from laneway.lanes.eoa.values import (
    AttemptReoffered,
    AttemptsMade,
    BumpOrdered,
    FundsJudged,
    NonceProven,
    NotMade,
    ProveNonce,
    Receipt,
    SendAttempt,
    SlotIncluded,
)


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
    (sent,) = [effect for effect in world.out if isinstance(effect, SendAttempt)]
    assert sent.again
    (again,) = [one for one in world.last if isinstance(one, AttemptReoffered)]
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
    assert world.out == [ProveNonce(0, 3)]
    chain(world, 1, 3)
    world.post(NonceProven(world.now_ms, 0, None))
    assert not world.lane.slots[1].proving, "nothing proves nothing"
    chain(world, 1, 4)
    world.post(NonceProven(world.now_ms, 0, receipt(world, 1, 1, 2), 5))
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
    world.post(NonceProven(world.now_ms, 0, None))
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
    order = BumpOrdered(slot.id, Purpose.NOOP, world.lane.attempts[1][1].fee, "stuck")
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
    chain(world, 16, 5)
    assert len(world.out) == 16


def test_funds_that_came_end_the_wait() -> None:
    world = begun(0)
    world.post(AttemptsMade(world.now_ms, ()))
    world.apply([FundsJudged(True, b"\x01")])
    chain(world, 0, 1)
    assert not is_broke(world)


def test_a_poor_account_with_nothing_out_is_looked_at_seldom() -> None:
    world = begun(0)
    world.apply([FundsJudged(True, amount(10**20), at_ms=world.now_ms)])
    chain(world, 0, 1)
    assert is_broke(world)
    assert world.lane.head.poll_ms == world.now_ms + world.settings.funds_retry_ms
    world = begun(1)
    world.apply([FundsJudged(True, amount(10**20), at_ms=world.now_ms)])
    chain(world, 0, 1)
    assert world.lane.head.poll_ms == world.now_ms + world.settings.poll_ms


def test_an_account_out_of_funds_tries_again_after_a_while_whatever_its_balance_says() -> None:
    world = begun(1)
    make_all(world)
    world.apply([FundsJudged(True, amount(10**20), at_ms=world.now_ms)])
    world.now_ms += world.settings.funds_check_ms - 1
    chain(world, 0, 1, balance=7)
    assert is_broke(world)
    world.now_ms += 1
    chain(world, 0, 2, balance=7)
    assert not is_broke(world)


def test_an_account_out_of_funds_tries_again_when_the_lowest_number_can_be_paid() -> None:
    world = begun(2)
    make_all(world)
    world.apply([FundsJudged(True, amount(10), amount(8), 2, world.now_ms)])
    world.now_ms += world.settings.funds_retry_ms
    chain(world, 0, 1, balance=9)
    assert is_broke(world), "number 0 may take some of it"
    chain(world, 1, 2, receipt(world, 1, 1, 2), balance=7)
    assert is_broke(world)
    chain(world, 1, 3, balance=8)
    assert not is_broke(world)
    world.apply([FundsJudged(True, amount(10), amount(8), 2, world.now_ms)])
    chain(world, 1, 4, balance=8)
    assert is_broke(world), "a balance is a hint, and not asked for every second"


def test_what_waited_for_money_is_made_at_once_when_it_is_there() -> None:
    world = begun(2)
    denied = NotMade(1, 1, final=False, reason="no funds", broke=True, needed=10**30)
    world.post(AttemptsMade(world.now_ms, (denied,)))
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
    assert [effect.slot for effect in world.out if isinstance(effect, SendAttempt)] == [2]


def test_a_second_receipt_of_the_same_changes_nothing() -> None:
    world = begun(1)
    make_all(world)
    fact = Inclusion(1, 1, b"b", True)
    world.apply([SlotIncluded(1, fact)])
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


def test_our_own_bytes_at_a_number_count_when_they_are_final_where_they_were_seen() -> None:
    world = begun(1)
    make_all(world)
    chain(world, 1, 3)
    found = receipt(world, 1, 1, 3)
    world.post(NonceProven(world.now_ms, 0, found, 5))
    assert world.lane.slots[1].seen is None
    chain(world, 1, 4)
    world.post(NonceProven(world.now_ms, 0, found, 6))
    assert world.lane.slots[1].seen is not None


def test_a_receipt_of_nobody_is_passed_over() -> None:
    world = begun(1)
    make_all(world)
    chain(world, 1, 1, Receipt(b"another", 1, b"b", ok=True))
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
