"""From what a caller asked for, a number and the market to a transaction. Nothing here waits.

A caller's own ceilings are kept here: an attempt that would break one is not made, and its slot
waits with the reason `parked_by_cap`.
"""

import msgspec
from msgspec import Struct

from laneway.core.units import value
from laneway.evm.transaction import (
    Access,
    AccessListTransaction,
    Authorization,
    BlobTransaction,
    DynamicFeeTransaction,
    LegacyTransaction,
    SetCodeTransaction,
    Sidecar,
    Transaction,
)
from laneway.lanes.eoa.fees import Fee
from laneway.lanes.eoa.rows import Purpose
from laneway.lanes.eoa.values import MakeAttempt
from laneway.ports import EvmAuthorization, EvmRequest

decode_request = msgspec.msgpack.Decoder(EvmRequest).decode
encode_request = msgspec.msgpack.Encoder().encode

BLOB_GAS = 131_072
"""Of one blob (EIP-4844)."""
FEE_WEI_LIMIT = 1 << 63
"""Of one unit of gas, nine ether: what a row's integers can say, and nobody's intention."""


class Parked(Exception):
    """It would cost more than its caller allows."""


class Terms(Struct, frozen=True):
    """What the chain asks beside the fee that the lane knows."""

    has_base_fee: bool
    blob_fee_wei: int


def request_of(order: MakeAttempt, address: bytes) -> EvmRequest:
    """What these bytes do: the caller's words, or nothing at all, sent to oneself."""
    if order.purpose == Purpose.INTENT:
        return decode_request(order.payload)
    return EvmRequest(to=address)


def type_of(request: EvmRequest, terms: Terms) -> int:
    if request.type is not None:
        return request.type
    if request.authorizations:
        return 4
    if request.blobs is not None:
        return 3
    return 2 if terms.has_base_fee else 0


def fee_of(request: EvmRequest, order: MakeAttempt, kind: int, terms: Terms) -> Fee:
    """What this attempt offers; Parked where its caller's ceiling is below what it must offer."""
    market, floor = order.market, order.floor
    base_wei = (market.cap - market.tip) // 2
    tip = max(market.tip if request.tip_wei is None else request.tip_wei, floor.tip)
    if kind < 2:
        # The whole price is paid, so it leaves room for one block of rising base fee alone.
        price = max(base_wei + base_wei // 8 + tip, floor.cap, floor.tip)
        offer = Fee(price, price)
    else:
        offer = Fee(max(2 * base_wei + tip, floor.cap), tip)
    ceiling = request.fee_wei_max
    if ceiling is not None and offer.cap > ceiling:
        least = max(floor.cap, base_wei)
        if ceiling < least:
            raise Parked
        offer = Fee(ceiling, ceiling if kind < 2 else min(tip, ceiling))
    if kind != 3:
        return offer
    assert request.blobs is not None
    blob_ceiling = value(request.blobs.fee_wei_max)
    if blob_ceiling and floor.blob > blob_ceiling:
        raise Parked
    asked = blob_ceiling or 2 * terms.blob_fee_wei
    return Fee(offer.cap, offer.tip, max(asked, floor.blob, 1))


def cost_of(request: EvmRequest, fee: Fee, gas: int) -> int:
    """The most that its gas can cost; Parked above its caller's ceiling."""
    blobs = 0 if request.blobs is None else len(request.blobs.hashes)
    cost = gas * fee.cap + blobs * BLOB_GAS * fee.blob
    if request.cost_wei_max is not None and cost > value(request.cost_wei_max):
        raise Parked
    return cost


def compose(
    request: EvmRequest, kind: int, nonce: int, fee: Fee, gas: int, chain_id: int
) -> Transaction:
    if kind == 2 and not request.access_list:
        return DynamicFeeTransaction(
            chain_id, nonce, fee.tip, fee.cap, gas, request.to, value(request.value_wei),
            request.input,
        )  # fmt: skip
    wei = value(request.value_wei)
    accesses = tuple([Access(address, keys) for address, keys in request.access_list])
    match kind:
        case 0:
            return LegacyTransaction(nonce, fee.cap, gas, request.to, wei, request.input, chain_id)
        case 1:
            return AccessListTransaction(
                chain_id, nonce, fee.cap, gas, request.to, wei, request.input, accesses
            )
        case 2:
            return DynamicFeeTransaction(
                chain_id, nonce, fee.tip, fee.cap, gas, request.to, wei, request.input, accesses
            )
        case 3:
            assert request.blobs is not None
            blobs = request.blobs
            return BlobTransaction(
                chain_id, nonce, fee.tip, fee.cap, gas, request.to, wei, request.input, accesses,
                fee.blob, blobs.hashes,
                Sidecar(blobs.version, blobs.blobs, blobs.commitments, blobs.proofs),
            )  # fmt: skip
        case _:
            return SetCodeTransaction(
                chain_id, nonce, fee.tip, fee.cap, gas, request.to, wei, request.input, accesses,
                tuple([authorization(one) for one in request.authorizations]),
            )  # fmt: skip


def authorization(one: EvmAuthorization) -> Authorization:
    return Authorization(
        one.chain_id, one.address, one.nonce, one.y_parity, value(one.r), value(one.s)
    )
