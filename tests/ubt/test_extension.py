"""Laws of proofs that a stem is missing: their form, and what is refused of them."""

import msgspec
import pytest
from tests.ubt.scene import STEMS

from laneway.ubt.errors import UnprovenTree
from laneway.ubt.extension import (
    ExtensionProof,
    check_missing,
    common_bits,
    decode_extension,
    encode_extension,
    prove_missing,
)
from laneway.ubt.multiproof_bytes import ProofBytes
from laneway.ubt.profile import JAM, PROFILES, ZERO, TreeProfile
from laneway.ubt.tree import UnifiedTree

ALL = pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda one: one.name)
STRANGERS = [bytes([byte]) * 31 for byte in (0x01, 0x7F, 0x80, 0xFE)] + [bytes(30) + b"\x02"]


def tree_of(profile: TreeProfile) -> UnifiedTree:
    return UnifiedTree(profile).updated({stem + b"\x01": b"v" * 32 for stem in STEMS})


def proven(tree: UnifiedTree, missing: bytes) -> ExtensionProof:
    found = prove_missing(tree, missing)
    assert found is not None
    return found


@ALL
@pytest.mark.parametrize("missing", STRANGERS, ids=lambda one: one.hex()[-4:])
def test_a_missing_stem_is_proven_by_the_nearest_one(profile: TreeProfile, missing: bytes) -> None:
    tree = tree_of(profile)
    proof = proven(tree, missing)
    assert proof.depth == max(common_bits(stem, missing) for stem in STEMS)
    check_missing(tree.root(), proof, profile)
    content = encode_extension(proof)
    reader = ProofBytes(content)
    assert decode_extension(reader) == proof
    reader.check_end()
    assert len(content) == 127 + 32 * (248 - proof.outer.count(ZERO))


def test_of_two_stems_equally_near_it_is_the_smaller_one() -> None:
    one, other = b"\x40" + bytes(30), b"\x60" + bytes(30)
    tree = UnifiedTree().updated({one + b"\x01": b"v" * 32, other + b"\x01": b"v" * 32})
    proof = proven(tree, b"\x80" + bytes(30))
    assert (proof.stem, proof.depth) == (other, 0)
    tree = tree.updated({b"\xc0" * 31 + b"\x01": b"v" * 32})
    middle = proven(tree, b"\x50" + bytes(30))
    assert (middle.stem, middle.depth) == (one, 3)
    even = UnifiedTree().updated({bytes(32): b"v" * 32, b"\x03" * 32: b"v" * 32})
    assert proven(even, b"\x01" + bytes(30)).stem == bytes(31)


def test_the_empty_tree_needs_no_proof() -> None:
    assert prove_missing(UnifiedTree(), STEMS[0]) is None


def test_a_stem_that_is_there_is_not_proven_missing() -> None:
    with pytest.raises(AssertionError, match="in the tree"):
        prove_missing(tree_of(JAM), STEMS[0])


@ALL
def test_what_is_wrong_is_said(profile: TreeProfile) -> None:
    tree = tree_of(profile)
    root, proof = tree.root(), proven(tree, STRANGERS[0])
    standing = list(proof.outer)
    standing[247 - proof.depth] = b"x" * 32
    for wrong, said in (
        ({"depth": proof.depth + 1}, "parts from its neighbour elsewhere"),
        ({"missing": b"\xfe" * 31}, "parts from its neighbour elsewhere"),
        ({"missing": proof.stem, "depth": 248}, "parts from its neighbour elsewhere"),
        ({"outer": tuple(standing)}, "something stands"),
        ({"digest": b"x" * 32}, "leads elsewhere"),
    ):
        with pytest.raises(UnprovenTree, match=said):
            check_missing(root, msgspec.structs.replace(proof, **wrong), profile)


def test_the_layout_is_the_originals() -> None:
    outer = (b"d" * 32, *[ZERO] * 245, b"h" * 32, ZERO)
    proof = ExtensionProof(b"m" * 31, b"s" * 31, b"g" * 32, 0x0102, outer)
    bitmap = b"\x80" + bytes(29) + b"\x02"
    assert encode_extension(proof) == (
        b"m" * 31 + b"s" * 31 + b"g" * 32 + b"\x01\x02" + bitmap + b"d" * 32 + b"h" * 32
    )


def test_a_sibling_of_zeros_is_left_out() -> None:
    content = bytes(31 + 31 + 32 + 2) + b"\x80" + bytes(30) + bytes(32)
    with pytest.raises(UnprovenTree, match="not left out"):
        decode_extension(ProofBytes(content))
