"""A part of a state trie, opened along the ways to a few keys: enough to read and change them.

The nodes come from whom nobody trusts. Each is compared with the hash that its parent holds, up to
the root, so a part that opens is a part of that trie. They are to be exactly those
on the ways to the keys, from the root down and from left to right: there is one list for a root and
its keys. Nothing is ever removed, since no account that was there goes away.
"""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from laneway.jam.errors import InvalidProof
from laneway.jam.hashing import ZERO_HASH, blake2b
from laneway.jam.trie import (
    EMBEDDED_BYTES_MAX,
    KEY_BITS,
    LEAF_EMBEDDED,
    TOP_CLEARED,
    branch_node,
    key_bit,
    leaf_node,
)

KEY_END: Final = 32
"""A leaf's key follows its first byte."""


class _Branch(Struct, frozen=True):
    left: "_Below"
    right: "_Below"
    hash: bytes


class _Leaf(Struct, frozen=True):
    key: bytes
    node: bytes
    hash: bytes


class _Hidden(Struct, frozen=True):
    """What no key leads into. As a left child it has lost its top bit, and stays one for ever."""

    hash: bytes


_Below: TypeAlias = _Branch | _Leaf | _Hidden | None


class PartialTrie:
    """The values of some keys under a root, and the root that other values would give."""

    __slots__ = ("_top", "_values")

    def __init__(self, root: bytes, nodes: Sequence[bytes], keys: Sequence[bytes]) -> None:
        """Open the trie with this root along the ways to the keys, which are sorted and differ;
        InvalidProof unless these are the nodes of exactly those ways."""
        opening = _Opening(nodes)
        self._top = opening.open(root, keys, 0, is_left=False)
        self._values = opening.values
        opening.close()

    def value(self, key: bytes) -> bytes | None:
        """What stands under one of the keys."""
        return self._values[key]

    def root_with(self, changes: Mapping[bytes, bytes]) -> bytes:
        """The root of the whole trie when some of the keys have these values."""
        assert changes.keys() <= self._values.keys()
        leaves = [(key, leaf_node(key, value)) for key, value in sorted(changes.items())]
        return _changed(self._top, leaves, 0)


class _Opening:
    """Nodes being taken one after the other."""

    def __init__(self, nodes: Sequence[bytes]) -> None:
        self._nodes = nodes
        self._taken = 0
        self.values: dict[bytes, bytes | None] = {}

    def open(self, hashed: bytes, keys: Sequence[bytes], depth: int, *, is_left: bool) -> _Below:
        if hashed == ZERO_HASH:
            self.values.update(dict.fromkeys(keys))
            return None
        if not keys:
            return _Hidden(hashed)
        node = self._take(hashed, is_left=is_left)
        if node[0] & LEAF_EMBEDDED:
            return self._opened_leaf(hashed, node, keys, depth)
        if depth == KEY_BITS:
            raise InvalidProof(problem="a branch stands below the end of the keys")
        parting = sum(key_bit(key, depth) == 0 for key in keys)
        left = self.open(node[:32], keys[:parting], depth + 1, is_left=True)
        right = self.open(node[32:], keys[parting:], depth + 1, is_left=False)
        return _Branch(left, right, hashed)

    def close(self) -> None:
        if self._taken < len(self._nodes):
            raise InvalidProof(problem=f"{len(self._nodes) - self._taken} nodes are on no way")

    def _take(self, hashed: bytes, *, is_left: bool) -> bytes:
        if self._taken == len(self._nodes):
            raise InvalidProof(problem="a node is missing")
        node = self._nodes[self._taken]
        found = blake2b(node)
        if (_cleared(found) if is_left else found) != hashed:
            raise InvalidProof(problem=f"node {self._taken} is not what its parent holds")
        self._taken += 1
        return node

    def _opened_leaf(self, hashed: bytes, node: bytes, keys: Sequence[bytes], depth: int) -> _Leaf:
        key = node[1:KEY_END]
        # All keys of this subtrie have the first bits in common; another's would not end here.
        if any(key_bit(key, at) != key_bit(keys[0], at) for at in range(depth)):
            raise InvalidProof(problem=f"node {self._taken - 1} is a leaf of another place")
        self.values.update(dict.fromkeys(keys))
        if key in self.values:
            self.values[key] = _embedded(node)
        return _Leaf(key, node, hashed)


def _embedded(node: bytes) -> bytes:
    key, size = node[1:KEY_END], node[0] - LEAF_EMBEDDED
    if size > EMBEDDED_BYTES_MAX:
        raise InvalidProof(problem="a value is too long to stand in its leaf")
    value = node[KEY_END : KEY_END + size]
    if leaf_node(key, value) != node:
        raise InvalidProof(problem="more than zeros fill a leaf")
    return value


def _changed(below: _Below, leaves: list[tuple[bytes, bytes]], depth: int) -> bytes:
    """The hash of a subtrie with these leaves in it; they are sorted by key."""
    if not leaves:
        return ZERO_HASH if below is None else below.hash
    assert not isinstance(below, _Hidden)
    if isinstance(below, _Branch):
        left, right = _parted(leaves, depth)
        return _joined(
            _changed(below.left, left, depth + 1), _changed(below.right, right, depth + 1)
        )
    if below is not None and all(key != below.key for key, _ in leaves):
        leaves = sorted([*leaves, (below.key, below.node)])
    return _built(leaves, depth)


def _built(leaves: list[tuple[bytes, bytes]], depth: int) -> bytes:
    if not leaves:
        return ZERO_HASH
    if len(leaves) == 1:
        return blake2b(leaves[0][1])
    left, right = _parted(leaves, depth)
    return _joined(_built(left, depth + 1), _built(right, depth + 1))


def _parted(
    leaves: list[tuple[bytes, bytes]], depth: int
) -> tuple[list[tuple[bytes, bytes]], list[tuple[bytes, bytes]]]:
    parting = sum(key_bit(key, depth) == 0 for key, _ in leaves)
    return leaves[:parting], leaves[parting:]


def _joined(left: bytes, right: bytes) -> bytes:
    return blake2b(branch_node(left, right))


def _cleared(hashed: bytes) -> bytes:
    return bytes([hashed[0] & TOP_CLEARED]) + hashed[1:]
