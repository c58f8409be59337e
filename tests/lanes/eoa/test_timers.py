"""What is due, and when."""

from typing import Any

import pytest
from tests.lanes.eoa.stage import (
    NODES,
    World,
    begun,
    chain,
    is_broke,
    later,
    make_all,
    receipt,
    refuse,
    run,
    take,
)
from tests.lanes.eoa.test_laws import check

from laneway.core.outcome import Outcome
from laneway.lanes.common.values import ModeChanged, TimerFired
from laneway.lanes.eoa import values as v
from laneway.lanes.eoa.limits import ATTEMPTS_MAX, REMINDED_MAX
from laneway.lanes.eoa.timers import bump_ms, deadline, gap_ms, judge_head, remind
from laneway.lanes.eoa.tries import NOTHING, decided, look


@pytest.mark.slow
def test_the_promises_are_kept_whenever_time_passes() -> None:
    for seed in range(15):
        check(run(seed, steps=300))


def test_a_lane_without_work_sleeps() -> None:
    assert deadline(begun(0).lane) is None


def test_the_chain_is_looked_at_while_something_is_out() -> None:
    world = begun(1)
    make_all(world)
    world.out = []
    assert deadline(world.lane) == world.now_ms + world.settings.poll_ms
    later(world, world.settings.poll_ms)
    assert isinstance(world.out[0], v.LookAtChain)


def test_a_lane_that_has_drained_is_paused_when_it_is_next_woken() -> None:
    world = begun(1)
    make_all(world)
    world.tell("drain", None, "running")
    chain(world, 1, 1, receipt(world, 1, 1, 1))
    chain(world, 1, 9)
    assert deadline(world.lane) == world.lane.head.mode_ms
    later(world, 1)
    assert world.lane.head.mode == "paused"


def test_silent_nodes_are_offered_the_same_bytes_again() -> None:
    world = begun(2)
    make_all(world)
    world.out = []
    unsure = tuple(v.SendResult(slot, 1, "a", Outcome.UNKNOWN) for slot in (2, 1))
    world.post(v.BroadcastReturned(world.now_ms, unsure))
    later(world, world.settings.resend_ms)
    sent = [effect for effect in world.out if isinstance(effect, v.SendAttempt)]
    assert [(effect.slot, effect.again) for effect in sent] == [(1, True), (2, True)]
    assert all(one.doubted for tries in world.lane.attempts.values() for one in tries.values())


def test_the_lowest_number_alone_is_made_dearer_when_it_stands_still() -> None:
    world = begun(2)
    make_all(world)
    for slot in (1, 2):
        take(world, slot)
    world.out = []
    later(world, world.settings.bump_after_ms)
    (made,) = [effect for effect in world.out if isinstance(effect, v.MakeAttempt)]
    assert (made.slot, made.number) == (1, 2)
    assert made.floor.cap >= 241
    make_all(world)
    assert bump_ms(world.lane) == world.now_ms + world.settings.bump_after_ms


def test_nothing_is_made_dearer_while_it_is_made_or_mined() -> None:
    world = begun(1)
    assert bump_ms(world.lane) is None
    make_all(world)
    assert bump_ms(world.lane) is not None
    take(world, 1)
    later(world, world.settings.bump_after_ms)
    assert bump_ms(world.lane) is None
    make_all(world)
    chain(world, 1, 1, receipt(world, 1, 2, 1))
    assert bump_ms(world.lane) is None


@pytest.mark.parametrize(
    "stopped", [ModeChanged("paused", "", "", 1), v.FundsJudged(True, b"\xff" * 12, b"", 2, 10**9)]
)
def test_what_is_out_goes_out_again_though_nothing_new_is_signed(stopped: v.Record) -> None:
    """The pool forgot an earlier payment, while the lane is paused or out of funds for a later one:
    its bytes are there, and need no signature."""
    world = begun(3)
    make_all(world)
    for slot in (1, 2):
        take(world, slot)
    world.apply([stopped])
    world.out = []
    later(world, world.settings.bump_after_ms)
    sent = [one for one in world.out if isinstance(one, v.SendAttempt) and one.slot in (1, 2)]
    assert [(one.slot, one.number, one.again) for one in sent] == [(1, 1, True), (2, 1, True)]
    assert not [one for one in world.out if isinstance(one, v.MakeAttempt)]
    assert bump_ms(world.lane) == world.now_ms + world.settings.bump_after_ms


def test_when_what_could_not_be_paid_is_cancelled_the_lane_goes_on() -> None:
    """A payment of 11 out of 10 ether, and small ones behind it."""
    world = begun(3)
    denied = v.NotMade(1, 1, final=False, reason="no funds", broke=True, needed=10**30)
    world.post(v.AttemptsMade(world.now_ms, (denied,)))
    assert is_broke(world)
    world.tell("cancel", next(iter(world.accepted.values())))
    assert deadline(world.lane) == 0
    later(world, 1)
    assert not is_broke(world)
    make_all(world)
    assert [effect.slot for effect in world.out if isinstance(effect, v.SendAttempt)] == [2, 3]


