"""Bytes are made in the lane's own turn where nobody must be asked, and later elsewhere."""

import asyncio
from typing import Any

import pytest
from tests.engine.sequence.stage import (
    AWAY,
    CHAIN_ID,
    HEIGHT,
    Stage,
    order,
    payment,
    publication,
    replace,
)

from laneway.core.cosmos import GasSeen, OfferKind
from laneway.core.errors import SignerRefused, SignerUnreachable
from laneway.cosmos.blobs import CelestiaBlob, blob_gas
from laneway.cosmos.tx import is_signed, read
from laneway.engine.limits import BLOB_BYTES_AT_ONCE, FEES_AGAIN_MS, FEES_KEPT_MS, GAS_FACTOR_MAX
from laneway.engine.sequence.drafts import FILLER_GAS, draft
from laneway.engine.sequence.making import PARKED, kept_ms, make, make_now
from laneway.lanes.sequence.rows import Purpose
from laneway.lanes.sequence.values import Made, NotMade
from laneway.ports import CosmosBlob, CosmosRequest

PLAIN = payment(gas=100_000)
OPEN = payment()
LARGE = BLOB_BYTES_AT_ONCE + 1


def made(stage: Stage, request: CosmosRequest = PLAIN, **words: Any) -> Made:
    one = stage.run(make(stage.account, order(request, **words)))
    assert isinstance(one, Made), one
    return one


def not_made(stage: Stage, request: CosmosRequest = PLAIN, **words: Any) -> NotMade:
    one = stage.run(make(stage.account, order(request, **words)))
    assert isinstance(one, NotMade), one
    return one


# In the turn.


def test_a_key_that_is_held_here_signs_at_once() -> None:
    stage = Stage()
    assert make_now(stage.account, order()) is None, "what the chain asks is not known yet"

    async def story() -> None:
        await stage.view.price_now()
        one = make_now(stage.account, order(sequence=4, slot=9))
        assert isinstance(one, Made)
        assert (one.slot, one.number, one.gas, one.fee) == (9, 1, 100_000, 400)
        assert one.timeout_height == HEIGHT + 30
        found = read(one.raw)
        assert is_signed(found, CHAIN_ID, 7)
        assert (found.sequence(), found.hash) == (4, one.hash)
        assert found.public_key() == stage.account.public_key
        assert one == await make(stage.account, order(sequence=4, slot=9)), "signed the same"

    stage.run(story())
    assert stage.chain.asked == ["gas_price"]


@pytest.mark.parametrize("why", ["gas", "remote", "large", "price"])
def test_what_must_be_waited_for_is_not_made_in_the_turn(why: str) -> None:
    stage = Stage(remote=why == "remote", price_micro=None if why == "price" else 4_000)
    wanted = {"gas": OPEN, "large": publication(LARGE)}.get(why, PLAIN)
    assert make_now(stage.account, order(wanted)) is None


def test_a_blob_of_ordinary_size_is_paid_for_in_the_turn() -> None:
    stage = Stage(price_micro=4_000)
    one = make_now(stage.account, order(publication(64 << 10)))
    assert isinstance(one, Made)
    (blob,) = read(one.raw).blobs
    assert len(blob.data) == 64 << 10
    assert stage.chain.asked == []


def test_a_filler_needs_nobody() -> None:
    stage = Stage(price_micro=4_000)
    one = make_now(stage.account, order(purpose=Purpose.FILLER))
    assert isinstance(one, Made)
    assert one.gas == FILLER_GAS
    assert stage.chain.asked == []


@pytest.mark.parametrize("now", [True, False])
def test_what_fails_in_the_turn_fails_alike_behind_it(now: bool) -> None:
    stage = Stage(price_micro=4_000, fee_max=1_000)

    async def answered(request: CosmosRequest) -> NotMade:
        asked = order(request, slot=6, number=2)
        one = make_now(stage.account, asked) if now else await make(stage.account, asked)
        assert isinstance(one, NotMade)
        assert (one.slot, one.number) == (6, 2)
        return one

    async def story() -> None:
        late = await answered(payment(gas=1, timeout_height=HEIGHT))
        assert (late.final, late.expired, late.fails) == (True, True, False)
        dear = await answered(payment(gas=1, fee=1_001))
        assert (dear.final, dear.expired) == (False, False)
        assert dear.reason == f"{PARKED}: it asks a fee of 1001 utia, and fee_max allows 1000"
        bad = await answered(CosmosRequest(blobs=(CosmosBlob(b"short", b"data"),)))
        assert (bad.final, bad.expired) == (True, False)
        assert "29 bytes" in bad.reason

    stage.run(story())


