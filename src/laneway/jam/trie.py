"""The state trie (Gray Paper 0.7.2, appendix D.2): a binary trie over 31-byte keys.

A node has 64 bytes. A branch joins the hashes of its children, the left one without its top bit; a
leaf holds its key and the value, or the value's hash where it has more than 32 bytes. Subtries
with one key are that leaf, whatever the depth, and others are never shortened.

`Trie` is a value: a change gives another one that shares all it did not touch, so that every
block of every fork may keep its own. Proofs are made here and judged in `state_proof`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from laneway.jam.errors import Unencodable
from laneway.jam.hashing import ZERO_HASH, blake2b
from laneway.jam.state_keys import KEY_BYTES

NODE_BYTES: Final = 64
KEY_BITS: Final = 8 * KEY_BYTES
EMBEDDED_BYTES_MAX: Final = 32
"""A longer value is in its leaf as a hash."""
LEAF_EMBEDDED: Final = 0x80
LEAF_HASHED: Final = 0xC0
TOP_CLEARED: Final = 0x7F


def branch_node(left: bytes, right: bytes) -> bytes:
    """The node over two children, from their hashes."""
    return bytes([left[0] & TOP_CLEARED]) + left[1:] + right


def leaf_node(key: bytes, value: bytes) -> bytes:
    """The node of one key and its value."""
    if len(value) > EMBEDDED_BYTES_MAX:
        return bytes([LEAF_HASHED]) + key + blake2b(value)
    return bytes([LEAF_EMBEDDED | len(value)]) + key + value.ljust(EMBEDDED_BYTES_MAX, b"\0")


def key_bit(key: bytes, depth: int) -> int:
    """Which way the key goes at a branch of this depth: 0 is left. The highest bit is first."""
    return key[depth >> 3] >> (7 - (depth & 7)) & 1


def root(state: Mapping[bytes, bytes]) -> bytes:
    """The root over all keys and values of a state, as the Gray Paper defines it."""
    return _root([(checked_key(key), value) for key, value in state.items()], 0)


def _root(entries: Sequence[tuple[bytes, bytes]], depth: int) -> bytes:
    if not entries:
        return ZERO_HASH
    if len(entries) == 1:
        return blake2b(leaf_node(*entries[0]))
    sides: tuple[list[tuple[bytes, bytes]], ...] = ([], [])
    for entry in entries:
        sides[key_bit(entry[0], depth)].append(entry)
    return blake2b(branch_node(_root(sides[0], depth + 1), _root(sides[1], depth + 1)))


def checked_key(key: bytes) -> bytes:
    if len(key) != KEY_BYTES:
        raise Unencodable(problem=f"a key of {len(key)} bytes where {KEY_BYTES} belong")
    return key


class Leaf(Struct, frozen=True, gc=False):
    key: bytes
    value: bytes
    node: bytes
    hash: bytes


class Branch(Struct, frozen=True, gc=False):
    """Nothing below points up, so the search for cycles need not look at these."""

    left: "Leaf | Branch | None"
    right: "Leaf | Branch | None"
    hash: bytes
    count: int
    """Of the leaves below."""


Subtrie: TypeAlias = Leaf | Branch | None


class Trie:
    """A state with its root. It never changes; `with_changes` gives another one."""

    __slots__ = ("_top",)

    def __init__(self, top: Subtrie = None) -> None:
        self._top = top

    @classmethod
    def of(cls, entries: Mapping[bytes, bytes] | Iterable[tuple[bytes, bytes]]) -> "Trie":
        """The trie of all entries; of a key that comes twice the last value counts."""
        return EMPTY.with_changes(dict(entries))

    @property
    def root(self) -> bytes:
        return _hash(self._top)

    def __len__(self) -> int:
        return _count(self._top)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trie) and self.root == other.root

    def __hash__(self) -> int:
        return hash(self.root)

    def get(self, key: bytes) -> bytes | None:
        below = self._top
        depth = 0
        checked_key(key)
        while isinstance(below, Branch):
            below = below.right if key_bit(key, depth) else below.left
            depth += 1
        return None if below is None or below.key != key else below.value

    def items(self) -> Iterator[tuple[bytes, bytes]]:
        """Keys and values, in the order of the keys."""
        waiting: list[Subtrie] = [self._top]
        while waiting:
            below = waiting.pop()
            if isinstance(below, Branch):
                waiting += (below.right, below.left)
            elif below is not None:
                yield below.key, below.value

    def insert(self, key: bytes, value: bytes) -> "Trie":
        return self.with_changes({key: value})

    def remove(self, key: bytes) -> "Trie":
        """Without the key; one that is not there may be removed."""
        return self.with_changes({key: None})

    def with_changes(self, changes: Mapping[bytes, bytes | None]) -> "Trie":
        """The trie with these values, and without the keys that have None. Each node above
        several changes is hashed once."""
        leaves = [
            (checked_key(key), None if value is None else _leaf(key, value))
            for key, value in changes.items()
        ]
        top = _changed(self._top, leaves, 0)
        return self if top is self._top else Trie(top)

    def proof(self, key: bytes) -> tuple[bytes, ...]:
        """The nodes on the way to the key, from the root down: to its leaf, or to where it would
        stand, which is another key's leaf or a branch that has nothing on this side."""
        nodes: list[bytes] = []
        below = self._top
        checked_key(key)
        while isinstance(below, Branch):
            nodes.append(branch_node(_hash(below.left), _hash(below.right)))
            below = below.right if key_bit(key, len(nodes) - 1) else below.left
        if below is not None:
            nodes.append(below.node)
        return tuple(nodes)


