"""Laws of the state trie: whatever way a state is made, its root is that of the definition."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laneway.jam.errors import Unencodable
from laneway.jam.hashing import ZERO_HASH, blake2b
from laneway.jam.trie import (
    EMPTY,
    KEY_BITS,
    NODE_BYTES,
    Trie,
    branch_node,
    key_bit,
    leaf_node,
    root,
)

close_keys = st.binary(min_size=1, max_size=2).map(lambda some: bytes(1) + some.ljust(30, b"\1"))
"""Long common beginnings, so that chains of branches and rising leaves are common too."""
keys = st.one_of(close_keys, st.binary(min_size=31, max_size=31))
values = st.one_of(st.binary(max_size=34), st.just(bytes(32)), st.just(bytes(33)))
states = st.dictionaries(keys, values, max_size=8)


def bits(key: bytes) -> str:
    return "".join(f"{byte:08b}" for byte in key)


def plain(state: dict[str, tuple[bytes, bytes]]) -> bytes:
    """M as the Gray Paper words it: by bits that are taken off the keys."""
    if not state:
        return ZERO_HASH
    if len(state) == 1:
        ((key, value),) = state.values()
        small = bytes([0x80 + len(value)]) + key + value + bytes(max(0, 32 - len(value)))
        return blake2b(small if len(value) <= 32 else b"\xc0" + key + blake2b(value))
    left = plain({bit[1:]: entry for bit, entry in state.items() if bit[0] == "0"})
    right = plain({bit[1:]: entry for bit, entry in state.items() if bit[0] == "1"})
    return blake2b(bytes([left[0] & 0x7F]) + left[1:] + right)


def oracle(state: dict[bytes, bytes]) -> bytes:
    return plain({bits(key): (key, value) for key, value in state.items()})


def test_nodes_to_the_byte() -> None:
    key = bytes(range(31))
    assert leaf_node(key, b"") == b"\x80" + key + bytes(32)
    assert leaf_node(key, b"ab") == b"\x82" + key + b"ab" + bytes(30)
    assert leaf_node(key, b"x" * 32) == b"\xa0" + key + b"x" * 32
    assert leaf_node(key, b"x" * 33) == b"\xc0" + key + blake2b(b"x" * 33)
    assert branch_node(b"\xff" * 32, b"\xee" * 32) == b"\x7f" + b"\xff" * 31 + b"\xee" * 32


def test_the_highest_bit_of_a_key_is_its_first() -> None:
    key = b"\x80\x01" + bytes(29)
    assert [depth for depth in range(KEY_BITS) if key_bit(key, depth)] == [0, 15]


def test_a_state_of_nothing_and_of_one() -> None:
    key = bytes(31)
    assert root({}) == EMPTY.root == ZERO_HASH
    assert root({key: b"v"}) == EMPTY.insert(key, b"v").root == blake2b(leaf_node(key, b"v"))
    assert len(EMPTY) == 0
    assert EMPTY.get(key) is None


@settings(max_examples=40)
@given(states)
def test_both_ways_give_the_root_of_the_definition(state: dict[bytes, bytes]) -> None:
    trie = Trie.of(state)
    assert root(state) == trie.root == oracle(state)
    assert len(trie) == len(state)
    assert list(trie.items()) == sorted(state.items())


@settings(max_examples=30)
@given(states, st.lists(st.tuples(keys, st.none() | values), max_size=8), st.data())
def test_changes_give_the_root_of_the_changed_state(
    state: dict[bytes, bytes], changes: list[tuple[bytes, bytes | None]], data: st.DataObject
) -> None:
    """Changes fall on keys that are there and on others; one by one, or all at once."""
    if state:
        picked = data.draw(st.lists(st.tuples(st.sampled_from(sorted(state)), st.none() | values)))
        changes = changes + picked
    before = Trie.of(state)
    one_by_one, changed = before, dict(state)
    for key, value in changes:
        one_by_one = one_by_one.remove(key) if value is None else one_by_one.insert(key, value)
        changed.pop(key, None)
        if value is not None:
            changed[key] = value
        assert one_by_one.root == oracle(changed)
    at_once = before.with_changes(dict(changes))
    assert at_once.root == oracle(changed)
    assert dict(at_once.items()) == changed
    assert len(at_once) == len(changed)
    for key in {*state, *changed}:
        assert at_once.get(key) == changed.get(key)
    assert before.root == oracle(state)


@settings(max_examples=40)
@given(states, st.data())
def test_a_change_of_nothing_is_the_same_trie(
    state: dict[bytes, bytes], data: st.DataObject
) -> None:
    trie = Trie.of(state)
    assert trie.with_changes({}) is trie
    assert trie.with_changes(state) is trie
    absent = data.draw(keys.filter(lambda key: key not in state))
    assert trie.remove(absent) is trie


def test_what_a_change_does_not_touch_is_shared() -> None:
    left, right = b"\x00" * 31, b"\xff" * 31
    before = Trie.of({left: b"l", right: b"r"})
    after = before.insert(right, b"other")
    assert before.get(right) == b"r"
    assert after.get(right) == b"other"
    assert before._top.left is after._top.left  # type: ignore[union-attr]


def test_tries_are_equal_by_their_roots() -> None:
    state = {bytes([place]) * 31: b"v" for place in range(9)}
    one = Trie.of(state)
    other = Trie.of(sorted(state.items(), reverse=True))
    assert one == other
    assert hash(one) == hash(other)
    assert one != other.remove(bytes(31))
    assert one != one.root


def test_of_a_key_given_twice_the_last_value_counts() -> None:
    assert Trie.of([(bytes(31), b"a"), (bytes(31), b"b")]).get(bytes(31)) == b"b"


def test_keys_that_differ_in_the_last_bit_stand_at_the_bottom() -> None:
    even, odd = bytes(31), bytes(30) + b"\x01"
    trie = Trie.of({even: b"e", odd: b"o"})
    assert trie.root == oracle({even: b"e", odd: b"o"})
    assert len(trie.proof(odd)) == KEY_BITS + 1
    assert trie.remove(odd).root == root({even: b"e"})
    assert len(trie.remove(even).proof(even)) == 1


@settings(max_examples=40)
@given(states, keys)
def test_a_proof_is_the_way_from_the_root(state: dict[bytes, bytes], key: bytes) -> None:
    """Each node names the one below it, and the last one is a leaf or has nothing to name."""
    trie = Trie.of(state)
    nodes = trie.proof(key)
    assert {len(node) for node in nodes} <= {NODE_BYTES}
    expected = trie.root
    for depth, node in enumerate(nodes):
        hashed = blake2b(node)
        is_left = depth > 0 and not key_bit(key, depth - 1)
        assert (bytes([hashed[0] & 0x7F]) + hashed[1:] if is_left else hashed) == expected
        expected = node[32:] if key_bit(key, depth) else node[:32]
    if nodes and nodes[-1][0] & 0x80:
        assert (nodes[-1][1:32] == key) == (key in state)
    else:
        assert expected == ZERO_HASH
        assert key not in state


@pytest.mark.parametrize("size", [0, 30, 32])
def test_a_key_of_another_length_is_refused(size: int) -> None:
    key = bytes(size)
    for attempt in (
        lambda: root({key: b""}),
        lambda: EMPTY.get(key),
        lambda: EMPTY.proof(key),
        lambda: EMPTY.insert(key, b""),
        lambda: EMPTY.remove(key),
    ):
        with pytest.raises(Unencodable, match=f"a key of {size} bytes where 31 belong"):
            attempt()
