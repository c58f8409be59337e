"""What answers prove."""

from typing import Any

import pytest
from tests.lanes.eoa.stage import (
    LONG_MS,
    NODES,
    World,
    begun,
    chain,
    is_broke,
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

from laneway.core.outcome import Outcome
from laneway.core.units import amount, value
from laneway.lanes.eoa import values as v
from laneway.lanes.eoa.answers import judge_answers, taken_in_a_row
from laneway.lanes.eoa.fees import EvmFee
from laneway.lanes.eoa.limits import NOOP_GROWTH_MAX, REFUSALS_MAX
from laneway.lanes.eoa.show import describe, wait_reason, waiting


@pytest.mark.slow
def test_the_promises_are_kept_whatever_is_answered() -> None:
    for seed in range(15):
        check(run(seed, steps=300))


def below_the_count() -> tuple[World, v.MakeAttempt]:
    """1 is signed and held back, for 0 is not made yet; 2 is neither."""
    world = begun(3)
    limited(world, 2)
    _, one, _ = (effect for effect in world.out if isinstance(effect, v.MakeAttempt))
    world.out = []
    world.post(v.AttemptsMade(world.now_ms, (world.make(one),)))
    assert world.out == [], "it is held back"
    return world, one


def test_what_is_signed_below_the_accounts_count_is_offered_with_the_others() -> None:
    """Others use 0 and 1; a reorg may take that back, and then it counts that they were offered."""
    world, one = below_the_count()
    chain(world, 2, 1)
    assert [effect.slot for effect in world.out if isinstance(effect, v.SendAttempt)] == [one.slot]
    assert world.lane.head.offered_next == 2


def test_what_is_signed_below_the_accounts_count_is_never_offered_after_its_time() -> None:
    world, one = below_the_count()
    world.now_ms += LONG_MS + 1
    chain(world, 2, 1)
    assert not any(isinstance(effect, v.SendAttempt) for effect in world.out)
    assert world.lane.head.offered_next == one.nonce, "it counts as never offered"


def test_numbers_are_offered_without_a_gap() -> None:
    world = begun(3)
    first, second, third = world.out
    world.out = []
    world.post(v.AttemptsMade(world.now_ms, (world.make(third), world.make(second))))
    assert world.out == []
    world.post(v.AttemptsMade(world.now_ms, (world.make(first),)))
    sent = [effect.slot for effect in world.out if isinstance(effect, v.SendAttempt)]
    assert sent == [1, 2, 3]
    assert world.lane.head.offered_next == 3


def test_one_that_can_never_be_made_falls_out_and_those_above_move_down() -> None:
    world = begun(3)
    first, second, third = world.out
    world.out = []
    made = (world.make(first), v.NotMade(second.slot, 1, final=True, reason="it reverts"))
    world.post(v.AttemptsMade(world.now_ms, (*made, world.make(third))))
    assert [result.status for result in world.results.values()] == ["refused"]
    intents = list(world.accepted)
    assert {slot.nonce: slot.intent for slot in world.lane.slots.values()} == {
        0: intents[0],
        1: intents[2],
    }
    make_all(world)
    assert world.lane.head.offered_next == 2
    # The bytes that were made for its old number are never sent.
    assert all(attempt.number > 1 for attempt in world.lane.attempts[3].values())


def test_an_attempt_above_its_cap_is_parked_until_it_is_cheaper() -> None:
    world = begun(1, fee_wei_max=50)
    make_all(world)
    (slot,) = world.lane.slots.values()
    assert slot.delayed
    assert slot.wait_reason == "parked_by_cap"
    world = begun(1, spend_wei_max=10)
    (effect,) = world.out
    world.post(v.AttemptsMade(world.now_ms, (v.Made(1, 1, b"r", b"h", EvmFee(1, 1), 1, 11),)))
    assert world.lane.slots[1].wait_reason == "parked_by_cap"
    assert effect.slot == 1


def test_who_cannot_pay_waits_and_nothing_new_is_given_out() -> None:
    world = begun(1)
    poor = v.NotMade(1, 1, final=False, reason="insufficient funds", broke=True)
    world.post(v.AttemptsMade(world.now_ms, (poor,)))
    assert is_broke(world)
    assert world.kind.wants(world.lane) == 0
    assert world.lane.slots[1].wait_reason == "out_of_funds"


def test_a_number_below_others_that_can_never_be_made_is_free_for_a_no_op() -> None:
    world = begun(2)
    make_all(world)
    refuse(world, 1, 1)
    assert world.lane.free.rows() == {0: 1}
    world.tick()
    world.now_ms += 2_000
    later(world, 0)
    (again,) = [effect for effect in world.out if getattr(effect, "nonce", None) == 0]
    world.post(v.AttemptsMade(world.now_ms, (v.NotMade(again.slot, 1, final=True, reason="x"),)))
    assert [result.status for result in world.results.values()] == ["refused"]
    assert world.lane.free.rows() == {0: 1}
    later(world, 2_000)
    assert [slot.purpose for slot in world.lane.slots.values() if slot.nonce == 0] == ["noop"]


def test_a_late_answer_changes_nothing() -> None:
    world = begun(1)
    make_all(world)
    take(world, 1)
    before = world.lane.attempts[1][1]
    refuse(world, 1, 1)
    world.post(v.BroadcastReturned(world.now_ms, ()))
    assert world.lane.attempts[1][1] == before
    world.post(v.AttemptsMade(world.now_ms, (v.NotMade(9, 1, final=True, reason="x"),)))
    refuse(world, 9, 1)


def test_a_refusal_frees_the_number_and_an_unknown_answer_keeps_it() -> None:
    world = begun(1)
    make_all(world)
    unsure = v.SendResult(1, 1, NODES[0], Outcome.UNKNOWN, reason="no answer")
    sure = v.SendResult(1, 1, NODES[1], Outcome.REFUSED, final=True, reason="no")
    world.post(v.BroadcastReturned(world.now_ms, (unsure, sure)))
    assert world.lane.slots[1].nonce == 0
    again = v.SendResult(1, 1, NODES[0], Outcome.REFUSED, first=False, final=True, reason="no")
    world.post(v.BroadcastReturned(world.now_ms, (again,)))
    assert 1 in world.lane.slots, "what may have been taken before is not freed by a refusal"


def test_what_no_bytes_can_mend_is_refused_for_good() -> None:
    world = begun(1)
    make_all(world)
    refuse(world, 1, 1, hopeless=True)
    assert [result.status for result in world.results.values()] == ["refused"]
    assert world.lane.head.nonce_next == 0


def test_a_refusal_for_lack_of_funds_waits_longer() -> None:
    world = begun(1)
    make_all(world)
    refuse(world, 1, 1, broke=True)
    assert is_broke(world)
    assert world.lane.head.retake_ms == world.now_ms + world.settings.funds_retry_ms


def filled(world: World, balance: int) -> None:
    """The account is seen to have so much."""
    before = value(world.lane.head.health.balance or b"")
    world.apply([v.AccountSeen(0, 0, amount(balance), 7, 1, world.now_ms, before < balance)])


@pytest.mark.parametrize("way", ["sent", "made"])
def test_a_word_on_what_an_account_had_before_it_was_filled_does_not_make_it_poor(way: str) -> None:
    """Its threshold would be what it has now, and it would wait for more in vain. A node that is a
    block behind says so a little longer."""
    for wait_ms, expected in ((-500, False), (11_999, False), (12_000, True)):
        world = begun(1, nodes=("a",), block_ms=12_000)
        filled(world, 5)
        world.now_ms += 1_000
        filled(world, 10**20)
        asked_ms = world.now_ms + wait_ms
        world.now_ms += 60_000
        words: dict[str, Any] = {
            "reason": "insufficient funds",
            "broke": True,
            "asked_ms": asked_ms,
        }
        if way == "made":
            poor = v.NotMade(1, 1, final=False, **words)
            world.post(v.AttemptsMade(world.now_ms, (poor,)))
        else:
            make_all(world)
            no = v.SendResult(1, 1, "a", Outcome.REFUSED, final=True, **words)
            world.post(v.BroadcastReturned(world.now_ms, (no,)))
        head = world.lane.head
        assert head.broke is expected, "by when it was asked, and not by when it answered"
        waits_ms = head.make_ms if way == "made" else head.retake_ms
        assert waits_ms == world.now_ms + world.settings.funds_retry_ms


def test_an_account_that_was_filled_with_less_than_it_lacks_stays_poor() -> None:
    world = begun(1, nodes=("a",))
    filled(world, 5)
    world.apply([v.FundsJudged(True, amount(10))])
    filled(world, 8)
    poor = v.NotMade(1, 1, final=False, reason="insufficient funds", broke=True)
    world.post(v.AttemptsMade(world.now_ms, (poor,)))
    assert is_broke(world)
    assert world.lane.head.health.threshold == amount(10)


def test_a_cancelled_number_that_every_node_refuses_is_cancelled() -> None:
    world = begun(1)
    make_all(world)
    world.tell("cancel", next(iter(world.accepted.values())))
    make_all(world)
    for number in (1, 2):
        refuse(world, 1, number)
    assert [result.status for result in world.results.values()] == ["cancelled"]


def test_what_stays_too_dear_is_made_again_ever_more_rarely() -> None:
    world = begun(1, fee_wei_max=1)
    pauses = []
    for _ in range(6):
        (order,) = [effect for effect in world.out if isinstance(effect, v.MakeAttempt)]
        world.out = []
        world.post(v.AttemptsMade(world.now_ms, (world.make(order),)))
        assert world.lane.head.make_ms is not None
        pauses.append((world.lane.head.make_ms - world.now_ms) // world.settings.poll_ms)
        later(world, world.lane.head.make_ms - world.now_ms)
        world.out = [effect for effect in world.out if isinstance(effect, v.MakeAttempt)]
    assert pauses == [1, 2, 4, 8, 8, 8]


def test_what_is_out_is_offered_again_while_anything_dearer_is_parked() -> None:
    """Pools forget; and a cap that forbids new bytes does not forbid the old."""
    world = begun(2, fee_wei_max=220)
    make_all(world)
    for slot in (1, 2):
        take(world, slot)
    later(world, world.settings.bump_after_ms)
    world.out = [effect for effect in world.out if not isinstance(effect, v.SendAttempt)]
    make_all(world)
    later(world, 1)
    (sent,) = [effect for effect in world.out if isinstance(effect, v.SendAttempt)]
    assert (sent.slot, sent.number, sent.nodes, sent.again) == (1, 1, NODES, True)
    assert world.lane.slots[1].wait_reason == "parked_by_cap"
    world.out = []
    later(world, world.settings.poll_ms)
    make_all(world)
    assert not [effect for effect in world.out if isinstance(effect, v.SendAttempt)], "not so soon"


def test_what_every_node_refuses_is_tried_so_often_ever_later_and_then_refused() -> None:
    """A malformed one, or one that its chain does not know, was signed and sent once a second."""
    world = begun(1)
    pauses, fees = [], []
    for turn in range(1, REFUSALS_MAX + 1):
        make_all(world)
        (attempt,) = world.lane.attempts[turn].values()
        fees.append(attempt.fee)
        refuse(world, turn, 1)
        if turn < REFUSALS_MAX:
            assert world.results == {}
            assert world.lane.head.retake_ms is not None
            pauses.append((world.lane.head.retake_ms - world.now_ms) // 1_000)
            later(world, world.lane.head.retake_ms - world.now_ms)
    assert pauses == [1, 2, 4, 8]
    assert len(set(fees)) == 1, "never at a climbing fee"
    assert [(one.status, one.reason) for one in world.results.values()] == [("refused", "no")]
    assert (world.lane.slots, world.lane.head.nonce_next) == ({}, 0), "and its number is free"


def test_what_every_node_refuses_and_one_may_have_had_ends_by_a_no_op_at_its_number() -> None:
    world = begun(1)
    make_all(world)
    results = [v.SendResult(1, 1, node, Outcome.UNKNOWN, reason="lost") for node in NODES]
    world.post(v.BroadcastReturned(world.now_ms, tuple(results)))
    for turn in range(1, REFUSALS_MAX + 1):
        assert (world.lane.slots[1].refusals, world.lane.slots[1].purpose) == (turn - 1, "intent")
        later(world, world.settings.bump_after_ms)
        assert list(world.lane.attempts[1]) == [1], "nothing dearer is made of it"
        refuse(world, 1, 1, first=False)
    assert world.lane.slots[1].purpose == "noop"
    make_all(world)
    take(world, 1, 2)
    chain(world, 1, 1, receipt(world, 1, 2, 1))
    chain(world, 1, 9)
    assert [(one.status, one.reason) for one in world.results.values()] == [("refused", "no")]


@pytest.mark.parametrize(("nodes", "word"), [(("a",), "refused"), (("a", "b"), "")])
def test_sound_bytes_that_several_nodes_refuse_by_their_rules_keep_their_number(
    nodes: tuple[str, ...], word: str
) -> None:
    """One of them may have passed them on. A single node is believed, for there is no other."""
    world = begun(1, nodes=nodes)
    make_all(world)
    results = [
        v.SendResult(
            1, 1, node, Outcome.REFUSED, final=True, policy=True, hopeless=True, reason="too large"
        )
        for node in nodes
    ]
    world.post(v.BroadcastReturned(world.now_ms, tuple(results)))
    assert [one.status for one in world.results.values()] == [word] * bool(word)
    if not word:
        assert world.lane.attempts[1][1].denied == nodes
        assert world.lane.slots[1].purpose == "noop", "whichever lands decides"


THREE = ("a", "b", "c")


def outvoted(world: World) -> None:
    """Two nodes refuse the bytes for good, and the third says it took them."""
    refused = [
        v.SendResult(1, 1, node, Outcome.REFUSED, first=False, final=True, reason="unsupported")
        for node in THREE[1:]
    ]
    took = v.SendResult(1, 1, "a", Outcome.ACCEPTED, first=False)
    world.post(v.BroadcastReturned(world.now_ms, (took, *refused)))


def test_what_one_node_takes_and_a_majority_refuses_is_made_no_dearer_and_ends_by_a_no_op() -> None:
    world = begun(1, nodes=THREE)
    make_all(world)
    for turn in range(1, REFUSALS_MAX + 1):
        assert world.lane.slots[1].purpose == "intent"
        outvoted(world)
        assert world.lane.slots[1].refusals == turn
        if turn < REFUSALS_MAX:
            later(world, world.settings.bump_after_ms)
            assert list(world.lane.attempts[1]) == [1], "never at a climbing fee"
    assert world.lane.slots[1].purpose == "noop"


def test_what_one_node_takes_and_others_call_hopeless_may_still_be_mined_by_it() -> None:
    world = begun(1, nodes=THREE)
    make_all(world)
    refused = [
        v.SendResult(1, 1, node, Outcome.REFUSED, final=True, hopeless=True, reason="too large")
        for node in THREE[1:]
    ]
    took = v.SendResult(1, 1, "a", Outcome.ACCEPTED)
    world.post(v.BroadcastReturned(world.now_ms, (took, *refused)))
    assert world.lane.slots[1].purpose == "intent"


def test_a_no_op_that_every_node_refuses_is_made_ever_more_rarely_and_named() -> None:
    world = begun(2)
    make_all(world)
    take(world, 2)
    refuse(world, 1, 1, hopeless=True)
    head, pauses = world.lane.head, []
    for turn in range(NOOP_GROWTH_MAX + 2):
        assert head.retake_ms is not None
        later(world, head.retake_ms - world.now_ms)
        (number,) = world.lane.noops
        make_all(world)
        refuse(world, number, 1)
        assert head.noop_refusals == turn + 1
        pauses.append((head.retake_ms - world.now_ms) // world.settings.make_retry_ms)
    assert pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 256]
    waits = "every node refuses a no-op for a free nonce: no"
    assert wait_reason(world.lane, world.lane.slots[2]) == f"gap_before: nonce 0 waits: {waits}"
    told = describe(world.head)
    assert (told.word, told.reason) == ("backing off", waits)
    assert waiting(head, world.settings) == f"gap_before: {waits}"
    world.now_ms += 256 * world.settings.make_retry_ms
    later(world, 0)
    (number,) = world.lane.noops
    make_all(world)
    take(world, number)
    assert (head.noop_refusals, head.noop_reason) == (0, "")


@pytest.mark.parametrize(
    "why",
    [
        v.NotMade(1, 2, final=False, reason="parked_by_cap: its caller's max_fee_per_gas"),
        v.NotMade(1, 2, final=True, reason="the call reverts: no", reverts=True),
        v.NotMade(1, 2, final=False, reason="insufficient funds", broke=True),
        v.NotMade(1, 2, final=False, reason="the signer is away"),
    ],
    ids=["ceiling", "reverts", "funds", "signer"],
)
def test_what_is_out_is_offered_again_while_nothing_dearer_can_be_made(why: v.NotMade) -> None:
    world = begun(1)
    make_all(world)
    take(world, 1)
    later(world, world.settings.bump_after_ms)
    world.out = []
    world.post(v.AttemptsMade(world.now_ms, (why,)))
    later(world, 0)
    (sent,) = [effect for effect in world.out if isinstance(effect, v.SendAttempt)]
    assert (sent.slot, sent.number, sent.nodes, sent.again) == (1, 1, NODES, True)
    take(world, 1)
    world.out = []
    world.now_ms += world.settings.bump_after_ms - 1
    world.post(v.AttemptsMade(world.now_ms, (why,)))
    later(world, 0)
    assert not [effect for effect in world.out if isinstance(effect, v.SendAttempt)], "not so soon"
    world.now_ms += 1
    world.post(v.AttemptsMade(world.now_ms, (why,)))
    later(world, 0)
    assert [effect.number for effect in world.out if isinstance(effect, v.SendAttempt)] == [1]


def test_what_is_offered_again_is_not_lost_where_another_falls_out() -> None:
    world = begun(1, fee_wei_max=220)
    make_all(world)
    take(world, 1)
    later(world, world.settings.bump_after_ms)
    world.accept(1)
    world.pull()
    (dear, new) = [effect for effect in world.out if isinstance(effect, v.MakeAttempt)]
    world.out = []
    never = v.NotMade(new.slot, 1, final=True, reason="malformed")
    world.post(v.AttemptsMade(world.now_ms, (world.make(dear), never)))
    later(world, 1)
    assert [effect.slot for effect in world.out if isinstance(effect, v.SendAttempt)] == [1]


def test_a_no_op_takes_the_number_of_bytes_that_nobody_takes_and_someone_may_have() -> None:
    """The first answer was lost, and every later one refuses for good: without a no-op the number
    would be asked for again and again, and those above it would never land."""
    world = begun(2)
    make_all(world)
    intent = next(iter(world.accepted))

    def answer(node: str, *, first: bool = False) -> None:
        result = v.SendResult(
            1, 1, node, Outcome.REFUSED, first=first, final=True, hopeless=True, reason="too large"
        )
        world.post(v.BroadcastReturned(world.now_ms, (result,)))

    world.post(v.BroadcastReturned(world.now_ms, (v.SendResult(1, 1, "a", Outcome.UNKNOWN),)))
    answer("b", first=True)
    assert world.lane.slots[1].purpose == "intent"
    later(world, world.settings.resend_ms)
    answer("a")
    answer("a")
    assert world.lane.slots[1].purpose == "noop"
    assert world.lane.attempts[1][1].denied == ("a",)
    assert (1, 1) not in world.lane.unsure, "nobody is asked again what he always refuses"
    make_all(world)
    take(world, 1, 2)
    chain(world, 1, 1, receipt(world, 1, 2, 1))
    chain(world, 1, 9)
    assert (world.results[intent].status, world.results[intent].reason) == ("refused", "too large")


def test_dearer_bytes_of_what_everyone_refuses_give_way_to_a_no_op() -> None:
    """They were ordered before the refusals came, and would be refused alike, for ever."""
    world = begun(2)
    make_all(world)
    world.post(v.BroadcastReturned(world.now_ms, (v.SendResult(1, 1, "a", Outcome.UNKNOWN),)))
    later(world, world.settings.resend_ms)
    world.tell("bump", world.accepted[next(iter(world.accepted))])
    (dearer,) = [effect for effect in world.out if isinstance(effect, v.MakeAttempt)]
    assert (dearer.slot, dearer.number) == (1, 2)
    hopeless = [
        v.SendResult(1, 1, node, Outcome.REFUSED, final=True, hopeless=True, reason="too large")
        for node in NODES
    ]
    world.post(v.BroadcastReturned(world.now_ms, tuple(hopeless)))
    slot = world.lane.slots[1]
    assert (slot.purpose, slot.making, slot.attempt_next) == ("noop", True, 3)
    world.post(v.AttemptsMade(world.now_ms, (world.make(dearer),)))
    assert list(world.lane.attempts[1]) == [1], "bytes that nobody waits for are not signed"


def test_what_takes_the_place_of_what_everyone_refuses_is_still_made() -> None:
    world = begun(2)
    make_all(world)
    world.post(v.BroadcastReturned(world.now_ms, (v.SendResult(1, 1, "a", Outcome.UNKNOWN),)))
    later(world, world.settings.resend_ms)
    world.tell("replace", world.accepted[next(iter(world.accepted))], "other")
    assert (world.lane.slots[1].making, world.lane.slots[1].content) == (True, 1)
    hopeless = [
        v.SendResult(1, 1, node, Outcome.REFUSED, final=True, hopeless=True, reason="too large")
        for node in NODES
    ]
    world.post(v.BroadcastReturned(world.now_ms, tuple(hopeless)))
    assert world.lane.slots[1].purpose == "intent"


def test_the_pause_between_resends_grows_to_its_bound() -> None:
    world = begun(1)
    make_all(world)
    pauses = []
    for _ in range(6):
        busy = tuple(v.SendResult(1, 1, node, Outcome.UNKNOWN) for node in NODES)
        world.post(v.BroadcastReturned(world.now_ms, busy))
        planned_ms = world.lane.head.resend_ms
        assert planned_ms is not None
        pauses.append((planned_ms - world.now_ms) // world.settings.resend_ms)
        world.apply([v.ResendPlanned(None)])
        world.now_ms = planned_ms
    assert pauses == [1, 1, 2, 4, 8, 8]


@pytest.mark.parametrize(
    "odd",
    [
        {"slot": 3},
        {"number": 2},
        {"node": "b"},
        {"outcome": Outcome.UNKNOWN},
    ],
)
def test_one_odd_answer_has_all_of_them_judged_one_by_one(odd: dict[str, Any]) -> None:
    world = begun(3, nodes=("a",))
    make_all(world)
    plain = [v.SendResult(slot, 1, "a", Outcome.ACCEPTED) for slot in (1, 2)]
    known = replace(plain[1], reason="already known")
    assert taken_in_a_row(world.lane, (plain[0], known)) is not None
    assert taken_in_a_row(world.lane, (plain[0], replace(plain[1], **odd))) is None


def test_a_node_that_takes_new_bytes_says_that_there_are_funds() -> None:
    """The word of a node that is behind came after the account was filled: the threshold is what
    it has now, and no balance would ever be above it."""
    world = begun(3, nodes=("a",))
    make_all(world)
    poor = v.SendResult(1, 1, "a", Outcome.REFUSED, broke=True, reason="insufficient funds")
    world.post(v.BroadcastReturned(world.now_ms, (poor,)))
    assert is_broke(world)
    old = v.SendResult(2, 1, "a", Outcome.ACCEPTED, reason="already known")
    world.post(v.BroadcastReturned(world.now_ms, (old,)))
    assert is_broke(world), "it may have had that before"
    new = [v.SendResult(slot, 1, "a", Outcome.ACCEPTED) for slot in (1, 3)]
    assert taken_in_a_row(world.lane, (new[0],)) is None
    world.post(v.BroadcastReturned(world.now_ms, tuple(new)))
    assert not is_broke(world)


def poor(slot: int, node: str, needed: int = 0) -> v.SendResult:
    words = "insufficient funds"
    return v.SendResult(slot, 1, node, Outcome.REFUSED, broke=True, reason=words, needed=needed)


def test_a_node_that_lags_behind_a_deposit_does_not_stop_what_another_takes() -> None:
    for batches in (
        ((poor(1, "a"), v.SendResult(1, 1, "b", Outcome.ACCEPTED)),),
        ((v.SendResult(1, 1, "b", Outcome.ACCEPTED),), (poor(1, "a"),)),
        ((poor(1, "a"),), (v.SendResult(1, 1, "b", Outcome.ACCEPTED),)),
    ):
        world = begun(1)
        make_all(world)
        for batch in batches:
            world.post(v.BroadcastReturned(world.now_ms, batch))
        assert not is_broke(world)


def test_a_node_that_denies_what_the_balance_says_is_asked_again() -> None:
    """Of the lowest number alone: what is below any other also costs something."""
    world = begun(2)
    make_all(world)
    chain(world, 0, 1, balance=100)
    world.post(v.BroadcastReturned(world.now_ms, (poor(1, "a", 100),)))
    assert not is_broke(world)
    world.post(v.BroadcastReturned(world.now_ms, (poor(1, "a", 101),)))
    assert is_broke(world)
    world = begun(2)
    make_all(world)
    chain(world, 0, 1, balance=100)
    world.post(v.BroadcastReturned(world.now_ms, (poor(2, "a", 100),)))
    assert is_broke(world)


def test_a_signer_that_denies_what_the_balance_says_is_asked_again_soon() -> None:
    world = begun(1)
    chain(world, 0, 1, balance=100)
    denied = v.NotMade(1, 1, final=False, reason="no funds", broke=True, needed=100)
    world.post(v.AttemptsMade(world.now_ms, (denied,)))
    assert not is_broke(world)
    assert world.lane.head.make_ms == world.now_ms + world.settings.make_retry_ms
    world.post(v.AttemptsMade(world.now_ms, (replace(denied, needed=101),)))
    health = world.lane.head.health
    assert (world.lane.head.broke, health.poor_slot, value(health.needed)) == (True, 1, 101)
    assert (health.broke_ms, value(health.threshold)) == (world.now_ms, 100)


def test_of_several_that_cannot_be_paid_the_lowest_is_noted_since_the_first() -> None:
    world = begun(3)
    make_all(world)
    begun_ms = world.now_ms
    world.post(v.BroadcastReturned(world.now_ms, (poor(3, "a", 30), poor(2, "a", 20))))
    world.now_ms += 5
    world.post(v.BroadcastReturned(world.now_ms, (poor(3, "b", 30),)))
    health = world.lane.head.health
    assert (health.poor_slot, value(health.needed), health.broke_ms) == (2, 20, begun_ms)
    world.post(v.BroadcastReturned(world.now_ms, (poor(1, "b", 10**30),)))
    health = world.lane.head.health
    assert (health.poor_slot, value(health.needed)) == (1, 10**30)


def test_the_threshold_of_an_earlier_time_is_forgotten() -> None:
    world = begun(1)
    make_all(world)
    world.apply([v.FundsJudged(False, amount(10**30))])
    world.post(v.BroadcastReturned(world.now_ms, (poor(1, "a"),)))
    assert value(world.lane.head.health.threshold) == world.balance()


def test_a_batch_that_every_node_took_is_one_record() -> None:
    world = begun(2, nodes=("a",))
    make_all(world)
    plain = tuple(v.SendResult(slot, 1, "a", Outcome.ACCEPTED) for slot in (1, 2))
    order = judge_answers(world.lane, plain, world.now_ms)
    assert order.records == (taken_in_a_row(world.lane, plain),)
    assert order.effects == ()


def test_what_was_answered_before_is_not_taken_in_a_row() -> None:
    world = begun(4, nodes=("a",))
    make_all(world)
    plain = [v.SendResult(slot, 1, "a", Outcome.ACCEPTED) for slot in (1, 2, 3, 4, 5)]
    assert taken_in_a_row(world.lane, ()) is None
    assert taken_in_a_row(world.lane, (plain[0],)) is None, "one is no row"
    assert taken_in_a_row(world.lane, tuple(plain)) is None, "there is no fifth"
    world.post(v.BroadcastReturned(world.now_ms, (plain[1],)))
    assert taken_in_a_row(world.lane, (plain[0], plain[1])) is None
    assert taken_in_a_row(world.lane, (plain[2], plain[3])) is None, "the first waits"


def test_an_answer_to_an_earlier_life_frees_nothing() -> None:
    """The lane was loaded again while its bytes were under way, and they were offered once more: a
    node may refuse the first offer and take the second."""
    world = begun(1)
    make_all(world)
    world.crash()
    assert [effect.again for effect in world.out if isinstance(effect, v.SendAttempt)] == [True]
    refuse(world, 1, 1)
    assert (list(world.lane.slots), world.lane.free.count) == ([1], 0)
    assert world.lane.attempts[1][1].denied == NODES


def test_bytes_that_never_left_are_offered_for_the_first_time_after_a_crash() -> None:
    world = begun(2)
    (first, second) = [effect for effect in world.out if isinstance(effect, v.MakeAttempt)]
    world.post(v.AttemptsMade(world.now_ms, (world.make(second),)))
    world.crash()
    world.post(v.AttemptsMade(world.now_ms, (world.make(first),)))
    refuse(world, 2, 1)
    assert list(world.lane.slots) == [1], "its number is free: nobody ever had it"


def test_what_is_valid_no_longer_is_neither_signed_nor_offered() -> None:
    world = begun(3)
    limited(world, 1, 2)
    first, second, third = [one for one in world.out if isinstance(one, v.MakeAttempt)]
    world.post(v.AttemptsMade(world.now_ms, (world.make(second), world.make(third))))
    world.now_ms += LONG_MS + 1
    world.post(v.AttemptsMade(world.now_ms, (world.make(first),)))
    assert list(world.lane.attempts) == [2, 3]
    limited(world, 1)
    world.post(v.AttemptsMade(world.now_ms, (world.make(first),)))
    assert [one.slot for one in world.out if isinstance(one, v.SendAttempt)] == [1]
