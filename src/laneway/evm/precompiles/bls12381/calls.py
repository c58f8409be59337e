"""The contracts of BLS12-381, whose arithmetic is arkworks'.

A coordinate takes 64 bytes, of which the first sixteen are zero, and infinity has zeros alone. An
input of another length, a coordinate that is not reduced, and a point off its curve fail; so does
one outside its subgroup, except in an addition.
"""

from typing import TYPE_CHECKING

from laneway.evm.precompiles.bls12381.prices import G1_TERM_BYTES, G2_TERM_BYTES, PAIR_BYTES
from laneway.evm.precompiles.errors import needed

if TYPE_CHECKING:
    from py_arkworks_bls12381 import G1Point, G2Point

PACKAGE = "py_arkworks_bls12381"
COORDINATE_BYTES, G1_BYTES, G2_BYTES = 64, 128, 256
ZEROS = bytes(16)


def g1_addition(data: bytes) -> bytes | None:
    if len(data) != 2 * G1_BYTES:
        return None
    first, second = g1_point(data[:G1_BYTES]), g1_point(data[G1_BYTES:])
    if first is None or second is None:
        return None
    return written((first + second).to_xy_bytes_be())


def g2_addition(data: bytes) -> bytes | None:
    if len(data) != 2 * G2_BYTES:
        return None
    first, second = g2_point(data[:G2_BYTES]), g2_point(data[G2_BYTES:])
    if first is None or second is None:
        return None
    return written((first + second).to_xy_bytes_be())


def g1_sum(data: bytes) -> bytes | None:
    """The sum of points, each times a scalar."""
    if not data or len(data) % G1_TERM_BYTES:
        return None
    with needed(PACKAGE):
        from py_arkworks_bls12381 import G1Point, Scalar
    points, scalars = [], []
    for at in range(0, len(data), G1_TERM_BYTES):
        point = g1_point(data[at : at + G1_BYTES], of_subgroup=True)
        if point is None:
            return None
        points.append(point)
        scalars.append(Scalar.from_be_bytes_mod_order(data[at + G1_BYTES : at + G1_TERM_BYTES]))
    return written(G1Point.multiexp_unchecked(points, scalars).to_xy_bytes_be())


def g2_sum(data: bytes) -> bytes | None:
    if not data or len(data) % G2_TERM_BYTES:
        return None
    with needed(PACKAGE):
        from py_arkworks_bls12381 import G2Point, Scalar
    points, scalars = [], []
    for at in range(0, len(data), G2_TERM_BYTES):
        point = g2_point(data[at : at + G2_BYTES], of_subgroup=True)
        if point is None:
            return None
        points.append(point)
        scalars.append(Scalar.from_be_bytes_mod_order(data[at + G2_BYTES : at + G2_TERM_BYTES]))
    return written(G2Point.multiexp_unchecked(points, scalars).to_xy_bytes_be())


def pairing(data: bytes) -> bytes | None:
    """A word that says whether the product of all pairings is one."""
    if not data or len(data) % PAIR_BYTES:
        return None
    with needed(PACKAGE):
        from py_arkworks_bls12381 import GT
    firsts, seconds = [], []
    for at in range(0, len(data), PAIR_BYTES):
        first = g1_point(data[at : at + G1_BYTES], of_subgroup=True)
        second = g2_point(data[at + G1_BYTES : at + PAIR_BYTES], of_subgroup=True)
        if first is None or second is None:
            return None
        firsts.append(first)
        seconds.append(second)
    return int(GT.pairing_check(firsts, seconds)).to_bytes(32, "big")


def g1_map(data: bytes) -> bytes | None:
    """The point of the subgroup that a field element stands for (RFC 9380)."""
    raw = coordinates(data, 1)
    if raw is None:
        return None
    with needed(PACKAGE):
        from py_arkworks_bls12381 import G1Point
    try:
        return written(G1Point.map_from_fp_be(raw).to_xy_bytes_be())
    except ValueError:
        return None


def g2_map(data: bytes) -> bytes | None:
    raw = coordinates(data, 2)
    if raw is None:
        return None
    with needed(PACKAGE):
        from py_arkworks_bls12381 import G2Point
    try:
        return written(G2Point.map_from_fp2_be(raw).to_xy_bytes_be())
    except ValueError:
        return None


def g1_point(data: bytes, *, of_subgroup: bool = False) -> "G1Point | None":
    """The library finds coordinates that are not reduced, and points off the curve."""
    raw = coordinates(data, 2)
    if raw is None:
        return None
    with needed(PACKAGE):
        from py_arkworks_bls12381 import G1Point
    read = G1Point.from_xy_bytes_be if of_subgroup else G1Point.from_xy_bytes_unchecked_be
    try:
        return read(raw)
    except ValueError:
        return None


def g2_point(data: bytes, *, of_subgroup: bool = False) -> "G2Point | None":
    raw = coordinates(data, 4)
    if raw is None:
        return None
    with needed(PACKAGE):
        from py_arkworks_bls12381 import G2Point
    read = G2Point.from_xy_bytes_be if of_subgroup else G2Point.from_xy_bytes_unchecked_be
    try:
        return read(raw)
    except ValueError:
        return None


def coordinates(data: bytes, count: int) -> bytes | None:
    """Coordinates without the zeros before each; None if these or their number are wrong."""
    if len(data) != count * COORDINATE_BYTES:
        return None
    starts = range(0, len(data), COORDINATE_BYTES)
    if any(data[at : at + 16] != ZEROS for at in starts):
        return None
    return b"".join(data[at + 16 : at + COORDINATE_BYTES] for at in starts)


def written(raw: bytes) -> bytes:
    """Coordinates with the zeros before each."""
    return b"".join(ZEROS + raw[at : at + 48] for at in range(0, len(raw), 48))
