"""One stream for each account, permits asked at the last moment, and an answer to every order."""

import asyncio
from typing import Any

import pytest
from tests.engine.eoa.stage import AWAY, CHAIN_ID, Stage, looking, order, ref, sending

from laneway.core.facts import SendKind
from laneway.core.outcome import Outcome
from laneway.engine.effects import Batcher, Follower
from laneway.engine.eoa import ChainView, EoaPerformer, EvmAccount
from laneway.engine.limits import READ_TIMEOUT_MS
from laneway.lanes.eoa.values import (
    AttemptsMade,
    BroadcastReturned,
    ChainRead,
    HeadSeen,
    Made,
    MakeAttempt,
    NonceProven,
    NotMade,
    ProveNonce,
    ReadFailed,
    SendAttempt,
)
from laneway.ports import EvmRequest
from laneway.signers.local import LocalSigner


def test_it_carries_out_many_at_once_and_hears_of_blocks() -> None:
    performer = Stage().performer
    assert isinstance(performer, Batcher)
    assert isinstance(performer, Follower)
    assert performer.perform_now(Stage().lane, None) is None  # type: ignore[arg-type, func-returns-value]


# In the turn.


def test_the_turn_answers_what_it_can_and_leaves_the_rest() -> None:
    stage = Stage()
    stage.run(stage.view.fees_now())
    now = order(slot=1), order(slot=2)
    later: list[Any] = [order(EvmRequest(to=b"x" * 20), slot=3), looking(), sending(b"raw")]
    event, rest = stage.performer.answer_now(stage.lane, [now[0], later[0], now[1], *later[1:]], 5)
    assert isinstance(event, AttemptsMade)
    assert (event.now_ms, [one.slot for one in event.made]) == (5, [1, 2])
    assert rest == later


def test_a_turn_with_nothing_to_answer_says_so() -> None:
    stage = Stage()
    effects: list[Any] = [order()]
    assert stage.performer.answer_now(stage.lane, effects, 5) == (None, effects)


# Sending.


def test_many_go_out_in_one_batch_in_their_order() -> None:
    stage = Stage()
    returned = stage.perform(*(sending(bytes([n]), n) for n in (1, 2, 3)))
    assert isinstance(returned, BroadcastReturned)
    assert stage.chain.sent == [[b"\x01", b"\x02", b"\x03"]]
    assert [(one.slot, one.node, one.outcome) for one in returned.results] == [
        (slot, "node", Outcome.ACCEPTED) for slot in (1, 2, 3)
    ]
    assert all(one.first for one in returned.results)


def test_a_second_batch_waits_for_the_first_to_be_answered() -> None:
    stage = Stage()
    stage.chain.takes_s = 1.0

    async def story() -> None:
        send = stage.performer.perform_all
        await asyncio.gather(
            *(send(stage.lane, [sending(bytes([n]), n)], lambda: None) for n in range(5))
        )

    stage.run(story())
    assert stage.chain.sent == [[bytes([n])] for n in range(5)]
    assert stage.chain.sending_max == 1


def test_another_account_does_not_wait() -> None:
    stage = Stage()
    stage.chain.takes_s = 1.0
    second = EvmAccount(CHAIN_ID, stage.view, LocalSigner("two", b"\x02" * 32))
    performer = EoaPerformer({stage.lane: stage.account, second.lane: second}, stage.time)

    async def story() -> None:
        await asyncio.gather(
            performer.perform_all(stage.lane, [sending(b"a")], lambda: None),
            performer.perform_all(second.lane, [sending(b"b")], lambda: None),
        )

    stage.run(story())
    assert stage.chain.sending_max == 2


