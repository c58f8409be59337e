"""Laws of proofs of one key: they show what is there, and nothing else."""

import msgspec
import pytest
from tests.ubt.scene import KEYS, STEMS

from laneway.ubt.errors import UnprovenTree, UnprovenTreeKey
from laneway.ubt.profile import JAM, PROFILES, ZERO, TreeProfile
from laneway.ubt.single import SingleProof, folded, prove_one, siblings, verify_one
from laneway.ubt.tree import UnifiedTree

ALL = pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda one: one.name)
PAIRS = {key: bytes([at, 1] * 16) for at, key in enumerate(KEYS) if at % 3}


@ALL
def test_a_proof_shows_a_value_or_that_its_group_has_none(profile: TreeProfile) -> None:
    tree = UnifiedTree(profile).updated(PAIRS)
    for key in KEYS:
        proof = prove_one(tree, key)
        assert (len(proof.inner), len(proof.outer)) == (8, 248)
        assert verify_one(tree.root(), proof, profile) == PAIRS.get(key)


@ALL
def test_a_tree_of_one_group_has_no_siblings_above(profile: TreeProfile) -> None:
    tree = UnifiedTree(profile).updated({KEYS[0]: b"v" * 32})
    assert siblings(tree, KEYS[0][:31]) == [ZERO] * 248
    assert verify_one(tree.root(), prove_one(tree, KEYS[0]), profile) == b"v" * 32


@ALL
def test_every_changed_byte_is_noticed(profile: TreeProfile) -> None:
    tree = UnifiedTree(profile).updated(PAIRS)
    root, key = tree.root(), next(iter(PAIRS))
    proof = prove_one(tree, key)
    wrong = [
        msgspec.structs.replace(proof, value=None),
        msgspec.structs.replace(proof, value=ZERO),
        msgspec.structs.replace(proof, key=b"\x01" + key[1:]),
        msgspec.structs.replace(proof, key=key[:31] + bytes([key[31] ^ 3])),
    ]
    for name in ("inner", "outer"):
        listed = getattr(proof, name)
        for at, sibling in enumerate(listed):
            changed = (*listed[:at], bytes([sibling[0] ^ 1]) + sibling[1:], *listed[at + 1 :])
            wrong.append(msgspec.structs.replace(proof, **{name: changed}))
    for one in wrong:
        with pytest.raises(UnprovenTree, match="another root"):
            verify_one(root, one, profile)
    with pytest.raises(UnprovenTree, match="another root"):
        verify_one(ZERO, proof, profile)


def test_a_proof_of_another_form_is_refused() -> None:
    proof = prove_one(UnifiedTree().updated(PAIRS), KEYS[1])
    for wrong in (
        SingleProof(proof.key, proof.value, proof.inner[1:], proof.outer),
        SingleProof(proof.key, proof.value, proof.inner, (*proof.outer, ZERO)),
    ):
        with pytest.raises(UnprovenTree, match="8 and 248"):
            verify_one(ZERO, wrong, JAM)
    for wrong in (
        SingleProof(proof.key[:-1], proof.value, proof.inner, proof.outer),
        SingleProof(proof.key, b"short", proof.inner, proof.outer),
        SingleProof(proof.key, proof.value, (b"", *proof.inner[1:]), proof.outer),
        SingleProof(proof.key, proof.value, proof.inner, (*proof.outer[:-1], bytes(33))),
    ):
        with pytest.raises(UnprovenTree, match="another length"):
            verify_one(ZERO, wrong, JAM)


def test_a_stem_that_is_not_there_takes_another_proof() -> None:
    with pytest.raises(UnprovenTreeKey, match="0101"):
        prove_one(UnifiedTree().updated(PAIRS), b"\x01" * 32)


def test_levels_below_the_deepest_sibling_are_not_hashed() -> None:
    for profile in PROFILES.values():
        start = b"s" * 32
        assert folded(profile, STEMS[0], start, [ZERO] * 248) == start
        once = folded(profile, bytes(31), start, [ZERO] * 247 + [b"o" * 32])
        assert once == profile.hasher(profile.branch_tag + start + b"o" * 32).digest()
        above = folded(profile, bytes(31), start, [*[ZERO] * 246, b"o" * 32, ZERO])
        lifted = profile.hasher(profile.branch_tag + once + ZERO).digest()
        assert above == (once if profile.lifts_lone_child else lifted)
