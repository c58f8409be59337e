"""Laws of the field of twelve dimensions; the slow way is plain multiplication."""

from laneway.evm.precompiles.bn254.curve import P
from laneway.evm.precompiles.bn254.tower import (
    ONE,
    XI,
    ZERO,
    Element,
    conjugate,
    frobenius,
    inverted,
    multiply,
    multiply_line,
    product,
    reciprocal,
    square,
    unit_square,
)

W: Element = (ZERO, (1, 0, 0, 0, 0, 0))


def element(seed: int) -> Element:
    a, b, c, d, e, f, g, h, i, j, k, l = (pow(seed, n, P) for n in range(1, 13))  # noqa: E741
    return (a, b, c, d, e, f), (g, h, i, j, k, l)


A, B, C = element(7**91), element(11**80), element(13**75)


def raised(base: Element, exponent: int) -> Element:
    found = ONE
    for bit in format(exponent, "b"):
        found = multiply(found, found)
        if bit == "1":
            found = multiply(found, base)
    return found


def test_multiplication_commutes_groups_and_has_a_one() -> None:
    assert multiply(A, B) == multiply(B, A)
    assert multiply(multiply(A, B), C) == multiply(A, multiply(B, C))
    assert multiply(A, ONE) == A


def test_w_to_the_sixth_is_xi() -> None:
    assert raised(W, 6) == ((*XI, 0, 0, 0, 0), ZERO)


def test_a_square_is_a_product() -> None:
    assert square(A) == multiply(A, A)


def test_the_product_with_a_line_is_the_product_with_its_element() -> None:
    line = (5**100 % P, 7**90 % P, 11**80 % P, 13**75 % P)
    whole: Element = (ONE[0], (line[0], line[1], line[2], line[3], 0, 0))
    assert multiply_line(A, line) == multiply(A, whole)


def test_an_inverse_undoes() -> None:
    assert multiply(A, inverted(A)) == ONE
    assert product(XI, reciprocal(XI)) == (1, 0)


def test_frobenius_is_a_power_of_the_prime() -> None:
    first = raised(A, P)
    second = raised(first, P)
    assert frobenius(A, 1) == first
    assert frobenius(A, 2) == second
    assert frobenius(A, 3) == raised(second, P)


def test_the_sixth_frobenius_is_the_conjugate() -> None:
    assert frobenius(frobenius(A, 3), 3) == multiply(conjugate(A), ONE)


def test_a_unit_is_squared_in_its_own_way() -> None:
    unit = multiply(conjugate(A), inverted(A))
    unit = multiply(frobenius(unit, 2), unit)
    assert unit_square(unit) == multiply(unit, unit)
    assert unit_square(A) != multiply(A, A)
