"""The nodes of a hexary Merkle-Patricia trie and their RLP (Yellow Paper, appendix D).

A node never changes and is encoded once, when it is made: it keeps only its reference, which is
what its parent holds of it. A path is a sequence of nibbles, each written as the byte of its
lower-case hex digit, because `hexlify` and `unhexlify` are many times faster than shifting.
"""

from binascii import hexlify, unhexlify
from typing import Final

from msgspec import Struct

from laneway.evm.keccak import keccak
from laneway.evm.limits import TRIE_KEY_BYTES_MAX
from laneway.evm.rlp import encode_bytes, encode_list

WIDTH: Final = 16
DIGITS: Final = tuple(bytes([digit]) for digit in b"0123456789abcdef")
INDEX: Final = {digit[0]: index for index, digit in enumerate(DIGITS)}
"""Which child of a branch a digit of the path chooses."""

HASH: Final = b"\xa0"
"""The RLP header of 32 bytes."""


class HexaryNode(Struct, frozen=True, eq=False, gc=False):
    """Nodes are compared by identity, so that what did not change is recognised at once."""

    reference: bytes
    """The node's RLP where it is shorter than 32 bytes, or else the RLP of its hash."""


class HexaryLeaf(HexaryNode, frozen=True, eq=False, gc=False):
    path: bytes
    """What is left of the key below the leaf's parent."""
    value: bytes
    below: HexaryNode
    """The root of the trie that the value commits to: an account's storage. EMPTY if none."""


class HexaryExtension(HexaryNode, frozen=True, eq=False, gc=False):
    path: bytes
    child: HexaryNode
    """Always a branch."""


class HexaryBranch(HexaryNode, frozen=True, eq=False, gc=False):
    children: tuple[HexaryNode, ...]
    value: bytes
    """The value of the key that ends here; no bytes if none does."""


EMPTY: Final = HexaryNode(b"\x80")
"""The trie without a key, and the child that a branch does not have."""


def path_of(key: bytes) -> bytes:
    assert len(key) <= TRIE_KEY_BYTES_MAX, "a key is longer than a trie's depth allows"
    return hexlify(key)


def leaf(path: bytes, value: bytes, below: HexaryNode = EMPTY) -> HexaryLeaf:
    return HexaryLeaf(
        _reference(_short(path, b"3", b"20", encode_bytes(value))), path, value, below
    )


def extension(path: bytes, child: HexaryNode) -> HexaryExtension:
    return HexaryExtension(_reference(_short(path, b"1", b"00", child.reference)), path, child)


def branch(children: tuple[HexaryNode, ...], value: bytes) -> HexaryBranch:
    return HexaryBranch(_reference(_wide(children, value)), children, value)


def under(path: bytes, node: HexaryNode) -> HexaryNode:
    """The node that stands for all of a node's keys with a path before each."""
    if not path or node is EMPTY:
        return node
    if isinstance(node, HexaryLeaf):
        return leaf(path + node.path, node.value, node.below)
    if isinstance(node, HexaryExtension):
        return extension(path + node.path, node.child)
    return extension(path, node)


def encoded(node: HexaryNode) -> bytes:
    """A node's RLP, of which its reference keeps only the hash."""
    if isinstance(node, HexaryLeaf):
        return _short(node.path, b"3", b"20", encode_bytes(node.value))
    if isinstance(node, HexaryExtension):
        return _short(node.path, b"1", b"00", node.child.reference)
    if isinstance(node, HexaryBranch):
        return _wide(node.children, node.value)
    return node.reference


def hash_of(node: HexaryNode) -> bytes:
    """The root of the trie that begins with this node: a hash, however short its RLP is."""
    reference = node.reference
    if len(reference) == 33:
        return reference[1:]
    return keccak(reference)


def is_hashed(node: HexaryNode) -> bool:
    """Whether its parent holds its hash, and not the node itself."""
    return len(node.reference) == 33


def _short(path: bytes, odd: bytes, even: bytes, content: bytes) -> bytes:
    """A list of the path in its compact form, and what it leads to."""
    compact = unhexlify((odd if len(path) & 1 else even) + path)
    return encode_list(encode_bytes(compact) + content)


def _wide(children: tuple[HexaryNode, ...], value: bytes) -> bytes:
    references = b"".join([child.reference for child in children])
    return encode_list(references + encode_bytes(value))


def _reference(raw: bytes) -> bytes:
    return raw if len(raw) < 32 else HASH + keccak(raw)
