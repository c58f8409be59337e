"""The field of twelve dimensions over bn254's prime field, in which its pairings have their values.

Its elements are polynomials in w with w⁶ = ξ = 9 + i, over the numbers a + b·i with i² = -1. They
are kept as two halves, the coefficients of 1, w², w⁴ and those of w, w³, w⁵. Sums of products stay
unreduced as long as possible, because a reduction costs more than a product.
"""

from laneway.evm.precompiles.bn254.curve import P
from laneway.evm.precompiles.integers import inverse, number

Fp2 = tuple[int, int]
Half = tuple[int, int, int, int, int, int]
Element = tuple[Half, Half]

ZERO: Half = (number(0), number(0), number(0), number(0), number(0), number(0))
ONE: Element = ((number(1), *ZERO[1:]), ZERO)
XI: Fp2 = (number(9), number(1))


def multiply(first: Element, second: Element) -> Element:
    even, odd = half_product(first[0], second[0]), half_product(first[1], second[1])
    return joined(even, odd, half_product(half_sum(*first), half_sum(*second)))


def joined(even: Half, odd: Half, both: Half) -> Element:
    """The product of two elements, of the products of their halves and of their halves' sums."""
    a0, a1, b0, b1, c0, c1 = even
    d0, d1, e0, e1, f0, f1 = odd
    g0, g1, h0, h1, i0, i1 = both
    return (
        (
            (a0 + 9 * f0 - f1) % P,
            (a1 + 9 * f1 + f0) % P,
            (b0 + d0) % P,
            (b1 + d1) % P,
            (c0 + e0) % P,
            (c1 + e1) % P,
        ),
        (
            (g0 - a0 - d0) % P,
            (g1 - a1 - d1) % P,
            (h0 - b0 - e0) % P,
            (h1 - b1 - e1) % P,
            (i0 - c0 - f0) % P,
            (i1 - c1 - f1) % P,
        ),
    )


def square(element: Element) -> Element:
    """By (a + bw)² = (a + b)(a + bw²) - ab - abw² + 2abw: two products of halves."""
    even, odd = element
    d0, d1, e0, e1, f0, f1 = odd
    turned: Half = (9 * f0 - f1, 9 * f1 + f0, d0, d1, e0, e1)
    a0, a1, b0, b1, c0, c1 = half_product(half_sum(even, odd), half_sum(even, turned))
    g0, g1, h0, h1, i0, i1 = half_product(even, odd)
    return (
        (
            (a0 - g0 - 9 * i0 + i1) % P,
            (a1 - g1 - 9 * i1 - i0) % P,
            (b0 - h0 - g0) % P,
            (b1 - h1 - g1) % P,
            (c0 - i0 - h0) % P,
            (c1 - i1 - h1) % P,
        ),
        (2 * g0 % P, 2 * g1 % P, 2 * h0 % P, 2 * h1 % P, 2 * i0 % P, 2 * i1 % P),
    )


def half_sum(first: Half, second: Half) -> Half:
    a0, a1, b0, b1, c0, c1 = first
    d0, d1, e0, e1, f0, f1 = second
    return a0 + d0, a1 + d1, b0 + e0, b1 + e1, c0 + f0, c1 + f1


def half_product(first: Half, second: Half) -> Half:
    """Of polynomials in w², not reduced modulo P."""
    a0, a1, b0, b1, c0, c1 = first
    d0, d1, e0, e1, f0, f1 = second
    g0 = b0 * f0 - b1 * f1 + c0 * e0 - c1 * e1
    g1 = b0 * f1 + b1 * f0 + c0 * e1 + c1 * e0
    h0 = c0 * f0 - c1 * f1
    h1 = c0 * f1 + c1 * f0
    return (
        a0 * d0 - a1 * d1 + 9 * g0 - g1,
        a0 * d1 + a1 * d0 + 9 * g1 + g0,
        a0 * e0 - a1 * e1 + b0 * d0 - b1 * d1 + 9 * h0 - h1,
        a0 * e1 + a1 * e0 + b0 * d1 + b1 * d0 + 9 * h1 + h0,
        a0 * f0 - a1 * f1 + b0 * e0 - b1 * e1 + c0 * d0 - c1 * d1,
        a0 * f1 + a1 * f0 + b0 * e1 + b1 * e0 + c0 * d1 + c1 * d0,
    )


