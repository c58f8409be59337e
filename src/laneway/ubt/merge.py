"""A batch of changes is merged into a tree: each node that changes is made once.

The groups of a batch are sorted by stem and none stands twice, so each branch gets one run of
them. Recursion ends at the first group that is alone in its run; the rest of its way is a loop.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from laneway.ubt.nodes import BranchNode, StemNode, TreeNode, new_stem

Group: TypeAlias = tuple[bytes, Mapping[int, bytes | None]]
"""A stem, and the new values of its keys by subindex, of which None deletes."""


def merged(node: TreeNode | None, groups: Sequence[Group]) -> TreeNode | None:
    """The root after all of the changes; the one it was if nothing changes."""
    if not groups:
        return node
    return _merged(node, groups, 0, len(groups), 0)


def built(stems: Sequence[StemNode]) -> TreeNode | None:
    """A tree of groups that are sorted by stem."""
    return _built(stems, 0, len(stems), 0) if stems else None


def _merged(
    node: TreeNode | None, groups: Sequence[Group], begin: int, end: int, depth: int
) -> TreeNode | None:
    if end - begin == 1:
        stem, changes = groups[begin]
        return _merged_one(node, stem, changes, depth)
    if type(node) is not BranchNode:
        return _beside(node, groups[begin:end], depth)
    middle = _middle(groups, begin, end, depth)
    left, right = node.left, node.right
    if middle > begin:
        left = _merged(left, groups, begin, middle, depth + 1)
    if middle < end:
        right = _merged(right, groups, middle, end, depth + 1)
    if left is node.left and right is node.right:
        return node
    found = joined(left, right)
    if type(found) is BranchNode:
        if left is node.left:
            found.left_digest = node.left_digest
        if right is node.right:
            found.right_digest = node.right_digest
    return found


def _merged_one(
    node: TreeNode | None, stem: bytes, changes: Mapping[int, bytes | None], depth: int
) -> TreeNode | None:
    """The same for one group: down to its place, and up again with what is new."""
    above: list[BranchNode] = []
    while type(node) is BranchNode:
        above.append(node)
        node = node.right if stem[depth >> 3] & (128 >> (depth & 7)) else node.left
        depth += 1
    if node is None:
        found: TreeNode | None = new_stem(stem, changes)
        if found is None:
            return above[0] if above else None
    else:
        assert type(node) is StemNode
        found = (
            node.written(changes) if node.stem == stem else _beside(node, ((stem, changes),), depth)
        )
        if found is node:
            return above[0] if above else node
    for branch in reversed(above):
        depth -= 1
        if stem[depth >> 3] & (128 >> (depth & 7)):
            if branch.left is None or found is None:
                found = joined(branch.left, found)
            else:
                found = BranchNode(branch.left, found, branch.left_digest)
        elif branch.right is None or found is None:
            found = joined(found, branch.right)
        else:
            found = BranchNode(found, branch.right, b"", branch.right_digest)
    return found


def joined(left: TreeNode | None, right: TreeNode | None) -> TreeNode | None:
    """The one form of two sides: a stem that is alone stands as high as it can."""
    if left is None and type(right) is not BranchNode:
        return right
    if right is None and type(left) is not BranchNode:
        return left
    return BranchNode(left, right)


def _beside(node: TreeNode | None, groups: Sequence[Group], depth: int) -> TreeNode | None:
    """A tree of one group, or none, and of these."""
    stems: list[StemNode] = []
    for stem, changes in groups:
        if type(node) is StemNode and node.stem <= stem:
            held = node
            node = None
            if held.stem == stem:
                written = held.written(changes)
                if written is not None:
                    stems.append(written)
                continue
            stems.append(held)
        made = new_stem(stem, changes)
        if made is not None:
            stems.append(made)
    if type(node) is StemNode:
        stems.append(node)
    return _built(stems, 0, len(stems), depth) if stems else None


def _built(stems: Sequence[StemNode], begin: int, end: int, depth: int) -> TreeNode:
    if end - begin == 1:
        return stems[begin]
    byte, bit = depth >> 3, 128 >> (depth & 7)
    low, high = begin, end
    while low < high:
        middle = (low + high) >> 1
        if stems[middle].stem[byte] & bit:
            high = middle
        else:
            low = middle + 1
    if low == begin:
        return BranchNode(None, _built(stems, begin, end, depth + 1))
    if low == end:
        return BranchNode(_built(stems, begin, end, depth + 1), None)
    return BranchNode(_built(stems, begin, low, depth + 1), _built(stems, low, end, depth + 1))


def _middle(groups: Sequence[Group], begin: int, end: int, depth: int) -> int:
    """Where the stems with a one at this depth begin."""
    byte, bit = depth >> 3, 128 >> (depth & 7)
    while begin < end:
        middle = (begin + end) >> 1
        if groups[middle][0][byte] & bit:
            end = middle
        else:
            begin = middle + 1
    return begin
