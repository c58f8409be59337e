"""Orders become events: what nodes say is passed on, and what was not begun proves nothing."""

import asyncio
from typing import Any

import pytest
from tests.engine.sequence.stage import (
    AWAY,
    CHAIN_ID,
    HEIGHT,
    NODE,
    Stage,
    looking,
    offering,
    order,
    payment,
    seen,
)

from laneway.core.cosmos import CommittedAccount as AccountSeen
from laneway.core.cosmos import CosmosLook, OfferKind
from laneway.core.outcome import Outcome
from laneway.engine.limits import READ_TIMEOUT_MS
from laneway.engine.performers import Batcher, FollowingPerformer
from laneway.lanes.sequence.values import (
    AttemptsMade,
    LookFailed,
    Made,
    NodeLooked,
    NotMade,
    OfferReturned,
    ProveSequence,
    SequenceProven,
)


def test_it_carries_out_many_at_once_and_follows_nothing() -> None:
    stage = Stage()
    assert isinstance(stage.performer, Batcher)
    assert not isinstance(stage.performer, FollowingPerformer)
    assert stage.performer.perform_now(stage.lane, looking()) is None  # type: ignore[func-returns-value]


# In the turn.


def test_the_turn_answers_what_it_can_and_leaves_the_rest() -> None:
    stage = Stage(price_micro=4_000)
    now = order(slot=1), order(slot=2)
    later: list[Any] = [order(payment(), slot=3), looking(), offering(b"raw")]
    effects = [now[0], later[0], now[1], *later[1:]]
    event, rest = stage.performer.answer_now(stage.lane, effects, 5)
    assert isinstance(event, AttemptsMade)
    assert (event.now_ms, [one.slot for one in event.made]) == (5, [1, 2])
    assert rest == later


def test_a_turn_with_nothing_to_answer_says_so() -> None:
    stage = Stage()
    effects: list[Any] = [order()]
    assert stage.performer.answer_now(stage.lane, effects, 5) == (None, effects)


# Making.


def test_attempts_are_made_together_and_answered_together() -> None:
    stage = Stage(remote=True)
    event = stage.perform(order(slot=1), order(payment(gas=1, timeout_height=1), slot=2))
    assert isinstance(event, AttemptsMade)
    assert [type(one) for one in event.made] == [Made, NotMade]
    assert event.now_ms == stage.time.now_ms()


def test_one_effect_alone_is_a_batch_of_one() -> None:
    stage = Stage()
    event = stage.run(stage.performer.perform(stage.lane, looking()))
    assert isinstance(event, NodeLooked)


# Offers.


def test_an_offer_goes_to_its_node_alone_and_its_answers_come_back_in_order() -> None:
    stage = Stage()
    stage.chain.answers = [OfferKind.TAKEN, OfferKind.MEMPOOL_FULL]
    event = stage.perform(offering(b"one", b"two", again=4))
    assert stage.chain.sent == [((NODE,), [b"one", b"two"])]
    assert isinstance(event, OfferReturned)
    assert [one.kind for one in event.answers] == [OfferKind.TAKEN, OfferKind.MEMPOOL_FULL]
    assert (event.node, event.serial, event.epoch, event.first) == (NODE, 5, 2, 3)
    assert (event.hashes, event.again) == ((b"hash of one", b"hash of two"), 4)
    assert event.now_ms == stage.time.now_ms()


def test_offers_to_several_nodes_are_made_at_once() -> None:
    stage = Stage()
    stage.chain.takes_s = 1.0
    begun_ms = stage.time.monotonic_ms()
    events = stage.perform_all(*(offering(b"raw", node=f"n{number}") for number in range(3)))
    assert [one.node for one in events] == ["n0", "n1", "n2"]
    assert stage.time.monotonic_ms() - begun_ms == 1_000


def test_what_may_not_leave_any_more_does_not() -> None:
    stage = Stage()
    event = stage.perform(offering(b"one", b"two"), permit=lambda: "the lease may be over")
    assert stage.chain.sent == []
    assert [one.kind for one in event.answers] == [OfferKind.UNREACHABLE] * 2
    assert event.answers[0].kind.outcome() is Outcome.REFUSED
    assert event.answers[0].log == "the lease may be over"


def test_a_permit_is_asked_for_when_its_turn_comes() -> None:
    stage = Stage(offers_at_once=1)
    stage.chain.takes_s = 1.0
    ended = 0.5

    def permit() -> str | None:
        passed_s = stage.time.monotonic_ms() / 1_000 - begun_s
        return "too late" if passed_s > ended else None

    begun_s = stage.time.monotonic_ms() / 1_000
    first, second = stage.perform_all(
        offering(b"one", node="a"), offering(b"two", node="b"), permit=permit
    )
    assert [first.answers[0].kind, second.answers[0].kind] == [
        OfferKind.TAKEN,
        OfferKind.UNREACHABLE,
    ]
    assert stage.chain.sent == [(("a",), [b"one"])]


