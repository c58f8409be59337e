"""A price of gas is asked for as rarely as it may be, and is never below the least."""

import asyncio

import pytest
from tests.engine.sequence.stage import AWAY, CHAIN_ID, SECRET, Stage

from laneway.core.errors import ChainUnreachable
from laneway.cosmos.keys import HeldCosmosKey, raw_address
from laneway.engine.limits import FEES_KEPT_MS
from laneway.engine.sequence.account import account_lane


def test_an_account_is_named_by_its_chain_and_address() -> None:
    stage = Stage()
    key = HeldCosmosKey(SECRET)
    account = stage.account
    assert account.address == key.address("celestia")
    assert account.raw_address == raw_address(key.public_key)
    assert account.lane == account_lane(CHAIN_ID, account.address)
    assert account.lane == f"cosmos:{CHAIN_ID}:{account.address}"
    assert account.lane.startswith("cosmos:")


def test_only_a_key_that_is_held_here_signs_at_once() -> None:
    assert Stage().account.sign_now is not None
    assert Stage(remote=True).account.sign_now is None


def test_a_fixed_price_is_never_asked_for() -> None:
    stage = Stage(price_micro=5_000, price_micro_min=9_000)

    async def story() -> None:
        assert stage.view.price_known() == 5_000
        assert await stage.view.price_now() == 5_000
        assert await stage.view.price_now(0) == 5_000

    stage.run(story())
    assert stage.chain.asked == []


def test_a_price_is_kept_for_a_while_and_then_asked_for_again() -> None:
    stage = Stage()
    view = stage.view

    async def story() -> None:
        assert view.price_known() is None, "nobody asked yet"
        assert await view.price_now() == 4_000
        stage.chain.price_said = 0.007
        assert view.price_known() == 4_000
        assert await view.price_now() == 4_000
        assert stage.chain.asked == ["gas_price"]
        await asyncio.sleep((FEES_KEPT_MS - 1) / 1_000)
        assert view.price_known() == 4_000
        await asyncio.sleep(0.001)
        assert view.price_known() is None
        assert await view.price_now() == 7_000

    stage.run(story())
    assert stage.chain.asked == ["gas_price"] * 2


def test_who_wants_it_fresh_may_ask_sooner() -> None:
    stage = Stage()

    async def story() -> None:
        await stage.view.price_now()
        await asyncio.sleep(0.02)
        assert stage.view.price_known(20) is None
        assert stage.view.price_known() == 4_000
        stage.chain.price_said = 0.005
        assert await stage.view.price_now(20) == 5_000
        assert stage.view.price_known() == 5_000, "what one learned all know"

    stage.run(story())


@pytest.mark.parametrize(
    ("said", "least", "price"),
    [
        (0.004, 0, 4_000),
        (0.002, 4_000, 4_000),
        (None, 4_000, 4_000),
        (None, 0, 0),
        (0.004_000_1, 0, 4_001),
    ],
)
def test_a_price_is_rounded_up_and_not_below_the_least(
    said: float | None, least: int, price: int
) -> None:
    stage = Stage(price_micro_min=least)
    stage.chain.price_said = said
    assert stage.run(stage.view.price_now()) == price


def test_a_chain_that_is_away_leaves_the_price_unknown() -> None:
    stage = Stage()
    stage.chain.trouble = AWAY
    with pytest.raises(ChainUnreachable):
        stage.run(stage.view.price_now())
    assert stage.view.price_known() is None
