"""Whatever order changes come in, a trie has the one form of the keys that it holds."""

import random
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evm.trie.naive import naive_root

from laneway.evm.limits import TRIE_KEY_BYTES_MAX
from laneway.evm.trie.merge import merged
from laneway.evm.trie.nodes import (
    EMPTY,
    HexaryNode,
    branch,
    encoded,
    extension,
    hash_of,
    leaf,
    path_of,
)

Pairs = dict[bytes, bytes]


def applied(node: HexaryNode, changes: Pairs) -> HexaryNode:
    return merged(node, sorted((path_of(key), value, EMPTY) for key, value in changes.items()))


def check(*batches: Pairs) -> HexaryNode:
    """After every batch the trie is that of all that was kept so far."""
    node = EMPTY
    pairs: Pairs = {}
    for changes in batches:
        node = applied(node, changes)
        pairs = {key: value for key, value in {**pairs, **changes}.items() if value}
        assert hash_of(node) == naive_root(pairs)
    return node


CASES: dict[str, list[Pairs]] = {
    "a key into nothing": [{b"a": b"1"}],
    "nothing into nothing": [{}, {b"a": b""}],
    "a key is replaced": [{b"a": b"1"}, {b"a": b"2"}],
    "a key is deleted": [{b"a": b"1"}, {b"a": b""}],
    "beside a leaf": [{b"a": b"1"}, {b"b": b"2"}, {b"c": b"3", b"d": b"4"}],
    "in place of a leaf": [{b"a": b"1"}, {b"a": b"", b"b": b"2"}],
    "one absent key is deleted beside a leaf": [{b"a": b"1"}, {b"b": b""}],
    "a leaf and an absent key are deleted": [{b"a": b"1"}, {b"a": b"", b"b": b""}],
    "a key ends in a branch": [{b"aa": b"1", b"ab": b"2"}, {b"a": b"3"}, {b"a": b""}],
    "a key ends in a new branch": [{b"aa": b"1"}, {b"a": b"3"}, {b"aa": b""}],
    "a key ends inside an extension": [{b"aaaa": b"1", b"aaab": b"2"}, {b"a": b"3"}],
    "an extension is split at its begin": [{b"aa": b"1", b"ab": b"2"}, {b"\x00": b"3"}],
    "an extension is split at its end": [{b"aaa": b"1", b"aab": b"2"}, {b"aap": b"3"}],
    "an extension is split by two": [{b"aaa": b"1", b"aab": b"2"}, {b"b": b"3", b"c": b"4"}],
    "absent keys are deleted beside an extension": [{b"aaa": b"1", b"aab": b"2"}, {b"b": b""}],
    "a branch collapses into a leaf": [{b"aa": b"1", b"ab": b"2"}, {b"aa": b""}],
    "a branch collapses into its value": [{b"a": b"1", b"ab": b"2"}, {b"ab": b""}],
    "a branch collapses into an extension": [
        {b"aaa": b"1", b"aab": b"2", b"b": b"3"},
        {b"b": b""},
    ],
    "a branch collapses into a branch": [
        {b"\x11": b"1", b"\x12": b"2", b"\x20": b"3"},
        {b" ": b""},
    ],
    "a branch is emptied": [{b"aa": b"1", b"ab": b"2"}, {b"aa": b"", b"ab": b""}],
    "all is replaced": [{b"aa": b"1", b"ab": b"2"}, {b"aa": b"", b"ab": b"", b"ac": b"3"}],
    "the empty key": [{b"": b"1"}, {b"a": b"2"}, {b"": b"3"}, {b"a": b""}, {b"": b""}],
}


@pytest.mark.parametrize("batches", CASES.values(), ids=CASES)
def test_a_trie_has_the_form_of_the_keys_it_holds(batches: list[Pairs]) -> None:
    check(*batches)
    long = [{key: value * 40 for key, value in changes.items()} for changes in batches]
    check(*long)


