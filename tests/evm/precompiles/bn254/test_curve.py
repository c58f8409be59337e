"""Laws of the first group, and published multiples of its generator."""

import pytest

from laneway.evm.precompiles.bn254.curve import (
    INFINITY,
    N,
    P,
    add,
    digits,
    is_on_curve,
    multiply,
)

G = (1, 2)
TWICE = (
    0x030644E72E131A029B85045B68181585D97816A916871CA8D3C208C16D87CFD3,
    0x15ED738C0E0A7C92E7845F96B2AE9C0A68A6A449E3538FC7FF3EBF7A5A18A2C4,
)
"""In the vectors of EIP-196."""
OPPOSITE = (1, P - 2)
SCALARS = [1, 2, 3, 15, 16, 17, 31, 32, 0x5555555555555555, N >> 1, N - 17, N - 3, N - 2, N - 1]


def slow(scalar: int) -> tuple[int, int]:
    found, base = INFINITY, G
    while scalar:
        if scalar & 1:
            found = add(found, base)
        base = add(base, base)
        scalar >>= 1
    return found


def test_the_generator_doubled_is_the_published_point() -> None:
    assert add(G, G) == multiply(G, 2) == TWICE


def test_infinity_changes_nothing() -> None:
    assert add(G, INFINITY) == add(INFINITY, G) == G
    assert add(INFINITY, INFINITY) == multiply(INFINITY, 5) == INFINITY


def test_a_point_and_its_opposite_are_infinity() -> None:
    assert add(G, OPPOSITE) == INFINITY


def test_order_and_grouping_of_a_sum_do_not_matter() -> None:
    third = add(TWICE, G)
    assert third == add(G, TWICE) == multiply(G, 3)
    assert add(add(G, TWICE), third) == add(G, add(TWICE, third)) == multiply(G, 6)


@pytest.mark.parametrize("scalar", SCALARS)
def test_a_multiple_is_the_sum_of_its_parts(scalar: int) -> None:
    found = multiply(G, scalar)
    assert found == slow(scalar)
    assert is_on_curve(*found)
    assert max(found) < P


def test_one_less_than_the_order_gives_the_opposite() -> None:
    assert multiply(G, N - 1) == OPPOSITE
    # Here the last addition meets two equal points.
    assert multiply(G, N - 2) == (TWICE[0], P - TWICE[1])


@pytest.mark.parametrize("scalar", [0, N, 2 * N])
def test_multiples_of_the_order_are_infinity(scalar: int) -> None:
    assert multiply(TWICE, scalar) == INFINITY


def test_a_scalar_counts_modulo_the_order() -> None:
    assert multiply(G, (1 << 256) - 1) == multiply(G, ((1 << 256) - 1) % N)


@pytest.mark.parametrize("scalar", SCALARS)
def test_digits_add_up_to_their_scalar_and_are_odd_and_small(scalar: int) -> None:
    found = digits(scalar)
    assert sum(digit << place for place, digit in enumerate(reversed(found))) == scalar
    assert all(digit % 2 and abs(digit) < 16 for digit in found if digit)


@pytest.mark.parametrize("point", [(0, 1), (1, 3), (1, 0), (P - 1, 0)])
def test_other_coordinates_are_no_point(point: tuple[int, int]) -> None:
    assert not is_on_curve(*point)
    assert is_on_curve(*INFINITY)
    assert is_on_curve(*TWICE)