@pytest.mark.parametrize("kind", ["offers", "looks", "proofs"])
def test_all_accounts_share_a_bound_on_what_is_under_way(kind: str) -> None:
    stage = Stage(offers_at_once=3, looks_at_once=2)
    stage.chain.takes_s = 1.0
    one: Any = {"offers": offering(b"raw"), "looks": looking(), "proofs": ProveSequence(3)}[kind]

    async def story() -> None:
        perform = stage.performer.perform
        await asyncio.gather(*(perform(stage.lane, one) for _ in range(7)))

    begun_ms = stage.time.monotonic_ms()
    stage.run(story())
    most = 3 if kind == "offers" else 2
    assert stage.chain.under_way_max == most
    assert stage.time.monotonic_ms() - begun_ms == -(-7 // most) * 1_000


def test_offers_and_looks_do_not_wait_for_each_other() -> None:
    stage = Stage(offers_at_once=1, looks_at_once=1)
    stage.chain.takes_s = 1.0

    async def story() -> None:
        perform = stage.performer.perform
        await asyncio.gather(perform(stage.lane, offering(b"raw")), perform(stage.lane, looking()))

    begun_ms = stage.time.monotonic_ms()
    stage.run(story())
    assert stage.time.monotonic_ms() - begun_ms == 1_000


# Looks.


def test_a_look_is_at_one_node_for_one_account() -> None:
    stage = Stage()
    stage.chain.look_said = CosmosLook(NODE, HEIGHT, None, (seen(),), CHAIN_ID)
    event = stage.perform(looking(b"a", b"b"))
    assert stage.chain.looked == [(NODE, stage.account.address, (b"a", b"b"))]
    assert isinstance(event, NodeLooked)
    assert (event.epoch, event.until, event.look) == (2, 9, stage.chain.look_said)


def test_nodes_are_looked_at_at_once() -> None:
    stage = Stage()
    stage.chain.takes_s = 1.0
    begun_ms = stage.time.monotonic_ms()
    events = stage.perform_all(looking(node="a"), looking(node="b"))
    assert len(events) == 2
    assert stage.time.monotonic_ms() - begun_ms == 1_000


def test_a_look_that_fails_proves_nothing() -> None:
    stage = Stage()
    stage.chain.trouble = AWAY
    event = stage.perform(looking(node="n2"))
    assert event == LookFailed(stage.time.now_ms(), "n2")


@pytest.mark.parametrize(
    ("network", "owner", "kind"),
    [
        ("another-1", "own", LookFailed),
        (CHAIN_ID, "celestia1other", LookFailed),
        (CHAIN_ID, "", LookFailed),
        (CHAIN_ID, "own", NodeLooked),
    ],
)
def test_a_look_at_another_chain_or_another_account_proves_nothing(
    network: str, owner: str, kind: type
) -> None:
    stage = Stage()
    owner = stage.account.address if owner == "own" else owner
    shown = CosmosLook(NODE, HEIGHT, AccountSeen(7, 500), (), network, owner)
    stage.chain.look_said = shown
    assert isinstance(stage.perform(looking()), kind)


def test_a_look_that_hangs_ends_and_leaves_its_place() -> None:
    stage = Stage(looks_at_once=1)

    async def story() -> None:
        begun_ms = stage.time.monotonic_ms()
        stage.chain.takes_s = 1e6
        assert isinstance(await stage.performer.perform(stage.lane, looking()), LookFailed)
        assert stage.time.monotonic_ms() - begun_ms == READ_TIMEOUT_MS
        stage.chain.takes_s = 0.0
        assert isinstance(await stage.performer.perform(stage.lane, looking()), NodeLooked)

    stage.run(story())


def test_waiting_for_a_place_counts_as_hanging() -> None:
    stage = Stage(looks_at_once=1)
    stage.chain.takes_s = READ_TIMEOUT_MS / 1_000 - 1
    first, second = stage.perform_all(looking(node="a"), looking(node="b"))
    assert isinstance(first, NodeLooked)
    assert isinstance(second, LookFailed)


# Proofs.


def test_each_number_is_proven_for_itself() -> None:
    stage = Stage()
    stage.chain.owner = seen()
    events = stage.perform_all(ProveSequence(1), ProveSequence(2))
    assert [(type(one), one.sequence, one.shown) for one in events] == [
        (SequenceProven, 1, (seen(),)),
        (SequenceProven, 2, (seen(),)),
    ]


@pytest.mark.parametrize("trouble", ["away", "hangs", "unknown"])
def test_who_used_a_number_may_stay_unknown(trouble: str) -> None:
    stage = Stage()
    stage.chain.trouble = AWAY if trouble == "away" else None
    stage.chain.takes_s = 1e6 if trouble == "hangs" else 0.0
    assert stage.perform(ProveSequence(4)) == SequenceProven(stage.time.now_ms(), 4, ())


# Declining.


def test_what_was_not_begun_is_answered_with_nothing_that_is_worth_a_risk() -> None:
    stage = Stage()
    now_ms = stage.time.now_ms()

    def declined(effect: Any) -> Any:
        return stage.performer.decline(stage.lane, effect, "stopping")

    made = declined(order(slot=4, number=2))
    assert made.made == (NotMade(4, 2, final=False, reason="stopping"),)
    offered = declined(offering(b"one", b"two"))
    assert isinstance(offered, OfferReturned)
    assert [one.kind for one in offered.answers] == [OfferKind.UNREACHABLE] * 2
    assert offered.serial == 5
    assert declined(looking(node="n2")) == LookFailed(now_ms, "n2")
    assert declined(ProveSequence(3)) == SequenceProven(now_ms, 3, ())
    assert stage.chain.sent == []
    assert stage.chain.asked == []


def test_an_order_is_one_of_four() -> None:
    stage = Stage()
    with pytest.raises(AssertionError):
        stage.perform("queer")
    with pytest.raises(AssertionError):
        stage.performer.decline(stage.lane, "queer", "")  # type: ignore[arg-type]
