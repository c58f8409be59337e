"""Proofs of a trie (EIP-1186): the RLP of the nodes from the root towards a key.

The first node is always listed, and after it each one that its parent holds as a hash; shorter
nodes stand inside their parents. A proof ends at the value, or where the trie shows that the key
has none. A reader needs nothing but the root and refuses a proof with a node too many.
"""

from collections.abc import Sequence

from laneway.core.errors import InvalidValue
from laneway.evm.errors import MalformedRlp
from laneway.evm.keccak import keccak
from laneway.evm.rlp import Item, decode
from laneway.evm.trie.nodes import (
    EMPTY,
    INDEX,
    WIDTH,
    HexaryBranch,
    HexaryExtension,
    HexaryNode,
    encoded,
    hash_of,
    is_hashed,
    path_of,
)


class UnprovenKey(InvalidValue):
    code = "key_unproven"
    message = "node {index} of the proof: {problem}"


def prove(node: HexaryNode, path: bytes) -> tuple[bytes, ...]:
    """The nodes on the way to a path; none at all for the empty trie."""
    if node is EMPTY:
        return ()
    listed = [encoded(node)]
    depth = 0
    while True:
        if isinstance(node, HexaryBranch) and depth < len(path):
            node = node.children[INDEX[path[depth]]]
            depth += 1
        elif isinstance(node, HexaryExtension) and path.startswith(node.path, depth):
            depth += len(node.path)
            node = node.child
        else:
            return tuple(listed)
        if is_hashed(node):
            listed.append(encoded(node))


def verify(root: bytes, key: bytes, proof: Sequence[bytes]) -> bytes:
    """The value that a proof shows for a key, no bytes if it shows that there is none;
    UnprovenKey if it shows neither."""
    if not proof and root == hash_of(EMPTY):
        return b""
    return _ProofReader(root, path_of(key), proof).value()


class _ProofReader:
    """Follows one path through the nodes of a proof."""

    def __init__(self, root: bytes, path: bytes, proof: Sequence[bytes]) -> None:
        self._wanted = root
        self._path = path
        self._proof = proof
        self._count = 0

    def value(self) -> bytes:
        node: Item = self._wanted
        # Each turn goes down by a nibble or ends, but for the turn that opens a hash.
        while node != b"":
            fields = self._fields(node)
            found = self._branch(fields) if len(fields) == WIDTH + 1 else self._short(fields)
            if isinstance(found, bytes):
                return self._ended(found)
            (node,) = found
        return self._ended(b"")

    def _fields(self, node: Item) -> tuple[Item, ...]:
        """The fields of a node that stands here itself or as its hash."""
        if isinstance(node, bytes):
            node = self._opened(node)
        if isinstance(node, bytes) or len(node) not in (2, WIDTH + 1):
            raise self._refused("it is neither a branch nor a leaf nor an extension")
        return node

    def _opened(self, wanted: bytes) -> Item:
        if self._count == len(self._proof):
            raise UnprovenKey(index=self._count, problem="it is missing")
        raw = self._proof[self._count]
        self._count += 1
        if keccak(raw) != wanted:
            raise self._refused("it has another hash")
        try:
            return decode(raw)
        except MalformedRlp as error:
            raise self._refused(str(error)) from error

    def _branch(self, fields: tuple[Item, ...]) -> bytes | tuple[Item]:
        """The value, or the child on the way to it in a tuple of its own."""
        if not self._path:
            return self._bytes(fields[WIDTH])
        child = fields[INDEX[self._path[0]]]
        self._path = self._path[1:]
        return (child,)

    def _short(self, fields: tuple[Item, ...]) -> bytes | tuple[Item]:
        digits = self._bytes(fields[0]).hex().encode()
        flag = digits[:1]
        if flag in (b"0", b"2"):
            if digits[1:2] != b"0":
                raise self._refused("its path is padded with something")
            path = digits[2:]
        elif flag in (b"1", b"3"):
            path = digits[1:]
        else:
            raise self._refused("its path has no kind")
        if flag in (b"2", b"3"):
            return self._bytes(fields[1]) if path == self._path else b""
        if not self._path.startswith(path):
            return b""
        if not path:
            raise self._refused("its path is empty")
        self._path = self._path[len(path) :]
        return (fields[1],)

    def _bytes(self, item: Item) -> bytes:
        if not isinstance(item, bytes):
            raise self._refused("a list stands where bytes do")
        return item

    def _ended(self, value: bytes) -> bytes:
        if self._count < len(self._proof):
            raise UnprovenKey(index=self._count, problem="nothing leads to it")
        return value

    def _refused(self, problem: str) -> UnprovenKey:
        return UnprovenKey(index=max(self._count - 1, 0), problem=problem)
