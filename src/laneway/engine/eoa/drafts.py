"""From what a caller asked for, a number and the market to a transaction. Nothing here waits.

The ceilings of its caller and of the operator are kept here: an attempt that would break one is not
made, and its slot waits with the reason `parked_by_cap`.
"""

import msgspec
from msgspec import Struct

from laneway.core.units import value
from laneway.engine.performers import Parked
from laneway.evm.fork import Fork
from laneway.evm.gas import floor_gas, intrinsic_gas
from laneway.evm.limits import BLOB_GAS
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
from laneway.lanes.eoa.fees import NO_FEE, EvmFee, clamped, written
from laneway.lanes.eoa.rows import Purpose
from laneway.lanes.eoa.values import MakeAttempt
from laneway.ports import EvmAuthorization, EvmRequest

decode_request = msgspec.msgpack.Decoder(EvmRequest).decode
encode_request = msgspec.msgpack.Encoder().encode

FEE_WEI_LIMIT = 1 << 63
"""Of one unit of gas, nine ether: what a row's integers can say, and nobody's intention."""


class Bound(Struct, frozen=True):
    """One ceiling for a unit of gas."""

    wei: int
    needed: int
    """What must be paid now for a unit of gas; a bound below it parks the attempt."""
    least: int
    """The lowest cap that replaces the last attempt; a bound below it parks the attempt."""
    why: str


class EvmTerms(Struct, frozen=True):
    """What the chain asks beside the fee that the lane knows."""

    has_base_fee: bool
    blob_fee_wei: int


def request_of(order: MakeAttempt, address: bytes) -> EvmRequest:
    """The caller's request, or for a no-op a transfer of nothing to the account itself."""
    if order.purpose == Purpose.INTENT:
        return decode_request(order.payload)
    return EvmRequest(to=address)


def type_of(request: EvmRequest, terms: EvmTerms) -> int:
    if request.type is not None:
        return request.type
    if request.authorizations:
        return 4
    if request.blobs is not None:
        return 3
    return 2 if terms.has_base_fee else 0


