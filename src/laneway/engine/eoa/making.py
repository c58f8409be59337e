"""Attempts: what a caller left open is filled in, and the account's signer signs it.

Making changes nothing anywhere; bytes that are made twice are sent at most once.
"""

from msgspec import Struct
from msgspec.structs import replace

from laneway.core.errors import BadRequest, LanewayError, SignerRefused
from laneway.core.facts import Estimated, NotEstimated, Reverted, SendKind
from laneway.core.reason import clip
from laneway.core.units import value
from laneway.engine.eoa.account import EvmAccount
from laneway.engine.eoa.drafts import (
    FEE_WEI_LIMIT,
    EvmTerms,
    compose,
    cost_of,
    fee_of,
    least_gas,
    request_of,
    type_of,
)
from laneway.engine.limits import NOOP_GAS_MAX
from laneway.engine.performers import Parked
from laneway.evm.abi.interface import read_abi
from laneway.evm.abi.reverts import revert_reason
from laneway.evm.envelope import TransactionDraft, draft, encode_network, seal
from laneway.evm.secp256k1 import Signature
from laneway.evm.transaction import BlobTransaction, Transaction, signed
from laneway.lanes.eoa.fees import EvmFee, written
from laneway.lanes.eoa.rows import Purpose
from laneway.lanes.eoa.tries import PARKED
from laneway.lanes.eoa.values import Made, MakeAttempt, NotMade
from laneway.ports import Clock, Delegation, EvmCall, EvmRequest

NOOP_GAS = 21_000
"""Where a chain will not estimate a transfer of nothing to oneself."""


def terms_of(account: EvmAccount) -> EvmTerms | None:
    fees = account.view.fees
    return None if fees is None else EvmTerms(fees.supports_1559, fees.blob_base_fee_wei or 0)


def make_now(
    account: EvmAccount, order: MakeAttempt, terms: EvmTerms | None
) -> Made | NotMade | None:
    """The attempt, if neither chain nor signer must be waited for; None otherwise."""
    if account.sign_now is None or terms is None or order.purpose != Purpose.INTENT:
        return None
    request = request_of(order, account.address)
    if request.gas is None:
        return None
    one = priced(account, order, request, request.gas, terms)
    if isinstance(one, NotMade):
        return one
    return made(account, order, one, account.sign_now(one.draft.payload))


async def make(account: EvmAccount, order: MakeAttempt, clock: Clock) -> Made | NotMade:
    asked_ms = clock.now_ms()
    try:
        await account.view.fees_now()
        terms = terms_of(account)
        assert terms is not None
        if (at_once := make_now(account, order, terms)) is not None:
            return at_once
        request = request_of(order, account.address)
        gas = await gas_of(account, order, request, terms)
        if isinstance(gas, NotMade):
            return replace(gas, asked_ms=asked_ms)
        one = priced(account, order, request, gas, terms)
        if isinstance(one, NotMade):
            return one
        return made(account, order, one, await account.signer.sign(one.draft.payload))
    except SignerRefused as error:
        return NotMade(order.slot, order.number, final=True, reason=clip(str(error)))
    except LanewayError as error:
        return NotMade(order.slot, order.number, final=False, reason=clip(str(error)))


class Priced(Struct, frozen=True, gc=False):
    transaction: Transaction
    fee: EvmFee
    gas: int
    cost: int
    draft: TransactionDraft


def priced(
    account: EvmAccount, order: MakeAttempt, request: EvmRequest, gas: int, terms: EvmTerms
) -> Priced | NotMade:
    kind = type_of(request, terms)
    try:
        fee = fee_of(request, order, kind, terms, gas)
    except Parked as parked:
        reason = clip(f"{PARKED}: {parked}")
        return NotMade(order.slot, order.number, final=False, reason=reason)
    if max(fee.cap, fee.blob) >= FEE_WEI_LIMIT:
        reason = f"{PARKED}: it asks {written(fee.cap)} a unit of gas, which nobody means"
        return NotMade(order.slot, order.number, final=False, reason=reason)
    cost = cost_of(request, fee, gas)
    transaction = compose(request, kind, order.nonce, fee, gas, account.chain_id)
    return Priced(transaction, fee, gas, cost, draft(transaction))


def made(account: EvmAccount, order: MakeAttempt, one: Priced, signature: Signature) -> Made:
    sealed = seal(one.draft, signature)
    account.note(sealed.hash)
    raw = sealed.raw
    if isinstance(one.transaction, BlobTransaction):
        raw = encode_network(signed(one.transaction, signature))
    return Made(order.slot, order.number, raw, sealed.hash, one.fee, one.gas, one.cost)


async def gas_of(
    account: EvmAccount, order: MakeAttempt, request: EvmRequest, terms: EvmTerms
) -> int | NotMade:
    """What the caller says, or what the chain estimates and some more; never less than is paid
    before the first step, and for a no-op never more than any chain needs."""
    if request.gas is not None:
        return request.gas
    estimate = await account.view.chain.estimate(call_of(account.address, request))
    if isinstance(estimate, Estimated):
        # A plain transfer needs exactly what it needs; a call may meet another state.
        is_plain = not request.input and estimate.gas <= NOOP_GAS
        gas = estimate.gas if is_plain else estimate.gas * account.gas_percent // 100
        if order.purpose != Purpose.INTENT:
            gas = min(gas, NOOP_GAS_MAX)
        return max(gas, least_gas(request, type_of(request, terms)))
    if order.purpose != Purpose.INTENT:
        return NOOP_GAS
    # At least what it hands over, and the gas that any transaction needs.
    needed = value(request.value_wei) + NOOP_GAS * order.market.cap
    if isinstance(estimate, Reverted):
        estimate = replace(estimate, reason=reason_in_words(estimate, request))
    return not_estimated(order, estimate, needed)


def reason_in_words(reverted: Reverted, request: EvmRequest) -> str:
    """The contract's own error, where the request has its ABI; else what the node made of it."""
    if request.words is None or not reverted.output:
        return reverted.reason
    try:
        found = revert_reason(reverted.output, read_abi(request.words.items))
    except (BadRequest, ModuleNotFoundError):
        return reverted.reason  # Another release wrote the ABI, or the extra is not installed.
    return reverted.reason if found.error is None else found.text


def not_estimated(order: MakeAttempt, estimate: Reverted | NotEstimated, needed: int) -> NotMade:
    if isinstance(estimate, Reverted):
        reason = clip(f"the call reverts: {estimate.reason}")
        return NotMade(order.slot, order.number, final=True, reason=reason, reverts=True)
    broke = estimate.kind is SendKind.INSUFFICIENT_FUNDS
    final = estimate.kind.is_final() and not broke
    return NotMade(
        order.slot, order.number, final, clip(estimate.reason), broke, needed=needed if broke else 0
    )


def call_of(sender: bytes, request: EvmRequest) -> EvmCall:
    blobs = request.blobs
    return EvmCall(
        sender=sender,
        to=request.to,
        value_wei=value(request.value_wei),
        input=request.input,
        access_list=request.access_list,
        delegations=tuple(
            Delegation(
                one.chain_id, one.address, one.nonce, one.y_parity, value(one.r), value(one.s)
            )
            for one in request.authorizations
        ),
        blob_hashes=() if blobs is None else blobs.hashes,
    )
