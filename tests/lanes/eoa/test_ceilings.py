"""The fee ceiling that nobody had to set, by tables."""

import pytest

from laneway.lanes.eoa.ceilings import (
    BASE_FEE_TIMES,
    QUIET_PART,
    TABLE,
    UNKNOWN_CHAIN_WEI,
    by_base_fee,
    table_ceiling,
)
from laneway.lanes.eoa.fees import GWEI

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