def fee_of(request: EvmRequest, order: MakeAttempt, kind: int, terms: EvmTerms, gas: int) -> EvmFee:
    """What this attempt offers: lowered to the ceilings where these still pay the base fee and the
    tip of now, and Parked where they do not."""
    market, floor = order.market, order.floor
    base_wei = (market.cap - market.tip) // 2
    asked_tip = market.tip if request.tip_wei is None else request.tip_wei
    tip = max(asked_tip, floor.tip)
    cap = max(2 * base_wei + tip, floor.cap)
    if kind < 2:
        # The whole price is paid, so it covers one block of rising base fee alone.
        cap = max(base_wei + base_wei // 8 + tip, floor.cap, floor.tip)
    blob = blob_fee_of(request, order, terms) if kind == 3 else 0
    paid_wei = base_wei + max(asked_tip, order.least.tip)
    for bound in bounds_of(request, order, gas, blob, base_wei=base_wei, paid_wei=paid_wei):
        needed = max(bound.needed, bound.least)
        found = clamped(cap, bound.wei, needed)
        if found is None:
            asked, allowed = written(needed), written(bound.wei)
            raise Parked(f"it asks {asked} a unit of gas, and {allowed} are allowed by {bound.why}")
        cap = found
    return EvmFee(cap, cap if kind < 2 else min(tip, cap), blob)


def bounds_of(
    request: EvmRequest, order: MakeAttempt, gas: int, blob: int, *, base_wei: int, paid_wei: int
) -> list[Bound]:
    """The ceilings that hold for this attempt. A caller who names the most for a unit of gas
    also agrees that the tip may shrink; the others are kept by what would be paid now."""
    found: list[Bound] = []
    least = order.least.cap
    if request.fee_wei_max is not None:
        found.append(Bound(request.fee_wei_max, base_wei, least, "its caller's max_fee_per_gas"))
    if request.cost_wei_max is not None:
        wei = gas_share(request, value(request.cost_wei_max), gas, blob)
        found.append(Bound(wei, paid_wei, least, f"its caller's max_cost for {gas} gas"))
    bound = order.ceiling
    if bound.cost_wei is not None:
        wei = gas_share(request, bound.cost_wei, gas, blob)
        found.append(Bound(wei, paid_wei, least, f"cost_wei_max for {gas} gas"))
    if bound.wei is None or bound.asked_wei is None:
        return found
    if request.tip_wei is None and bound.asked_wei < bound.wei:
        why = f"the default at a base fee of {written(base_wei)}; fee_wei_max allows more"
        # What replaces an attempt from dearer times has a high cap, and pays the base fee of now.
        wei = bound.asked_wei if paid_wei > bound.asked_wei else max(bound.asked_wei, least)
        found.append(Bound(wei, paid_wei, 0, why))
    found.append(Bound(bound.wei, paid_wei, least, f"{bound.source}; fee_wei_max allows more"))
    return found


def gas_share(request: EvmRequest, cost_wei: int, gas: int, blob: int) -> int:
    """What a unit of gas may cost where all of it with its blobs may cost `cost_wei`."""
    return max(0, cost_wei - blob_gas(request) * blob) // max(gas, 1)


def least_gas(request: EvmRequest, kind: int) -> int:
    """What is paid before the first step, or at least, as today's forks have it (EIP-7623): with
    less a node refuses it, or keeps it and never mines it."""
    made = compose(request, kind, 0, NO_FEE, 0, 1)
    return max(intrinsic_gas(made, Fork.PRAGUE), floor_gas(made, Fork.PRAGUE))


def blob_gas(request: EvmRequest) -> int:
    return 0 if request.blobs is None else len(request.blobs.hashes) * BLOB_GAS


def blob_fee_of(request: EvmRequest, order: MakeAttempt, terms: EvmTerms) -> int:
    """What a unit of blob gas is offered. The chain takes its own price of that, so a ceiling
    below the double of it costs nothing but time."""
    assert request.blobs is not None
    named = value(request.blobs.fee_wei_max)
    offer = max(named or 2 * terms.blob_fee_wei, order.floor.blob, 1)
    callers = (named, order.least.blob, "its caller's max_fee_per_blob_gas")
    needed = max(terms.blob_fee_wei, order.least.blob)
    source = order.ceiling.source
    operators = (order.ceiling.wei, needed, f"{source}; fee_wei_max allows more")
    for bound, least, why in (callers, operators):
        found = clamped(offer, bound, least) if bound else offer
        if found is None:
            asked, allowed = written(least), written(bound or 0)
            raise Parked(f"it asks {asked} a unit of blob gas, and {allowed} are allowed by {why}")
        offer = found
    return offer


def cost_of(request: EvmRequest, fee: EvmFee, gas: int) -> int:
    """The most that its gas can cost."""
    return gas * fee.cap + blob_gas(request) * fee.blob


def compose(
    request: EvmRequest, kind: int, nonce: int, fee: EvmFee, gas: int, chain_id: int
) -> Transaction:
    if kind == 2 and not request.access_list:
        return DynamicFeeTransaction(
            chain_id, nonce, fee.tip, fee.cap, gas, request.to, value(request.value_wei),
            request.input,
        )  # fmt: skip
    wei = value(request.value_wei)
    accesses = tuple([Access(address, keys) for address, keys in request.access_list])
    what = (gas, request.to, wei, request.input)
    if kind == 0:
        return LegacyTransaction(nonce, fee.cap, *what, chain_id)
    if kind == 1:
        return AccessListTransaction(chain_id, nonce, fee.cap, *what, accesses)
    common = (chain_id, nonce, fee.tip, fee.cap, *what, accesses)
    if kind == 2:
        return DynamicFeeTransaction(*common)
    if kind == 3:
        assert request.blobs is not None
        blobs = request.blobs
        sidecar = Sidecar(blobs.version, blobs.blobs, blobs.commitments, blobs.proofs)
        return BlobTransaction(*common, fee.blob, blobs.hashes, sidecar)
    return SetCodeTransaction(*common, tuple(map(authorization, request.authorizations)))


def authorization(one: EvmAuthorization) -> Authorization:
    return Authorization(
        one.chain_id, one.address, one.nonce, one.y_parity, value(one.r), value(one.s)
    )
