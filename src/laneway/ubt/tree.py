"""A unified binary tree (EIP-7864): keys and values of 32 bytes under one root.

A tree is a value: changes give another one, the old one stays as it was, and both share what
neither changed. So a snapshot of any size costs nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec import Struct

from laneway.ubt.errors import MalformedStem, MalformedTreeKey, MalformedTreeValue
from laneway.ubt.limits import STEM_BYTES
from laneway.ubt.merge import Group, built, merged
from laneway.ubt.nodes import BranchNode, StemNode, TreeNode, hashing
from laneway.ubt.profile import JAM, ZERO, TreeProfile


class StoredStem(NamedTuple):
    """A group as a file may hold it."""

    stem: bytes
    indices: bytes
    """The subindices that have a value, ascending."""
    values: bytes
    """Their values, 32 bytes each."""
    digest: bytes = b""
    """Its hash, which is not checked; b"" if it is to be made."""


class UnifiedTree(Struct, eq=False):
    profile: TreeProfile = JAM
    node: TreeNode | None = None
    digest: bytes = b""
    """The root, once somebody asked for it."""

    def root(self) -> bytes:
        """The hash of all; zeros for the empty tree. Only what has no hash yet is hashed."""
        if not self.digest:
            self.digest = hashing(self.profile)(self.node)
        return self.digest

    def get(self, key: bytes) -> bytes | None:
        """The value of a key; None if it has none."""
        if len(key) != 32:
            raise MalformedTreeKey(given=len(key))
        found = find(self.node, key[:STEM_BYTES])
        return found.get(key[STEM_BYTES]) if found is not None else None

    def updated(self, changes: Mapping[bytes, bytes | None]) -> "UnifiedTree":
        """The tree after all changes at once: None deletes, and so do zeros where the profile
        holds them for nothing."""
        node = merged(self.node, grouped(changes, is_zero_absent=self.profile.is_zero_absent))
        return self if node is self.node else UnifiedTree(self.profile, node)

    def stems(self) -> Iterator[StemNode]:
        """Every group, in the order of the stems."""
        waiting = [self.node]
        while waiting:
            node = waiting.pop()
            if type(node) is BranchNode:
                waiting += (node.right, node.left)
            elif type(node) is StemNode:
                yield node

    def items(self) -> Iterator[tuple[bytes, bytes]]:
        """Every key with its value, in the order of the keys."""
        for node in self.stems():
            for subindex, value in node.items():
                yield node.stem + bytes((subindex,)), value

    def stored(self) -> Iterator[StoredStem]:
        """Every group with its hash, for a file."""
        self.root()
        for node in self.stems():
            yield StoredStem(node.stem, node.indices, node.values, node.digest)

    @classmethod
    def opened(cls, stored: Iterable[StoredStem], profile: TreeProfile = JAM) -> "UnifiedTree":
        """The tree of groups that are sorted by stem; MalformedStem if they are none. Hashes of
        groups are taken as they stand, so a file is compared with its root and believed as far as
        its place is."""
        stems = [StemNode(*one) for one in stored]
        before = b""
        for one in stems:
            if len(one.stem) != STEM_BYTES or one.stem <= before:
                raise MalformedStem(stem=one.stem.hex(), problem="it is not the next one")
            if not one.indices or len(one.values) != 32 * len(one.indices):
                raise MalformedStem(
                    stem=one.stem.hex(), problem="it has no values, or parts of some"
                )
            if len(one.indices) > 1 and bytes(sorted(dict.fromkeys(one.indices))) != one.indices:
                raise MalformedStem(stem=one.stem.hex(), problem="its subindices are not sorted")
            before = one.stem
        return cls(profile, built(stems))


def find(node: TreeNode | None, stem: bytes) -> StemNode | None:
    depth = 0
    while type(node) is BranchNode:
        node = node.right if stem[depth >> 3] & (128 >> (depth & 7)) else node.left
        depth += 1
    return node if type(node) is StemNode and node.stem == stem else None


def grouped(changes: Mapping[bytes, bytes | None], *, is_zero_absent: bool) -> list[Group]:
    """Changes by their stems, sorted."""
    nothing = ZERO if is_zero_absent else None
    groups: dict[bytes, dict[int, bytes | None]] = {}
    for key, value in changes.items():
        if len(key) != 32:
            raise MalformedTreeKey(given=len(key))
        if value is not None and len(value) != 32:
            raise MalformedTreeValue(key=key.hex(), given=len(value))
        if value == nothing:
            value = None
        stem = key[:STEM_BYTES]
        group = groups.get(stem)
        if group is None:
            groups[stem] = {key[STEM_BYTES]: value}
        else:
            group[key[STEM_BYTES]] = value
    return sorted(groups.items())
