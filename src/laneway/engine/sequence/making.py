"""Signed bytes of a Cosmos account. Making changes nothing anywhere; bytes that are made twice are
sent at most once."""

import asyncio

from laneway.core.cosmos import OfferKind
from laneway.core.errors import LanewayError, SignerRefused
from laneway.core.reason import clip
from laneway.cosmos.errors import InvalidCosmos
from laneway.cosmos.tx import SigningTerms, auth_of, sealed, sign_doc
from laneway.engine.limits import (
    BLOB_BYTES_AT_ONCE,
    FEES_AGAIN_MS,
    FEES_KEPT_MS,
    GAS_FACTOR_MAX,
)
from laneway.engine.performers import Parked
from laneway.engine.sequence.account import CosmosAccount
from laneway.engine.sequence.drafts import (
    Expired,
    SequenceDraft,
    draft,
    paid,
    request_of,
    terms_of,
)
from laneway.lanes.sequence.values import Made, MakeAttempt, NotMade

PARKED = "parked_by_cap"


def kept_ms(order: MakeAttempt) -> int:
    """How old a price may be: bytes that are made again may have been too cheap."""
    return FEES_KEPT_MS if order.number == 1 else FEES_AGAIN_MS


def make_now(account: CosmosAccount, order: MakeAttempt) -> Made | NotMade | None:
    """The bytes, if neither chain nor signer must be waited for; None otherwise."""
    price = account.view.price_known(kept_ms(order))
    if account.sign_now is None or price is None or len(order.payload) > BLOB_BYTES_AT_ONCE:
        return None
    try:
        one = draft(request_of(order, account), account, order.height)
        if one.gas is None:
            return None
        terms = terms_of(one, order, account, one.gas, price)
        auth = auth_of(account.public_key, terms)
        signature = account.sign_now(sign_doc(one.body, auth, terms))
    except (Expired, Parked, InvalidCosmos, LanewayError) as error:
        return failed(order, error)
    return made(order, one, terms, auth, signature)


async def make(account: CosmosAccount, order: MakeAttempt) -> Made | NotMade:
    try:
        request = request_of(order, account)
        if len(order.payload) > BLOB_BYTES_AT_ONCE:
            one = await asyncio.to_thread(draft, request, account, order.height)
        else:
            one = draft(request, account, order.height)
        price = await account.view.price_now(kept_ms(order))
        gas = one.gas
        if gas is None:
            found = await simulated(account, order, one)
            if isinstance(found, NotMade):
                return found
            gas = found
        terms = terms_of(one, order, account, gas, price)
        auth = auth_of(account.public_key, terms)
        signature = await account.signer.sign(sign_doc(one.body, auth, terms))
        return made(order, one, terms, auth, signature)
    except (Expired, Parked, InvalidCosmos, LanewayError) as error:
        return failed(order, error)


def failed(order: MakeAttempt, error: Exception) -> NotMade:
    if isinstance(error, Expired):
        reason = "the last block that its caller wants it in is over"
        return NotMade(order.slot, order.number, final=True, reason=reason, expired=True)
    if isinstance(error, Parked):
        return NotMade(order.slot, order.number, final=False, reason=clip(f"{PARKED}: {error}"))
    final = isinstance(error, (InvalidCosmos, SignerRefused))
    return NotMade(order.slot, order.number, final=final, reason=clip(str(error)))


async def simulated(
    account: CosmosAccount, order: MakeAttempt, one: SequenceDraft
) -> int | NotMade:
    """What it would use. A node only simulates what is next in its own order: what comes after
    it gets the account's default."""
    terms = terms_of(one, order, account, account.gas_default, 0)
    unsigned = sealed(one.body, auth_of(account.public_key, terms), bytes(64), one.blobs)
    seen = await account.view.chain.gas_used(unsigned.raw)
    if seen.used is not None:
        gas, allowed = seen.used * account.gas_percent // 100, GAS_FACTOR_MAX * account.gas_default
        if gas > allowed:
            raise Parked(
                f"nodes simulate {gas} gas, and {GAS_FACTOR_MAX} times gas_default allows "
                f"{allowed}; name its gas, or raise gas_default"
            )
        return gas
    if seen.kind in (OfferKind.WRONG_SEQUENCE, OfferKind.UNKNOWN):
        return account.gas_default
    reason = clip(f"it would fail: {seen.log}")
    return NotMade(order.slot, order.number, final=False, reason=reason, fails=True)


def made(
    order: MakeAttempt, one: SequenceDraft, terms: SigningTerms, auth: bytes, signature: bytes
) -> Made:
    done = sealed(one.body, auth, signature, one.blobs)
    return Made(
        order.slot,
        order.number,
        done.raw,
        done.hash,
        terms.fee.gas_limit,
        paid(terms),
        one.timeout_height,
    )
