"""Laws of multiproofs: each asked key is shown, and no proof shows what is not so."""

import random
from collections.abc import Iterable, Iterator

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ubt.scene import KEYS, STEMS, SUBINDICES

from laneway.ubt.errors import MalformedTreeKey, UnprovenTree, UnprovenTreeKey
from laneway.ubt.limits import PROOF_KEYS_MAX
from laneway.ubt.multiproof import MultiProof, ProvenKeys, beside, prove, verify
from laneway.ubt.profile import EIP7864_2026, GETH, JAM, JAM_EIP, PROFILES, ZERO, TreeProfile
from laneway.ubt.tree import UnifiedTree

ALL = pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda one: one.name)
STRANGERS = tuple(bytes([byte]) * 31 for byte in (0x00, 0x01, 0x7F, 0x80, 0xFE))
ANY_KEYS = KEYS + tuple(stem + bytes([sub]) for stem in STRANGERS for sub in SUBINDICES)
Pairs = dict[bytes, bytes]


def tree_of(profile: TreeProfile, keys: Iterable[bytes]) -> UnifiedTree:
    return UnifiedTree(profile).updated({key: key[:31] + b"v" for key in keys})


def check_truth(shown: ProvenKeys, tree: UnifiedTree) -> int:
    """All that a proof shows is so. How much that is, of keys that could be asked."""
    count = 0
    for key in ANY_KEYS:
        try:
            assert shown.get(key) == tree.get(key)
        except UnprovenTreeKey:
            continue
        count += 1
    return count


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(list(PROFILES.values())),
    st.sets(st.sampled_from(KEYS), max_size=30).map(sorted),
    st.sets(st.sampled_from(ANY_KEYS), max_size=12).map(sorted),
)
def test_what_is_asked_is_shown_present_or_absent(
    profile: TreeProfile, held: list[bytes], asked: list[bytes]
) -> None:
    tree = tree_of(profile, held)
    proof = prove(tree, asked)
    shown = verify(tree.root(), proof, profile)
    assert [shown.get(key) for key in asked] == [tree.get(key) for key in asked]
    assert check_truth(shown, tree) >= len(asked)
    assert prove(tree, reversed(asked)) == proof


@ALL
def test_the_empty_tree_shows_that_there_is_nothing(profile: TreeProfile) -> None:
    proof = prove(UnifiedTree(profile), KEYS)
    assert proof == MultiProof((), (), (), (), ())
    assert check_truth(verify(ZERO, proof, profile), UnifiedTree(profile)) == len(ANY_KEYS)
    with pytest.raises(UnprovenTree, match="shows nothing"):
        verify(b"r" * 32, proof, profile)


def test_a_proof_of_no_key_shows_the_root() -> None:
    tree = tree_of(JAM, KEYS)
    proof = prove(tree, ())
    assert len(proof.keys) == 1
    assert verify(tree.root(), proof, JAM).root == tree.root()


def test_a_key_of_a_group_that_is_shown_in_part_is_not_shown() -> None:
    tree = tree_of(JAM, KEYS)
    shown = verify(tree.root(), prove(tree, KEYS[:1]), JAM)
    for key in (KEYS[1], KEYS[8], b"\x01" * 32, b"\x01" * 31):
        with pytest.raises(UnprovenTreeKey, match=key.hex()):
            shown.get(key)


def test_neighbours_are_the_groups_before_and_after() -> None:
    stems = sorted(STEMS)
    tree = tree_of(JAM, KEYS)
    for sought in (*STRANGERS, *(stem[:-1] + bytes([stem[-1] ^ 1]) for stem in stems)):
        found = [node.stem for node in beside(tree.node, sought)]
        before = [stem for stem in stems if stem < sought][-1:]
        after = [stem for stem in stems if stem >= sought][:1]
        assert found == before + after


def forged(proof: MultiProof, chance: random.Random) -> MultiProof:
    """The proof with one thing changed."""
    fields = {name: list(getattr(proof, name)) for name in proof.__struct_fields__}
    name = chance.choice(list(fields))
    listed = fields[name]
    if listed:
        at, to = (chance.randrange(len(listed)) for _ in range(2))
        match chance.randrange(4):
            case 0:
                del listed[at]
            case 1:
                listed.insert(to, listed[at])
            case 2:
                listed.insert(to, listed.pop(at))
            case _:
                listed[at] = changed(name, listed[at], chance)
    return MultiProof(*(tuple(fields[name]) for name in fields))


def changed(name: str, one: object, chance: random.Random) -> object:
    match name:
        case "keys":
            return chance.choice([-1, 0, 1, 99]), chance.choice([-1, 0, 1, 255, 256])
        case "refs":
            return chance.choice([-1, 0, 1, 2, 10**6])
        case "values":
            return chance.choice([None, ZERO, b"f" * 32, b"f"])
        case _:
            assert isinstance(one, bytes)
            return chance.choice([one[:-1], one + b"f", bytes(len(one)), one[:-1] + b"\xf1"])


@ALL
@pytest.mark.parametrize("seed", range(3))
def test_a_forged_proof_is_refused_or_shows_the_truth(profile: TreeProfile, seed: int) -> None:
    chance = random.Random(seed)
    tree = tree_of(profile, chance.sample(KEYS, 30))
    refused = 0
    for _ in range(60):
        asked = chance.sample(ANY_KEYS, 4)
        proof = forged(prove(tree, asked), chance)
        if chance.random() < 0.3:
            proof = forged(proof, chance)
        try:
            shown = verify(tree.root(), proof, profile)
        except UnprovenTree:
            refused += 1
        else:
            check_truth(shown, tree)
    assert refused > 30


