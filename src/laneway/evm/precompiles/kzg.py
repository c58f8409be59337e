"""The contract at address 10: whether a blob's polynomial has a value at a point (EIP-4844).

A commitment C, a proof Q, a point z and a value y are right if C - yG = (s - z)Q, where only the
second group's sG is known of s. So the pairing e(C - yG + zQ, G) equals e(Q, sG), which takes no
multiplication in the second group.
"""

from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

from laneway.evm.precompiles.errors import needed

if TYPE_CHECKING:
    from py_arkworks_bls12381 import G1Point, G2Point

GAS = 50_000
ORDER = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001
SETUP = bytes.fromhex(
    "b5bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d"
    "2914e5870cb452d2afaaab24f3499f72185cbfee53492714734429b7b38608e2"
    "3926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def2"
)
"""sG, the one point of the ceremony of 2023 that a verification needs."""
INFINITY = b"\xc0" + bytes(47)
INFINITY_FLAG = 0x40
VALID = (4_096).to_bytes(32, "big") + ORDER.to_bytes(32, "big")


def gas(_data: bytes) -> int:
    return GAS


def run(data: bytes) -> bytes | None:
    if len(data) != 192:
        return None
    blob_hash, commitment = data[:32], data[96:144]
    z, y = int.from_bytes(data[32:64], "big"), int.from_bytes(data[64:96], "big")
    if blob_hash != b"\1" + sha256(commitment).digest()[1:] or z >= ORDER or y >= ORDER:
        return None
    return VALID if is_proven(commitment, z, y, data[144:]) else None


def is_proven(commitment: bytes, z: int, y: int, proof: bytes) -> bool:
    with needed("py_arkworks_bls12381"):
        from py_arkworks_bls12381 import GT, G1Point, G2Point, Scalar
    left, right = point(commitment), point(proof)
    if left is None or right is None:
        return False
    moved = left - G1Point() * Scalar.from_be_bytes(y.to_bytes(32, "big"))
    moved = moved + right * Scalar.from_be_bytes(z.to_bytes(32, "big"))
    return GT.pairing_check([moved, right], [-G2Point(), setup()])


def point(data: bytes) -> "G1Point | None":
    """The point of the first group that is written so; None if there is none."""
    from py_arkworks_bls12381 import G1Point

    if data[0] & INFINITY_FLAG and data != INFINITY:
        # The library takes anything with this flag for infinity.
        return None
    try:
        return G1Point.from_compressed_bytes(data)
    except ValueError:
        return None


@cache
def setup() -> "G2Point":
    from py_arkworks_bls12381 import G2Point

    return G2Point.from_compressed_bytes(SETUP)
