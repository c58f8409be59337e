"""Laws of a Cosmos account's request: what is kept is what was said."""

from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cosmos_stage import NAMESPACE, OWN, TO, WHOLE

from laneway.core.errors import BadRequest
from laneway.core.ids import LaneId
from laneway.cosmos.messages import Coin, MsgSend
from laneway.cosmos.protobuf import encode
from laneway.kinds.cosmos.request import payload_of, read_namespace, request_of, sent_coins
from laneway.kinds.cosmos.views import ConfiguredCosmosAccount
from laneway.lanes.sequence.settings import SequenceSettings
from laneway.ports import CosmosBlob, CosmosRequest
from laneway.wire.cosmos import CosmosMessage, CosmosPayload

PAYER = ConfiguredCosmosAccount(
    LaneId(f"cosmos:dev:{OWN}"), "own", OWN, "dev", "dev", SequenceSettings(), "celestia", "utia"
)


def payment(amount: str, denom: str = "utia") -> tuple[str, bytes]:
    return MsgSend.url, encode(MsgSend(OWN, TO, (Coin(denom, amount),)))


@pytest.mark.parametrize(
    ("amount", "denom", "coin"),
    [
        ("5utia", None, ("5", "utia")),
        (5, None, ("5", "utia")),
        ("5", "uatom", ("5", "uatom")),
        ("5ibc/AB12", "ibc/AB12", ("5", "ibc/AB12")),
        ("9" * 78, None, ("9" * 78, "utia")),
    ],
)
def test_coins_are_a_message_from_the_account(
    amount: str | int, denom: str | None, coin: tuple[str, str]
) -> None:
    request = request_of(CosmosPayload(to=TO, amount=amount, denom=denom), PAYER, "trace")
    assert request == CosmosRequest(messages=(payment(*coin),), trace="trace")
    said = payload_of(request)
    assert (said.to, said.amount, said.denom, said.messages) == (TO, *coin, [])


@given(st.integers(0, 10**15))
def test_a_price_is_kept_to_the_millionth(micro: int) -> None:
    text = f"{micro // 10**6}.{micro % 10**6:06}"
    request = request_of(CosmosPayload(to=TO, amount=1, gas_price=text), PAYER)
    assert request.price_micro == micro
    assert payload_of(request).gas_price == text


@pytest.mark.parametrize(
    "said",
    [NAMESPACE, NAMESPACE.upper(), WHOLE, b64encode(bytes.fromhex(WHOLE)).decode(), "bGFuZQ=="],
)
def test_a_namespace_is_read_in_every_form(said: str) -> None:
    assert read_namespace(said, "at") == bytes.fromhex(WHOLE)


@pytest.mark.parametrize("said", ["", "ab" * 11, "ab" * 28, "ff" * 29, "00" * 29, "xyz", "===="])
def test_what_is_no_namespace_is_refused_by_its_place(said: str) -> None:
    with pytest.raises(BadRequest) as caught:
        read_namespace(said, "payload.blobs[3].namespace")
    assert caught.value.field == "payload.blobs[3].namespace"


def test_what_is_long_is_shown_by_its_size() -> None:
    long = CosmosRequest(
        messages=(("/a.B", bytes(5_000)), ("/a.C", b"xy")),
        granter=OWN,
        timeout_height=9,
    )
    said = payload_of(long)
    assert [(one.type_url, one.size, one.value) for one in said.messages] == [
        ("/a.B", 5_000, None),
        ("/a.C", 2, b"xy"),
    ]
    assert (said.to, said.fee_granter, said.timeout_height) == (None, OWN, 9)
    blob = payload_of(CosmosRequest(blobs=(CosmosBlob(bytes.fromhex(WHOLE), bytes(7), 1),)))
    assert (blob.blobs[0].namespace, blob.blobs[0].size) == (WHOLE, 7)


@pytest.mark.parametrize(
    "messages",
    [
        (),
        (("/a.B", b""),),
        ((MsgSend.url, b"\xff"),),
        ((MsgSend.url, encode(MsgSend(OWN, TO, (Coin("a", "1"), Coin("b", "2"))))),),
    ],
)
def test_what_sends_no_single_coin_is_shown_as_it_is(messages: Any) -> None:
    assert sent_coins(CosmosRequest(messages=messages)) is None
    assert len(payload_of(CosmosRequest(messages=messages)).messages) == len(messages)


def test_messages_follow_the_coins() -> None:
    asked = CosmosPayload(to=TO, amount=1, messages=[CosmosMessage("/a.B", b"x")])
    assert request_of(asked, PAYER).messages == (payment("1"), ("/a.B", b"x"))