def shifted(proof: MultiProof) -> Iterator[MultiProof]:
    """The proof with each sibling at another level: so it hashes to the same where levels with
    one child are not hashed."""
    for at, ref in enumerate(proof.refs):
        for to in range(max(0, at - 40), min(len(proof.refs), at + 40)):
            refs = list(proof.refs)
            refs.insert(to, refs.pop(at))
            if proof.nodes[ref] != ZERO and refs != list(proof.refs):
                places: dict[bytes, int] = {}
                listed = [places.setdefault(proof.nodes[one], len(places)) for one in refs]
                yield msgspec.structs.replace(proof, nodes=tuple(places), refs=tuple(listed))


@ALL
def test_a_sibling_at_another_level_hides_nothing(profile: TreeProfile) -> None:
    tree = tree_of(profile, [stem + b"\x01" for stem in STEMS])
    accepted = 0
    for stem in (STEMS[0], STEMS[9]):
        for proof in shifted(prove(tree, [stem + b"\x01"])):
            try:
                shown = verify(tree.root(), proof, profile)
            except UnprovenTree:
                continue
            accepted += 1
            for other in STEMS:
                if other != stem:
                    with pytest.raises(UnprovenTreeKey):
                        shown.get(other + b"\x01")
    assert (accepted > 0) == profile.lifts_lone_child


@pytest.mark.parametrize("profile", [JAM_EIP, EIP7864_2026, GETH], ids=lambda one: one.name)
def test_without_tags_a_group_that_shows_no_value_is_refused(profile: TreeProfile) -> None:
    tree = tree_of(profile, KEYS)
    proof = prove(tree, [STEMS[0] + b"\x03"])
    assert len(proof.keys) == 2
    tagged = prove(tree_of(JAM, KEYS), [STEMS[0] + b"\x03"])
    assert tagged.values == (None,)
    pair = bytes(31) + b"\x00" + tree.root()
    fake_root = profile.hasher(pair).digest()
    # Two hashes that read as a stem and its values: the left one ends in a zero.
    fake = MultiProof(((0, 0),), (None,), (), (), (bytes(31),))
    with pytest.raises(UnprovenTree, match="shows no value"):
        verify(fake_root, fake, profile)


def test_keys_have_32_bytes() -> None:
    with pytest.raises(MalformedTreeKey, match="31 bytes"):
        prove(UnifiedTree(), [bytes(31)])


GOOD = prove(tree_of(JAM, KEYS), [KEYS[0], KEYS[1], KEYS[60]])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"values": GOOD.values[1:]}, "3 keys and 2 values"),
        ({"keys": ((0, 0),) * (PROOF_KEYS_MAX + 1)}, "65537 keys"),
        ({"stems": (GOOD.stems[0][:-1], GOOD.stems[1])}, "another length than 31"),
        ({"stems": GOOD.stems[::-1]}, "stems are not sorted"),
        ({"stems": (GOOD.stems[0],) * 2}, "stems are not sorted"),
        ({"nodes": (b"", *GOOD.nodes[1:])}, "another length than 32"),
        ({"values": (b"", *GOOD.values[1:])}, "another length than 32"),
        ({"keys": GOOD.keys[::-1]}, "keys are not sorted"),
        ({"keys": (GOOD.keys[0],) * 3}, "keys are not sorted"),
        ({"keys": ((1, 0), (1, 1), (1, 2))}, "keys are not sorted"),
        ({"keys": ((0, -1), (0, 1), (1, 2))}, "keys are not sorted"),
        ({"keys": ((0, 0), (0, 1), (0, 2))}, "a stem has no key"),
        ({"keys": ((0, 0), (1, 1), (2, 2))}, "a stem has no key"),
        ({"refs": (1, *GOOD.refs[1:])}, "order of their use"),
        ({"refs": (-1, *GOOD.refs[1:])}, "order of their use"),
        ({"nodes": (*GOOD.nodes, b"n" * 32)}, "for nothing"),
        ({"nodes": (*GOOD.nodes[:-1], GOOD.nodes[0])}, "twice"),
        ({"refs": (*GOOD.refs, 0)}, "more siblings"),
        ({"values": (b"f" * 32, *GOOD.values[1:])}, "another root"),
    ],
)
def test_what_is_wrong_is_said(wrong: dict[str, object], said: str) -> None:
    tree = tree_of(JAM, KEYS)
    assert verify(tree.root(), GOOD, JAM).get(KEYS[60]) == tree.get(KEYS[60])
    with pytest.raises(UnprovenTree, match=said):
        verify(tree.root(), msgspec.structs.replace(GOOD, **wrong), JAM)


def test_a_proof_that_ends_too_early_is_refused() -> None:
    root = tree_of(JAM, KEYS).root()
    for size in range(len(GOOD.refs)):
        refs = GOOD.refs[:size]
        nodes = GOOD.nodes[: max(refs, default=-1) + 1]
        with pytest.raises(UnprovenTree, match="fewer siblings"):
            verify(root, msgspec.structs.replace(GOOD, refs=refs, nodes=nodes), JAM)
