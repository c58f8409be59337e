"""What an attempt offers, and what it is; a caller's ceilings are never broken."""

from typing import Any

import pytest
from tests.engine.eoa.stage import BLOBS, CHAIN_ID, GWEI, SECRET, TO, order, replace

from laneway.core.units import amount
from laneway.engine.eoa.drafts import (
    EvmTerms,
    compose,
    cost_of,
    decode_request,
    encode_request,
    fee_of,
    gas_share,
    request_of,
    type_of,
)
from laneway.engine.performers import Parked
from laneway.evm.envelope import decode, draft, encode_network, seal, sender
from laneway.evm.keccak import keccak
from laneway.evm.limits import BLOB_GAS
from laneway.evm.secp256k1 import HeldEvmKey
from laneway.evm.transaction import SetCodeTransaction, signed
from laneway.lanes.eoa.fees import Ceiling, EvmFee, fresh
from laneway.lanes.eoa.rows import Purpose
from laneway.ports import EvmAuthorization, EvmRequest

KEY = HeldEvmKey(SECRET)
MODERN = EvmTerms(True, 3)
OLD = EvmTerms(False, 0)
AUTHORIZATION = EvmAuthorization(CHAIN_ID, TO, 9, 1, amount(5), amount(6))
ACCESSES = ((TO, (bytes(32),)),)
REQUEST = EvmRequest(to=TO, value_wei=amount(5), input=b"in", gas=50_000)


PLAIN = EvmRequest(to=TO)


def fee(request: EvmRequest, kind: int = 2, terms: EvmTerms = MODERN, **words: Any) -> EvmFee:
    return fee_of(request, order(request, **words), kind, terms, 50_000)


@pytest.mark.parametrize(
    ("more", "terms", "kind"),
    [
        ({}, MODERN, 2),
        ({}, OLD, 0),
        ({"type": 0}, MODERN, 0),
        ({"type": 1}, MODERN, 1),
        ({"blobs": BLOBS}, MODERN, 3),
        ({"authorizations": (AUTHORIZATION,)}, MODERN, 4),
        ({"authorizations": (AUTHORIZATION,)}, OLD, 4),
    ],
)
def test_a_type_follows_from_what_is_asked_and_what_the_chain_knows(
    more: dict[str, Any], terms: EvmTerms, kind: int
) -> None:
    assert type_of(EvmRequest(to=TO, **more), terms) == kind


@pytest.mark.parametrize("kind", range(5))
def test_each_type_is_composed_and_says_again_what_was_asked(kind: int) -> None:
    request = EvmRequest(
        to=TO,
        value_wei=amount(5),
        input=b"in",
        gas=50_000,
        access_list=ACCESSES if kind else (),
        authorizations=(AUTHORIZATION,) if kind == 4 else (),
        blobs=BLOBS if kind == 3 else None,
    )
    offered = EvmFee(21 * GWEI, GWEI, 6 if kind == 3 else 0)
    made = compose(request, kind, 4, offered, 50_000, CHAIN_ID)
    drafted = draft(made)
    signature = KEY.sign(keccak(drafted.payload))
    read = decode(seal(drafted, signature).raw)
    assert (
        read.type,
        read.nonce,
        read.to,
        read.value_wei,
        read.data,
        read.gas_limit,
        read.chain_id,
    ) == ((kind, 4, TO, 5, b"in", 50_000, CHAIN_ID))
    assert sender(read) == KEY.address
    if isinstance(read, SetCodeTransaction):
        assert read.authorizations[0].nonce == 9
    if kind == 3:
        with_blobs = decode(encode_network(signed(made, signature)))
        assert with_blobs.sidecar.blobs == BLOBS.blobs  # type: ignore[union-attr]


def test_a_plain_one_without_accesses_is_the_short_way_to_the_same() -> None:
    plain = compose(REQUEST, 2, 4, EvmFee(9, 1), 50_000, CHAIN_ID)
    assert (plain.type, plain.access_list) == (2, ())  # type: ignore[union-attr]