EMPTY: Final = Trie()

_Changes: TypeAlias = list[tuple[bytes, Leaf | None]]


def _changed(old: Subtrie, changes: _Changes, depth: int) -> Subtrie:
    if not changes:
        return old
    if not isinstance(old, Branch):
        return _grown(old, changes, depth)
    sides: tuple[_Changes, _Changes] = ([], [])
    for change in changes:
        sides[key_bit(change[0], depth)].append(change)
    left = _changed(old.left, sides[0], depth + 1)
    right = _changed(old.right, sides[1], depth + 1)
    if left is old.left and right is old.right:
        return old
    return _joined(left, right)


def _grown(old: Leaf | None, changes: _Changes, depth: int) -> Subtrie:
    """A subtrie of the leaves that are set, and of the old one unless it is changed."""
    # An equal leaf stays the same object, by which the caller sees that nothing changed.
    leaves = [
        old if old is not None and leaf == old else leaf for _, leaf in changes if leaf is not None
    ]
    if old is not None and all(key != old.key for key, _ in changes):
        leaves.append(old)
    return _built(leaves, depth)


def _built(leaves: list[Leaf], depth: int) -> Subtrie:
    if len(leaves) < 2:
        return leaves[0] if leaves else None
    sides: tuple[list[Leaf], list[Leaf]] = ([], [])
    for leaf in leaves:
        sides[key_bit(leaf.key, depth)].append(leaf)
    return _branch(_built(sides[0], depth + 1), _built(sides[1], depth + 1))


def _joined(left: Subtrie, right: Subtrie) -> Subtrie:
    """A single leaf stands for its whole subtrie, and rises when its neighbours are gone."""
    if left is None and not isinstance(right, Branch):
        return right
    if right is None and not isinstance(left, Branch):
        return left
    return _branch(left, right)


def _leaf(key: bytes, value: bytes) -> Leaf:
    encoded = leaf_node(key, value)
    return Leaf(key, value, encoded, blake2b(encoded))


def _branch(left: Subtrie, right: Subtrie) -> Branch:
    hashed = blake2b(branch_node(_hash(left), _hash(right)))
    return Branch(left, right, hashed, _count(left) + _count(right))


def _hash(below: Subtrie) -> bytes:
    return ZERO_HASH if below is None else below.hash


def _count(below: Subtrie) -> int:
    if below is None:
        return 0
    return below.count if isinstance(below, Branch) else 1
