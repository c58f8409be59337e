"""Proofs of blobs, against those that the reference library makes."""

import sys

import pytest
from msgspec.structs import replace
from py_arkworks_bls12381 import G1Point
from tests.evm_blobs import blob, sidecar

from laneway.evm.blob_proofs import VALUES, cell_roots, check_proofs, coefficients, scalar
from laneway.evm.errors import BlobMalformed, BlobProofWrong
from laneway.evm.precompiles.errors import PrecompileUnavailable
from laneway.evm.precompiles.kzg import INFINITY, ORDER
from laneway.evm.transaction import Sidecar

BOTH = pytest.mark.parametrize("version", [0, 1])


@BOTH
def test_proofs_that_the_reference_makes_hold(version: int) -> None:
    check_proofs(sidecar(1, count=2, version=version))


@BOTH
def test_a_blob_of_zeros_is_proven_by_nothing(version: int) -> None:
    count = 128 if version else 1
    check_proofs(Sidecar(version, (bytes(131_072),), (INFINITY,), (INFINITY,) * count))


@BOTH
def test_every_proof_counts_and_the_blob_is_named(version: int) -> None:
    made = sidecar(1, count=2, version=version)
    for place in {0, 1, len(made.proofs) // 2, len(made.proofs) - 1}:
        proofs = list(made.proofs)
        proofs[place] = proofs[place - 1]
        with pytest.raises(BlobProofWrong) as wrong:
            check_proofs(replace(made, proofs=tuple(proofs)))
        assert wrong.value.operands["index"] == place // (len(proofs) // 2)


@BOTH
def test_another_blob_or_commitment_is_not_proven(version: int) -> None:
    made = sidecar(1, count=2, version=version)
    with pytest.raises(BlobProofWrong):
        check_proofs(replace(made, blobs=made.blobs[::-1]))
    with pytest.raises(BlobProofWrong):
        check_proofs(replace(made, commitments=made.commitments[::-1]))
    changed = bytearray(made.blobs[1])
    changed[-1] ^= 1
    with pytest.raises(BlobProofWrong):
        check_proofs(replace(made, blobs=(made.blobs[0], bytes(changed))))


@BOTH
def test_swapped_proofs_do_not_hold(version: int) -> None:
    """A sum of all without factors would be the same."""
    made = sidecar(1, count=2, version=version)
    swapped = (made.proofs[1], made.proofs[0], *made.proofs[2:])
    with pytest.raises(BlobProofWrong):
        check_proofs(replace(made, proofs=swapped))


def test_mistakes_that_cancel_out_are_found() -> None:
    """Their sum is nothing, and so is that of each times its cell's root."""
    made = sidecar(1, version=1)
    roots = cell_roots()
    first, second, third = roots[:3]
    shifts = ((third - second) % ORDER, (first - third) % ORDER, (second - first) % ORDER)
    changed = list(made.proofs)
    for place, shift in enumerate(shifts):
        moved = G1Point.from_compressed_bytes(changed[place]) + G1Point() * scalar(shift)
        changed[place] = bytes(moved.to_compressed_bytes())
    with pytest.raises(BlobProofWrong):
        check_proofs(replace(made, proofs=tuple(changed)))


@BOTH
def test_what_is_no_point_proves_nothing(version: int) -> None:
    made = sidecar(1, version=version)
    nothing = bytes(48)
    with pytest.raises(BlobMalformed):
        check_proofs(replace(made, commitments=(nothing,)))
    with pytest.raises(BlobMalformed):
        check_proofs(replace(made, proofs=(nothing, *made.proofs[1:])))


@BOTH
def test_a_value_beyond_the_field_is_no_blob(version: int) -> None:
    made = sidecar(1, version=version)
    wide = ORDER.to_bytes(32, "big") + made.blobs[0][32:]
    with pytest.raises(BlobMalformed):
        check_proofs(replace(made, blobs=(wide,)))


def test_coefficients_are_those_of_the_polynomial() -> None:
    content = blob(7)
    found = coefficients(content)
    assert found is not None
    root = pow(7, (ORDER - 1) // VALUES, ORDER)
    for place in (0, 1, 2, 4_095):
        at = pow(root, int(f"{place:012b}"[::-1], 2), ORDER)
        value = 0
        for factor in reversed(found):
            value = (value * at + factor) % ORDER
        assert value == int.from_bytes(content[32 * place : 32 * place + 32], "big")


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py_arkworks_bls12381", None)
    with pytest.raises(PrecompileUnavailable, match=r"laneway\[precompiles\]"):
        check_proofs(sidecar(1))
