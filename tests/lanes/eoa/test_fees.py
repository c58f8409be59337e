"""Fee arithmetic, by tables."""

import pytest
from tests.lanes.eoa.stage import is_replaced_by

from laneway.lanes.eoa.fees import (
    BASE_FEE_TIMES,
    GWEI,
    QUIET_PART,
    TABLE,
    UNKNOWN_CHAIN_WEI,
    EvmFee,
    bumped,
    by_base_fee,
    clamped,
    fresh,
    replacing,
    rising,
    table_ceiling,
    written,
)


def test_a_first_offer_leaves_room_for_a_rising_base_fee() -> None:
    assert fresh(100, 3) == EvmFee(203, 3)


@pytest.mark.parametrize(
    ("wei", "least"), [(0, 1), (1, 2), (7, 8), (8, 9), (100, 113), (1000, 1125)]
)
def test_a_replacement_rises_by_an_eighth_and_at_least_by_one_wei(wei: int, least: int) -> None:
    assert rising(wei) == least


@pytest.mark.parametrize(
    ("last", "market", "expected"),
    [
        (EvmFee(100, 10), EvmFee(50, 5), EvmFee(113, 12)),
        (EvmFee(100, 10), EvmFee(200, 20), EvmFee(240, 24)),
        (EvmFee(10, 10), EvmFee(1, 1), EvmFee(12, 12)),
        (EvmFee(1, 0), EvmFee(1, 90), EvmFee(108, 108)),
    ],
)
def test_a_bump_beats_the_last_attempt_and_the_market(
    last: EvmFee, market: EvmFee, expected: EvmFee
) -> None:
    fee = bumped(last, market)
    assert fee == expected
    assert is_replaced_by(last, fee)
    assert fee.tip <= fee.cap


def test_both_fields_must_rise() -> None:
    last = EvmFee(100, 10)
    least = replacing(last)
    assert is_replaced_by(last, least)
    assert not is_replaced_by(last, EvmFee(least.cap - 1, least.tip))
    assert not is_replaced_by(last, EvmFee(least.cap, least.tip - 1))


def test_what_carries_blobs_is_replaced_by_twice_as_much_of_everything() -> None:
    assert replacing(EvmFee(10, 0, 3)) == EvmFee(20, 1, 6)
    assert bumped(EvmFee(10, 2, 3), EvmFee(1, 1, 50)) == EvmFee(20, 4, 60)
    assert not is_replaced_by(EvmFee(10, 2, 3), EvmFee(20, 4, 5))


@pytest.mark.parametrize(
    ("cap", "bound", "needed", "found"),
    [(20, 20, 11, 20), (20, 15, 11, 15), (20, 11, 11, 11), (20, 10, 11, None), (9, 10, 11, 9)],
)
def test_a_cap_is_lowered_to_its_bound_while_that_pays_what_is_asked_now(
    cap: int, bound: int, needed: int, found: int | None
) -> None:
    assert clamped(cap, bound, needed) == found


@pytest.mark.parametrize(
    ("wei", "text"),
    [
        (0, "0 wei"),
        (GWEI - 1, "999999999 wei"),
        (GWEI, "1 gwei"),
        (100 * GWEI, "100 gwei"),
        (1_500_000_001, "1.500000001 gwei"),
    ],
)
def test_an_amount_is_written_as_people_read_it(wei: int, text: str) -> None:
    assert written(wei) == text


TRANSFER_GAS = 21_000


@pytest.mark.parametrize(
    ("chain_id", "gwei", "source"),
    [
        (1, 500, "chain table (1)"),
        (8_453, 50, "chain table (8453)"),
        (137, 5_000, "chain table (137)"),
        (31_337, 1_000, "default for unknown chains"),
    ],
)
def test_a_chain_has_a_ceiling_and_says_where_it_comes_from(
    chain_id: int, gwei: int, source: str
) -> None:
    assert table_ceiling(chain_id) == (gwei * GWEI, source)


def test_no_ceiling_lets_one_transfer_cost_more_than_a_few_coins() -> None:
    for wei in (*TABLE.values(), UNKNOWN_CHAIN_WEI):
        assert 0 < TRANSFER_GAS * wei <= 2 * 10**18
    assert TRANSFER_GAS * TABLE[1] <= 10**18 // 50


@pytest.mark.parametrize(
    ("base_fee", "bound"),
    [
        (20 * GWEI, 200 * GWEI),
        (60 * GWEI, 500 * GWEI),
        (GWEI, 25 * GWEI),
        (7, 25 * GWEI),
        (0, 500 * GWEI),
    ],
    ids=["multiple", "absolute", "quiet", "idle devnet", "no base fee"],
)
def test_the_lower_of_both_bounds_holds(base_fee: int, bound: int) -> None:
    assert by_base_fee(TABLE[1], base_fee) == bound


def test_a_base_fee_alone_is_never_above_its_own_multiple() -> None:
    """Below the absolute ceiling only the tip can be too much."""
    assert BASE_FEE_TIMES > 1
    assert QUIET_PART > 1
    for wei in (*TABLE.values(), UNKNOWN_CHAIN_WEI):
        for base_fee in (1, GWEI, wei // 2, wei):
            assert base_fee <= by_base_fee(wei, base_fee) <= wei