def test_a_signer_that_refuses_in_the_turn_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(price_micro=4_000)

    def refuse(_: bytes) -> bytes:
        raise SignerRefused("here", "not this one")

    monkeypatch.setattr(stage.account, "sign_now", refuse)
    one = make_now(stage.account, order())
    assert isinstance(one, NotMade)
    assert one.final
    assert "not this one" in one.reason


# Behind it.


def test_bytes_made_again_ask_for_a_fresh_price() -> None:
    assert kept_ms(order()) == FEES_KEPT_MS
    assert kept_ms(order(number=2)) == FEES_AGAIN_MS
    stage = Stage()

    async def story() -> None:
        first = await make(stage.account, order())
        stage.chain.price_said = 0.008
        await asyncio.sleep(FEES_AGAIN_MS / 1_000)
        assert make_now(stage.account, order(number=2)) is None
        again = await make(stage.account, order(number=2))
        assert isinstance(first, Made)
        assert isinstance(again, Made)
        assert (first.fee, again.fee) == (400, 800)

    stage.run(story())
    assert stage.chain.asked == ["gas_price"] * 2


def test_a_key_elsewhere_signs_each_in_its_order() -> None:
    stage = Stage(remote=True, price_micro=4_000)
    orders = [order(sequence=number, slot=number) for number in range(5)]
    (event,) = stage.perform_all(*orders)
    answers = event.made
    assert [one.slot for one in answers] == list(range(5))
    assert [read(one.raw).sequence() for one in answers] == list(range(5))
    assert stage.remote.asked == 5


def test_a_signers_no_is_final_and_its_silence_is_not() -> None:
    stage = Stage(remote=True)
    stage.remote.error = SignerRefused("far", "not this one")
    refused = not_made(stage)
    assert refused.final
    assert "not this one" in refused.reason
    stage = Stage(remote=True)
    stage.remote.error = SignerUnreachable("far", "away")
    assert not not_made(stage).final


@pytest.mark.parametrize(("request_", "price"), [(PLAIN, None), (OPEN, None), (OPEN, 4_000)])
def test_a_chain_that_is_away_is_asked_again_later(
    request_: CosmosRequest, price: int | None
) -> None:
    stage = Stage(remote=True, price_micro=price)
    stage.chain.trouble = AWAY
    one = not_made(stage, request_)
    assert (one.final, one.fails) == (False, False)
    assert stage.remote.asked == 0


def test_one_that_fails_does_not_take_the_others_with_it() -> None:
    stage = Stage(price_micro=4_000)
    orders = [order(slot=1), order(payment(gas=1, timeout_height=1), slot=2), order(slot=3)]
    (event,) = stage.perform_all(*orders)
    answers = event.made
    assert [type(one) for one in answers] == [Made, NotMade, Made]


# Gas.


def test_a_simulation_is_of_the_whole_and_is_raised() -> None:
    stage = Stage(gas_percent=150)
    stage.chain.gas_said = GasSeen(70_001)
    one = made(stage, payment(9, memo="rent", fee=77), sequence=12)
    assert (one.gas, one.fee) == (105_001, 77)
    (unsigned,) = stage.chain.simulated
    tried, sent = read(unsigned), read(one.raw)
    assert tried.raw.signatures == (bytes(64),)
    assert tried.raw.body_bytes == sent.raw.body_bytes
    assert tried.sequence() == 12
    assert tried.public_key() == stage.account.public_key