def test_a_payload_comes_back_as_it_was() -> None:
    request = EvmRequest(
        to=None, blobs=BLOBS, authorizations=(AUTHORIZATION,), access_list=ACCESSES
    )
    assert decode_request(encode_request(request)) == request


def test_what_fills_a_number_is_nothing_sent_to_oneself() -> None:
    for purpose in (Purpose.NOOP, Purpose.CANCEL):
        assert request_of(order(purpose=purpose), b"me") == EvmRequest(to=b"me")
    assert request_of(order(REQUEST), b"me") == REQUEST


def test_a_first_offer_is_the_market_and_a_bump_its_floor() -> None:
    assert fee(REQUEST) == EvmFee(21 * GWEI, GWEI)
    assert fee(REQUEST, floor=EvmFee(30 * GWEI, 2 * GWEI)) == EvmFee(30 * GWEI, 2 * GWEI)
    own = EvmRequest(to=TO, tip_wei=5 * GWEI)
    assert fee(own) == EvmFee(25 * GWEI, 5 * GWEI)
    assert fee(own, floor=EvmFee(30 * GWEI, 6 * GWEI)) == EvmFee(30 * GWEI, 6 * GWEI)


@pytest.mark.parametrize(
    ("ceiling", "offered"),
    [
        (22 * GWEI, EvmFee(21 * GWEI, GWEI)),
        (15 * GWEI, EvmFee(15 * GWEI, GWEI)),
        (10 * GWEI, EvmFee(10 * GWEI, GWEI)),
        (10 * GWEI - 1, None),
    ],
)
def test_a_callers_ceiling_is_offered_down_to_the_base_fee_and_parked_below(
    ceiling: int, offered: EvmFee | None
) -> None:
    request = EvmRequest(to=TO, fee_wei_max=ceiling)
    if offered is None:
        with pytest.raises(Parked):
            fee(request)
    else:
        assert fee(request) == offered


def test_a_tip_is_never_above_its_ceiling() -> None:
    request = EvmRequest(to=TO, fee_wei_max=12 * GWEI, tip_wei=50 * GWEI)
    assert fee(request) == EvmFee(12 * GWEI, 12 * GWEI)


def test_a_bump_above_the_callers_ceiling_is_parked_and_not_made_too_cheap_to_replace() -> None:
    request = EvmRequest(to=TO, fee_wei_max=25 * GWEI)
    assert fee(request, floor=EvmFee(25 * GWEI, GWEI)).cap == 25 * GWEI
    with pytest.raises(Parked):
        fee(request, floor=EvmFee(25 * GWEI + 1, GWEI))


@pytest.mark.parametrize("kind", [0, 1])
def test_a_legacy_price_is_paid_whole_and_leaves_room_for_one_block(kind: int) -> None:
    assert fee(REQUEST, kind) == EvmFee(12_250_000_000, 12_250_000_000)
    assert fee(REQUEST, kind, floor=EvmFee(30 * GWEI, 2 * GWEI)) == EvmFee(30 * GWEI, 30 * GWEI)
    capped = EvmRequest(to=TO, fee_wei_max=11 * GWEI)
    assert fee(capped, kind) == EvmFee(11 * GWEI, 11 * GWEI)


def test_a_chain_without_a_base_fee_is_paid_the_price_it_names() -> None:
    assert fee(REQUEST, 0, OLD, market=fresh(0, 7 * GWEI)) == EvmFee(7 * GWEI, 7 * GWEI)


def blobs(**more: Any) -> EvmRequest:
    return EvmRequest(to=TO, blobs=replace(BLOBS, **more))


