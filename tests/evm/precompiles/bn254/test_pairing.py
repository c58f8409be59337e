"""Laws of the pairing: it is bilinear, and its last power is the one that it should be."""

from math import gcd

from tests.evm.precompiles.bn254.test_twist import G as SECOND
from tests.evm.precompiles.bn254.test_twist import times

from laneway.evm.precompiles.bn254.curve import N, P, Point, multiply
from laneway.evm.precompiles.bn254.pairing import final_power, value_of_lines
from laneway.evm.precompiles.bn254.tower import ONE, Element
from laneway.evm.precompiles.bn254.tower import multiply as product
from laneway.evm.precompiles.bn254.twist import Chord, X, walk

FIRST: Point = (1, 2)
EXTRA = 2 * X * (6 * X * X + 3 * X + 1)


def chords(scalar: int) -> list[Chord]:
    point = times(scalar, SECOND)
    assert point is not None
    return walk(point) or []


def paired(*factors: tuple[int, int]) -> Element:
    """The product of pairings of multiples of both generators."""
    return final_power(value_of_lines([(multiply(FIRST, a), chords(b)) for a, b in factors]))


def test_a_factor_may_stand_on_either_side() -> None:
    assert paired((6, 1)) == paired((1, 6)) == paired((2, 3)) != ONE


def test_opposites_cancel() -> None:
    assert paired((5, 7), (N - 35, 1)) == ONE
    assert paired((5, 7), (1, N - 35)) == ONE
    assert paired((5, 7), (N - 34, 1)) != ONE


def test_the_product_of_pairings_is_the_pairing_of_the_sum() -> None:
    assert paired((1, 3), (2, 3), (4, 1)) == paired((13, 1))
    assert product(paired((3, 1)), paired((10, 1))) == paired((13, 1))


def test_no_pair_has_the_value_one() -> None:
    assert value_of_lines([]) == final_power(ONE) == ONE


def test_the_last_power_is_the_one_that_it_says() -> None:
    assert (P**4 - P**2 + 1) % N == (P**12 - 1) % (P**4 - P**2 + 1) == 0
    b = 12 * X**3 + 6 * X**2 + 4 * X
    c, d = b + 2 * X, b - 1
    a = c + 6 * X**2 + 1
    assert a + b * P + c * P**2 + d * P**3 == (P**4 - P**2 + 1) // N * EXTRA
    assert gcd(EXTRA, N) == 1
    value = value_of_lines([(FIRST, chords(5))])
    assert final_power(value) == raised(value, (P**12 - 1) // N * EXTRA)


def raised(base: Element, exponent: int) -> Element:
    found = ONE
    for bit in format(exponent, "b"):
        found = product(found, found)
        if bit == "1":
            found = product(found, base)
    return found
