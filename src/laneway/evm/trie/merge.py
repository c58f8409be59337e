"""A batch of changes is merged into a trie: each node that changes is made, and hashed, once.

The entries of a batch are sorted by path and no path stands twice, so each subtrie gets one run
of them. A function here looks at the entries from `begin` to `end`, of which the first `depth`
nibbles lead to its node. Recursion is as deep as a key has nibbles, which `path_of` bounds.
"""

from bisect import insort
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from laneway.evm.trie.nodes import (
    DIGITS,
    EMPTY,
    INDEX,
    WIDTH,
    HexaryBranch,
    HexaryExtension,
    HexaryLeaf,
    HexaryNode,
    branch,
    leaf,
    under,
)

Entry: TypeAlias = tuple[bytes, bytes, HexaryNode]
"""A path, its new value (no bytes delete it), and what is below the value."""

Entries: TypeAlias = Sequence[Entry]


def merged(node: HexaryNode, entries: Entries) -> HexaryNode:
    """The root of the trie after all of the changes; the one it had if nothing changes."""
    if not entries:
        return node
    return _merged(node, entries, 0, len(entries), 0)


def _merged(node: HexaryNode, entries: Entries, begin: int, end: int, depth: int) -> HexaryNode:
    if isinstance(node, HexaryBranch):
        children = list(node.children)
        value = _fill(children, node.value, entries, begin, end, depth)
        if value == node.value and tuple(children) == node.children:
            return node
        return _collapsed(children, value)
    if isinstance(node, HexaryLeaf):
        return _beside_leaf(node, entries, begin, end, depth)
    if isinstance(node, HexaryExtension):
        return _into_extension(node, entries, begin, end, depth)
    kept = [entry for entry in entries[begin:end] if entry[1]]
    return _built(kept, 0, len(kept), depth)


def _beside_leaf(
    node: HexaryLeaf, entries: Entries, begin: int, end: int, depth: int
) -> HexaryNode:
    path, value, below = entries[begin]
    own = path[:depth] + node.path
    if path == own and end - begin == 1:
        if value == node.value and below is node.below:
            return node
        return leaf(node.path, value, below) if value else EMPTY
    run = entries[begin:end]
    kept = [entry for entry in run if entry[1]]
    if all(entry[0] != own for entry in run):
        if not kept:
            return node
        insort(kept, (own, node.value, node.below))
    return _built(kept, 0, len(kept), depth)


def _into_extension(
    node: HexaryExtension, entries: Entries, begin: int, end: int, depth: int
) -> HexaryNode:
    # Sorted, so what the first and the last share with the path all of them share.
    ends = (entries[begin][0], entries[end - 1][0])
    common = min(_common(node.path, path, depth) for path in ends)
    if common == len(node.path):
        child = _merged(node.child, entries, begin, end, depth + common)
        return node if child is node.child else under(node.path, child)
    children = [EMPTY] * WIDTH
    children[INDEX[node.path[common]]] = under(node.path[common + 1 :], node.child)
    value = _fill(children, b"", entries, begin, end, depth + common)
    return under(node.path[:common], _collapsed(children, value))


def _built(kept: Entries, begin: int, end: int, depth: int) -> HexaryNode:
    """A trie of these entries alone; none of them deletes."""
    if end - begin < 2:
        if begin == end:
            return EMPTY
        path, value, below = kept[begin]
        return leaf(path[depth:], value, below)
    first = kept[begin][0]
    fork = depth + _common(kept[end - 1][0], first, depth, depth)
    value = b""
    inner = begin
    if len(first) == fork:
        value = _ended(kept[begin])
        inner += 1
    children = [EMPTY] * WIDTH
    for index, start, stop in _runs(kept, inner, end, fork):
        children[index] = _built(kept, start, stop, fork + 1)
    return under(first[depth:fork], branch(tuple(children), value))


def _fill(
    children: list[HexaryNode], value: bytes, entries: Entries, begin: int, end: int, depth: int
) -> bytes:
    """Merge the entries into the children; returns the value of the key that ends here."""
    if len(entries[begin][0]) == depth:
        value = _ended(entries[begin])
        begin += 1
    for index, start, stop in _runs(entries, begin, end, depth):
        children[index] = _merged(children[index], entries, start, stop, depth + 1)
    return value


def _ended(entry: Entry) -> bytes:
    """The value of a key that ends in a branch."""
    _, value, below = entry
    assert below is EMPTY, "values with something below them have keys of one length"
    return value


def _collapsed(children: list[HexaryNode], value: bytes) -> HexaryNode:
    """The one form of these children and this value: a branch only if it has two of them."""
    count = WIDTH - children.count(EMPTY)
    if count > 1 or (count and value):
        return branch(tuple(children), value)
    if count == 0:
        return leaf(b"", value) if value else EMPTY
    (index,) = [index for index, child in enumerate(children) if child is not EMPTY]
    return under(DIGITS[index], children[index])


def _runs(entries: Entries, begin: int, end: int, depth: int) -> Iterator[tuple[int, int, int]]:
    """For each child that gets entries: its index, where they begin and where they end."""
    while begin < end:
        digit = entries[begin][0][depth]
        stop = begin + 1
        while stop < end and entries[stop][0][depth] == digit:
            stop += 1
        yield INDEX[digit], begin, stop
        begin = stop


def _common(path: bytes, other: bytes, depth: int, begin: int = 0) -> int:
    """How many nibbles are the same in a path from `begin` on and the other from `depth` on."""
    bound = min(len(path) - begin, len(other) - depth)
    for count in range(bound):
        if path[begin + count] != other[depth + count]:
            return count
    return bound
