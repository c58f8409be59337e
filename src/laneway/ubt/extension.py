"""Proofs that a stem is not in the tree, as JAM DUNA has them beside its multiproofs.

Such a proof names the nearest stem, its hash, and what stands beside the way to it. By itself it
shows nothing where levels with one child are not hashed: neither does the hash show its stem, nor
a sibling how deep it is. So `witness` asks the multiproof, and this only for its form.
"""

from msgspec import Struct

from laneway.ubt.errors import UnprovenTree
from laneway.ubt.limits import STEM_BITS, STEM_BYTES
from laneway.ubt.multiproof import beside
from laneway.ubt.multiproof_bytes import ProofBytes
from laneway.ubt.profile import ZERO, TreeProfile
from laneway.ubt.single import folded, siblings
from laneway.ubt.tree import UnifiedTree


class ExtensionProof(Struct, frozen=True):
    missing: bytes
    """The stem that is not in the tree."""
    stem: bytes
    """The stem in the tree that has the most first bits in common with it."""
    digest: bytes
    """The hash of that stem's group."""
    depth: int
    """How many bits they have in common."""
    outer: tuple[bytes, ...]
    """What stands beside the way to it, the deepest first; zeros where nothing does."""


def prove_missing(tree: UnifiedTree, missing: bytes) -> ExtensionProof | None:
    """None for the empty tree, which proves it by its root."""
    tree.root()
    found = [(common_bits(node.stem, missing), node) for node in beside(tree.node, missing)]
    if not found:
        return None
    # The first of two that are equally near is the smaller one.
    depth, node = max(found, key=lambda one: one[0])
    assert depth < STEM_BITS, "the stem is in the tree"
    return ExtensionProof(missing, node.stem, node.digest, depth, tuple(siblings(tree, node.stem)))


def check_missing(root: bytes, proof: ExtensionProof, profile: TreeProfile) -> None:
    """UnprovenTree unless it leads to the root, with nothing where the missing stem would be."""
    if common_bits(proof.stem, proof.missing) != proof.depth or proof.depth == STEM_BITS:
        raise UnprovenTree(problem=f"{proof.missing.hex()} parts from its neighbour elsewhere")
    if proof.outer[STEM_BITS - 1 - proof.depth] != ZERO:
        raise UnprovenTree(problem=f"something stands where {proof.missing.hex()} would be")
    if folded(profile, proof.stem, proof.digest, proof.outer) != root:
        raise UnprovenTree(problem=f"the neighbour of {proof.missing.hex()} leads elsewhere")


def common_bits(one: bytes, other: bytes) -> int:
    """How many first bits two stems have in common."""
    differing = int.from_bytes(one, "big") ^ int.from_bytes(other, "big")
    return STEM_BITS - differing.bit_length()


def encode_extension(proof: ExtensionProof) -> bytes:
    """The siblings as a bitmap, the highest bit first, and those that are not zeros."""
    present = [sibling for sibling in proof.outer if sibling != ZERO]
    bits = int("".join("0" if one == ZERO else "1" for one in proof.outer), 2)
    fixed = (proof.missing, proof.stem, proof.digest, proof.depth.to_bytes(2, "big"))
    return b"".join([*fixed, bits.to_bytes(STEM_BYTES, "big"), *present])


def decode_extension(reader: ProofBytes) -> ExtensionProof:
    missing, stem, digest = reader.take(STEM_BYTES), reader.take(STEM_BYTES), reader.take(32)
    depth, bits = reader.number(2), reader.number(STEM_BYTES)
    outer = tuple(
        [reader.take(32) if bit == "1" else ZERO for bit in format(bits, f"0{STEM_BITS}b")]
    )
    if outer.count(ZERO) != STEM_BITS - bits.bit_count():
        raise UnprovenTree(problem="a sibling is zeros and was not left out")
    return ExtensionProof(missing, stem, digest, depth, outer)