def test_what_was_never_offered_does_not_go_out_again() -> None:
    """A flashblock promises numbers below one that is signed, and held back by a number that is
    not."""
    world = begun(3)
    first, _, third = [one for one in world.out if isinstance(one, v.MakeAttempt)]
    world.post(v.AttemptsMade(world.now_ms, (world.make(first), world.make(third))))
    world.lane.head.preconfirmed = 2
    assert bump_ms(world.lane) is None


def test_what_could_not_be_made_is_made_again() -> None:
    world = begun(1)
    world.post(v.AttemptsMade(world.now_ms, (v.NotMade(1, 1, final=False, reason="away"),)))
    world.out = []
    later(world, 60_000)
    assert [type(effect) for effect in world.out if isinstance(effect, v.MakeAttempt)]


def test_a_hole_below_our_numbers_is_filled_by_a_no_op() -> None:
    world = begun(2)
    make_all(world)
    for slot in (1, 2):
        take(world, slot)
    assert gap_ms(world.lane) is None
    # Someone else's transaction took number 0, and then a reorg took that back.
    world.apply([v.SlotFreed(1, world.now_ms, "replaced", recycle=False)])
    assert (world.lane.head.latest, world.lane.head.final_next) == (1, 1), "it was used for good"
    world.lane.head.latest = 0
    world.apply([ModeChanged("paused", "", "", 1)])
    assert gap_ms(world.lane) is None
    world.apply([ModeChanged("running", "", "", 1)])
    assert gap_ms(world.lane) is not None
    later(world, world.settings.bump_after_ms)
    assert [slot.purpose for slot in world.lane.slots.values() if slot.nonce == 0] == ["noop"]
    chain(world, 0, 1)


def say(world: World, **words: Any) -> None:
    """Both nodes answer the first attempt in these words."""
    answer = {"outcome": Outcome.REFUSED, "reason": "no", **words}
    world.post(
        v.BroadcastReturned(
            world.now_ms, tuple(v.SendResult(1, 1, node, **answer) for node in NODES)
        )
    )


def made(world: World) -> list[int]:
    return [effect.number for effect in world.out if isinstance(effect, v.MakeAttempt)]


@pytest.mark.parametrize("outcome", [Outcome.UNKNOWN, Outcome.REFUSED])
def test_bytes_that_no_node_had_go_out_again_and_are_never_made_dearer(outcome: Outcome) -> None:
    """An outage alone made 32 attempts that no node had received, from 1 to 41 gwei."""
    world = begun(1)
    make_all(world)
    for _ in range(40):
        say(world, outcome=outcome, reason="away")
        world.out = []
        later(world, world.settings.bump_after_ms)
        again = [one for one in world.out if isinstance(one, v.SendAttempt)]
        assert [(one.number, one.again, one.nodes) for one in again] == [(1, True, NODES)]
        assert made(world) == []
    begun_ms = world.now_ms = world.now_ms + 5_000
    say(world, outcome=Outcome.ACCEPTED)
    assert bump_ms(world.lane) == begun_ms + world.settings.bump_after_ms, "its time begins now"
    later(world, world.settings.bump_after_ms)
    assert made(world) == [2]


def test_bytes_that_a_node_calls_too_cheap_are_made_dearer() -> None:
    world = begun(1)
    make_all(world)
    say(world, cheap=True, reason="underpriced")
    assert world.lane.slots[1].id not in world.lane.submitted
    later(world, world.settings.bump_after_ms)
    assert made(world) == [2]


def test_without_a_block_nothing_was_passed_over() -> None:
    world = begun(1)
    make_all(world)
    take(world, 1)
    world.out = []
    world.now_ms += world.settings.bump_after_ms
    world.post(TimerFired(world.now_ms))
    assert made(world) == []
    assert [one.again for one in world.out if isinstance(one, v.SendAttempt)] == [True]
    say(world, outcome=Outcome.ACCEPTED, reason="already known")
    chain(world, 0, 1)
    world.now_ms += world.settings.bump_after_ms
    world.post(TimerFired(world.now_ms))
    assert made(world) == [2]


def test_what_every_node_refused_for_good_is_not_made_dearer_and_the_other_goes_out_again() -> None:
    """A node's own cap on fees refuses the dearer attempt; the cheaper one can still land."""
    world = begun(1)
    make_all(world)
    take(world, 1)
    later(world, world.settings.bump_after_ms)
    make_all(world)
    refuse(world, 1, 2)
    world.out = []
    later(world, world.settings.bump_after_ms)
    assert not [effect for effect in world.out if isinstance(effect, v.MakeAttempt)]
    (sent,) = [effect for effect in world.out if isinstance(effect, v.SendAttempt)]
    assert (sent.number, sent.again) == (1, True)
    assert world.lane.slots[1].wait_reason == "no"


