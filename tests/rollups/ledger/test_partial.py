"""Laws of partial tries: what opens is a part of the trie, and changes as the whole would."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laneway.jam.errors import InvalidProof
from laneway.jam.hashing import ZERO_HASH, blake2b
from laneway.jam.state_keys import KEY_BYTES
from laneway.jam.trie import EMPTY, KEY_BITS, Trie, branch_node, leaf_node
from laneway.rollups.ledger.partial import PartialTrie
from laneway.rollups.ledger.witness import nodes_on_the_ways

keys = st.one_of(
    st.binary(min_size=KEY_BYTES, max_size=KEY_BYTES),
    # Ways that stay together for long.
    st.integers(0, 15).map(lambda low: bytes([low]).rjust(KEY_BYTES, b"\0")),
    st.integers(0, 15).map(lambda high: bytes([high << 4]).ljust(KEY_BYTES, b"\xff")),
)
values = st.binary(min_size=0, max_size=32)


@settings(max_examples=40)
@given(
    st.dictionaries(keys, values, max_size=12),
    st.dictionaries(keys, values, max_size=6),
    st.lists(keys, max_size=4),
)
def test_a_part_reads_and_changes_as_the_whole_does(
    entries: dict[bytes, bytes], changes: dict[bytes, bytes], others: list[bytes]
) -> None:
    whole = Trie.of(entries)
    some = sorted({*changes, *others, *list(entries)[::3]})
    part = PartialTrie(whole.root, nodes_on_the_ways(whole, some), some)
    assert [part.value(key) for key in some] == [entries.get(key) for key in some]
    assert part.root_with({}) == whole.root
    assert part.root_with(changes) == whole.with_changes(changes).root


def key(first: int) -> bytes:
    return bytes([first]).ljust(KEY_BYTES, b"\0")


SMALL = Trie.of({key(first): b"%d" % first for first in (0x00, 0x01, 0x40, 0x80, 0xC0, 0xC1)})
ASKED = (key(0x01), key(0x41), key(0xC0))
NODES = nodes_on_the_ways(SMALL, ASKED)


def test_every_node_is_compared_and_none_may_be_missing_or_moved() -> None:
    PartialTrie(SMALL.root, NODES, ASKED)
    for place, node in enumerate(NODES):
        rest = NODES[:place], NODES[place + 1 :]
        for wrong in (
            (*rest[0], *rest[1]),
            (*rest[0], node, node, *rest[1]),
            (*rest[0], bytes([node[0] ^ 1]) + node[1:], *rest[1]),
            (*rest[0], node[:-1] + bytes([node[-1] ^ 1]), *rest[1]),
            (node, *rest[0], *rest[1]) if place else (*NODES[1:], node),
        ):
            with pytest.raises(InvalidProof):
                PartialTrie(SMALL.root, wrong, ASKED)


def test_nodes_of_other_keys_do_not_open() -> None:
    for wrong in (ASKED[:2], (*ASKED, key(0xC1)), (key(0x00), *ASKED[1:])):
        opened = [wrong == ASKED]
        try:
            PartialTrie(SMALL.root, NODES, wrong)
            opened.append(nodes_on_the_ways(SMALL, wrong) == NODES)
        except InvalidProof:
            opened.append(nodes_on_the_ways(SMALL, wrong) != NODES)
        assert opened[-1]


def test_another_root_does_not_open() -> None:
    """Its highest bit counts, too, which a left child has lost."""
    flipped = bytes([SMALL.root[0] ^ 0x80]) + SMALL.root[1:]
    for other in (blake2b(b"another"), ZERO_HASH, flipped):
        with pytest.raises(InvalidProof):
            PartialTrie(other, NODES, ASKED)


def test_an_empty_trie_is_opened_by_nothing() -> None:
    part = PartialTrie(ZERO_HASH, (), ASKED)
    assert part.value(ASKED[0]) is None
    assert part.root_with({ASKED[0]: b"1"}) == EMPTY.insert(ASKED[0], b"1").root


def test_only_asked_keys_can_be_changed() -> None:
    with pytest.raises(AssertionError):
        PartialTrie(SMALL.root, NODES, ASKED).root_with({key(0x80): b"1"})


# Tries that no honest ledger has: their roots are made up together with their nodes.


def test_a_leaf_that_stands_in_anothers_place_does_not_open() -> None:
    moved = leaf_node(key(0xC0), b"1")
    top = branch_node(blake2b(moved), blake2b(b"other side"))
    with pytest.raises(InvalidProof):
        PartialTrie(blake2b(top), (top, moved), (key(0x00),))


@pytest.mark.parametrize(
    "node",
    [
        leaf_node(key(0x01), bytes(33)),
        b"\xa1" + key(0x01) + bytes(32),
        b"\xff" + key(0x01) + bytes(32),
        b"\x81" + key(0x01) + b"1" + bytes(30) + b"1",
    ],
    ids=["hashed", "33 bytes", "127 bytes", "not filled with zeros"],
)
def test_a_leaf_whose_value_is_not_in_it_does_not_open(node: bytes) -> None:
    with pytest.raises(InvalidProof):
        PartialTrie(blake2b(node), (node,), (key(0x01),))
    # Nobody asks for it: it may be whatever it is.
    assert PartialTrie(blake2b(node), (node,), (key(0x02),)).value(key(0x02)) is None


def test_no_way_is_longer_than_a_key() -> None:
    asked = bytes(KEY_BYTES)
    nodes = [branch_node(ZERO_HASH, blake2b(b"aside"))]
    for _ in range(KEY_BITS):
        nodes.insert(0, branch_node(blake2b(nodes[0]), ZERO_HASH))
    with pytest.raises(InvalidProof):
        PartialTrie(blake2b(nodes[0]), nodes, (asked,))
    shorter = nodes[1:]
    assert PartialTrie(blake2b(shorter[0]), shorter, (asked,)).value(asked) is None


@pytest.mark.slow
def test_a_large_part_is_the_whole_with_the_same_changes() -> None:
    source = Random(1)
    whole = Trie.of({source.randbytes(KEY_BYTES): b"v" for _ in range(5_000)})
    stored = [key for key, _ in whole.items()]
    some = sorted([*source.sample(stored, 300), *(source.randbytes(31) for _ in range(300))])
    part = PartialTrie(whole.root, nodes_on_the_ways(whole, some), some)
    changes = dict.fromkeys(some[::2], b"new")
    assert part.root_with(changes) == whole.with_changes(changes).root
