"""Judging a proof of one key in a JAM state: its 64-byte nodes, from the root down.

These are the boundary nodes of CE 129. A proof is taken only whole: each node is used, none is
missing, none is left over, and each is one that a trie can have at its place. Absence is proved by
another key's leaf or by an empty side of a branch.
"""

from collections.abc import Sequence

from laneway.jam.errors import InvalidProof
from laneway.jam.hashing import HASH_BYTES, ZERO_HASH, blake2b
from laneway.jam.state_keys import KEY_BYTES
from laneway.jam.trie import (
    EMBEDDED_BYTES_MAX,
    KEY_BITS,
    LEAF_EMBEDDED,
    LEAF_HASHED,
    NODE_BYTES,
    TOP_CLEARED,
    checked_key,
    key_bit,
    leaf_node,
)


def proven_value(
    *, root: bytes, key: bytes, nodes: Sequence[bytes], value: bytes | None = None
) -> bytes | None:
    """The key's value in the state with this root, or None when the state has no such key.

    A value of more than 32 bytes is not in the proof and has to be passed with it; one that is
    passed has to be the one that is proven."""
    leaf = _leaf(root, checked_key(key), nodes)
    if leaf is None:
        if value is not None:
            raise InvalidProof(problem="the state has no such key")
        return None
    if value is not None:
        if leaf_node(key, value) != leaf:
            raise InvalidProof(problem="the key has another value")
        return value
    if leaf[0] == LEAF_HASHED:
        raise InvalidProof(problem="it holds only the hash of the value, which is not given")
    return leaf[HASH_BYTES : HASH_BYTES + leaf[0] - LEAF_EMBEDDED]


def verify_presence(*, root: bytes, key: bytes, value: bytes, nodes: Sequence[bytes]) -> None:
    """InvalidProof unless the key has this value."""
    proven_value(root=root, key=key, nodes=nodes, value=value)


def verify_absence(*, root: bytes, key: bytes, nodes: Sequence[bytes]) -> None:
    """InvalidProof unless there is no such key."""
    if _leaf(root, checked_key(key), nodes) is not None:
        raise InvalidProof(problem="the state has the key")


def _leaf(root: bytes, key: bytes, nodes: Sequence[bytes]) -> bytes | None:
    """The key's own leaf, or None when the nodes show that it has none."""
    _check_sizes(root, nodes)
    expected, is_left = root, False
    for depth, node in enumerate(nodes):
        if expected == ZERO_HASH:
            raise InvalidProof(problem=f"node {depth} stands below an empty side")
        if not _is_hash_of(node, expected, is_left=is_left):
            raise InvalidProof(problem=f"node {depth} is not the one that belongs here")
        if node[0] & LEAF_EMBEDDED:
            if depth != len(nodes) - 1:
                raise InvalidProof(problem=f"nodes follow the leaf at {depth}")
            return _own_leaf(node, key, depth)
        if depth == KEY_BITS:
            raise InvalidProof(problem="a branch stands below the last bit of the key")
        is_left = not key_bit(key, depth)
        expected = node[:HASH_BYTES] if is_left else node[HASH_BYTES:]
    if expected != ZERO_HASH:
        raise InvalidProof(problem=f"node {len(nodes)} is missing")
    return None


def _check_sizes(root: bytes, nodes: Sequence[bytes]) -> None:
    if len(root) != HASH_BYTES:
        raise InvalidProof(problem=f"a root of {len(root)} bytes")
    if len(nodes) > KEY_BITS + 1:
        raise InvalidProof(problem=f"{len(nodes)} nodes are more than a key has bits")
    for depth, node in enumerate(nodes):
        if len(node) != NODE_BYTES:
            raise InvalidProof(problem=f"node {depth} has {len(node)} bytes")


def _is_hash_of(node: bytes, expected: bytes, *, is_left: bool) -> bool:
    """A left child is named without its top bit, which in the branch says that it is one."""
    hashed = blake2b(node)
    if not is_left:
        return hashed == expected
    return hashed[1:] == expected[1:] and hashed[0] & TOP_CLEARED == expected[0]


def _own_leaf(leaf: bytes, key: bytes, depth: int) -> bytes | None:
    """The leaf, or None when it is another key's; neither may be one that no trie has here."""
    size = leaf[0] - LEAF_EMBEDDED
    is_embedded = size <= EMBEDDED_BYTES_MAX
    if not is_embedded and leaf[0] != LEAF_HASHED:
        raise InvalidProof(problem=f"a leaf begins with {leaf[0]:#x}")
    if is_embedded and any(leaf[HASH_BYTES + size :]):
        raise InvalidProof(problem="a leaf is not filled up with zeros")
    other = leaf[1 : 1 + KEY_BYTES]
    if other == key:
        return leaf
    if any(key_bit(other, at) != key_bit(key, at) for at in range(depth)):
        raise InvalidProof(problem="a leaf stands where its key does not lead")
    return None
