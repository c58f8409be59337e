"""Whether the proofs of a sidecar hold: that its commitments are those of its blobs.

A blob is the values of a polynomial at the 4,096th roots of unity. Version 0 (EIP-4844) proves its
value at one more point, which follows from the blob; version 1 (EIP-7594) proves each of the 128
cells of twice as many values. A cell's values are those of the remainder by x^64 - w, where w is a
128th root of unity, so its proof Q of a commitment C to p holds if
e(C - [p mod (x^64 - w)]G + wQ, G) = e(Q, s^64 G); all of a blob are checked as one sum, with
factors that nobody can choose.
"""

from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from laneway.evm.errors import BlobMalformed, BlobProofWrong
from laneway.evm.limits import BLOB_BYTES, CELL_PROOFS_PER_BLOB
from laneway.evm.precompiles.ceremony import CELL_POWER, POWERS
from laneway.evm.precompiles.errors import needed
from laneway.evm.precompiles.kzg import ORDER, is_proven, point
from laneway.evm.transaction import Sidecar

if TYPE_CHECKING:
    from py_arkworks_bls12381 import G1Point, G2Point, Scalar

VALUES: Final = BLOB_BYTES // 32
CELL_VALUES: Final = 64
GENERATOR: Final = 7
"""Of the field's multiplicative group, as the consensus specifications have it."""
CHALLENGE: Final = b"FSBLOBVERIFY_V1_" + VALUES.to_bytes(16, "big")
"""What the point of version 0 is a hash of, before the blob and its commitment."""


def check_proofs(sidecar: Sidecar) -> None:
    """BlobMalformed or BlobProofWrong unless every proof holds. PrecompileUnavailable without the
    extra."""
    with needed("py_arkworks_bls12381"):
        import py_arkworks_bls12381  # noqa: F401
    share = len(sidecar.proofs) // len(sidecar.blobs)
    for index, (blob, commitment) in enumerate(
        zip(sidecar.blobs, sidecar.commitments, strict=True)
    ):
        proofs = sidecar.proofs[index * share : (index + 1) * share]
        factors, points = coefficients(blob), curve_points((commitment, *proofs))
        if factors is None or points is None:
            raise BlobMalformed(index=index)
        if sidecar.version == 0:
            holds = is_blob_proven(blob, factors, commitment, proofs[0])
        else:
            seed = sha256(blob + commitment + b"".join(proofs)).digest()
            holds = are_cells_proven(factors, points[0], points[1:], seed)
        if not holds:
            raise BlobProofWrong(index=index)


def coefficients(blob: bytes) -> list[int] | None:
    """Of the polynomial with these values, the constant one first; None if one is not of the
    field."""
    # The values stand in the bit-reversed order of their roots, as the transform takes them.
    found = [int.from_bytes(blob[at : at + 32], "big") for at in range(0, BLOB_BYTES, 32)]
    if max(found) >= ORDER:
        return None
    width = 1
    while width < VALUES:
        powers = inverse_powers(width)
        for first in range(0, VALUES, 2 * width):
            for place, power in enumerate(powers, first):
                low, high = found[place], found[place + width] * power % ORDER
                found[place] = (low + high) % ORDER
                found[place + width] = (low - high) % ORDER
        width *= 2
    scale = pow(VALUES, -1, ORDER)
    return [one * scale % ORDER for one in found]


def is_blob_proven(blob: bytes, factors: list[int], commitment: bytes, proof: bytes) -> bool:
    digest = sha256(CHALLENGE + blob + commitment).digest()
    z, value = int.from_bytes(digest, "big") % ORDER, 0
    for factor in reversed(factors):
        value = (value * z + factor) % ORDER
    return is_proven(commitment, z, value, proof)


def curve_points(written: tuple[bytes, ...]) -> "list[G1Point] | None":
    """None if one of them is none."""
    found = [made for one in written if (made := point(one)) is not None]
    return found if len(found) == len(written) else None


def are_cells_proven(
    factors: list[int], commitment: "G1Point", proofs: "list[G1Point]", seed: bytes
) -> bool:
    """`seed` is a hash of all that is checked, so no proof can be made for the weights."""
    from py_arkworks_bls12381 import GT, G1Point, G2Point

    weights = [
        int.from_bytes(sha256(seed + bytes([cell])).digest()[:16], "big")
        for cell in range(CELL_PROOFS_PER_BLOB)
    ]
    weighed = G1Point.multiexp_unchecked(proofs, [scalar(one) for one in weights])
    shifted = [weight * root % ORDER for weight, root in zip(weights, cell_roots(), strict=True)]
    moved = G1Point.multiexp_unchecked(proofs, [scalar(one) for one in shifted])
    rest = G1Point.multiexp_unchecked(
        powers_of_s(), [scalar(one) for one in remainder(factors, weights)]
    )
    left = commitment * scalar(sum(weights) % ORDER) - rest + moved
    return GT.pairing_check([left, weighed], [-G2Point(), cell_power()])


def remainder(factors: list[int], weights: list[int]) -> list[int]:
    """The weighed sum of the remainders of all cells: factor 64k + j comes to place j with w^k."""
    found, current = [0] * CELL_VALUES, list(weights)
    for first in range(0, VALUES, CELL_VALUES):
        total = sum(current)
        for place in range(CELL_VALUES):
            found[place] += factors[first + place] * total
        current = [one * root % ORDER for one, root in zip(current, cell_roots(), strict=True)]
    return [one % ORDER for one in found]


@cache
def inverse_powers(width: int) -> tuple[int, ...]:
    """The first `width` powers of the inverse of a root of unity of order 2 · width."""
    root = pow(GENERATOR, -(ORDER - 1) // (2 * width), ORDER)
    found = [1]
    while len(found) < width:
        found.append(found[-1] * root % ORDER)
    return tuple(found)


@cache
def cell_roots() -> tuple[int, ...]:
    """w of each cell: cells too stand in the bit-reversed order of their roots."""
    root = pow(GENERATOR, (ORDER - 1) // CELL_PROOFS_PER_BLOB, ORDER)
    bits = CELL_PROOFS_PER_BLOB.bit_length() - 1
    return tuple(
        [pow(root, int(f"{cell:0{bits}b}"[::-1], 2), ORDER) for cell in range(CELL_PROOFS_PER_BLOB)]
    )


@cache
def powers_of_s() -> "list[G1Point]":
    from py_arkworks_bls12381 import G1Point

    return [G1Point.from_compressed_bytes(POWERS[at : at + 48]) for at in range(0, len(POWERS), 48)]


@cache
def cell_power() -> "G2Point":
    from py_arkworks_bls12381 import G2Point

    return G2Point.from_compressed_bytes(CELL_POWER)


def scalar(value: int) -> "Scalar":
    from py_arkworks_bls12381 import Scalar

    return Scalar.from_be_bytes(value.to_bytes(32, "big"))
