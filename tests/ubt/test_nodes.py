"""Laws of nodes: groups are values, and a hash is made once."""

import pytest
from tests.ubt.naive import naive_root
from tests.ubt.scene import STEMS, counting

from laneway.ubt.nodes import BranchNode, StemNode, hashing, new_stem, subtree
from laneway.ubt.profile import JAM, PROFILES, ZERO, TreeProfile

STEM = STEMS[0]
ONE, TWO, THREE = (bytes([byte]) * 32 for byte in (1, 2, 3))


def group(*subindices: int) -> StemNode:
    found = new_stem(STEM, {subindex: bytes([subindex, 1] * 16) for subindex in subindices})
    assert found is not None
    return found


def pairs(node: StemNode) -> dict[bytes, bytes]:
    return {node.stem + bytes([subindex]): value for subindex, value in node.items()}


def test_a_group_holds_its_values_in_their_order() -> None:
    node = new_stem(STEM, {200: TWO, 3: ONE, 201: None})
    assert node is not None
    assert list(node.items()) == [(3, ONE), (200, TWO)]
    assert (node.get(3), node.get(200), node.get(201)) == (ONE, TWO, None)


def test_changes_give_another_group_and_leave_the_first() -> None:
    node = group(3, 200)
    changed = node.written({3: TWO, 100: THREE, 200: None, 201: None})
    assert changed is not None
    assert dict(changed.items()) == {3: TWO, 100: THREE}
    assert dict(node.items()) == dict(group(3, 200).items())


def test_what_changes_nothing_gives_the_same_group() -> None:
    node = group(3, 200)
    assert node.written({3: node.get(3), 9: None}) is node
    assert node.written({}) is node
    lone = group(3)
    assert lone.written({3: lone.get(3)}) is lone


def test_the_one_value_of_a_group_is_replaced() -> None:
    changed = group(3).written({3: TWO})
    assert changed is not None
    assert (list(changed.items()), changed.stem) == ([(3, TWO)], STEM)
    other = group(3).written({4: TWO})
    assert other is not None
    assert other.get(4) == TWO
    assert other.get(3) == group(3).get(3)


def test_a_group_without_values_is_none() -> None:
    assert group(3).written({3: None}) is None
    assert new_stem(STEM, {3: None}) is None


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda one: one.name)
@pytest.mark.parametrize("count", [1, 2, 4, 5, 256])
def test_a_group_has_the_hash_of_the_definition(profile: TreeProfile, count: int) -> None:
    node = group(*range(256 - count, 256))
    assert hashing(profile)(node) == naive_root(profile, pairs(node))


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda one: one.name)
def test_a_large_group_is_hashed_again_only_where_it_changed(profile: TreeProfile) -> None:
    counted, asked = counting(profile)
    node = group(*range(0, 200, 2))
    hashing(counted)(node)
    asked.clear()
    once = node.written({4: ONE})
    twice = once.written({6: None}) if once is not None else None
    assert once is not None
    assert twice is not None
    assert hashing(counted)(twice) == naive_root(profile, pairs(twice))
    # One value, the eight levels above it, which are also those above its neighbour, the stem.
    assert len(asked) <= 1 + 8 + 1
    assert hashing(counted)(once) == naive_root(profile, pairs(once))
    assert subtree(profile, twice) is twice.kept
    assert hashing(counted)(node) == naive_root(profile, pairs(node))


def test_a_large_group_forgets_a_half_that_became_empty() -> None:
    node = group(*range(120, 130))
    hashing(JAM)(node)
    changed = node.written(dict.fromkeys(range(128, 130)))
    assert changed is not None
    assert hashing(JAM)(changed) == naive_root(JAM, pairs(changed))
    assert subtree(JAM, changed)[3] == ZERO


def test_a_group_that_became_small_keeps_nothing() -> None:
    node = group(*range(5))
    hashing(JAM)(node)
    assert node.kept is not None
    changed = node.written({0: None})
    assert changed is not None
    hashing(JAM)(changed)
    assert changed.kept is None


def test_a_group_that_was_never_hashed_is_hashed_whole() -> None:
    changed = group(*range(6)).written({0: ONE})
    assert changed is not None
    assert hashing(JAM)(changed) == naive_root(JAM, pairs(changed))


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda one: one.name)
def test_a_branch_hashes_only_what_has_no_hash_yet(profile: TreeProfile) -> None:
    counted, asked = counting(profile)
    one, other = (new_stem(stem, {0: ONE}) for stem in (bytes(31), bytes(30) + b"\x01"))
    assert one is not None
    assert other is not None
    hashing(counted)(one)
    asked.clear()
    hashed = hashing(counted)(BranchNode(one, other))
    assert asked == [*asked[:-1], profile.branch_tag + one.digest + other.digest]
    assert hashed == profile.hasher(asked[-1]).digest()
    assert len(asked) == 11


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda one: one.name)
def test_a_branch_with_one_child_is_hashed_as_the_profile_says(profile: TreeProfile) -> None:
    pair = BranchNode(group(1), group(2))
    found = hashing(profile)(pair)
    left = hashing(profile)(BranchNode(pair, None))
    right = hashing(profile)(BranchNode(None, pair))
    if profile.lifts_lone_child:
        assert left == right == found
    else:
        assert left == profile.hasher(profile.branch_tag + found + ZERO).digest()
        assert right == profile.hasher(profile.branch_tag + ZERO + found).digest()