def test_a_permit_is_asked_again_after_waiting_and_nothing_leaves_without_it() -> None:
    """The lease may end while a batch waits behind another that hangs."""
    stage = Stage()
    stage.chain.takes_s = 60.0
    over: list[str] = []

    async def story() -> list[Any]:
        def permit() -> str | None:
            return over[0] if over else None

        send = stage.performer.perform_all
        first = asyncio.create_task(send(stage.lane, [sending(b"one", 1)], permit))
        second = asyncio.create_task(send(stage.lane, [sending(b"two", 2)], permit))
        await asyncio.sleep(1)
        over.append("not sent: the lease may be over")
        await first
        return list(await second)

    (returned,) = stage.run(story())
    assert stage.chain.sent == [[b"one"]]
    ((result),) = returned.results
    assert (result.slot, result.outcome, result.final) == (2, Outcome.REFUSED, False)
    assert result.reason == "not sent: the lease may be over"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (SendKind.TAKEN, {"outcome": Outcome.ACCEPTED}),
        (SendKind.ALREADY_KNOWN, {"outcome": Outcome.ACCEPTED}),
        (SendKind.NONCE_TOO_LOW, {"outcome": Outcome.UNKNOWN, "used": True}),
        (SendKind.SILENT, {"outcome": Outcome.UNKNOWN}),
        (SendKind.UNKNOWN, {"outcome": Outcome.UNKNOWN}),
        (SendKind.INSUFFICIENT_FUNDS, {"outcome": Outcome.REFUSED, "broke": True}),
        (SendKind.OVERSIZED, {"outcome": Outcome.REFUSED, "final": True, "hopeless": True}),
        (SendKind.GAS_LIMIT, {"outcome": Outcome.REFUSED, "final": True, "hopeless": True}),
        (SendKind.MALFORMED, {"outcome": Outcome.REFUSED, "final": True}),
        (SendKind.POOL_FULL, {"outcome": Outcome.REFUSED}),
    ],
)
def test_what_a_node_says_reaches_the_lane_as_what_it_proves(
    kind: SendKind, words: dict[str, Any]
) -> None:
    stage = Stage()
    stage.chain.answers = [kind]
    (result,) = stage.perform(sending(b"raw")).results
    told = {
        name: getattr(result, name) for name in ("outcome", "final", "hopeless", "broke", "used")
    }
    expected = {"final": False, "hopeless": False, "broke": False, "used": False, **words}
    assert told == expected


def test_bytes_that_went_out_before_are_answered_as_such() -> None:
    stage = Stage()
    stage.chain.answers = [SendKind.MALFORMED]
    (result,) = stage.perform(sending(b"raw", again=True)).results
    assert not result.first


@pytest.mark.parametrize(
    ("waits", "asked"),
    [
        ([("a", "b"), ("a", "b")], ("a", "b")),
        ([("b",)], ("b",)),
        ([("b",), ("a",)], ("a", "b")),
        ([("gone",)], ()),
        ([("a", "gone")], ()),
    ],
)
def test_bytes_go_to_those_that_have_not_answered_or_to_all_where_nodes_were_exchanged(
    waits: list[tuple[str, ...]], asked: tuple[str, ...]
) -> None:
    stage = Stage()
    stage.chain.nodes = ("a", "b")
    stage.perform(*(SendAttempt(1, 1, b"raw", nodes) for nodes in waits))
    assert stage.chain.asked_nodes == [asked]


# Making, looking, proving.


def test_attempts_are_made_together_and_answered_together() -> None:
    stage = Stage(remote=True)
    event = stage.perform(order(slot=1), order(slot=2))
    assert isinstance(event, AttemptsMade)
    assert [type(one) for one in event.made] == [Made, Made]


def test_each_number_is_proven_for_itself() -> None:
    stage = Stage()
    events = stage.run(
        stage.performer.perform_all(stage.lane, [ProveNonce(1, 0), ProveNonce(2, 0)], lambda: None)
    )
    assert [(type(one), one.nonce) for one in events] == [(NonceProven, 1), (NonceProven, 2)]


