"""Attempts are made in the lane's own turn where nobody must be asked, and later elsewhere."""

import asyncio
import sys

import pytest
from tests.engine.eoa.stage import AWAY, BLOBS, CHAIN_ID, GWEI, TO, Stage, order, replace

from laneway.core.errors import SignerRefused, SignerUnreachable
from laneway.core.facts import Estimated, NotEstimated, Reverted, SendKind
from laneway.core.units import amount
from laneway.engine.eoa.making import NOOP_GAS, make, make_now, terms_of
from laneway.engine.limits import NOOP_GAS_MAX
from laneway.evm.abi.signatures import read_signature
from laneway.evm.envelope import decode, sender
from laneway.evm.keccak import keccak
from laneway.lanes.eoa.fees import EvmFee
from laneway.lanes.eoa.rows import Purpose
from laneway.lanes.eoa.values import AttemptsMade, Made, NotMade
from laneway.ports import EvmRequest, EvmWords

PLAIN = EvmRequest(to=TO, value_wei=amount(5), gas=21_000)
OPEN = EvmRequest(to=TO, input=b"call")


def made(stage: Stage, request: EvmRequest = PLAIN, **words: object) -> Made:
    one = stage.run(make(stage.account, order(request, **words), stage.time))  # type: ignore[arg-type]
    assert isinstance(one, Made), one
    return one


def not_made(stage: Stage, request: EvmRequest = PLAIN, **words: object) -> NotMade:
    one = stage.run(make(stage.account, order(request, **words), stage.time))  # type: ignore[arg-type]
    assert isinstance(one, NotMade), one
    return one


def estimating(gas: int) -> Stage:
    stage = Stage()
    stage.chain.estimate_said = Estimated(gas)
    return stage


def test_a_key_that_is_held_here_signs_at_once() -> None:
    stage = Stage()
    assert make_now(stage.account, order(), terms_of(stage.account)) is None, (
        "what the chain asks is not known yet"
    )

    async def story() -> None:
        await stage.view.fees_now()
        one = make_now(stage.account, order(nonce=4, slot=9), terms_of(stage.account))
        assert isinstance(one, Made)
        assert (one.slot, one.number, one.gas) == (9, 1, 21_000)
        assert (one.fee, one.cost) == (EvmFee(21 * GWEI, GWEI), 21_000 * 21 * GWEI)
        read = decode(one.raw)
        assert (sender(read), read.nonce, read.chain_id) == (stage.account.address, 4, CHAIN_ID)
        assert one.hash == keccak(one.raw)
        assert stage.chain.asked == ["fees"]

    stage.run(story())


@pytest.mark.parametrize("why", ["gas", "no-op", "remote"])
def test_what_must_be_asked_for_is_not_made_in_the_turn(why: str) -> None:
    stage = Stage(remote=why == "remote")
    wanted = order(OPEN) if why == "gas" else order()
    if why == "no-op":
        wanted = order(purpose=Purpose.NOOP)

    async def story() -> None:
        await stage.view.fees_now()
        assert make_now(stage.account, wanted, terms_of(stage.account)) is None
        assert isinstance(await make(stage.account, wanted, stage.time), Made)

    stage.run(story())


def test_a_key_elsewhere_signs_many_at_once() -> None:
    stage = Stage(remote=True)

    async def story() -> None:
        begun_ms = stage.time.monotonic_ms()
        orders = [order(nonce=number, slot=number) for number in range(20)]
        (event,) = await stage.performer.perform_all(stage.lane, orders, lambda: None)
        assert isinstance(event, AttemptsMade)
        answers = event.made
        assert [one.slot for one in answers] == list(range(20))
        assert all(isinstance(one, Made) for one in answers)
        assert stage.time.monotonic_ms() - begun_ms < 200

    stage.run(story())
    assert stage.remote.asked == 20


def test_a_signers_no_is_final_and_its_silence_is_not() -> None:
    stage = Stage(remote=True)
    stage.remote.error = SignerRefused("far", "not this one")
    refused = not_made(stage)
    assert (refused.final, refused.broke) == (True, False)
    assert "not this one" in refused.reason
    stage = Stage(remote=True)
    stage.remote.error = SignerUnreachable("far", "away")
    assert not not_made(stage).final


def test_a_chain_that_is_away_is_asked_again_later() -> None:
    stage = Stage()
    stage.chain.fees_said = AWAY
    assert not not_made(stage).final
    stage = Stage()
    stage.chain.estimate_said = AWAY
    assert not not_made(stage, OPEN).final


def test_an_estimate_is_raised_unless_it_is_a_plain_transfer() -> None:
    stage = Stage()
    stage.chain.estimate_said = Estimated(100_000)
    assert made(stage, OPEN).gas == 120_000
    stage = Stage()
    assert made(stage, EvmRequest(to=TO)).gas == 21_000
    stage = Stage()
    assert made(stage, OPEN).gas == 25_200, "a call may meet another state"
    stage = Stage()
    assert made(stage, PLAIN).gas == 21_000
    assert "estimate" not in stage.chain.asked


@pytest.mark.parametrize("purpose", [Purpose.INTENT, Purpose.NOOP, Purpose.CANCEL])
@pytest.mark.parametrize("said", [0, 1, 20_999])
def test_no_estimate_is_less_than_what_is_paid_before_the_first_step(
    said: int, purpose: str
) -> None:
    transfer = EvmRequest(to=TO, cost_wei_max=amount(10**18))
    assert made(estimating(said), transfer, purpose=purpose).gas == 21_000


