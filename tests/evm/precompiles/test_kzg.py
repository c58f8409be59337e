"""The contract that checks a value of a blob's polynomial (EIP-4844)."""

import sys
from hashlib import sha256

import pytest

from laneway.evm.precompiles import kzg
from laneway.evm.precompiles.errors import PrecompileUnavailable

ORDER = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001
INFINITY = b"\xc0" + bytes(47)
G = bytes.fromhex(
    "97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905"
    "a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb"
)
X = bytes.fromhex(
    "ad3eb50121139aa34db1d545093ac9374ab7bca2c0f3bf28"
    "e27c8dcd8fc7cb42d25926fc0c97b336e9f0fb35e5a04c81"
)
"""The ceremony's sG of the first group: the commitment to the polynomial X, whose proof is G."""
OF_ORDER_3 = b"\x80" + bytes(47)
VALID = bytes(30) + b"\x10\0" + ORDER.to_bytes(32, "big")


def call(commitment: bytes, z: int, y: int, proof: bytes) -> bytes:
    blob_hash = b"\1" + sha256(commitment).digest()[1:]
    return blob_hash + z.to_bytes(32, "big") + y.to_bytes(32, "big") + commitment + proof


FLAGGED = b"\xc0" + bytes(46) + b"\1"
"""Infinity's flags with a coordinate."""
SIGNED = b"\xe0" + bytes(47)
"""Infinity with the flag of a larger y."""
CASES: dict[str, tuple[bytes, bytes | None]] = {
    "a constant": (call(G, 17, 1, INFINITY), VALID),
    "the zero polynomial": (call(INFINITY, 17, 0, INFINITY), VALID),
    "X at 17": (call(X, 17, 17, G), VALID),
    "X at zero": (call(X, 0, 0, G), VALID),
    "X at the largest element": (call(X, ORDER - 1, ORDER - 1, G), VALID),
    "X with another value": (call(X, 17, 18, G), None),
    "X at another point": (call(X, 18, 17, G), None),
    "X with another proof": (call(X, 17, 17, X), None),
    "X with no proof": (call(X, 17, 17, INFINITY), None),
    "a constant with another value": (call(G, 17, 2, INFINITY), None),
    "a point that is not reduced": (call(X, 17 + ORDER, 17, G), None),
    "a value that is not reduced": (call(X, 17, 17 + ORDER, G), None),
    "another version of the hash": (b"\2" + call(X, 17, 17, G)[1:], None),
    "another hash": (b"\1" + bytes(31) + call(X, 17, 17, G)[32:], None),
    "no input": (b"", None),
    "a byte too few": (call(X, 17, 17, G)[:-1], None),
    "a byte too many": (call(X, 17, 17, G) + b"\0", None),
    "a commitment outside the subgroup": (call(OF_ORDER_3, 0, 0, INFINITY), None),
    "a proof outside the subgroup": (call(G, 0, 1, OF_ORDER_3), None),
    "a commitment that is not compressed": (call(bytes([G[0] & 0x7F]) + G[1:], 0, 1, G), None),
    "a proof that is infinity with a coordinate": (call(G, 0, 1, FLAGGED), None),
    "a proof that is infinity with a sign": (call(G, 0, 1, SIGNED), None),
    "a commitment that is infinity with a coordinate": (call(FLAGGED, 0, 0, INFINITY), None),
    "a proof of zeros": (call(G, 0, 1, bytes(48)), None),
    "a coordinate that is not reduced": (call(G, 0, 1, b"\x9f" + b"\xff" * 47), None),
}


@pytest.mark.parametrize("name", CASES)
def test_a_proof_of(name: str) -> None:
    data, wanted = CASES[name]
    assert kzg.run(data) == wanted
    assert kzg.gas(data) == 50_000


def test_the_ceremonys_points_of_both_groups_belong_together() -> None:
    from py_arkworks_bls12381 import GT, G1Point, G2Point

    first = G1Point.from_compressed_bytes(X)
    assert GT.pairing_check([first, -G1Point()], [G2Point(), kzg.setup()])


def test_without_the_library_there_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py_arkworks_bls12381", None)
    with pytest.raises(PrecompileUnavailable):
        kzg.run(CASES["X at 17"][0])
