"""An answer to every order, and news of blocks to whoever has something out."""

import asyncio
from typing import Any

import pytest
from tests.engine.eoa.stage import AWAY, CHAIN_ID, Stage, looking, order, ref, sending

from laneway.core.outcome import Outcome
from laneway.engine.eoa import ChainView, EoaPerformer, EvmAccount
from laneway.engine.limits import READ_TIMEOUT_MS
from laneway.engine.performers import Batcher, FollowingPerformer
from laneway.lanes.eoa.values import (
    AttemptsMade,
    ChainRead,
    HeadSeen,
    Made,
    MakeAttempt,
    NonceProven,
    NotMade,
    ProveNonce,
    ReadFailed,
)
from laneway.ports import EvmRequest
from laneway.signers.local import LocalSigner


def test_it_carries_out_many_at_once_and_hears_of_blocks() -> None:
    performer = Stage().performer
    assert isinstance(performer, Batcher)
    assert isinstance(performer, FollowingPerformer)
    assert performer.perform_now(Stage().lane, None) is None  # type: ignore[func-returns-value]


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


# Making, looking, proving.


def test_attempts_are_made_together_and_answered_together() -> None:
    stage = Stage(remote=True)
    event = stage.perform(order(slot=1), order(slot=2))
    assert isinstance(event, AttemptsMade)
    assert [type(one) for one in event.made] == [Made, Made]


def test_each_number_is_proven_for_itself() -> None:
    stage = Stage()
    events = stage.run(
        stage.performer.perform_all(
            stage.lane, [ProveNonce(1, (), 0), ProveNonce(2, (), 0)], lambda: None
        )
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
    proven = declined(ProveNonce(3, (), 0))
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