def test_blobs_travel_with_a_simulation() -> None:
    stage = Stage()
    mixed = CosmosRequest(messages=OPEN.messages, blobs=publication().blobs)
    made(stage, mixed)
    assert len(read(stage.chain.simulated[0]).blobs) == 1


def test_gas_that_is_known_is_not_asked_for() -> None:
    blob = publication().blobs[0]
    for request, gas in (
        (PLAIN, 100_000),
        (publication(), blob_gas([CelestiaBlob(blob.namespace, blob.data)])),
    ):
        stage = Stage()
        assert made(stage, request).gas == gas
        assert stage.chain.asked == ["gas_price"]


@pytest.mark.parametrize("kind", [OfferKind.WRONG_SEQUENCE, OfferKind.UNKNOWN])
def test_what_a_node_cannot_simulate_yet_is_given_the_default(kind: OfferKind) -> None:
    stage = Stage(gas_default=250_000)
    stage.chain.gas_said = GasSeen(None, kind, "expected 3, got 9")
    one = made(stage, OPEN)
    assert (one.gas, one.fee) == (250_000, 1_000)


@pytest.mark.parametrize("kind", [OfferKind.REFUSED, OfferKind.NO_FUNDS, OfferKind.OUT_OF_GAS])
def test_what_would_fail_now_is_told_and_may_be_tried_again(kind: OfferKind) -> None:
    stage = Stage()
    stage.chain.gas_said = GasSeen(None, kind, "no such contract")
    one = not_made(stage, OPEN)
    assert (one.final, one.fails, one.expired) == (False, True, False)
    assert one.reason == "it would fail: no such contract"


def test_a_fee_above_the_cap_is_parked_after_a_simulation_too() -> None:
    stage = Stage(fee_max=400, gas_percent=100)
    stage.chain.gas_said = GasSeen(100_001)
    assert not_made(stage, OPEN).reason.startswith(PARKED)


def dear(price: float) -> Stage:
    stage = Stage(price_micro_max=400_000)
    stage.chain.price_said = price
    return stage


def test_a_price_that_nodes_ask_above_its_ceiling_is_parked_with_both_numbers() -> None:
    assert made(dear(0.4), PLAIN).fee == 40_000
    one = not_made(dear(900.0), PLAIN)
    allowed = "nodes ask 900 utia for a unit of gas, and gas_price_max allows 0.4"
    assert one.reason == f"{PARKED}: {allowed}"
    assert not one.final, "it goes on when the price falls"


def test_a_price_or_a_fee_that_the_caller_names_has_no_ceiling_of_the_nodes() -> None:
    assert made(dear(900.0), payment(gas=1_000, price_micro=5_000_000)).fee == 5_000
    assert made(dear(900.0), payment(gas=1_000, fee=7)).fee == 7


def simulating(used: int) -> Stage:
    stage = Stage(gas_default=1_000, gas_percent=100)
    stage.chain.gas_said = GasSeen(used)
    return stage


def test_gas_that_nodes_simulate_beyond_reason_is_parked() -> None:
    most = GAS_FACTOR_MAX * 1_000
    assert made(simulating(most), OPEN).gas == most
    one = not_made(simulating(most + 1), OPEN)
    assert not one.final
    assert one.reason.startswith(f"{PARKED}: nodes simulate {most + 1} gas")


def test_a_large_blobs_commitment_is_left_to_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(price_micro=4_000)
    left = []
    really = asyncio.to_thread

    async def to_thread(work: Any, *words: Any) -> Any:
        left.append(work)
        return await really(work, *words)

    monkeypatch.setattr(asyncio, "to_thread", to_thread)
    small, large = order(publication(1_000)), order(publication(LARGE))

    async def story() -> None:
        assert isinstance(await make(stage.account, small), Made)
        assert left == []
        one = await make(stage.account, large)
        assert isinstance(one, Made)
        assert len(read(one.raw).blobs[0].data) == LARGE
        bad = replace(publication(LARGE), timeout_height=HEIGHT)
        late = await make(stage.account, order(bad))
        assert isinstance(late, NotMade)
        assert late.expired, "an error comes out of the thread as well"

    asyncio.run(story())
    assert left == [draft] * 2
