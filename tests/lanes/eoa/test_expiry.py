"""Intents that are valid no longer before any of their bytes were offered."""

from tests.lanes.eoa.stage import (
    LONG_MS,
    World,
    begun,
    chain,
    later,
    limited,
    make_all,
    refuse,
    take,
)

from laneway.lanes.common.values import ModeChanged
from laneway.lanes.eoa.expiry import expire
from laneway.lanes.eoa.timers import deadline, expire_ms
from laneway.lanes.eoa.tries import NOTHING
from laneway.lanes.eoa.values import AttemptsMade, MakeAttempt, NotMade, SendAttempt


def statuses(world: World) -> dict[int, str]:
    return {world.accepted[one].seq: result.status for one, result in world.results.items()}


def sent(world: World) -> list[int]:
    return [effect.slot for effect in world.out if isinstance(effect, SendAttempt)]


def made(world: World) -> list[MakeAttempt]:
    return [effect for effect in world.out if isinstance(effect, MakeAttempt)]


def numbers(world: World) -> dict[int, tuple[int, str]]:
    return {slot.nonce: (slot.seq, slot.purpose) for slot in world.lane.slots.values()}


def test_what_was_parked_is_not_signed_after_its_time() -> None:
    """Parked by a cap with a number, and the fee falls when it is too late."""
    world = begun(2, cost_wei_max=150)
    limited(world, 1)
    make_all(world)
    assert world.lane.slots[1].delayed
    later(world, LONG_MS)
    assert statuses(world) == {}, "that very moment is still in time"
    later(world, 1)
    assert statuses(world) == {1: "expired"}
    assert numbers(world) == {0: (2, "intent")}, "the next one moves down"


def test_bytes_that_come_too_late_are_not_used() -> None:
    world = begun(1)
    limited(world, 1)
    (order,) = made(world)
    world.now_ms += LONG_MS + 1
    world.post(AttemptsMade(world.now_ms, (world.make(order),)))
    assert (sent(world), world.lane.attempts) == ([], {})
    assert expire_ms(world.lane) == world.now_ms
    later(world, 0)
    assert (statuses(world), world.lane.slots, world.lane.dated) == ({1: "expired"}, {}, {})
    assert expire_ms(world.lane) is None


def test_what_was_signed_and_held_back_is_not_offered_after_its_time() -> None:
    world = begun(3)
    limited(world, 2)
    first, second, third = made(world)
    world.post(AttemptsMade(world.now_ms, (world.make(second), world.make(third))))
    world.now_ms += LONG_MS + 1
    world.post(AttemptsMade(world.now_ms, (world.make(first),)))
    assert sent(world) == [1]
    world.out = []
    later(world, 0)
    make_all(world)
    assert statuses(world) == {2: "expired"}
    assert (sent(world), numbers(world)[1]) == ([3], (3, "intent"))


def test_what_a_look_at_the_chain_would_offer_is_judged_too() -> None:
    """Someone else used the number below, which held it back."""
    world = begun(2)
    limited(world, 2)
    second = made(world)[1]
    world.post(AttemptsMade(world.now_ms, (world.make(second),)))
    world.now_ms += LONG_MS + 1
    chain(world, 1, 1)
    assert sent(world) == []
    later(world, 0)
    assert statuses(world) == {2: "expired"}


def test_late_bytes_below_the_accounts_count_are_not_passed_over() -> None:
    """A reorg may free the number again: what was never offered keeps its date."""
    world = begun(2)
    limited(world, 2)
    second = made(world)[1]
    world.post(AttemptsMade(world.now_ms, (world.make(second),)))
    world.now_ms += LONG_MS + 1
    chain(world, 2, 1)
    assert sent(world) == []
    assert world.lane.head.offered_next <= 1
    assert world.lane.dated


def test_once_a_node_may_hold_its_bytes_the_time_counts_no_more() -> None:
    world = begun(1)
    limited(world, 1)
    make_all(world)
    assert (sent(world), world.lane.dated) == ([1], {})
    world.crash()
    assert world.lane.dated == {}
    take(world, 1)
    later(world, world.settings.bump_after_ms)
    make_all(world)
    assert (statuses(world), list(world.lane.attempts[1])) == ({}, [1, 2])