def test_a_no_op_that_every_node_refused_is_made_anew() -> None:
    world = begun(1)
    make_all(world)
    take(world, 1)
    world.tell("cancel", next(iter(world.accepted.values())))
    make_all(world)
    refuse(world, 1, 2)
    world.out = []
    later(world, world.settings.bump_after_ms)
    (made,) = [effect for effect in world.out if isinstance(effect, v.MakeAttempt)]
    assert (made.number, made.purpose) == (3, "cancel")


def test_one_number_has_so_many_attempts_and_then_the_last_is_offered_again() -> None:
    world = begun(1)
    make_all(world)
    for number in range(1, ATTEMPTS_MAX):
        take(world, 1, number)
        later(world, world.settings.bump_after_ms)
        make_all(world)
    take(world, 1, ATTEMPTS_MAX)
    world.out = []
    later(world, world.settings.bump_after_ms)
    (sent,) = [effect for effect in world.out if not isinstance(effect, v.LookAtChain)]
    assert isinstance(sent, v.SendAttempt)
    assert (sent.number, sent.nodes, sent.again) == (ATTEMPTS_MAX, NODES, True)
    assert world.lane.slots[1].wait_reason == "tried_out"
    assert bump_ms(world.lane) == world.now_ms + world.settings.bump_after_ms


def test_bytes_that_were_asked_for_twice_are_not_taken_for_those_of_another_purpose() -> None:
    """Making failed once, and the same question is still out since a reload."""
    world = begun(1)
    make_all(world)
    take(world, 1)
    later(world, world.settings.bump_after_ms)
    (asked,) = [effect for effect in world.out if isinstance(effect, v.MakeAttempt)]
    away = v.NotMade(1, 2, final=False, reason="away")
    world.post(v.AttemptsMade(world.now_ms, (away,)))
    world.tell("cancel", next(iter(world.accepted.values())))
    world.post(v.AttemptsMade(world.now_ms, (world.make(asked),)))
    assert list(world.lane.attempts[1]) == [1], "it is nobody's any more"


def test_a_number_that_stands_still_reminds_nodes_of_those_above_it() -> None:
    """A node that was started again has an empty pool: nothing above the lowest number would ever
    be mined, for each waits its turn to stand still."""
    world = begun(4)
    make_all(world)
    for slot in (1, 2, 3):
        take(world, slot)
    world.out = []
    later(world, world.settings.bump_after_ms)
    again = [one for one in world.out if isinstance(one, v.SendAttempt) and one.slot in (2, 3)]
    assert [(one.slot, one.number, one.again) for one in again] == [(2, 1, True), (3, 1, True)]
    assert world.lane.tries(2)[1].doubted


def test_a_new_block_is_not_looked_into_twice_or_too_soon_or_for_nothing() -> None:
    world = begun(1)
    lane, read_ms = world.lane, world.lane.head.read_ms
    soon_ms = read_ms + world.settings.look_ms_min
    assert judge_head(lane, soon_ms - 1) == NOTHING
    assert judge_head(lane, soon_ms) == decided([v.LookBegun()], [look(lane)])
    lane.head.looking = True
    assert judge_head(lane, soon_ms) == NOTHING
    assert judge_head(begun(0).lane, soon_ms) == NOTHING


def test_a_reminder_has_its_bound() -> None:
    world = begun(REMINDED_MAX + 5, inflight=REMINDED_MAX + 5)
    while world.kind.wants(world.lane):
        world.pull()
    make_all(world)
    for slot in list(world.lane.slots):
        take(world, slot)
    decision = remind(world.lane, world.lane.slots[1])
    assert len(decision.effects) == REMINDED_MAX
    assert not any(record.reorg for record in decision.records)  # type: ignore[union-attr]


def test_what_all_nodes_refuse_above_a_number_that_stands_still_is_offered_to_them_again() -> None:
    """Each was refused five times only when its turn came: many of them took minutes."""
    world = begun(3)
    make_all(world)
    take(world, 1)
    take(world, 3)
    for node in NODES:
        # It was offered before, and the answer of then was lost.
        decided = v.SendResult(2, 1, node, Outcome.REFUSED, first=False, final=True, reason="bad")
        world.post(v.BroadcastReturned(world.now_ms, (decided,)))
    assert world.lane.attempts[2][1].is_denied()
    world.out = []
    later(world, world.settings.bump_after_ms)
    again = [effect.slot for effect in world.out if isinstance(effect, v.SendAttempt)]
    assert 2 in again
