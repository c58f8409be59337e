"""A hexary trie as a value: a change gives another one that shares all it did not touch.

`AccountTrie` in accounts.py is the one of a state; this is the plain mapping of keys to values.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from laneway.evm import rlp
from laneway.evm.keccak import keccak
from laneway.evm.trie.merge import merged
from laneway.evm.trie.nodes import (
    DIGITS,
    EMPTY,
    INDEX,
    HexaryBranch,
    HexaryExtension,
    HexaryLeaf,
    HexaryNode,
    hash_of,
    path_of,
)
from laneway.evm.trie.proof import prove

EMPTY_ROOT = hash_of(EMPTY)


class HexaryTrie(Struct, frozen=True):
    node: HexaryNode = EMPTY

    def root(self) -> bytes:
        return hash_of(self.node)

    def get(self, key: bytes) -> bytes:
        """The value of a key; no bytes if it has none."""
        found = find(self.node, path_of(key))
        return found.value if found is not None else b""

    def updated(self, changes: Mapping[bytes, bytes]) -> "HexaryTrie":
        """The trie after a batch of changes; a value without bytes deletes its key."""
        entries = [(path_of(key), value, EMPTY) for key, value in changes.items()]
        # No path stands twice, so values are never compared.
        entries.sort()
        return HexaryTrie(merged(self.node, entries))

    def proof(self, key: bytes) -> tuple[bytes, ...]:
        """The nodes from the root to the key, or to where it would be; see proof.py."""
        return prove(self.node, path_of(key))

    def items(self) -> Iterator[tuple[bytes, bytes]]:
        """All keys with their values, sorted by key."""
        for path, value in walk(self.node):
            yield bytes.fromhex(path.decode()), value


def root(pairs: Mapping[bytes, bytes]) -> bytes:
    """The root of a mapping; a value without bytes is as if its key were not there."""
    return HexaryTrie().updated(pairs).root()


def secured_root(pairs: Mapping[bytes, bytes]) -> bytes:
    """The root of a mapping whose keys stand in the trie as their hashes."""
    return root({keccak(key): value for key, value in pairs.items()})


def ordered_root(items: Sequence[bytes]) -> bytes:
    """The root of a block's transactions, receipts or withdrawals; a key is the RLP of an index."""
    return root({rlp.encode_int(index): item for index, item in enumerate(items)})


def find(node: HexaryNode, path: bytes) -> HexaryLeaf | HexaryBranch | None:
    """The node that holds the value of a path, or None if there is none."""
    depth = 0
    while True:
        if isinstance(node, HexaryBranch):
            if depth == len(path):
                return node if node.value else None
            node = node.children[INDEX[path[depth]]]
            depth += 1
        elif isinstance(node, HexaryLeaf):
            return node if path[depth:] == node.path else None
        elif isinstance(node, HexaryExtension):
            if not path.startswith(node.path, depth):
                return None
            depth += len(node.path)
            node = node.child
        else:
            return None


def walk(node: HexaryNode) -> Iterator[tuple[bytes, bytes]]:
    """All paths with their values, sorted."""
    ahead = [(b"", node)]
    while ahead:
        path, node = ahead.pop()
        if isinstance(node, HexaryLeaf):
            yield path + node.path, node.value
        elif isinstance(node, HexaryExtension):
            ahead.append((path + node.path, node.child))
        elif isinstance(node, HexaryBranch):
            if node.value:
                yield path, node.value
            below = zip(DIGITS, node.children, strict=True)
            ahead += [(path + digit, child) for digit, child in below][::-1]
