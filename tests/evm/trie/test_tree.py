"""Mappings and lists have the roots that Ethereum gives them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evm.trie.naive import naive_root

from laneway.evm.keccak import keccak
from laneway.evm.rlp import encode
from laneway.evm.trie.proof import verify
from laneway.evm.trie.tree import EMPTY_ROOT, HexaryTrie, ordered_root, root, secured_root

PUPPY = {b"do": b"verb", b"horse": b"stallion", b"doge": b"coin", b"dog": b"puppy"}
PUPPY_ROOT = bytes.fromhex("5991bb8c6514148a29db676a14ac506cd2cd5775ace63c30a4fe457715e9ac84")
"""The example of Ethereum's documentation."""

KEYS = st.lists(st.sampled_from(b"\x00\x01\x10\xff"), max_size=3).map(bytes)
PAIRS = st.dictionaries(KEYS, st.sampled_from([b"a", b"b" * 40]), max_size=12)


def test_a_mapping_has_its_published_root() -> None:
    assert root(PUPPY) == PUPPY_ROOT
    assert root(dict(reversed(PUPPY.items()))) == PUPPY_ROOT


def test_nothing_has_the_root_of_the_empty_trie() -> None:
    empty = bytes.fromhex("56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421")
    assert EMPTY_ROOT == empty == root({}) == root({b"a": b""}) == ordered_root([])


def test_a_secured_root_is_that_of_the_hashed_keys() -> None:
    assert secured_root(PUPPY) == root({keccak(key): value for key, value in PUPPY.items()})


@pytest.mark.parametrize("count", [1, 2, 127, 128, 129, 300])
def test_an_ordered_root_has_the_rlp_of_each_index_as_its_key(count: int) -> None:
    items = [b"item %d" % index for index in range(count)]
    assert ordered_root(items) == naive_root({encode(i): item for i, item in enumerate(items)})


@settings(max_examples=40, deadline=None)
@given(PAIRS)
def test_a_key_that_was_put_is_found_and_no_other(pairs: dict[bytes, bytes]) -> None:
    trie = HexaryTrie().updated(pairs)
    assert trie.root() == naive_root(pairs)
    for key in [*pairs, b"", b"\x00", b"\x10\x00", b"\xff\xff\xff", b"\x02\x02"]:
        assert trie.get(key) == pairs.get(key, b"")
        assert verify(trie.root(), key, trie.proof(key)) == pairs.get(key, b"")


@settings(max_examples=40, deadline=None)
@given(PAIRS)
def test_keys_come_sorted_with_their_values(pairs: dict[bytes, bytes]) -> None:
    assert list(HexaryTrie().updated(pairs).items()) == sorted(pairs.items())


def test_a_change_leaves_the_trie_as_it_was() -> None:
    first = HexaryTrie().updated(PUPPY)
    second = first.updated({b"dog": b"", b"cat": b"kitten"})
    assert (first.get(b"dog"), second.get(b"dog")) == (b"puppy", b"")
    assert (first.get(b"cat"), second.get(b"cat")) == (b"", b"kitten")
    assert first.root() == PUPPY_ROOT == second.updated({b"dog": b"puppy", b"cat": b""}).root()


@pytest.mark.parametrize(
    ("pairs", "key"),
    [
        ({}, b"a"),
        ({b"aa": b"1"}, b"ab"),
        ({b"aa": b"1"}, b"a"),
        ({b"aaa": b"1", b"aab": b"2"}, b"b"),
        ({b"aaa": b"1", b"aab": b"2"}, b"a"),
        ({b"a": b"1", b"b": b"2"}, b""),
        ({b"aa": b"1", b"ap": b"2"}, b"a"),
    ],
)
def test_a_key_that_nobody_put_has_no_value(pairs: dict[bytes, bytes], key: bytes) -> None:
    assert HexaryTrie().updated(pairs).get(key) == b""
