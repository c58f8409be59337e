"""A proof shows a value, or that there is none, to somebody who has nothing but the root."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laneway.evm.keccak import keccak
from laneway.evm.rlp import Value, encode
from laneway.evm.trie.merge import merged
from laneway.evm.trie.nodes import EMPTY, HexaryNode, hash_of, path_of
from laneway.evm.trie.proof import UnprovenKey, prove, verify

Pairs = dict[bytes, bytes]


def node_of(pairs: Pairs) -> HexaryNode:
    return merged(EMPTY, sorted((path_of(key), value, EMPTY) for key, value in pairs.items()))


def proof_of(pairs: Pairs, key: bytes) -> tuple[bytes, ...]:
    return prove(node_of(pairs), path_of(key))


CHANCE = random.Random(5)
MANY = {CHANCE.randbytes(32): CHANCE.randbytes(50) for _ in range(200)}
KEYS = st.lists(st.sampled_from(b"\x00\x01\x10\xff"), max_size=3).map(bytes)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(KEYS, st.sampled_from([b"a", b"b" * 40]), max_size=12), KEYS)
def test_every_key_is_proven_present_or_absent(pairs: Pairs, key: bytes) -> None:
    root = hash_of(node_of(pairs))
    for each in [*pairs, key]:
        assert verify(root, each, proof_of(pairs, each)) == pairs.get(each, b"")


def test_a_proof_of_many_keys_is_as_long_as_the_trie_is_deep() -> None:
    root = hash_of(node_of(MANY))
    for key, value in MANY.items():
        proof = proof_of(MANY, key)
        assert 2 <= len(proof) <= 5
        assert verify(root, key, proof) == value


def test_the_empty_trie_proves_absence_by_no_node() -> None:
    assert proof_of({}, b"a") == ()
    assert verify(hash_of(EMPTY), b"a", ()) == b""
    with pytest.raises(UnprovenKey, match="neither a branch"):
        verify(hash_of(EMPTY), b"a", (b"\x80",))


def test_a_short_node_stands_inside_its_parent_and_not_in_the_list() -> None:
    pairs = {b"\x11": b"1", b"\x12": b"2"}
    assert len(proof_of(pairs, b"\x11")) == 1
    assert verify(hash_of(node_of(pairs)), b"\x11", proof_of(pairs, b"\x11")) == b"1"


def test_a_proof_with_a_node_changed_missing_or_too_many_is_refused() -> None:
    root = hash_of(node_of(MANY))
    key = min(MANY)
    proof = list(proof_of(MANY, key))
    for index, raw in enumerate(proof):
        changed = raw[:-1] + bytes([raw[-1] ^ 1])
        with pytest.raises(UnprovenKey, match=f"node {index} .* another hash"):
            verify(root, key, [*proof[:index], changed, *proof[index + 1 :]])
        with pytest.raises(UnprovenKey, match=f"node {index} .* missing"):
            verify(root, key, proof[:index])
    with pytest.raises(UnprovenKey, match=f"node {len(proof)} .* nothing leads to it"):
        verify(root, key, [*proof, proof[-1]])
    with pytest.raises(UnprovenKey, match="another hash"):
        verify(bytes(32), key, proof)


def test_a_proof_of_one_key_does_not_prove_that_another_has_no_value() -> None:
    root = hash_of(node_of(MANY))
    first, second = sorted(MANY)[0], sorted(MANY)[-1]
    with pytest.raises(UnprovenKey):
        verify(root, second, proof_of(MANY, first))


SIXTEEN: list[Value] = [b""] * 16
BAD: dict[str, tuple[Value, str]] = {
    "bytes": (b"x" * 40, "neither a branch"),
    "a list of three": ([b"\x20", b"1", b"2"], "neither a branch"),
    "a kind that is none": ([b"\x40", b"1"], "no kind"),
    "no path at all": ([b"", b"1"], "no kind"),
    "a padded path": ([b"\x21", b"1"], "padded"),
    "a path that is a list": ([[b"\x20"], b"1"], "a list stands"),
    "an extension of nothing": ([b"\x00", b"1" * 32], "its path is empty"),
    "a value that is a list": ([b"\x20\x61", [b"1"]], "a list stands"),
    "a branch within bytes": ([b"\x16", [b"1"]], "neither a branch"),
    "a hash of another size": ([b"\x16", b"1" * 31], "it is missing"),
}


@pytest.mark.parametrize(("fields", "problem"), BAD.values(), ids=BAD)
def test_a_node_that_no_trie_has_is_refused(fields: Value, problem: str) -> None:
    raw = encode(fields)
    with pytest.raises(UnprovenKey, match=problem):
        verify(keccak(raw), b"a", [raw])


def test_a_branch_whose_value_is_a_list_is_refused() -> None:
    raw = encode([*SIXTEEN, [b"1"]])
    with pytest.raises(UnprovenKey, match="a list stands"):
        verify(keccak(raw), b"", [raw])


def test_a_node_that_is_no_rlp_is_refused() -> None:
    raw = b"\xc2\x01"
    with pytest.raises(UnprovenKey, match="cut off"):
        verify(keccak(raw), b"a", [raw])
