"""Laws of the tree: a dictionary with the root of the definition, of which every version stays."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ubt.naive import naive_root
from tests.ubt.scene import KEYS, STEMS, counting

from laneway.ubt.errors import MalformedStem, MalformedTreeKey, MalformedTreeValue
from laneway.ubt.limits import STEM_BITS
from laneway.ubt.profile import EIP7864_2026, GETH, JAM, PROFILES, ZERO, TreeProfile
from laneway.ubt.tree import StoredStem, UnifiedTree, find

Batch = dict[bytes, bytes | None]
BATCHES = st.lists(
    st.dictionaries(
        st.sampled_from(KEYS),
        st.none() | st.sampled_from([ZERO, b"a" * 32, b"b" * 32]),
        max_size=20,
    ),
    max_size=6,
)
VALUES = {key: bytes([at, 1] * 16) for at, key in enumerate(KEYS)}


def after(profile: TreeProfile, pairs: dict[bytes, bytes], batch: Batch) -> dict[bytes, bytes]:
    """What a dictionary holds after a batch."""
    gone = (None, ZERO) if profile.is_zero_absent else (None,)
    return {key: value for key, value in (pairs | batch).items() if value not in gone}  # type: ignore[misc]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(list(PROFILES.values())), BATCHES, st.randoms(use_true_random=False))
def test_a_tree_is_a_dictionary_with_a_root_and_every_version_stays(
    profile: TreeProfile, batches: list[Batch], chance: random.Random
) -> None:
    tree, pairs = UnifiedTree(profile), dict[bytes, bytes]()
    versions = [(tree, pairs)]
    for batch in batches:
        tree, pairs = tree.updated(batch), after(profile, pairs, batch)
        versions.append((tree, pairs))
        if chance.random() < 0.5:
            tree.root()
    for version, held in versions:
        assert list(version.items()) == sorted(held.items())
        assert [version.get(key) for key in KEYS] == [held.get(key) for key in KEYS]
        assert version.root() == naive_root(profile, held)


@settings(max_examples=20, deadline=None)
@given(st.permutations(list(VALUES)[:24]), st.sampled_from(list(PROFILES.values())))
def test_the_root_does_not_depend_on_the_order_or_on_batches(
    keys: list[bytes], profile: TreeProfile
) -> None:
    at_once = UnifiedTree(profile).updated({key: VALUES[key] for key in sorted(keys)})
    tree = UnifiedTree(profile)
    for key in keys:
        tree = tree.updated({key: b"other".ljust(32, b"."), STEMS[0] + b"\x09": b"gone" * 8})
        tree = tree.updated({key: VALUES[key], STEMS[0] + b"\x09": None})
    assert tree.root() == at_once.root()


def test_zeros_delete_where_the_profile_holds_them_for_nothing() -> None:
    jam = UnifiedTree().updated(VALUES)
    assert jam.updated(dict.fromkeys(VALUES, ZERO)).root() == ZERO
    geth = UnifiedTree(GETH).updated({KEYS[0]: ZERO})
    assert geth.get(KEYS[0]) == ZERO
    assert geth.root() != ZERO


def test_an_update_hashes_only_the_ways_to_what_changed() -> None:
    profile, asked = counting(JAM)
    chance = random.Random(1)
    keys = [chance.randbytes(32) for _ in range(2_000)]
    tree = UnifiedTree(profile).updated(dict.fromkeys(keys, b"v" * 32))
    tree.root()
    asked.clear()
    changed = tree.updated({keys[0]: b"w" * 32})
    assert asked == []
    changed.root()
    assert 10 < len(asked) < 10 + 30
    asked.clear()
    assert (changed.root(), tree.root()) == (changed.root(), tree.root())
    assert changed.updated({keys[1]: b"v" * 32}) is changed
    assert asked == []


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda one: one.name)
def test_a_tree_is_opened_from_its_groups_without_hashing_them(profile: TreeProfile) -> None:
    tree = UnifiedTree(profile).updated(VALUES)
    stored = list(tree.stored())
    counted, asked = counting(profile)
    opened = UnifiedTree.opened(stored, counted)
    assert opened.root() == tree.root()
    assert len(asked) <= len(STEMS) * STEM_BITS
    assert not any(content.startswith(profile.leaf_tag + b"\x01\x01") for content in asked)
    assert list(opened.items()) == list(tree.items())
    bare = [StoredStem(*one[:3]) for one in stored]
    assert UnifiedTree.opened(bare, profile).root() == tree.root()
    assert UnifiedTree.opened([], profile).root() == ZERO


ONE, TWO = (StoredStem(bytes(30) + bytes([byte]), b"\x05", b"v" * 32) for byte in (0, 1))


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        ([TWO, ONE], "not the next one"),
        ([ONE, ONE], "not the next one"),
        ([ONE._replace(stem=bytes(30))], "not the next one"),
        ([ONE._replace(indices=b"", values=b"")], "parts of some"),
        ([ONE._replace(values=b"v" * 33)], "parts of some"),
        ([ONE._replace(indices=b"\x05\x04", values=b"v" * 64)], "not sorted"),
        ([ONE._replace(indices=b"\x05\x05", values=b"v" * 64)], "not sorted"),
    ],
)
def test_a_stored_tree_of_another_form_is_refused(stored: list[StoredStem], said: str) -> None:
    assert len(list(UnifiedTree.opened([ONE, TWO]).items())) == 2
    with pytest.raises(MalformedStem, match=said):
        UnifiedTree.opened(stored)


def test_groups_are_found_by_their_whole_stem() -> None:
    tree = UnifiedTree(EIP7864_2026).updated({STEMS[6] + b"\x05": b"v" * 32})
    found = find(tree.node, STEMS[6])
    assert found is not None
    assert found.get(5) == b"v" * 32
    assert find(tree.node, STEMS[7]) is None
    assert find(None, STEMS[7]) is None


def test_keys_and_values_have_32_bytes() -> None:
    tree = UnifiedTree()
    with pytest.raises(MalformedTreeKey, match="31 bytes"):
        tree.get(bytes(31))
    with pytest.raises(MalformedTreeKey, match="33 bytes"):
        tree.updated({bytes(33): ZERO})
    with pytest.raises(MalformedTreeValue, match="5 bytes"):
        tree.updated({KEYS[0]: b"short"})
