"""The prices of EIP-2537: what a term costs falls with their number."""

import pytest

from laneway.evm.precompiles.bls12381 import prices


@pytest.mark.parametrize("data", [b"", bytes(1000)])
def test_most_calls_have_one_price(data: bytes) -> None:
    assert prices.g1_addition(data) == 375
    assert prices.g2_addition(data) == 600
    assert prices.g1_map(data) == 5_500
    assert prices.g2_map(data) == 23_800


@pytest.mark.parametrize(
    ("terms", "first", "second"),
    [
        (0, 0, 0),
        (1, 12_000, 22_500),
        (2, 22_776, 45_000),
        (3, 30_528, 62_302),
        (127, 792_480, 1_497_330),
        (128, 797_184, 1_509_120),
        (129, 803_412, 1_520_910),
        (1_000, 6_228_000, 11_790_000),
    ],
)
def test_a_sum_has_a_discount_by_its_terms(terms: int, first: int, second: int) -> None:
    assert prices.g1_sum(bytes(160 * terms)) == prices.g1_sum(bytes(160 * terms + 159)) == first
    assert prices.g2_sum(bytes(288 * terms)) == prices.g2_sum(bytes(288 * terms + 287)) == second


def test_discounts_are_128_and_never_fall_back() -> None:
    for discounts in (prices.G1_DISCOUNTS, prices.G2_DISCOUNTS):
        assert len(discounts) == 128
        assert list(discounts) == sorted(discounts, reverse=True)


def test_a_pairing_has_a_price_for_each_whole_pair() -> None:
    assert prices.pairing(b"") == prices.pairing(bytes(383)) == 37_700
    assert prices.pairing(bytes(384)) == 70_300
    assert prices.pairing(bytes(3_840)) == 363_700
