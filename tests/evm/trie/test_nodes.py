"""A node's RLP and the reference that its parent holds."""

import pytest

from laneway.evm.keccak import keccak
from laneway.evm.limits import TRIE_KEY_BYTES_MAX
from laneway.evm.rlp import decode, encode
from laneway.evm.trie.nodes import (
    EMPTY,
    HexaryNode,
    branch,
    encoded,
    extension,
    hash_of,
    is_hashed,
    leaf,
    path_of,
    under,
)

SIXTEEN = [EMPTY] * 16


def wide(*filled: tuple[int, HexaryNode]) -> HexaryNode:
    children = list(SIXTEEN)
    for index, child in filled:
        children[index] = child
    return branch(tuple(children), b"")


FORK = wide((1, leaf(b"", b"one")), (2, leaf(b"", b"two")))


@pytest.mark.parametrize(
    ("path", "is_leaf", "compact"),
    [
        (b"12345", False, "112345"),
        (b"012345", False, "00012345"),
        (b"0f1cb8", True, "200f1cb8"),
        (b"f1cb8", True, "3f1cb8"),
        (b"", True, "20"),
        (b"a", True, "3a"),
    ],
)
def test_a_path_begins_with_its_kind_and_its_parity(
    path: bytes, is_leaf: bool, compact: str
) -> None:
    node = leaf(path, b"value") if is_leaf else extension(path, FORK)
    fields = decode(encoded(node))
    assert fields[0] == bytes.fromhex(compact)


def test_a_short_node_is_its_own_reference_and_a_long_one_is_hashed() -> None:
    short = leaf(b"a", b"x" * 28)
    long = leaf(b"a", b"x" * 29)
    assert (len(encoded(short)), len(encoded(long))) == (31, 32)
    assert (is_hashed(short), is_hashed(long)) == (False, True)
    assert short.reference == encoded(short)
    assert long.reference == encode(keccak(encoded(long)))


def test_a_root_is_a_hash_however_short_its_node_is() -> None:
    for node in (EMPTY, leaf(b"a", b"x"), leaf(b"a", b"x" * 40), FORK):
        assert hash_of(node) == keccak(encoded(node))


def test_a_branch_lists_its_children_and_then_its_value() -> None:
    fields = decode(encoded(branch((*SIXTEEN[1:], leaf(b"a", b"x")), b"value")))
    assert fields == (*[b""] * 15, (b"\x3a", b"x"), b"value")


def test_a_path_before_a_node_lengthens_it_or_adds_an_extension() -> None:
    assert encoded(under(b"ab", leaf(b"c", b"x"))) == encoded(leaf(b"abc", b"x"))
    assert encoded(under(b"ab", extension(b"c", FORK))) == encoded(extension(b"abc", FORK))
    assert encoded(under(b"ab", FORK)) == encoded(extension(b"ab", FORK))


def test_no_path_before_a_node_and_nothing_after_a_path_change_nothing() -> None:
    assert under(b"", FORK) is FORK
    assert under(b"ab", EMPTY) is EMPTY


def test_what_is_below_a_value_moves_with_its_leaf() -> None:
    moved = under(b"ab", leaf(b"c", b"x", FORK))
    assert getattr(moved, "below") is FORK  # noqa: B009


def test_a_key_is_no_longer_than_its_bound() -> None:
    assert path_of(b"\x0a\xf0") == b"0af0"
    path_of(bytes(TRIE_KEY_BYTES_MAX))
    with pytest.raises(AssertionError):
        path_of(bytes(TRIE_KEY_BYTES_MAX + 1))
