"""The nodes of the tree and their hashes.

A node never changes what it holds, so versions of a tree share all that neither changed. Hashes
are made when they are first asked for; b"" stands for one that nobody asked for. A group keeps its
own, and a branch those of its two sides: so an update looks at no node beside its way. Threads
that hash the same node at once write the same hashes.

The values of a group stand one after the other in the order of their subindices, since most groups
have one or two. Positions inside a group are numbered as in a heap: 1 is its root, 2 and 3 are the
halves, and 256 to 511 are the values.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Final, TypeAlias

from msgspec import Struct

from laneway.ubt.limits import VALUES_HASHED_AFRESH_MAX
from laneway.ubt.profile import ZERO, TreeProfile

LEAF: Final = 256
"""The position of the first value of a group."""

Hashes: TypeAlias = dict[int, bytes]
"""The hashes of a group by position, without those of what is not there."""


class StemNode(Struct, gc=False, eq=False):
    """A group: the values of the keys that begin with one stem."""

    stem: bytes
    indices: bytes
    """The subindices that have a value, ascending."""
    values: bytes
    """Their values, 32 bytes each."""
    digest: bytes = b""
    kept: Hashes | None = None
    """The hashes of this group, or of the one that it was made from."""
    stale: bytes = b""
    """The subindices that changed since `kept` was right."""

    def get(self, subindex: int) -> bytes | None:
        at = self.indices.find(subindex)
        return self.values[32 * at : 32 * at + 32] if at >= 0 else None

    def items(self) -> Iterator[tuple[int, bytes]]:
        for at, subindex in enumerate(self.indices):
            yield subindex, self.values[32 * at : 32 * at + 32]

    def written(self, changes: Mapping[int, bytes | None]) -> "StemNode | None":
        """The group after some changes, of which None deletes; None if no value is left."""
        indices, values = self.indices, self.values
        if len(indices) == len(changes) == 1 and (value := changes.get(indices[0])) is not None:
            # Most groups have one value, and most changes change it.
            return self if value == values else StemNode(self.stem, indices, value)
        for subindex, value in changes.items():
            at = bisect_left(indices, subindex)
            is_there = at < len(indices) and indices[at] == subindex
            if value is None:
                if is_there:
                    indices = indices[:at] + indices[at + 1 :]
                    values = values[: 32 * at] + values[32 * at + 32 :]
                continue
            if not is_there:
                indices = b"%b%c%b" % (indices[:at], subindex, indices[at:])
            values = values[: 32 * at] + value + values[32 * (at + is_there) :]
        if not indices:
            return None
        if indices == self.indices and values == self.values:
            return self
        if len(indices) <= VALUES_HASHED_AFRESH_MAX:
            return StemNode(self.stem, indices, values)
        if self.kept is None:
            return StemNode(self.stem, indices, values)
        stale = bytes(dict.fromkeys(self.stale + bytes(changes)))
        return StemNode(self.stem, indices, values, b"", self.kept, stale)


class BranchNode(Struct, gc=False, eq=False):
    """Where stems part. At least one side is there, and one alone is no stem."""

    left: "TreeNode | None"
    right: "TreeNode | None"
    left_digest: bytes = b""
    right_digest: bytes = b""


TreeNode: TypeAlias = StemNode | BranchNode


def new_stem(stem: bytes, changes: Mapping[int, bytes | None]) -> StemNode | None:
    """A group with these values; those that are None are not there."""
    return StemNode(stem, b"", b"").written(changes)


@cache
def hashing(profile: TreeProfile) -> Callable[[TreeNode | None], bytes]:
    """What hashes a node, and all below it that has no hash yet."""
    hasher, tag, lifts = profile.hasher, profile.branch_tag, profile.lifts_lone_child
    of_stem = stem_hashing(profile)

    def hashed(node: TreeNode | None) -> bytes:
        if type(node) is BranchNode:
            left, right = node.left_digest, node.right_digest
            if not left:
                node.left_digest = left = hashed(node.left)
            if not right:
                node.right_digest = right = hashed(node.right)
            if lifts and (node.left is None or node.right is None):
                return right if node.left is None else left
            return hasher(tag + left + right).digest()
        if type(node) is StemNode:
            found = node.digest
            if not found:
                node.digest = found = of_stem(node)
            return found
        return ZERO

    return hashed


def stem_hashing(profile: TreeProfile) -> Callable[[StemNode], bytes]:
    hasher, tag, leaf_tag, stem_tag = (
        profile.hasher,
        profile.branch_tag,
        profile.leaf_tag,
        profile.stem_tag,
    )
    absent_left = tag + ZERO

    def of_stem(node: StemNode) -> bytes:
        indices = node.indices
        if len(indices) == 1:
            found = hasher(leaf_tag + node.values).digest()
            position = LEAF + indices[0]
            while position > 1:
                if position & 1:
                    found = hasher(absent_left + found).digest()
                else:
                    found = hasher(tag + found + ZERO).digest()
                position >>= 1
        else:
            found = subtree(profile, node)[1]
        return hasher(stem_tag + node.stem + b"\x00" + found).digest()

    return of_stem


def subtree(profile: TreeProfile, node: StemNode) -> Hashes:
    """The hashes inside a group. They are kept if there are many values."""
    if node.kept is None:
        kept: Hashes = {}
        for subindex, value in node.items():
            kept[LEAF + subindex] = leaf_hash(profile, value)
        fill(profile, kept, [LEAF + subindex for subindex in node.indices])
    elif not node.stale:
        return node.kept
    else:
        kept = dict(node.kept)
        stale = sorted(node.stale)
        for subindex in stale:
            left = node.get(subindex)
            kept[LEAF + subindex] = ZERO if left is None else leaf_hash(profile, left)
        fill(profile, kept, [LEAF + subindex for subindex in stale])
    if len(node.indices) > VALUES_HASHED_AFRESH_MAX:
        node.kept, node.stale = kept, b""
    return kept


def fill(profile: TreeProfile, kept: Hashes, positions: Iterable[int]) -> None:
    """Hash what stands above some positions of one level, in their order, up to the root."""
    hasher, tag = profile.hasher, profile.branch_tag
    level = list(positions)
    while level[0] > 1:
        above: list[int] = []
        for position in level:
            parent = position >> 1
            if above and above[-1] == parent:
                continue
            above.append(parent)
            left, right = kept.get(2 * parent, ZERO), kept.get(2 * parent + 1, ZERO)
            if left != ZERO or right != ZERO:
                kept[parent] = hasher(tag + left + right).digest()
            else:
                kept[parent] = ZERO
        level = above


def leaf_hash(profile: TreeProfile, value: bytes) -> bytes:
    return profile.hasher(profile.leaf_tag + value).digest()
