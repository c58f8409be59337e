"""Laws of state proofs: what the state says is proven, and no changed byte is believed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laneway.jam.errors import InvalidProof, Unencodable
from laneway.jam.hashing import ZERO_HASH, blake2b
from laneway.jam.state_proof import proven_value, verify_absence, verify_presence
from laneway.jam.trie import EMPTY, KEY_BITS, Trie, branch_node, leaf_node

close_keys = st.binary(min_size=1, max_size=2).map(lambda some: bytes(1) + some.ljust(30, b"\1"))
keys = st.one_of(close_keys, st.binary(min_size=31, max_size=31))
values = st.one_of(st.binary(max_size=34), st.just(bytes(32)), st.just(bytes(33)))
states = st.dictionaries(keys, values, max_size=8)

LEFT, RIGHT = bytes(31), b"\xff" * 31
LONG = b"x" * 33


def key_of(number: int) -> bytes:
    return blake2b(number.to_bytes(4, "little"))[:31]


@settings(max_examples=40)
@given(states, keys, st.data())
def test_a_proof_says_what_the_state_says(
    state: dict[bytes, bytes], key: bytes, data: st.DataObject
) -> None:
    if state:
        key = data.draw(st.sampled_from([key, *sorted(state)]))
    trie = Trie.of(state)
    nodes, value = trie.proof(key), state.get(key)
    assert proven_value(root=trie.root, key=key, nodes=nodes, value=value) == value
    if value is None:
        verify_absence(root=trie.root, key=key, nodes=nodes)
        with pytest.raises(InvalidProof, match="the state has no such key"):
            verify_presence(root=trie.root, key=key, value=b"", nodes=nodes)
        return
    verify_presence(root=trie.root, key=key, value=value, nodes=nodes)
    with pytest.raises(InvalidProof, match="the state has the key"):
        verify_absence(root=trie.root, key=key, nodes=nodes)
    for other in (value + b"\0", value[:-1], b"\1" + value):
        if other != value:
            with pytest.raises(InvalidProof, match="another value"):
                verify_presence(root=trie.root, key=key, value=other, nodes=nodes)
    if len(value) <= 32:
        assert proven_value(root=trie.root, key=key, nodes=nodes) == value
    else:
        with pytest.raises(InvalidProof, match="only the hash of the value"):
            proven_value(root=trie.root, key=key, nodes=nodes)


@settings(max_examples=15)
@given(st.integers(1, 40), st.integers(0, 80), st.integers(1, 255))
def test_no_changed_byte_is_believed(count: int, number: int, change: int) -> None:
    """Of present keys and of absent ones, in every byte of every node, and in the root."""
    state = {key_of(place): bytes([place]) * place for place in range(count)}
    trie, key = Trie.of(state), key_of(number)
    nodes, value = trie.proof(key), state.get(key)
    proven_value(root=trie.root, key=key, nodes=nodes, value=value)
    for place, node in enumerate(nodes):
        for at in range(len(node)):
            bent = node[:at] + bytes([node[at] ^ change]) + node[at + 1 :]
            with pytest.raises(InvalidProof):
                judged(trie.root, key, (*nodes[:place], bent, *nodes[place + 1 :]), value)
    for at in range(32):
        bent = trie.root[:at] + bytes([trie.root[at] ^ change]) + trie.root[at + 1 :]
        with pytest.raises(InvalidProof):
            judged(bent, key, nodes, value)


def judged(root: bytes, key: bytes, nodes: tuple[bytes, ...], value: bytes | None) -> None:
    proven_value(root=root, key=key, nodes=nodes, value=value)


@settings(max_examples=40)
@given(states, states, keys)
def test_a_proof_in_one_state_proves_nothing_in_another(
    state: dict[bytes, bytes], other: dict[bytes, bytes], key: bytes
) -> None:
    one, two = Trie.of(state), Trie.of(other)
    if one.root != two.root:
        with pytest.raises(InvalidProof):
            judged(two.root, key, one.proof(key), state.get(key))


@settings(max_examples=30)
@given(st.integers(0, 60), st.integers(0, 60))
def test_each_node_is_needed_and_none_is_left_over(number: int, other: int) -> None:
    state = {key_of(place): b"v" for place in range(40)}
    trie, key = Trie.of(state), key_of(number)
    nodes, value = trie.proof(key), state.get(key)
    wrong = [(*nodes, node) for node in trie.proof(key_of(other))]
    wrong += [nodes[:place] + nodes[place + 1 :] for place in range(len(nodes))]
    wrong += [(*nodes[:place], nodes[place], *nodes[place:]) for place in range(len(nodes))]
    for bent in wrong:
        with pytest.raises(InvalidProof):
            judged(trie.root, key, bent, value)


def test_the_empty_state_has_no_key() -> None:
    verify_absence(root=ZERO_HASH, key=LEFT, nodes=())
    assert EMPTY.proof(LEFT) == ()
    with pytest.raises(InvalidProof, match="node 0 stands below an empty side"):
        verify_absence(root=ZERO_HASH, key=LEFT, nodes=(leaf_node(RIGHT, b""),))


def test_a_proof_that_ends_early_or_late_is_told() -> None:
    trie = Trie.of({LEFT: b"l", RIGHT: b"r"})
    branch, leaf = trie.proof(LEFT)
    with pytest.raises(InvalidProof, match="node 0 is missing"):
        judged(trie.root, LEFT, (), b"l")
    with pytest.raises(InvalidProof, match="node 1 is missing"):
        judged(trie.root, LEFT, (branch,), b"l")
    with pytest.raises(InvalidProof, match="nodes follow the leaf at 1"):
        judged(trie.root, LEFT, (branch, leaf, leaf), b"l")
    with pytest.raises(InvalidProof, match="node 1 is not the one that belongs here"):
        judged(trie.root, LEFT, (branch, trie.proof(RIGHT)[1]), b"r")


def test_an_empty_side_shows_absence_on_either_side() -> None:
    low, high = bytes(31), b"\x10" + bytes(30)
    below = Trie.of({low: b"a", high: b"b"})
    verify_absence(root=below.root, key=RIGHT, nodes=below.proof(RIGHT))
    assert below.proof(RIGHT)[-1][32:] == ZERO_HASH
    above = Trie.of({b"\x80" + bytes(30): b"a", b"\x90" + bytes(30): b"b"})
    verify_absence(root=above.root, key=LEFT, nodes=above.proof(LEFT))
    assert above.proof(LEFT)[-1][:32] == ZERO_HASH
    with pytest.raises(InvalidProof, match="node 1 stands below an empty side"):
        verify_absence(root=above.root, key=LEFT, nodes=(*above.proof(LEFT), leaf_node(LEFT, b"")))


def test_only_a_left_child_lacks_its_top_bit() -> None:
    """A right child whose hash has the top bit set is not found without it, nor a root."""
    leaf = next(
        node
        for node in (leaf_node(RIGHT, number.to_bytes(4, "little")) for number in range(100))
        if blake2b(node)[0] & 0x80
    )
    cleared = bytes([blake2b(leaf)[0] & 0x7F]) + blake2b(leaf)[1:]
    top = branch_node(ZERO_HASH, cleared)
    with pytest.raises(InvalidProof, match="node 1 is not the one that belongs here"):
        judged(blake2b(top), RIGHT, (top, leaf), None)
    with pytest.raises(InvalidProof, match="node 0 is not the one that belongs here"):
        judged(cleared, RIGHT, (leaf,), None)


def test_of_a_left_child_all_other_bits_count() -> None:
    leaf = leaf_node(LEFT, b"v")
    for bit in range(7):
        name = bytes([blake2b(leaf)[0] ^ 1 << bit]) + blake2b(leaf)[1:]
        top = branch_node(name, ZERO_HASH)
        with pytest.raises(InvalidProof, match="node 1 is not the one that belongs here"):
            judged(blake2b(top), LEFT, (top, leaf), b"v")


def test_sizes_are_looked_at_first() -> None:
    leaf = leaf_node(LEFT, b"v")
    with pytest.raises(InvalidProof, match="a root of 31 bytes"):
        judged(blake2b(leaf)[:31], LEFT, (leaf,), b"v")
    with pytest.raises(InvalidProof, match="node 0 has 65 bytes"):
        judged(blake2b(leaf + b"\0"), LEFT, (leaf + b"\0",), b"v")
    with pytest.raises(InvalidProof, match="250 nodes are more than a key has bits"):
        judged(blake2b(leaf), LEFT, (leaf,) * 250, b"v")
    with pytest.raises(Unencodable, match="a key of 3 bytes where 31 belong"):
        judged(blake2b(leaf), b"abc", (leaf,), b"v")
    with pytest.raises(Unencodable, match="a key of 3 bytes where 31 belong"):
        verify_absence(root=blake2b(leaf), key=b"abc", nodes=(leaf,))


@pytest.mark.parametrize(
    ("leaf", "problem"),
    [
        (bytes([0x80 | 33]) + LEFT + bytes(32), "a leaf begins with 0xa1"),
        (bytes([0xBF]) + LEFT + bytes(32), "a leaf begins with 0xbf"),
        (bytes([0xC1]) + LEFT + bytes(32), "a leaf begins with 0xc1"),
        (bytes([0x81]) + LEFT + b"v" + bytes(30) + b"\1", "not filled up with zeros"),
        (bytes([0x80]) + LEFT + b"v" + bytes(31), "not filled up with zeros"),
    ],
)
def test_a_leaf_that_no_trie_has_is_refused_even_under_its_own_root(
    leaf: bytes, problem: str
) -> None:
    for key in (LEFT, RIGHT):
        with pytest.raises(InvalidProof, match=problem):
            judged(blake2b(leaf), key, (leaf,), None)


def test_a_short_value_that_stands_as_a_hash_is_refused() -> None:
    leaf = b"\xc0" + LEFT + blake2b(b"short")
    with pytest.raises(InvalidProof, match="another value"):
        judged(blake2b(leaf), LEFT, (leaf,), b"short")


def test_a_leaf_stands_only_where_its_key_leads() -> None:
    leaf = leaf_node(RIGHT, b"v")
    top = branch_node(blake2b(leaf), ZERO_HASH)
    with pytest.raises(InvalidProof, match="a leaf stands where its key does not lead"):
        verify_absence(root=blake2b(top), key=LEFT, nodes=(top, leaf))


def test_no_branch_stands_below_the_last_bit() -> None:
    nodes = [leaf_node(LEFT, b"v")]
    for _ in range(KEY_BITS + 1):
        nodes.insert(0, branch_node(blake2b(nodes[0]), ZERO_HASH))
    with pytest.raises(InvalidProof, match="250 nodes"):
        judged(blake2b(nodes[0]), LEFT, tuple(nodes), b"v")
    with pytest.raises(InvalidProof, match="a branch stands below the last bit"):
        judged(blake2b(nodes[0]), LEFT, tuple(nodes[:-1]), b"v")


def test_the_deepest_leaf_is_proven() -> None:
    last = bytes(30) + b"\x01"
    trie = Trie.of({LEFT: b"e", last: LONG})
    verify_presence(root=trie.root, key=last, value=LONG, nodes=trie.proof(last))
    assert len(trie.proof(last)) == KEY_BITS + 1