def test_blobs_offer_twice_what_is_asked_or_what_the_caller_says() -> None:
    assert fee(blobs(), 3).blob == 6
    assert fee(blobs(fee_wei_max=amount(50)), 3).blob == 50
    assert fee(blobs(), 3, EvmTerms(True, 0)).blob == 1
    assert fee(blobs(), 3, floor=EvmFee(1, 1, 40)).blob == 40, "a bump doubles it"


def test_a_callers_ceiling_for_blobs_is_kept_by_a_bump_too() -> None:
    request = blobs(fee_wei_max=amount(50))
    assert fee(request, 3, floor=EvmFee(1, 1, 50)).blob == 50
    with pytest.raises(Parked):
        fee(request, 3, floor=EvmFee(1, 1, 51))


def test_the_most_that_gas_can_cost_is_counted_with_its_blobs() -> None:
    offered = EvmFee(10, 1, 2)
    assert cost_of(REQUEST, offered, 21_000) == 210_000
    assert cost_of(blobs(), offered, 21_000) == 210_000 + 2 * BLOB_GAS


@pytest.mark.parametrize("whose", ["caller", "operator"])
def test_a_bound_for_all_gas_lowers_the_cap_and_parks_below_what_is_paid_now(whose: str) -> None:
    """50,000 gas, a base fee of 10 gwei and a tip of 1: 550,000 gwei are paid now."""

    def offer(gwei: int, request: EvmRequest = PLAIN, kind: int = 2) -> EvmFee:
        if whose == "caller":
            return fee(replace(request, cost_wei_max=amount(gwei * GWEI)), kind)
        return fee(request, kind, ceiling=Ceiling(None, None, gwei * GWEI, ""))

    assert offer(2_000_000) == EvmFee(21 * GWEI, GWEI)
    assert offer(750_000) == EvmFee(15 * GWEI, GWEI)
    assert offer(550_000) == EvmFee(11 * GWEI, GWEI)
    with pytest.raises(Parked, match=r"11 gwei a unit of gas.*(max_cost|cost_wei_max)"):
        offer(549_999)
    with pytest.raises(Parked):
        offer(0, blobs(fee_wei_max=amount(GWEI)), 3)
    blob_cost = BLOB_GAS
    assert offer(750_000 + blob_cost, blobs(fee_wei_max=amount(GWEI)), 3).cap == 15 * GWEI


# The operator's ceiling, and the default.


def ceiled(gwei: int, asked_gwei: int | None = None) -> Ceiling:
    asked = gwei if asked_gwei is None else asked_gwei
    return Ceiling(gwei * GWEI, asked * GWEI, None, "chain table (1)")


@pytest.mark.parametrize(
    ("ceiling", "offered"),
    [
        (ceiled(22), EvmFee(21 * GWEI, GWEI)),
        (ceiled(20), EvmFee(20 * GWEI, GWEI)),
        (ceiled(11), EvmFee(11 * GWEI, GWEI)),
        (ceiled(10), None),
        (ceiled(500, 11), EvmFee(11 * GWEI, GWEI)),
        (ceiled(500, 10), None),
    ],
)
def test_a_ceiling_is_offered_down_to_what_is_paid_now_and_parked_below(
    ceiling: Ceiling, offered: EvmFee | None
) -> None:
    for kind in (2, 4):
        if offered is None:
            with pytest.raises(Parked, match="11 gwei a unit of gas"):
                fee(REQUEST, kind, ceiling=ceiling)
        else:
            assert fee(REQUEST, kind, ceiling=ceiling) == offered


def test_a_legacy_price_is_kept_below_the_ceiling_too() -> None:
    assert fee(REQUEST, 0, ceiling=ceiled(12)) == EvmFee(12 * GWEI, 12 * GWEI)
    assert fee(REQUEST, 0, ceiling=ceiled(11)) == EvmFee(11 * GWEI, 11 * GWEI)
    with pytest.raises(Parked):
        fee(REQUEST, 0, ceiling=ceiled(10))