def test_a_call_is_given_the_gas_of_its_data_whatever_is_estimated() -> None:
    def gas(request: EvmRequest) -> int:
        return made(estimating(0), request).gas

    assert gas(OPEN) == 21_000 + 4 * 4 * 10, "the floor of EIP-7623"
    creation = EvmRequest(to=None, input=b"code", access_list=((TO, (bytes(32),)),))
    assert gas(creation) == 21_000 + 4 * 16 + 32_000 + 2 + 2_400 + 1_900


@pytest.mark.parametrize("purpose", [Purpose.NOOP, Purpose.CANCEL])
def test_a_no_op_has_the_gas_that_layer_2_chains_ask_for_and_no_more(purpose: str) -> None:
    assert made(estimating(700_000), purpose=purpose).gas == 840_000
    assert made(estimating(2**40), purpose=purpose).gas == NOOP_GAS_MAX
    assert made(estimating(2**40), OPEN).gas == 2**40 * 120 // 100, (
        "what a caller wants may need it"
    )


def test_the_whole_call_is_estimated() -> None:
    stage = Stage()
    request = EvmRequest(to=TO, value_wei=amount(9), input=b"call", access_list=((TO, ()),))
    made(stage, request)
    (call,) = stage.chain.estimated
    assert (call.sender, call.to, call.value_wei) == (stage.account.address, TO, 9)
    assert (call.input, call.access_list) == (b"call", ((TO, ()),))


def test_a_call_that_reverts_is_refused_with_its_reason() -> None:
    stage = Stage()
    stage.chain.estimate_said = Reverted("too little")
    refused = not_made(stage, OPEN)
    assert (refused.final, refused.reverts, refused.broke) == (True, True, False)
    assert refused.reason == "the call reverts: too little"


@pytest.mark.parametrize(
    ("kind", "final", "broke"),
    [
        (SendKind.INSUFFICIENT_FUNDS, False, True),
        (SendKind.GAS_LIMIT, True, False),
        (SendKind.UNKNOWN, False, False),
        (SendKind.RATE_LIMITED, False, False),
    ],
)
def test_what_a_node_cannot_estimate_is_told_apart(
    kind: SendKind, final: bool, broke: bool
) -> None:
    stage = Stage()
    stage.chain.estimate_said = NotEstimated(kind, "words")
    one = not_made(stage, OPEN)
    assert (one.final, one.broke, one.reason) == (final, broke, "words")
    assert (one.needed > 0) is broke, "what it hands over, and some gas"


@pytest.mark.parametrize("purpose", [Purpose.NOOP, Purpose.CANCEL])
def test_a_no_op_needs_no_estimate_to_be_made(purpose: str) -> None:
    stage = Stage()
    stage.chain.estimate_said = Reverted("queer")
    one = made(stage, purpose=purpose)
    read = decode(one.raw)
    assert (one.gas, read.to, read.value_wei) == (NOOP_GAS, stage.account.address, 0)


@pytest.mark.parametrize(
    "request_",
    [
        replace(PLAIN, fee_wei_max=GWEI),
        replace(PLAIN, cost_wei_max=amount(5)),
        replace(PLAIN, tip_wei=1 << 63),
    ],
    ids=["fee", "cost", "absurd"],
)
def test_what_is_too_dear_for_its_caller_waits_and_says_why(request_: EvmRequest) -> None:
    stage = Stage()
    one = not_made(stage, request_)
    assert not one.final
    assert one.reason.startswith("parked_by_cap: it asks ")
    stage = Stage(remote=True)
    assert not_made(stage, request_).reason == one.reason
    assert stage.remote.asked == 0


def test_a_blob_transaction_is_sent_with_its_sidecar_and_named_without() -> None:
    stage = Stage()
    one = made(stage, replace(PLAIN, blobs=BLOBS))
    read = decode(one.raw)
    assert read.sidecar is not None  # type: ignore[union-attr]
    assert one.hash != keccak(one.raw)
    assert one.fee.blob == 6


def test_making_twice_gives_the_same_bytes() -> None:
    """Signatures are deterministic: an attempt that a crash makes again is the same attempt."""
    stage = Stage()

    async def story() -> None:
        one, two = await asyncio.gather(
            *(make(stage.account, order(), stage.time) for _ in range(2))
        )
        assert one == two

    stage.run(story())


def test_a_call_that_reverts_is_refused_with_its_contracts_own_error() -> None:
    words = EvmWords(("f()", "error Needs(uint256 more)"))
    known = EvmRequest(to=TO, input=b"call", words=words)
    output = read_signature(words.items[1]).selector() + (7).to_bytes(32)
    for request, reason in (
        (known, "the call reverts: Needs(more=7)"),
        (OPEN, "the call reverts: execution reverted"),
        (replace(known, words=EvmWords(("nonsense",))), "the call reverts: execution reverted"),
        (replace(known, words=EvmWords(("f()",))), "the call reverts: execution reverted"),
    ):
        stage = Stage()
        stage.chain.estimate_said = Reverted("execution reverted", output)
        refused = not_made(stage, request)
        assert (refused.final, refused.reverts, refused.reason) == (True, True, reason)


def test_without_the_extra_a_revert_has_the_nodes_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "eth_abi", None)
    stage = Stage()
    output = read_signature("Needs(uint256)").selector() + (7).to_bytes(32)
    stage.chain.estimate_said = Reverted("execution reverted", output)
    words = EvmWords(("error Needs(uint256 more)",))
    refused = not_made(stage, EvmRequest(to=TO, input=b"call", words=words))
    assert refused.reason == "the call reverts: execution reverted"