def test_one_effect_alone_is_a_batch_of_one() -> None:
    stage = Stage()
    assert isinstance(stage.run(stage.performer.perform(stage.lane, looking())), ChainRead)


def test_a_look_that_hangs_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()

    async def never(_: bytes) -> Any:
        await asyncio.sleep(1e6)

    monkeypatch.setattr(stage.chain, "account", never)
    assert isinstance(stage.perform(looking()), ReadFailed)
    assert stage.time.monotonic_ms() == READ_TIMEOUT_MS


# Declining.


def test_what_was_not_begun_is_answered_with_nothing_that_is_worth_a_risk() -> None:
    stage = Stage()

    def declined(effect: Any) -> Any:
        return stage.performer.decline(stage.lane, effect, "stopping")

    made = declined(order(slot=4))
    assert made.made == (NotMade(4, 1, final=False, reason="stopping"),)
    (result,) = declined(sending(b"raw", 4)).results
    assert (result.slot, result.outcome, result.final) == (4, Outcome.REFUSED, False)
    assert isinstance(declined(looking()), ReadFailed)
    proven = declined(ProveNonce(3, 0))
    assert (proven.nonce, proven.receipt) == (3, None)
    assert stage.chain.sent == []
    assert stage.chain.asked == []


# Heads.


def test_only_accounts_with_something_out_hear_of_new_blocks() -> None:
    stage = Stage()
    other_chain = Stage()
    resting = EvmAccount(CHAIN_ID, stage.view, LocalSigner("two", b"\x02" * 32))
    elsewhere = EvmAccount(
        CHAIN_ID + 1,
        ChainView(other_chain.chain, stage.time),
        LocalSigner("three", b"\x03" * 32),
    )
    accounts = {one.lane: one for one in (stage.account, resting, elsewhere)}
    performer = EoaPerformer(accounts, stage.time)
    heard: list[tuple[str, Any]] = []

    async def story() -> None:
        stage.chain.heads_told = asyncio.Queue()
        other_chain.chain.heads_told = asyncio.Queue()
        task = asyncio.create_task(
            performer.follow(lambda lane, event: heard.append((lane, event)))
        )

        async def block() -> None:
            stage.chain.heads_told.put_nowait(ref(1))
            await asyncio.sleep(0.1)

        await block()
        assert heard == [], "nobody has anything out"
        await performer.perform_all(stage.lane, [sending(b"raw")], lambda: None)
        await performer.perform_all(elsewhere.lane, [sending(b"raw")], lambda: None)
        await block()
        assert [lane for lane, _ in heard] == [stage.lane], "of its own chain alone"
        assert isinstance(heard[0][1], HeadSeen)
        await performer.perform_all(stage.lane, [looking(None, b"hash")], lambda: None)
        await block()
        assert len(heard) == 2
        await performer.perform_all(stage.lane, [looking()], lambda: None)
        await block()
        assert len(heard) == 2, "all is settled"
        task.cancel()

    stage.run(story())


def test_a_look_that_failed_leaves_an_account_listening() -> None:
    stage = Stage()
    heard: list[str] = []

    async def story() -> None:
        stage.chain.heads_told = asyncio.Queue()
        task = asyncio.create_task(stage.performer.follow(lambda lane, _: heard.append(lane)))
        await stage.performer.perform_all(stage.lane, [sending(b"raw")], lambda: None)
        stage.chain.trouble = AWAY
        await stage.performer.perform_all(stage.lane, [looking()], lambda: None)
        stage.chain.heads_told.put_nowait(ref(1))
        await asyncio.sleep(0.1)
        task.cancel()

    stage.run(story())
    assert heard == [stage.lane]


def test_an_order_is_one_of_four() -> None:
    stage = Stage()
    assert isinstance(order(), MakeAttempt)
    with pytest.raises(AssertionError):
        stage.perform("queer")
    with pytest.raises(AssertionError):
        stage.performer.decline(stage.lane, "queer", "")  # type: ignore[arg-type]
