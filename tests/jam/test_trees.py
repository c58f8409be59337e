"""Laws of Merkle trees: roots are the plain definition, and a path fits one leaf at one place."""

from collections.abc import Sequence
from math import ceil, log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laneway.jam.errors import InvalidProof
from laneway.jam.hashing import ZERO_HASH, Hashing, blake2b, keccak
from laneway.jam.trees import (
    co_path,
    co_paths,
    constant_depth_root,
    justification,
    leaf_hash,
    leaf_page,
    node,
    padded_leaf_hashes,
    root_from_co_path,
    root_from_justification,
    well_balanced_root,
    well_balanced_root_from_co_path,
)

hashings = st.sampled_from([blake2b, keccak])
counts = st.integers(1, 70)


def leaves_of(count: int, size: int = 40) -> list[bytes]:
    return [place.to_bytes(2, "little") * (size // 2) for place in range(count)]


def plain(values: Sequence[bytes], hashing: Hashing) -> bytes:
    """N as the Gray Paper words it."""
    if not values:
        return ZERO_HASH
    if len(values) == 1:
        return values[0]
    half = ceil(len(values) / 2)
    return hashing(b"node" + plain(values[:half], hashing) + plain(values[half:], hashing))


def trace(values: Sequence[bytes], index: int, hashing: Hashing) -> tuple[bytes, ...]:
    """T as the Gray Paper words it."""
    if len(values) <= 1:
        return ()
    half = ceil(len(values) / 2)
    if index < half:
        return (plain(values[half:], hashing), *trace(values[:half], index, hashing))
    return (plain(values[:half], hashing), *trace(values[half:], index - half, hashing))


def flipped(raw: bytes) -> bytes:
    return bytes([raw[0] ^ 1]) + raw[1:]


@given(st.integers(0, 70), hashings)
def test_a_root_is_the_plain_definition(count: int, hashing: Hashing) -> None:
    leaves = leaves_of(count)
    assert node(leaves, hashing) == plain(leaves, hashing)
    padded = [hashing(b"leaf" + leaf) for leaf in leaves]
    padded += [ZERO_HASH] * (2 ** ceil(log2(max(1, count))) - count)
    assert list(padded_leaf_hashes(leaves, hashing)) == padded
    assert constant_depth_root(leaves, hashing) == plain(padded, hashing)


def test_roots_of_nothing_and_of_one() -> None:
    assert node([]) == well_balanced_root([]) == constant_depth_root([]) == ZERO_HASH
    assert node([b"x"]) == b"x"
    assert well_balanced_root([b"x"]) == blake2b(b"x")
    assert well_balanced_root([b"x"], keccak) == keccak(b"x")
    assert constant_depth_root([b"x"]) == blake2b(b"leafx")


def test_the_left_half_is_the_larger_one() -> None:
    a, b, c = b"a", b"b", b"c"
    assert well_balanced_root([a, b, c]) == blake2b(b"node" + blake2b(b"nodeab") + c)


@settings(max_examples=20)
@given(counts, hashings)
def test_a_co_path_is_the_plain_definition_and_leads_to_the_root(
    count: int, hashing: Hashing
) -> None:
    leaves = leaves_of(count)
    root, balanced = node(leaves, hashing), well_balanced_root(leaves, hashing)
    every = co_paths(leaves, hashing)
    assert len(every) == count
    for index, leaf in enumerate(leaves):
        path = co_path(leaves, index, hashing)
        assert path == trace(leaves, index, hashing) == every[index]
        for way, expected in (
            (root_from_co_path, root),
            (well_balanced_root_from_co_path, balanced),
        ):
            assert way(leaf, path, index=index, count=count, hashing=hashing) == expected


def test_there_are_no_paths_where_there_are_no_leaves() -> None:
    assert co_paths([]) == ()
    with pytest.raises(AssertionError):
        co_path([], 0)
    with pytest.raises(AssertionError):
        co_path([b"a"], -1)


@settings(max_examples=40)
@given(counts, st.data())
def test_a_path_fits_no_other_leaf_and_no_other_place(count: int, data: st.DataObject) -> None:
    leaves = leaves_of(count)
    index = data.draw(st.integers(0, count - 1))
    other = data.draw(st.integers(0, count - 1))
    path, root = co_path(leaves, index), node(leaves)
    assert root_from_co_path(flipped(leaves[index]), path, index=index, count=count) != root
    for place, sibling in enumerate(path):
        bent = (*path[:place], flipped(sibling), *path[place + 1 :])
        assert root_from_co_path(leaves[index], bent, index=index, count=count) != root
    assert other == index or not leads(leaves[index], path, other, leaves)


def leads(leaf: bytes, path: Sequence[bytes], index: int, leaves: list[bytes]) -> bool:
    try:
        return root_from_co_path(leaf, path, index=index, count=len(leaves)) == node(leaves)
    except InvalidProof:
        return False


@pytest.mark.parametrize(("index", "count"), [(-1, 3), (3, 3), (0, 0)])
def test_a_leaf_outside_the_tree_has_no_path(index: int, count: int) -> None:
    with pytest.raises(InvalidProof, match=f"leaf {index} of {count} does not exist"):
        root_from_co_path(b"a", (), index=index, count=count)


def test_a_path_has_exactly_as_many_nodes_as_its_place_asks_for() -> None:
    leaves = leaves_of(5)
    path = co_path(leaves, 1)
    for wrong in (path[:-1], (*path, ZERO_HASH), ()):
        with pytest.raises(InvalidProof, match=f"the path has {len(wrong)} nodes, and 3 lead to"):
            root_from_co_path(leaves[1], wrong, index=1, count=5)


def test_a_leaf_cannot_take_bytes_from_its_sibling() -> None:
    leaves = leaves_of(2, 40)
    longer, rest = leaves[0] + leaves[1][:8], leaves[1][8:]
    assert blake2b(b"node" + longer + rest) == node(leaves)
    with pytest.raises(InvalidProof, match="a node of 32 bytes where 48 belong"):
        root_from_co_path(longer, (rest,), index=0, count=2)


def test_an_inner_sibling_is_a_hash() -> None:
    leaves = leaves_of(4, 40)
    path = co_path(leaves, 0)
    with pytest.raises(InvalidProof, match="a node of 40 bytes where 32 belong"):
        root_from_co_path(leaves[0], (leaves[2], path[1]), index=0, count=4)


@settings(max_examples=40)
@given(st.integers(1, 300), st.integers(0, 7), hashings)
def test_a_page_and_its_justification_lead_to_the_root(
    count: int, page_bits: int, hashing: Hashing
) -> None:
    leaves = leaves_of(count)
    root = constant_depth_root(leaves, hashing)
    pages = ceil(count / 2**page_bits)
    index = pages - 1
    path = justification(leaves, index=index, page_bits=page_bits, hashing=hashing)
    page = leaf_page(leaves, index=index, page_bits=page_bits, hashing=hashing)
    assert len(path) == max(0, ceil(log2(count)) - page_bits)
    first = index * 2**page_bits
    assert list(page) == [leaf_hash(leaf, hashing) for leaf in leaves[first:]]
    found = root_from_justification(
        page, path, index=index, count=count, page_bits=page_bits, hashing=hashing
    )
    assert found == root


def test_every_page_of_an_export_is_proven() -> None:
    leaves = leaves_of(150)
    root = constant_depth_root(leaves)
    for page_bits, pages in ((0, 150), (6, 3)):
        for index in range(pages):
            path = justification(leaves, index=index, page_bits=page_bits)
            page = leaf_page(leaves, index=index, page_bits=page_bits)
            bent = (flipped(page[0]), *page[1:])
            found, other = (
                root_from_justification(one, path, index=index, count=150, page_bits=page_bits)
                for one in (page, bent)
            )
            assert found == root
            assert other != root


def test_a_page_that_no_tree_has_is_refused() -> None:
    leaves = leaves_of(150)
    page = leaf_page(leaves, index=2, page_bits=6)
    path = justification(leaves, index=2, page_bits=6)
    with pytest.raises(InvalidProof, match="page 3 of 3 does not exist"):
        root_from_justification(page, path, index=3, count=150, page_bits=6)
    with pytest.raises(InvalidProof, match="page -1 of 3 does not exist"):
        root_from_justification(page, path, index=-1, count=150, page_bits=6)
    with pytest.raises(InvalidProof, match="page 0 of 0 does not exist"):
        root_from_justification((), (), index=0, count=0, page_bits=6)
    with pytest.raises(InvalidProof, match="23 leaves on page 2, which has 22"):
        root_from_justification((*page, ZERO_HASH), path, index=2, count=150, page_bits=6)
    with pytest.raises(InvalidProof, match="a leaf on page 2 is no hash"):
        root_from_justification((b"", *page[1:]), path, index=2, count=150, page_bits=6)
    with pytest.raises(InvalidProof, match="the path has 1 nodes, and 2 lead to"):
        root_from_justification(page, path[:1], index=2, count=150, page_bits=6)


def test_a_page_outside_the_tree_has_no_justification() -> None:
    with pytest.raises(AssertionError):
        justification(leaves_of(64), index=1, page_bits=6)
    assert leaf_page(leaves_of(64), index=1, page_bits=6) == ()
