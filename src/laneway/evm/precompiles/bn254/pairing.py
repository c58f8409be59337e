"""Whether a product of bn254's pairings is one.

The pairing of two points is the value of the lines along the second one's route at the first one,
raised to the power (P¹² - 1) / N. Factors of the field of P⁶ elements become one by that power, so
each line is divided by its constant part, and all pairs share the squarings and the power.
"""

from laneway.evm.precompiles.bn254.curve import P, Point
from laneway.evm.precompiles.bn254.tower import (
    ONE,
    Element,
    conjugate,
    frobenius,
    inverted,
    multiply,
    multiply_line,
    square,
    unit_square,
)
from laneway.evm.precompiles.bn254.twist import DOUBLE, ROUTE, Chord, X
from laneway.evm.precompiles.integers import inverse

Pair = tuple[Point, list[Chord]]
"""A point of the first group and the chords of one of the second; none of them is infinite."""


def value_of_lines(pairs: list[Pair]) -> Element:
    value = ONE
    factors = []
    for (x, y), chords in pairs:
        # No point of the first group has y = 0.
        shrink = inverse(y, P)
        factors.append((-x * shrink % P, shrink, chords))
    for place, step in enumerate(ROUTE):
        if step == DOUBLE:
            value = square(value)
        for across, up, chords in factors:
            (s0, s1), (h0, h1) = chords[place]
            line = s0 * across % P, s1 * across % P, h0 * up % P, h1 * up % P
            value = multiply_line(value, line)
    return value


def final_power(value: Element) -> Element:
    """The power (P¹² - 1) / N · 2X(6X² + 3X + 1), whose last factor has nothing in common with N.

    With P = 36X⁴ + 36X³ + 24X² + 6X + 1 and N = P - 6X², the power (P⁴ - P² + 1) / N times that
    factor is a + bP + cP² + dP³ with b = 12X³ + 6X² + 4X, c = b + 2X, a = c + 6X² + 1, d = b - 1.
    """
    unit = multiply(conjugate(value), inverted(value))
    unit = multiply(frobenius(unit, 2), unit)
    double = unit_square(unit_power(unit))
    four = unit_square(double)
    six = multiply(four, double)
    six_squared = unit_power(six)
    twelve_cubed = unit_power(unit_square(six_squared))
    high = multiply(twelve_cubed, six_squared)
    b, c = multiply(high, four), multiply(high, six)
    a, d = multiply(multiply(c, six_squared), unit), multiply(b, conjugate(unit))
    return multiply(multiply(a, frobenius(b, 1)), multiply(frobenius(c, 2), frobenius(d, 3)))


def unit_power(unit: Element) -> Element:
    """The power X of an element whose power P⁴ - P² + 1 is one."""
    power = unit
    for bit in format(X, "b")[1:]:
        power = unit_square(power)
        if bit == "1":
            power = multiply(power, unit)
    return power
