"""A proof of one key of a group that is in the tree: 8 hashes in the group, 248 above it.

This is the form of JAM DUNA's vectors: in the group from the value up, above it from the deepest
level up, with zeros where nothing stands beside the way. A group stands right below its deepest
sibling, so the zeros before that one are levels that the tree does not have.
"""

from collections.abc import Sequence

from msgspec import Struct

from laneway.ubt.errors import UnprovenTree, UnprovenTreeKey
from laneway.ubt.limits import STEM_BITS, STEM_BYTES, SUBTREE_LEVELS
from laneway.ubt.nodes import LEAF, BranchNode, leaf_hash, subtree
from laneway.ubt.profile import ZERO, TreeProfile
from laneway.ubt.tree import UnifiedTree, find


class SingleProof(Struct, frozen=True):
    key: bytes
    value: bytes | None
    """None shows that the group has no such value."""
    inner: tuple[bytes, ...]
    outer: tuple[bytes, ...]


def prove_one(tree: UnifiedTree, key: bytes) -> SingleProof:
    """UnprovenTreeKey if no key with this stem is in the tree: that takes a multiproof."""
    stem, subindex = key[:STEM_BYTES], key[STEM_BYTES]
    node = find(tree.node, stem)
    if node is None:
        raise UnprovenTreeKey(key=key.hex())
    hashes = subtree(tree.profile, node)
    position = LEAF + subindex
    inner = [hashes.get(position >> level ^ 1, ZERO) for level in range(SUBTREE_LEVELS)]
    return SingleProof(key, node.get(subindex), tuple(inner), tuple(siblings(tree, stem)))


def siblings(tree: UnifiedTree, stem: bytes) -> list[bytes]:
    """What stands beside the way to a stem, the deepest first."""
    tree.root()
    found: list[bytes] = []
    node = tree.node
    while type(node) is BranchNode:
        depth = len(found)
        is_right = stem[depth >> 3] & (128 >> (depth & 7))
        found.append(node.left_digest if is_right else node.right_digest)
        node = node.right if is_right else node.left
    return [*[ZERO] * (STEM_BITS - len(found)), *reversed(found)]


def verify_one(root: bytes, proof: SingleProof, profile: TreeProfile) -> bytes | None:
    """The value that the key has under this root; UnprovenTree if the proof does not show it."""
    check_hashes((proof.key, *proof.inner, *proof.outer))
    if proof.value is not None:
        check_hashes((proof.value,))
    if (len(proof.inner), len(proof.outer)) != (SUBTREE_LEVELS, STEM_BITS):
        raise UnprovenTree(problem="it has another number of siblings than 8 and 248")
    found = ZERO if proof.value is None else leaf_hash(profile, proof.value)
    position = LEAF + proof.key[STEM_BYTES]
    for sibling in proof.inner:
        found = paired(profile, sibling, found) if position & 1 else paired(profile, found, sibling)
        position >>= 1
    stem = proof.key[:STEM_BYTES]
    if folded(profile, stem, stem_hash(profile, stem, found), proof.outer) != root:
        raise UnprovenTree(problem="it leads to another root")
    return proof.value


def folded(profile: TreeProfile, stem: bytes, found: bytes, outer: Sequence[bytes]) -> bytes:
    """The hash as many levels above a stem as there are siblings, of which the deepest is first;
    the last one stands at the level that is STEM_BITS less all of them."""
    path = int.from_bytes(stem, "big")
    skips = True
    for sibling in outer:
        if sibling != ZERO:
            skips = profile.lifts_lone_child
        if sibling != ZERO or not skips:
            both = sibling + found if path & 1 else found + sibling
            found = profile.hasher(profile.branch_tag + both).digest()
        path >>= 1
    return found


def paired(profile: TreeProfile, left: bytes, right: bytes) -> bytes:
    """The hash of two neighbours inside a group."""
    if left == right == ZERO:
        return ZERO
    return profile.hasher(profile.branch_tag + left + right).digest()


def stem_hash(profile: TreeProfile, stem: bytes, found: bytes) -> bytes:
    return profile.hasher(profile.stem_tag + stem + b"\x00" + found).digest()


def check_hashes(found: Sequence[bytes]) -> None:
    if any(len(one) != 32 for one in found):
        raise UnprovenTree(problem="a key, a value or a hash has another length than 32 bytes")