def test_what_is_parked_says_what_is_asked_what_is_allowed_by_whom_and_what_raises_it() -> None:
    lie = fresh(10 * GWEI, 4 * 10**17)
    with pytest.raises(Parked) as parked:
        fee(REQUEST, market=lie, ceiling=ceiled(500, 100))
    assert str(parked.value) == (
        "it asks 400000010 gwei a unit of gas, and 100 gwei are allowed by the default at a base "
        "fee of 10 gwei; fee_wei_max allows more"
    )
    with pytest.raises(Parked) as parked:
        fee(REQUEST, market=lie, ceiling=ceiled(500))
    assert str(parked.value) == (
        "it asks 400000010 gwei a unit of gas, and 500 gwei are allowed by chain table (1); "
        "fee_wei_max allows more"
    )


def test_a_tip_that_the_caller_names_is_bounded_by_the_absolute_ceiling_alone() -> None:
    """The multiple of the base fee guards against what nodes say, and the caller is none."""
    own = EvmRequest(to=TO, tip_wei=50 * GWEI)
    assert fee(own, ceiling=ceiled(500, 25)) == EvmFee(70 * GWEI, 50 * GWEI)
    with pytest.raises(Parked):
        fee(own, ceiling=ceiled(50, 25))


def test_a_bump_is_lowered_to_the_ceiling_while_it_still_replaces_the_last() -> None:
    wanted, least = EvmFee(40 * GWEI, 6 * GWEI), EvmFee(20 * GWEI, 2 * GWEI)
    asked = replace(order(REQUEST, floor=wanted, ceiling=ceiled(20)), least=least)
    assert fee_of(REQUEST, asked, 2, MODERN, 50_000) == EvmFee(20 * GWEI, 6 * GWEI)
    for bound in (19, 11):
        with pytest.raises(Parked, match="20 gwei a unit of gas"):
            fee_of(REQUEST, replace(asked, ceiling=ceiled(bound)), 2, MODERN, 50_000)


def test_a_bump_after_dearer_times_keeps_the_cap_that_replaces_and_pays_the_fee_of_now() -> None:
    """The default falls with the base fee; a pool still wants more than the last attempt said."""
    least = EvmFee(226 * GWEI, 2 * GWEI)
    asked = order(REQUEST, floor=least, market=fresh(GWEI, GWEI), ceiling=ceiled(500, 25))
    assert fee_of(REQUEST, asked, 2, MODERN, 50_000) == least
    with pytest.raises(Parked, match="226 gwei a unit of gas"):
        fee_of(REQUEST, replace(asked, ceiling=ceiled(225, 25)), 2, MODERN, 50_000)
    greedy = replace(asked, least=EvmFee(226 * GWEI, 26 * GWEI))
    with pytest.raises(Parked, match="27 gwei a unit of gas, and 25 gwei"):
        fee_of(REQUEST, greedy, 2, MODERN, 50_000)


def test_a_ceiling_holds_for_blob_gas_too() -> None:
    dear = EvmTerms(True, 30 * GWEI)
    assert fee(blobs(), 3, dear, ceiling=ceiled(100)).blob == 60 * GWEI
    assert fee(blobs(), 3, dear, ceiling=ceiled(40)).blob == 40 * GWEI
    assert fee(blobs(), 3, dear, ceiling=ceiled(40, 11)).blob == 40 * GWEI
    with pytest.raises(Parked, match=r"30 gwei a unit of blob gas.*chain table"):
        fee(blobs(), 3, dear, ceiling=ceiled(29))
    named = blobs(fee_wei_max=amount(90 * GWEI))
    assert fee(named, 3, dear, ceiling=ceiled(40)).blob == 40 * GWEI


def test_what_uses_no_gas_shares_its_cost_with_nobody() -> None:
    assert gas_share(PLAIN, 10, 0, 0) == 10
    assert gas_share(PLAIN, 10, 5, 0) == 2
