"""The first group of bn254: points of y² = x³ + 3 over the prime field, which are all of order N.

A point is a pair of reduced coordinates; the point at infinity is (0, 0), as in the input of the
contracts. Nothing here checks that a point is on the curve: `is_on_curve` does.
"""

from laneway.evm.precompiles.integers import inverse, number

Point = tuple[int, int]

P = number(0x30644E72E131A029B85045B68181585D97816A916871CA8D3C208C16D87CFD47)
N = 0x30644E72E131A029B85045B68181585D2833E84879B9709143E1F593F0000001
INFINITY: Point = (number(0), number(0))
WINDOW_BITS = 5
"""Of the digits of a scalar: each is odd and below 16 in size, or zero."""


def is_on_curve(x: int, y: int) -> bool:
    """Whether the coordinates are those of a point; infinity is one."""
    return (y * y - x * x * x - 3) % P == 0 or not (x or y)


def add(first: Point, second: Point) -> Point:
    if first == INFINITY:
        return second
    if second == INFINITY:
        return first
    (x, y), (u, v) = first, second
    if x != u:
        slope = (v - y) * inverse(u - x, P) % P
    elif y == v:
        # No point has y = 0, for there is none of order two.
        slope = 3 * x * x * inverse(2 * y, P) % P
    else:
        return INFINITY
    w = (slope * slope - x - u) % P
    return w, (slope * (x - w) - y) % P


def multiply(point: Point, scalar: int) -> Point:
    scalar %= N
    if not scalar or point == INFINITY:
        return INFINITY
    multiples = odd_multiples(point)
    x, y, z = INFINITY[0], number(1), INFINITY[0]
    for digit in digits(scalar):
        if z:
            x, y, z = double(x, y, z)
        if digit:
            u, v = multiples[abs(digit) >> 1]
            x, y, z = add_affine(x, y, z, u, v if digit > 0 else P - v)
    shrink = inverse(z, P)
    square = shrink * shrink % P
    return x * square % P, y * square * shrink % P


def odd_multiples(point: Point) -> list[Point]:
    """One, three, five times the point, up to fifteen times."""
    step = add(point, point)
    multiples = [point]
    for _ in range((1 << WINDOW_BITS - 2) - 1):
        multiples.append(add(multiples[-1], step))
    return multiples


def digits(scalar: int) -> list[int]:
    """The scalar as a sum of odd digits times powers of two, the highest power first.

    Four zeros at least follow a digit that is not zero.
    """
    found = []
    while scalar:
        digit = 0
        if scalar & 1:
            digit = scalar & (1 << WINDOW_BITS) - 1
            if digit >> WINDOW_BITS - 1:
                digit -= 1 << WINDOW_BITS
            scalar -= digit
        found.append(digit)
        scalar >>= 1
    return found[::-1]


def double(x: int, y: int, z: int) -> tuple[int, int, int]:
    """Twice a point in Jacobian coordinates: it stands for (x / z², y / z³)."""
    square = y * y % P
    chord = 4 * x * square % P
    slope = 3 * x * x % P
    doubled = (slope * slope - 2 * chord) % P
    return doubled, (slope * (chord - doubled) - 8 * square * square) % P, 2 * y * z % P


def add_affine(x: int, y: int, z: int, u: int, v: int) -> tuple[int, int, int]:
    """A point in Jacobian coordinates plus the point (u, v), which is not its opposite.

    In a multiplication it never is: the sum would be infinity before the scalar is used up.
    """
    if not z:
        return u, v, number(1)
    square = z * z % P
    across = (u * square - x) % P
    up = (v * square * z - y) % P
    if not across:
        # Only N - 2 times a point ends so: N - 1 times it, and -1 times it.
        return double(x, y, z)
    far = across * across % P
    farther = far * across % P
    chord = x * far % P
    w = (up * up - farther - 2 * chord) % P
    return w, (up * (chord - w) - y * farther) % P, z * across % P
