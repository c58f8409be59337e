"""From what a caller asked for to the body of a transaction, its gas and its fee. Nothing here
waits."""

import msgspec
from msgspec import Struct

from laneway.cosmos.blobs import MICRO, CelestiaBlob, blob_gas, check, commitment, fee_for, proto
from laneway.cosmos.limits import FEE_MAX
from laneway.cosmos.messages import Any, BlobProto, Coin, MsgPayForBlobs, MsgSend
from laneway.cosmos.protobuf import encode
from laneway.cosmos.tx import SigningTerms, body_of, fee_of, packed
from laneway.engine.performers import Parked
from laneway.engine.sequence.account import CosmosAccount, CosmosView
from laneway.lanes.sequence.rows import Purpose
from laneway.lanes.sequence.values import MakeAttempt
from laneway.ports import CosmosRequest

decode_request = msgspec.msgpack.Decoder(CosmosRequest).decode
encode_request = msgspec.msgpack.Encoder().encode

FILLER_GAS = 100_000
"""A transfer of one coin to oneself uses some 80,000."""


class Expired(Exception):
    """The last block that its caller wants it in is over."""


class SequenceDraft(Struct, frozen=True):
    """What is signed, but for the fee and the number."""

    body: bytes
    timeout_height: int
    blobs: tuple[BlobProto, ...]
    gas: int | None
    """None: it has to be simulated."""
    fee: int | None
    price_micro: int | None
    granter: str


def request_of(order: MakeAttempt, account: CosmosAccount) -> CosmosRequest:
    """The caller's request, or one that only uses a sequence: a coin sent to oneself."""
    if order.purpose == Purpose.INTENT:
        return decode_request(order.payload)
    own, coin = account.address, Coin(account.view.denom, "1")
    message = MsgSend(own, own, (coin,))
    return CosmosRequest(messages=((MsgSend.url, encode(message)),), gas=FILLER_GAS)


def draft(request: CosmosRequest, account: CosmosAccount, height: int) -> SequenceDraft:
    """InvalidCosmos where it can be no transaction at all."""
    timeout = height + account.timeout_blocks
    if request.timeout_height is not None:
        # The lower one: everything after these bytes waits for their end.
        timeout = min(timeout, request.timeout_height)
        if timeout <= height:
            raise Expired
    blobs = [
        CelestiaBlob(
            one.namespace,
            one.data,
            one.share_version,
            account.raw_address if one.share_version else b"",
        )
        for one in request.blobs
    ]
    messages = [Any(url, value) for url, value in request.messages]
    if blobs:
        messages.append(packed(paying(blobs, account.address), MsgPayForBlobs.url))
    gas = request.gas
    if gas is None and blobs and len(messages) == 1:
        gas = blob_gas(blobs)
    return SequenceDraft(
        body=body_of(messages, memo=request.memo, timeout_height=timeout),
        timeout_height=timeout,
        blobs=tuple([proto(blob) for blob in blobs]),
        gas=gas,
        fee=request.fee,
        price_micro=request.price_micro,
        granter=request.granter or account.granter,
    )


def paying(blobs: list[CelestiaBlob], signer: str) -> MsgPayForBlobs:
    for blob in blobs:
        check(blob)
    return MsgPayForBlobs(
        signer,
        tuple([blob.namespace for blob in blobs]),
        tuple([len(blob.data) for blob in blobs]),
        tuple([commitment(blob) for blob in blobs]),
        tuple([blob.share_version for blob in blobs]),
    )


def terms_of(
    one: SequenceDraft, order: MakeAttempt, account: CosmosAccount, gas: int, price_micro: int
) -> SigningTerms:
    """What the signature is for; Parked above what may be paid."""
    view, fee = account.view, one.fee
    if fee is None:
        if one.price_micro is None:
            check_price(price_micro, view)
        fee = fee_for(gas, price_micro if one.price_micro is None else one.price_micro)
    allowed = FEE_MAX if account.fee_max is None else min(account.fee_max, FEE_MAX)
    if fee > allowed:
        raise Parked(f"it asks a fee of {fee} {view.denom}, and fee_max allows {allowed}")
    return SigningTerms(
        view.chain_id,
        order.account_number,
        order.sequence,
        fee_of(fee, view.denom, gas, granter=one.granter),
    )


def check_price(price_micro: int, view: CosmosView) -> None:
    """Parked where the price that nodes estimate is above its ceiling: their estimate alone must
    not empty an account."""
    allowed = view.price_micro_max
    if allowed is not None and price_micro > allowed:
        raise Parked(
            f"nodes ask {price_micro / MICRO:g} {view.denom} for a unit of gas, and gas_price_max "
            f"allows {allowed / MICRO:g}"
        )


def paid(terms: SigningTerms) -> int:
    return sum(int(coin.amount) for coin in terms.fee.amount)