def test_in_a_paused_lane_what_waits_with_a_number_or_for_one_expires_too() -> None:
    world = begun(3)
    make_all(world)
    refuse(world, 2, 1)
    limited(world, 2)
    world.apply([ModeChanged("paused", "", "", 1)])
    later(world, LONG_MS + 1)
    assert statuses(world) == {2: "expired"}
    world = begun(1)
    limited(world, 1)
    world.post(AttemptsMade(world.now_ms, (NotMade(1, 1, final=False, reason="away"),)))
    world.apply([ModeChanged("paused", "", "", 1)])
    later(world, LONG_MS + 1)
    assert statuses(world) == {1: "expired"}


def test_a_number_below_others_that_were_offered_is_filled() -> None:
    world = begun(2)
    make_all(world)
    take(world, 2)
    refuse(world, 1, 1)
    later(world, world.settings.make_retry_ms)
    limited(world, 1)
    assert numbers(world) == {0: (1, "intent"), 1: (2, "intent")}
    later(world, LONG_MS + 1)
    assert statuses(world) == {1: "expired"}
    later(world, world.settings.make_retry_ms)
    assert numbers(world) == {0: (0, "noop"), 1: (2, "intent")}


def test_a_number_below_others_that_is_signed_in_time_is_offered_at_once() -> None:
    world = begun(2)
    make_all(world)
    take(world, 2)
    refuse(world, 1, 1)
    later(world, world.settings.make_retry_ms)
    limited(world, 1)
    make_all(world)
    assert world.lane.dated == {}


def test_a_number_that_someone_else_used_is_not_given_out_again() -> None:
    world = begun(2)
    limited(world, 1)
    chain(world, 1, 1)
    later(world, LONG_MS + 1)
    assert statuses(world) == {1: "expired"}
    assert world.lane.free.count == 0


def test_many_that_expire_at_once_move_nobody_where_nothing_is_above_them() -> None:
    world = begun(6)
    limited(world, 2, 4, 5, 6)
    world.now_ms += LONG_MS + 1
    world.out = []
    later(world, 0)
    assert statuses(world) == {4: "expired", 5: "expired", 6: "expired"}
    assert not made(world)
    later(world, 0)
    assert statuses(world) == dict.fromkeys((2, 4, 5, 6), "expired")
    assert numbers(world) == {0: (1, "intent"), 1: (3, "intent")}


def test_one_that_is_being_taken_back_is_cancelled_and_not_expired() -> None:
    world = begun(2)
    second = made(world)[1]
    world.post(AttemptsMade(world.now_ms, (world.make(second),)))
    limited(world, 2)
    world.tell("cancel", list(world.accepted.values())[1])
    later(world, LONG_MS + 1)
    assert statuses(world) == {2: "cancelled"}


def test_the_gas_of_what_was_signed_and_never_offered_is_given_back() -> None:
    world = begun(2)
    second = made(world)[1]
    world.post(AttemptsMade(world.now_ms, (world.make(second),)))
    assert world.lane.spend > 0
    limited(world, 2)
    later(world, LONG_MS + 1)
    assert (world.lane.spend, world.lane.head.spend) == (0, b"")


def test_what_has_time_is_left_alone() -> None:
    world = begun(1)
    limited(world, 1)
    assert expire(world.lane, world.now_ms) == NOTHING
    assert deadline(world.lane) == world.now_ms + world.settings.poll_ms


def test_an_answer_that_was_long_on_its_way_makes_nothing_younger() -> None:
    world = begun(3)
    limited(world, 2)
    zero, one, two = (effect for effect in world.out if isinstance(effect, MakeAttempt))
    started_ms = world.now_ms
    world.post(AttemptsMade(world.now_ms, (world.make(one),)))
    world.now_ms += LONG_MS + 1
    world.post(AttemptsMade(world.now_ms, (world.make(two),)))
    world.out = []
    world.post(AttemptsMade(started_ms, (world.make(zero),)))
    sent = [effect.slot for effect in world.out if isinstance(effect, SendAttempt)]
    assert sent == [zero.slot]
