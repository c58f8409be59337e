"""Laws of a batch: the tree has one form, however its keys came and went."""

import random
from collections.abc import Mapping

import pytest
from tests.ubt.scene import STEMS

from laneway.ubt.merge import Group, built, merged
from laneway.ubt.nodes import BranchNode, StemNode, TreeNode, new_stem

Shape = object
VALUE = b"v" * 32


def shape(node: TreeNode | None) -> Shape:
    """A tree as nested tuples."""
    if type(node) is BranchNode:
        return shape(node.left), shape(node.right)
    return (node.stem, node.indices, node.values) if type(node) is StemNode else None


def stem_node(stem: bytes, values: Mapping[int, bytes | None]) -> StemNode:
    found = new_stem(stem, values)
    assert found is not None
    return found


def minimal(groups: Mapping[bytes, Mapping[int, bytes | None]], depth: int = 0) -> Shape:
    """The form of EIP-7864: a group stands where it is first alone."""
    if len(groups) < 2:
        listed = [shape(stem_node(stem, values)) for stem, values in groups.items()]
        return listed[0] if listed else None
    sides: tuple[dict[bytes, Mapping[int, bytes | None]], ...] = ({}, {})
    for stem, values in groups.items():
        sides[int.from_bytes(stem, "big") >> (247 - depth) & 1][stem] = values
    return minimal(sides[0], depth + 1), minimal(sides[1], depth + 1)


@pytest.mark.parametrize("seed", range(40))
def test_batches_lead_to_the_one_form_of_what_is_left(seed: int) -> None:
    chance = random.Random(seed)
    held: dict[bytes, dict[int, bytes | None]] = {}
    node: TreeNode | None = None
    for _ in range(12):
        batch: list[Group] = []
        for stem in sorted(chance.sample(STEMS, chance.choice([1, 1, 2, 3, 9]))):
            changes = {
                subindex: chance.choice([None, None, chance.randbytes(32)])
                for subindex in chance.sample(range(4), chance.randint(1, 3))
            }
            batch.append((stem, changes))
            merged_values = {**held.pop(stem, {}), **changes}
            if left := {at: one for at, one in sorted(merged_values.items()) if one is not None}:
                held[stem] = dict(left)
        node = merged(node, batch)
        assert shape(node) == minimal(held)
    deletions: list[Group] = [(stem, dict.fromkeys(held[stem])) for stem in sorted(held)]
    assert merged(node, deletions) is None


def test_what_changes_nothing_leaves_the_very_node() -> None:
    groups: list[Group] = [(stem, {1: VALUE}) for stem in sorted(STEMS)]
    node = merged(None, groups)
    assert merged(node, []) is node
    assert merged(node, groups) is node
    absent = [b"\x01" + bytes(30), bytes(29) + b"\x01\x00", b"\x80" + bytes(30)]
    deletions: list[Group] = [(stem, {1: None}) for stem in sorted(absent)]
    assert merged(node, deletions) is node
    assert all(merged(node, [deletion]) is node for deletion in deletions)
    assert merged(None, deletions[:1]) is None
    lone = merged(None, groups[:1])
    assert merged(lone, groups[:1]) is lone
    assert merged(lone, deletions) is lone


def test_a_branch_with_one_side_keeps_the_very_node_where_its_other_side_would_be() -> None:
    pair = merged(None, [(bytes(31), {1: VALUE}), (bytes(30) + b"\x01", {1: VALUE})])
    assert merged(pair, [(b"\x80" + bytes(30), {1: None})]) is pair


def test_what_a_batch_does_not_touch_is_shared() -> None:
    node = merged(None, [(stem, {1: VALUE}) for stem in sorted(STEMS)])
    changed = merged(node, [(b"\xff" * 31, {1: bytes(32)})])
    assert type(node) is BranchNode
    assert type(changed) is BranchNode
    assert changed.left is node.left
    assert changed.right is not node.right


@pytest.mark.parametrize("count", range(len(STEMS) + 1))
def test_a_tree_of_sorted_groups_has_the_same_form(count: int) -> None:
    stems = sorted(STEMS[:count])
    found = built([stem_node(stem, {1: VALUE}) for stem in stems])
    assert shape(found) == minimal({stem: {1: VALUE} for stem in stems})