def multiply_line(element: Element, line: tuple[int, int, int, int]) -> Element:
    """The product with 1 + lw + mw³, the form of every line of a pairing."""
    (a0, a1, b0, b1, c0, c1), (d0, d1, e0, e1, f0, f1) = element
    l0, l1, m0, m1 = line
    g0 = l0 * f0 - l1 * f1 + m0 * e0 - m1 * e1
    g1 = l0 * f1 + l1 * f0 + m0 * e1 + m1 * e0
    h0, h1 = m0 * f0 - m1 * f1, m0 * f1 + m1 * f0
    i0, i1 = m0 * c0 - m1 * c1, m0 * c1 + m1 * c0
    return (
        (
            (a0 + 9 * g0 - g1) % P,
            (a1 + 9 * g1 + g0) % P,
            (b0 + l0 * d0 - l1 * d1 + 9 * h0 - h1) % P,
            (b1 + l0 * d1 + l1 * d0 + 9 * h1 + h0) % P,
            (c0 + l0 * e0 - l1 * e1 + m0 * d0 - m1 * d1) % P,
            (c1 + l0 * e1 + l1 * e0 + m0 * d1 + m1 * d0) % P,
        ),
        (
            (d0 + l0 * a0 - l1 * a1 + 9 * i0 - i1) % P,
            (d1 + l0 * a1 + l1 * a0 + 9 * i1 + i0) % P,
            (e0 + l0 * b0 - l1 * b1 + m0 * a0 - m1 * a1) % P,
            (e1 + l0 * b1 + l1 * b0 + m0 * a1 + m1 * a0) % P,
            (f0 + l0 * c0 - l1 * c1 + m0 * b0 - m1 * b1) % P,
            (f1 + l0 * c1 + l1 * c0 + m0 * b1 + m1 * b0) % P,
        ),
    )


def product(first: Fp2, second: Fp2) -> Fp2:
    (a0, a1), (b0, b1) = first, second
    return (a0 * b0 - a1 * b1) % P, (a0 * b1 + a1 * b0) % P


def reciprocal(value: Fp2) -> Fp2:
    a0, a1 = value
    shrink = inverse(a0 * a0 + a1 * a1, P)
    return a0 * shrink % P, -a1 * shrink % P


def conjugate(element: Element) -> Element:
    """The P⁶th power."""
    even, (d0, d1, e0, e1, f0, f1) = element
    return even, (-d0, -d1, -e0, -e1, -f0, -f1)


def inverted(element: Element) -> Element:
    """By the product of its powers P⁰, P², P⁴ to P¹⁰, which is of the form a + b·i."""
    even = multiply(element, conjugate(element))
    second = frobenius(even, 2)
    others = multiply(second, frobenius(second, 2))
    norm = multiply(even, others)[0][:2]
    shrink: Element = ((*reciprocal(norm), *ZERO[2:]), ZERO)
    return multiply(multiply(conjugate(element), others), shrink)


def unit_square(unit: Element) -> Element:
    """The square of an element whose power P⁴ - P² + 1 is one (eprint 2009/565)."""
    (a0, a1, b0, b1, c0, c1), (d0, d1, e0, e1, f0, f1) = unit
    g0, g1, h0, h1 = pair_square(a0, a1, e0, e1)
    i0, i1, j0, j1 = pair_square(d0, d1, c0, c1)
    k0, k1, l0, l1 = pair_square(b0, b1, f0, f1)
    return (
        (
            (3 * g0 - 2 * a0) % P,
            (3 * g1 - 2 * a1) % P,
            (3 * i0 - 2 * b0) % P,
            (3 * i1 - 2 * b1) % P,
            (3 * k0 - 2 * c0) % P,
            (3 * k1 - 2 * c1) % P,
        ),
        (
            (27 * l0 - 3 * l1 + 2 * d0) % P,
            (27 * l1 + 3 * l0 + 2 * d1) % P,
            (3 * h0 + 2 * e0) % P,
            (3 * h1 + 2 * e1) % P,
            (3 * j0 + 2 * f0) % P,
            (3 * j1 + 2 * f1) % P,
        ),
    )


def pair_square(a0: int, a1: int, b0: int, b1: int) -> tuple[int, int, int, int]:
    """The square of a + bw³, not reduced."""
    c0, c1 = (b0 + b1) * (b0 - b1), 2 * b0 * b1
    return (
        (a0 + a1) * (a0 - a1) + 9 * c0 - c1,
        2 * a0 * a1 + 9 * c1 + c0,
        2 * (a0 * b0 - a1 * b1),
        2 * (a0 * b1 + a1 * b0),
    )


def turns() -> list[list[Fp2]]:
    """What wᵏ is multiplied by in a Pⁿth power: row n, column k."""
    root = raised(XI, (P - 1) // 6)
    first = [ONE[0][:2]]
    for _ in range(5):
        first.append(product(first[-1], root))
    rows = [first]
    for _ in range(2):
        rows.append([product((a, -b), one) for (a, b), one in zip(rows[-1], first, strict=True)])
    return [[ONE[0][:2]] * 6, *rows]


def raised(base: Fp2, exponent: int) -> Fp2:
    result = ONE[0][:2]
    while exponent:
        if exponent & 1:
            result = product(result, base)
        base = product(base, base)
        exponent >>= 1
    return result


TURNS = turns()


def frobenius(element: Element, n: int) -> Element:
    """The Pⁿth power, for n of one to three."""
    even, odd = element
    row = TURNS[n]
    return turned(even, n, row[0::2]), turned(odd, n, row[1::2])


def turned(half: Half, n: int, row: list[Fp2]) -> Half:
    a0, a1, b0, b1, c0, c1 = half
    if n & 1:
        a1, b1, c1 = -a1, -b1, -c1
    return (
        *product((a0, a1), row[0]),
        *product((b0, b1), row[1]),
        *product((c0, c1), row[2]),
    )
