"""A Cosmos account's request as callers write it ⇄ as its intent keeps it.

What is accepted is durable, so all that can be judged without the chain is judged here.
"""

import re
from base64 import b64decode
from binascii import Error
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from laneway.core.errors import BadRequest
from laneway.cosmos import bech32
from laneway.cosmos.blobs import NAMESPACE_BYTES, checked_namespace, namespace_of
from laneway.cosmos.errors import InvalidCosmos, MalformedAddress
from laneway.cosmos.messages import Coin, MsgSend
from laneway.cosmos.protobuf import decode as decode_message
from laneway.cosmos.protobuf import encode as encode_message
from laneway.kinds.cosmos.section import micro
from laneway.kinds.limits import SHOWN_VALUE_BYTES_MAX
from laneway.ports import CosmosBlob, CosmosRequest
from laneway.wire import cosmos as wire

if TYPE_CHECKING:
    from laneway.kinds.cosmos.views import ConfiguredCosmosAccount as Payer

decode = msgspec.msgpack.Decoder(CosmosRequest).decode
HEX = re.compile(r"([0-9a-fA-F]{2})+")


def request_of(asked: wire.CosmosPayload, payer: "Payer", trace: str = "") -> CosmosRequest:
    """BadRequest with the place of what is wrong."""
    if asked.fee is not None and asked.gas_price is not None:
        raise BadRequest("payload.gas_price", "`fee` says all that is paid")
    granter = asked.fee_granter or ""
    if granter:
        check_address(granter, payer.prefix, "payload.fee_granter")
    messages = tuple((one.type_url, one.value) for one in asked.messages)
    messages = (*payment_of(asked, payer), *messages)
    if messages and asked.blobs:
        # celestia-app: a transaction with blobs has one message, which pays for them.
        raise BadRequest("payload.blobs", "they travel alone, without `to` and `messages`")
    return CosmosRequest(
        messages=messages,
        blobs=blobs_of(asked.blobs),
        memo=asked.memo,
        gas=asked.gas,
        fee=asked.fee,
        price_micro=None if asked.gas_price is None else micro(asked.gas_price),
        granter=granter,
        timeout_height=asked.timeout_height,
        trace=trace,
    )


def payment_of(asked: wire.CosmosPayload, payer: "Payer") -> tuple[tuple[str, bytes], ...]:
    """`to` and `amount` as a message."""
    if asked.to is None:
        if asked.amount is not None or asked.denom is not None:
            raise BadRequest("payload.to", "say to whom")
        return ()
    check_address(asked.to, payer.prefix, "payload.to")
    if asked.amount is None:
        raise BadRequest("payload.amount", "say how much")
    coin = coin_of(str(asked.amount), asked.denom, payer.denom)
    return ((MsgSend.url, encode_message(MsgSend(payer.address, asked.to, (coin,)))),)


def coin_of(amount: str, denom: str | None, own: str) -> Coin:
    digits = amount[: len(amount) - len(amount.lstrip("0123456789"))]
    text = amount.removeprefix(digits)
    if text and denom is not None and text != denom:
        raise BadRequest("payload.denom", f"{denom}, and `amount` says {text}")
    if not int(digits):
        raise BadRequest("payload.amount", "nothing is not sent")
    return Coin(text or denom or own, str(int(digits)))


def check_address(text: str, prefix: str, at: str) -> None:
    try:
        found, raw = bech32.decode(text)
    except MalformedAddress as error:
        raise BadRequest(at, str(error)) from None
    if found != prefix:
        raise BadRequest(at, f"an address of this chain begins with {prefix}1, not {found}1")
    if len(raw) not in (20, 32):
        raise BadRequest(at, f"an account has 20 or 32 bytes, not {len(raw)}")


def blobs_of(listed: Sequence[wire.CosmosBlob]) -> tuple[CosmosBlob, ...]:
    return tuple(
        CosmosBlob(
            read_namespace(one.namespace, f"payload.blobs[{place}].namespace"),
            one.data,
            one.share_version,
        )
        for place, one in enumerate(listed)
    )


def read_namespace(text: str, at: str) -> bytes:
    """Hexadecimal where it can be read so, else base64; all of it, or the user's own part."""
    try:
        if HEX.fullmatch(text):
            raw = bytes.fromhex(text)
        else:
            raw = b64decode(text, validate=True)
        return checked_namespace(raw) if len(raw) == NAMESPACE_BYTES else namespace_of(raw)
    except Error:
        raise BadRequest(at, "hexadecimal digits, or base64") from None
    except InvalidCosmos as error:
        raise BadRequest(at, str(error)) from None


# As views have it.


def payload_of(request: CosmosRequest) -> wire.CosmosSaid:
    """As its caller would write it, without what is long."""
    payment = sent_coins(request)
    to = amount = denom = None
    if payment is not None:
        to, amount, denom = (
            payment.to_address,
            payment.amount[0].amount,
            payment.amount[0].denom,
        )
    rest = request.messages[0 if payment is None else 1 :]
    price = request.price_micro
    return wire.CosmosSaid(
        to=to,
        amount=amount,
        denom=denom,
        messages=[
            wire.CosmosMessageSaid(
                type_url=url,
                size=len(value),
                value=value if len(value) <= SHOWN_VALUE_BYTES_MAX else None,
            )
            for url, value in rest
        ],
        blobs=[
            wire.CosmosBlobSaid(
                namespace=one.namespace.hex(),
                size=len(one.data),
                share_version=one.share_version,
            )
            for one in request.blobs
        ],
        memo=request.memo,
        gas=request.gas,
        fee=request.fee,
        gas_price=None if price is None else f"{price // 1_000_000}.{price % 1_000_000:06}",
        fee_granter=request.granter or None,
        timeout_height=request.timeout_height,
    )


def sent_coins(request: CosmosRequest) -> MsgSend | None:
    """The first message, if it sends one coin to someone."""
    if not request.messages or request.messages[0][0] != MsgSend.url:
        return None
    try:
        found = decode_message(MsgSend, request.messages[0][1])
    except InvalidCosmos:
        return None
    return found if len(found.amount) == 1 else None
