"""What gas and blob gas cost."""

import pytest

from laneway.evm.execution.fees import (
    base_fee_after,
    blob_fee_wei,
    effective_price_wei,
    excess_blob_gas_after,
)
from laneway.evm.fork import Fork
from laneway.evm.limits import BLOB_GAS
from laneway.evm.rules import BPO1_BLOBS, CANCUN_BLOBS, rules_of
from laneway.evm.transaction import DynamicFeeTransaction, LegacyTransaction


@pytest.mark.parametrize(
    ("fee", "tip", "base", "price"), [(100, 3, 7, 10), (8, 3, 7, 8), (7, 0, 7, 7)]
)
def test_the_tip_is_paid_as_far_as_the_fee_allows(
    fee: int, tip: int, base: int, price: int
) -> None:
    made = DynamicFeeTransaction(1, 0, tip, fee, 21_000, bytes(20))
    assert effective_price_wei(made, base) == price
    assert effective_price_wei(LegacyTransaction(0, fee, 21_000, bytes(20)), base) == fee


@pytest.mark.parametrize(
    ("used", "fee"), [(15, 1_000), (30, 1_125), (0, 875), (16, 1_008), (14, 992)]
)
def test_the_base_fee_follows_how_full_a_block_was(used: int, fee: int) -> None:
    assert base_fee_after(base_fee_wei=1_000, gas_used=used, gas_limit=30) == fee


def test_a_base_fee_rises_by_one_wei_at_least() -> None:
    assert base_fee_after(base_fee_wei=7, gas_used=16, gas_limit=30) == 8


@pytest.mark.parametrize(
    ("excess", "fee"), [(0, 1), (2_314_057, 1), (2_314_058, 2), (10 * 1024 * 1024, 23)]
)
def test_the_price_of_blob_gas_is_that_of_eip_4844(excess: int, fee: int) -> None:
    """The cases of EIP-4844's own table."""
    assert blob_fee_wei(excess, CANCUN_BLOBS) == fee


def after(fork: Fork, excess: int, blobs: int, base_fee_wei: int = 1) -> int:
    rules = rules_of(fork)
    return excess_blob_gas_after(
        rules, excess_gas=excess, used_gas=blobs * BLOB_GAS, base_fee_wei=base_fee_wei
    )


def test_the_excess_is_what_is_above_the_target() -> None:
    assert after(Fork.CANCUN, 0, 2) == 0
    assert after(Fork.CANCUN, 0, 3) == 0
    assert after(Fork.CANCUN, BLOB_GAS, 6) == 4 * BLOB_GAS


def test_since_osaka_blobs_that_cost_less_than_their_execution_become_dearer() -> None:
    assert after(Fork.PRAGUE, 6 * BLOB_GAS, 6, 10**9) == 6 * BLOB_GAS
    assert after(Fork.OSAKA, 6 * BLOB_GAS, 6, 10**9) == 6 * BLOB_GAS + 6 * BLOB_GAS * 3 // 9
    assert after(Fork.OSAKA, 6 * BLOB_GAS, 6, 1) == 6 * BLOB_GAS
    rules = rules_of(Fork.OSAKA, BPO1_BLOBS)
    assert excess_blob_gas_after(rules, excess_gas=0, used_gas=15 * BLOB_GAS, base_fee_wei=1) == (
        5 * BLOB_GAS
    )