KEYS = st.lists(st.sampled_from(b"\x00\x01\x10\x11\x1f\xf1"), max_size=4).map(bytes)
VALUES = st.sampled_from([b"", b"", b"\x01", b"short", b"long enough to be hashed by its parent"])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=8), max_size=6))
def test_batches_in_any_order_give_the_trie_of_what_is_left(batches: list[Pairs]) -> None:
    check(*batches)


def test_a_batch_is_the_same_as_its_changes_one_by_one() -> None:
    chance = random.Random(7)
    pairs = {chance.randbytes(32): chance.randbytes(40) for _ in range(300)}
    at_once = applied(EMPTY, pairs)
    node = EMPTY
    for key, value in pairs.items():
        node = applied(node, {key: value})
    assert hash_of(node) == hash_of(at_once) == naive_root(pairs)
    for key in pairs:
        node = applied(node, {key: b""})
    assert node is EMPTY


def test_a_change_that_changes_nothing_gives_the_same_node() -> None:
    pairs = {b"aaa": b"1", b"aab": b"2", b"a": b"3"}
    node = applied(EMPTY, pairs)
    assert applied(node, pairs) is node
    assert applied(node, {}) is node
    assert applied(node, {b"aac": b"", b"aabb": b""}) is node


def test_what_did_not_change_is_shared_and_the_old_trie_stays() -> None:
    old = applied(EMPTY, {bytes([first]): b"value" * 9 for first in range(256)})
    root = hash_of(old)
    new = applied(old, {b"\x17": b"other"})
    assert hash_of(old) == root != hash_of(new)
    kept = [a is b for a, b in zip(children(old), children(new), strict=True)]
    assert kept == [index != 1 for index in range(16)]


def children(node: HexaryNode) -> tuple[HexaryNode, ...]:
    found: tuple[HexaryNode, ...] = getattr(node, "children")  # noqa: B009
    return found


def test_what_is_below_a_value_is_replaced_with_it() -> None:
    below, other = leaf(b"a", b"x"), leaf(b"a", b"y")
    node = merged(EMPTY, [(b"aa", b"1", below), (b"bb", b"2", below)])
    assert merged(node, [(b"aa", b"1", below)]) is node
    changed = merged(node, [(b"aa", b"1", other)])
    assert [getattr(child, "below", None) for child in children(changed)][10:12] == [other, below]


def test_a_value_inside_a_branch_has_nothing_below_it() -> None:
    node = applied(EMPTY, {b"aa": b"1", b"ab": b"2"})
    with pytest.raises(AssertionError):
        merged(node, [(path_of(b"a"), b"3", leaf(b"a", b"x"))])
    with pytest.raises(AssertionError):
        merged(EMPTY, [(b"a", b"3", leaf(b"a", b"x")), (b"aa", b"1", EMPTY)])


def test_the_deepest_trie_leaves_most_of_the_stack_to_others() -> None:
    full = b"\xff" * TRIE_KEY_BYTES_MAX
    spine = {full[:length] + b"\x0f" * (length < len(full)): b"v" for length in range(len(full))}
    deepest = 0

    def profile(frame: object, event: str, argument: object) -> None:
        nonlocal deepest
        depth = 0
        while frame is not None:
            frame = getattr(frame, "f_back", None)
            depth += 1
        deepest = max(deepest, depth)

    begin = applied(EMPTY, spine | {full: b"v"})
    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        node = applied(begin, {full: b"w"})
    finally:
        sys.setprofile(before)
    assert deepest < 450
    assert hash_of(node) == naive_root(spine | {full: b"w"})


def test_the_nodes_are_those_of_the_yellow_paper() -> None:
    inner = branch(tuple(leaf(b"", b"x") if index in (1, 2) else EMPTY for index in range(16)), b"")
    node = applied(EMPTY, {b"\xaa\x01": b"x", b"\xaa\x02": b"x"})
    assert encoded(node) == encoded(extension(b"aa0", inner))
