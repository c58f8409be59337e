"""Binary Merkle trees (Gray Paper 0.7.2, appendix E.1): well balanced, and of constant depth.

A tree is never kept: roots and paths are made from the leaves, and a path is checked against a
leaf, its index and the count of leaves. A well-balanced root does not commit to that count, so
it has to come from somewhere that is trusted, and never from the one who brings the path.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from laneway.jam.errors import InvalidProof
from laneway.jam.hashing import HASH_BYTES, ZERO_HASH, Hashing, blake2b

LEAF: Final = b"leaf"
NODE: Final = b"node"


def node(values: Sequence[bytes], hashing: Hashing = blake2b) -> bytes:
    """N: the root over values as they are; the left half is the larger one of an odd count."""
    return _node(values, 0, len(values), hashing) if values else ZERO_HASH


def well_balanced_root(leaves: Sequence[bytes], hashing: Hashing = blake2b) -> bytes:
    """M_B: for leaves that are not much longer than a hash, since they stand in their paths."""
    return hashing(leaves[0]) if len(leaves) == 1 else node(leaves, hashing)


def co_path(values: Sequence[bytes], index: int, hashing: Hashing = blake2b) -> tuple[bytes, ...]:
    """T: from the root down, what stands beside the way to the value at this index."""
    assert 0 <= index < len(values)
    return tuple(
        _node(values, begin, end, hashing) for _, begin, end in _beside(index, len(values))
    )


def co_paths(values: Sequence[bytes], hashing: Hashing = blake2b) -> tuple[tuple[bytes, ...], ...]:
    """T for every value; each node is hashed once, which a path for each alone would not do."""
    nodes: dict[tuple[int, int], bytes] = {}

    def remembered(begin: int, end: int) -> bytes:
        if end - begin == 1:
            found = values[begin]
        else:
            middle = _middle(begin, end)
            found = hashing(NODE + remembered(begin, middle) + remembered(middle, end))
        nodes[begin, end] = found
        return found

    count = len(values)
    if count:
        remembered(0, count)
    return tuple(
        tuple(nodes[begin, end] for _, begin, end in _beside(index, count))
        for index in range(count)
    )


def root_from_co_path(
    value: bytes, path: Sequence[bytes], *, index: int, count: int, hashing: Hashing = blake2b
) -> bytes:
    """The root N under which this path leads to the value; InvalidProof for a path that no tree
    of `count` values of this length has."""
    if not 0 <= index < count:
        raise InvalidProof(problem=f"leaf {index} of {count} does not exist")
    beside = tuple(_beside(index, count))
    if len(path) != len(beside):
        problem = f"the path has {len(path)} nodes, and {len(beside)} lead to leaf {index}"
        raise InvalidProof(problem=f"{problem} of {count}")
    found = value
    for (is_left, begin, end), sibling in zip(reversed(beside), reversed(path), strict=True):
        # Of a leaf and its sibling only the joined bytes are hashed: with another length, one
        # could give bytes to the other.
        size = len(value) if end - begin == 1 else HASH_BYTES
        if len(sibling) != size:
            raise InvalidProof(problem=f"a node of {len(sibling)} bytes where {size} belong")
        found = hashing(NODE + sibling + found if is_left else NODE + found + sibling)
    return found


def well_balanced_root_from_co_path(
    leaf: bytes, path: Sequence[bytes], *, index: int, count: int, hashing: Hashing = blake2b
) -> bytes:
    """The root M_B under which this path leads to the leaf."""
    found = root_from_co_path(leaf, path, index=index, count=count, hashing=hashing)
    return hashing(leaf) if count == 1 else found


def leaf_hash(leaf: bytes, hashing: Hashing = blake2b) -> bytes:
    """What a tree of constant depth holds in the place of a leaf."""
    return hashing(LEAF + leaf)


def padded_leaf_hashes(leaves: Sequence[bytes], hashing: Hashing = blake2b) -> tuple[bytes, ...]:
    """C: hashed leaves, filled up with zeros to a power of two."""
    hashes = tuple(leaf_hash(leaf, hashing) for leaf in leaves)
    return _padded(hashes, 1 << _depth(len(leaves)))


def constant_depth_root(leaves: Sequence[bytes], hashing: Hashing = blake2b) -> bytes:
    """M: for leaves of any length."""
    return _full_root(padded_leaf_hashes(leaves, hashing), hashing)


def justification(
    leaves: Sequence[bytes], *, index: int, page_bits: int, hashing: Hashing = blake2b
) -> tuple[bytes, ...]:
    """J_x: the co-path in a tree of constant depth down to the page at this index, of 2^x leaves.
    Pages of one leaf (x is 0) are the leaves themselves."""
    above = max(0, _depth(len(leaves)) - page_bits)
    first = index << page_bits
    assert 0 <= first < len(leaves)
    return co_path(padded_leaf_hashes(leaves, hashing), first, hashing)[:above]


def leaf_page(
    leaves: Sequence[bytes], *, index: int, page_bits: int, hashing: Hashing = blake2b
) -> tuple[bytes, ...]:
    """L_x: the hashes of the leaves of a page, of which the last one may be short."""
    first = index << page_bits
    return tuple(leaf_hash(leaf, hashing) for leaf in leaves[first : first + (1 << page_bits)])


def root_from_justification(
    page: Sequence[bytes],
    path: Sequence[bytes],
    *,
    index: int,
    count: int,
    page_bits: int,
    hashing: Hashing = blake2b,
) -> bytes:
    """The root M of a tree of `count` leaves in which this path leads to this page of their
    hashes; InvalidProof when no such tree has it."""
    pages = -(-count >> page_bits)
    if not 0 <= index < pages:
        raise InvalidProof(problem=f"page {index} of {pages} does not exist")
    size = min(1 << page_bits, count - (index << page_bits))
    if len(page) != size:
        raise InvalidProof(problem=f"{len(page)} leaves on page {index}, which has {size}")
    if any(len(hashed) != HASH_BYTES for hashed in page):
        raise InvalidProof(problem=f"a leaf on page {index} is no hash")
    depth = _depth(count)
    top = _full_root(_padded(page, 1 << min(page_bits, depth)), hashing)
    subtrees = 1 << max(0, depth - page_bits)
    return root_from_co_path(top, path, index=index, count=subtrees, hashing=hashing)


def _node(values: Sequence[bytes], begin: int, end: int, hashing: Hashing) -> bytes:
    if end - begin == 1:
        return values[begin]
    middle = _middle(begin, end)
    left, right = _node(values, begin, middle, hashing), _node(values, middle, end, hashing)
    return hashing(NODE + left + right)


def _beside(index: int, count: int) -> Iterator[tuple[bool, int, int]]:
    """From the root down: what the way leaves aside, whether it is to the left, and its range."""
    begin, end = 0, count
    while end - begin > 1:
        middle = _middle(begin, end)
        if index < middle:
            yield False, middle, end
            end = middle
        else:
            yield True, begin, middle
            begin = middle


def _middle(begin: int, end: int) -> int:
    return begin + (end - begin + 1) // 2


def _depth(count: int) -> int:
    """The exponent of the least power of two that is not below the count."""
    return (max(1, count) - 1).bit_length()


def _padded(hashes: Sequence[bytes], size: int) -> tuple[bytes, ...]:
    return (*hashes, *[ZERO_HASH] * (size - len(hashes)))


def _full_root(level: Sequence[bytes], hashing: Hashing) -> bytes:
    """N of a power of two, where the halves of every level are equal."""
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=True)
        level = [hashing(NODE + left + right) for left, right in pairs]
    return level[0]
