"""The second group of bn254: points of order N on y² = x³ + 3/ξ, and the lines of their pairings.

On that curve, the twist, zeros stand for the point at infinity. The walk along the multiples of a
point that a pairing takes (the optimal ate pairing, eprint 2008/096) also says whether its order
is N. With the endomorphism ψ of the twist, a point Q of order N has

    (6X + 2)Q + ψ(Q) - ψ²(Q) + ψ³(Q) = 0

because ψ multiplies by P there. No other point has it: ψ² - (6X² + 1)ψ + P = 0 holds everywhere,
so the sum above is (a + bψ)Q for two numbers a and b, and it can be zero only for a Q whose order
divides the norm a² + (6X² + 1)ab + Pb². That has N alone in common with N(2P - N), the order of
the twist. `test_twist.py` computes it.
"""

from laneway.evm.precompiles.bn254.curve import P
from laneway.evm.precompiles.bn254.tower import TURNS, ZERO, Fp2, product, reciprocal
from laneway.evm.precompiles.integers import inverse

TwistPoint = tuple[Fp2, Fp2]
Chord = tuple[Fp2, Fp2]
"""The slope of a line, and slope · x - y of its points."""

X = 4965661367192848881
"""The parameter of the curve: P = 36X⁴ + 36X³ + 24X² + 6X + 1."""
CONSTANT: Fp2 = product((27, -3), (inverse(82, P), 0))
"""3/ξ, for 1/ξ = (9 - i)/82."""
AT_INFINITY: TwistPoint = (ZERO[:2], ZERO[:2])
DOUBLE, ADD, SUBTRACT, ADD_IMAGE, SUBTRACT_SECOND_IMAGE = range(5)


def route() -> list[int]:
    """The steps from a point Q to (6X + 2)Q + ψ(Q) - ψ²(Q)."""
    steps, scalar = [SUBTRACT_SECOND_IMAGE, ADD_IMAGE], 6 * X + 2
    while scalar > 1:
        if scalar & 1:
            step, digit = (ADD, 1) if scalar & 2 == 0 else (SUBTRACT, -1)
            steps.append(step)
            scalar -= digit
        steps.append(DOUBLE)
        scalar >>= 1
    return steps[::-1]


ROUTE = route()


def is_on_twist(x: Fp2, y: Fp2) -> bool:
    """Whether the coordinates are those of a point; infinity is one."""
    if (x, y) == AT_INFINITY:
        return True
    (a0, a1), (b0, b1) = product(y, y), product(product(x, x), x)
    return not ((a0 - b0 - CONSTANT[0]) % P or (a1 - b1 - CONSTANT[1]) % P)


def walk(point: TwistPoint) -> list[Chord] | None:
    """The chord of each step of the route; None unless the order of the point is N.

    Such a point meets neither itself nor its opposite on the way, so every slope exists: before the
    last two steps its multiples are small, and ψ multiplies by P.
    """
    targets = [point, point, opposite(point), image(point, 1), opposite(image(point, 2))]
    place, chords = point, []
    for step in ROUTE:
        target = targets[step] if step else place
        slope = secant(place, target) if step else tangent(place)
        if slope is None:
            return None
        place, chord = third(place, target, slope)
        chords.append(chord)
    return chords if place == opposite(image(point, 3)) else None


def tangent(point: TwistPoint) -> Fp2:
    """No point has y = 0, for that would be its opposite, and the order of the twist is odd."""
    (x0, x1), (y0, y1) = point
    return product((3 * (x0 * x0 - x1 * x1), 6 * x0 * x1), reciprocal((2 * y0, 2 * y1)))


def secant(first: TwistPoint, second: TwistPoint) -> Fp2 | None:
    """None for a point with itself and with its opposite."""
    ((a0, a1), (b0, b1)), ((c0, c1), (d0, d1)) = first, second
    if (a0, a1) == (c0, c1):
        return None
    return product((d0 - b0, d1 - b1), reciprocal((c0 - a0, c1 - a1)))


def third(first: TwistPoint, second: TwistPoint, slope: Fp2) -> tuple[TwistPoint, Chord]:
    """The sum of two points, which a line with this slope joins, and its chord."""
    ((a0, a1), (b0, b1)), ((c0, c1), _) = first, second
    s0, s1 = slope
    x0 = (s0 * s0 - s1 * s1 - a0 - c0) % P
    x1 = (2 * s0 * s1 - a1 - c1) % P
    h0 = (s0 * a0 - s1 * a1 - b0) % P
    h1 = (s0 * a1 + s1 * a0 - b1) % P
    y0 = (h0 - s0 * x0 + s1 * x1) % P
    y1 = (h1 - s0 * x1 - s1 * x0) % P
    return ((x0, x1), (y0, y1)), (slope, (h0, h1))


def opposite(point: TwistPoint) -> TwistPoint:
    x, (y0, y1) = point
    return x, (-y0 % P, -y1 % P)


def image(point: TwistPoint, n: int) -> TwistPoint:
    """ψⁿ of the point: ψ goes to the curve over the larger field, takes the Pth power, and back."""
    (x0, x1), (y0, y1) = point
    sign = -1 if n & 1 else 1
    return product((x0, sign * x1), TURNS[n][2]), product((y0, sign * y1), TURNS[n][3])
