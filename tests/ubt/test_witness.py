"""Laws of witnesses: a section shows exactly its entries, whoever made it."""

import random

import msgspec
import pytest
from tests.ubt.scene import KEYS, STEMS, SUBINDICES

from laneway.ubt import witness as witness_module
from laneway.ubt.errors import UnprovenTree, UnprovenTreeKey
from laneway.ubt.keys import KeyKind, TouchedKey
from laneway.ubt.limits import PROOF_KEYS_MAX
from laneway.ubt.multiproof import MultiProof
from laneway.ubt.profile import GETH, JAM, PROFILES, ZERO, TreeProfile
from laneway.ubt.tree import UnifiedTree
from laneway.ubt.witness import (
    WitnessEntry,
    WitnessSection,
    decode_section,
    encode_entry,
    encode_section,
    make_section,
    make_witness,
    read_section,
)

ALL = pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda one: one.name)
STRANGERS = tuple(bytes([byte]) * 31 for byte in (0x01, 0x7F, 0x80, 0xFE))
ANY_KEYS = KEYS + tuple(stem + bytes([sub]) for stem in STRANGERS for sub in SUBINDICES)
HELD = {key: bytes([at + 1]) * 32 for at, key in enumerate(KEYS) if at % 2}


def touched(*keys: bytes) -> list[TouchedKey]:
    return [TouchedKey(key, KeyKind.STORAGE, b"a" * 20, slot=key) for key in keys]


def section_of(tree: UnifiedTree, *keys: bytes) -> WitnessSection:
    return make_section(tree, touched(*keys), tree, tree)


@ALL
def test_a_witness_shows_what_was_read_and_what_was_written(profile: TreeProfile) -> None:
    chance = random.Random(9)
    before = UnifiedTree(profile).updated(HELD)
    for _ in range(12):
        reads, writes = chance.sample(ANY_KEYS, 9), chance.sample(ANY_KEYS, 5)
        after = before.updated({key: chance.choice([None, b"w" * 32]) for key in writes})
        pre, post = make_witness(before, after, touched(*reads), touched(*writes))
        shown = read_section(pre, before.root(), profile, is_post=False)
        assert [shown.get(key) for key in reads] == [before.get(key) for key in reads]
        shown = read_section(post, after.root(), profile, is_post=True)
        assert [shown.get(key) for key in writes] == [after.get(key) for key in writes]
        listed = {entry.touched.key: entry for entry in decode_section(post).entries}
        assert [listed[key].pre for key in writes] == [before.get(key) or ZERO for key in writes]


@ALL
def test_the_empty_tree_has_a_witness_too(profile: TreeProfile) -> None:
    empty = UnifiedTree(profile)
    pre, post = make_witness(empty, empty, touched(*KEYS[:3]), ())
    assert read_section(pre, ZERO, profile, is_post=False).get(KEYS[0]) is None
    assert len(post) == 32 + 4 + 4 + 20 + 4
    assert decode_section(pre).missing == ()
    full = empty.updated(HELD)
    pre, post = make_witness(empty, full, touched(*KEYS[:3]), touched(*KEYS[:3]))
    assert read_section(post, full.root(), profile, is_post=True).get(KEYS[1]) == HELD[KEYS[1]]


def test_the_first_transaction_that_touched_a_key_is_named() -> None:
    tree = UnifiedTree().updated(HELD)
    keys = [msgspec.structs.replace(touched(KEYS[1])[0], tx_index=at) for at in (5, 2, 9)]
    (entry,) = make_section(tree, keys, tree, tree).entries
    assert entry.touched.tx_index == 2


def test_an_entry_has_the_layout_of_the_original() -> None:
    key = TouchedKey(b"k" * 32, KeyKind.CODE_CHUNK, b"a" * 20, 0x0102, b"s" * 32, 0x0304)
    entry = encode_entry(WitnessEntry(key, b"p" * 32, b"q" * 32))
    assert len(entry) == 161
    described = b"\x02" + b"a" * 20 + bytes(6) + b"\x01\x02" + b"s" * 32
    assert entry == b"k" * 32 + described + b"p" * 32 + b"q" * 32 + b"\x00\x00\x03\x04"


def test_a_section_has_the_layout_of_the_original() -> None:
    tree = UnifiedTree().updated(HELD)
    section = section_of(tree, KEYS[1], b"\x80" * 32)
    content = encode_section(section)
    assert content[:32] == tree.root()
    count = int.from_bytes(content[32:36], "big")
    assert count == len(section.entries)
    kinds = [content[36 + 161 * at + 32] for at in range(count)]
    assert kinds.count(KeyKind.NEIGHBOUR) == 2
    rest = content[36 + 161 * count :]
    size = int.from_bytes(rest[:4], "big")
    assert int.from_bytes(rest[4:8], "little") == len(section.proof.keys)
    assert rest[4 + size : 8 + size] == b"\x00\x00\x00\x01"
    assert rest[8 + size : 39 + size] == b"\x80" * 31
    assert decode_section(content) == section


@ALL
def test_a_changed_byte_shows_nothing_that_is_not_so(profile: TreeProfile) -> None:
    tree = UnifiedTree(profile).updated(HELD)
    content = encode_section(section_of(tree, KEYS[1], KEYS[8], b"\x80" * 32))
    chance = random.Random(2)
    refused = 0
    for _ in range(300):
        changed = bytearray(content)
        for _ in range(chance.choice([1, 1, 3])):
            changed[chance.randrange(len(changed))] = chance.choice([0, 1, 0x80, 0xFF])
        if chance.random() < 0.2:
            at = chance.randrange(len(changed))
            changed[at : at + chance.randrange(40)] = chance.randbytes(chance.randrange(40))
        refused += not is_true(bytes(changed), tree)
    assert refused > 150


def is_true(content: bytes, tree: UnifiedTree) -> bool:
    """Whether it is believed; then all that it shows is so."""
    try:
        shown = read_section(content, tree.root(), tree.profile, is_post=False)
    except UnprovenTree:
        return False
    for key in ANY_KEYS:
        try:
            assert shown.get(key) == tree.get(key)
        except UnprovenTreeKey:
            continue
    return True


@ALL
def test_a_value_that_is_there_is_not_shown_as_missing(profile: TreeProfile) -> None:
    """The original's own proof of a missing stem leads to the root with any stem of the tree."""
    tree = UnifiedTree(profile).updated(HELD)
    honest = section_of(tree, b"\x80" * 32)
    (proof,) = honest.missing
    lies = [
        msgspec.structs.replace(honest, missing=(msgspec.structs.replace(proof, missing=stem),))
        for stem in STEMS
    ]
    for stem, lie in zip(STEMS, lies, strict=True):
        entry = WitnessEntry(touched(stem + b"\x01")[0], ZERO, ZERO)
        entries = sorted((*honest.entries, entry), key=lambda one: one.touched.key)
        content = encode_section(msgspec.structs.replace(lie, entries=tuple(entries)))
        with pytest.raises(UnprovenTree):
            read_section(content, tree.root(), profile, is_post=False)


TREE = UnifiedTree(JAM).updated(HELD)
GOOD = section_of(TREE, KEYS[1], b"\x80" * 32, b"\x80" * 31 + b"\x81")
FIRST = GOOD.entries[0]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"root": b"r" * 32}, "of another root"),
        ({"entries": GOOD.entries[::-1]}, "not sorted"),
        ({"entries": (FIRST, *GOOD.entries)}, "not sorted"),
        ({"entries": GOOD.entries[1:]}, "has no entry"),
        ({"missing": ()}, "not those of the entries"),
        ({"missing": GOOD.missing * 2}, "proven twice"),
        (
            {"entries": tuple(one for one in GOOD.entries if one.touched.key[0] != 0x80)},
            "not those of the entries",
        ),
        (
            {"entries": (msgspec.structs.replace(FIRST, pre=b"x" * 32), *GOOD.entries[1:])},
            "is another one",
        ),
        (
            {"entries": (msgspec.structs.replace(FIRST, post=b"x" * 32), *GOOD.entries[1:])},
            "is another one",
        ),
        (
            {
                "entries": (
                    msgspec.structs.replace(FIRST, pre=b"x" * 32, post=b"x" * 32),
                    *GOOD.entries[1:],
                )
            },
            "is another one",
        ),
        ({"proof": MultiProof((), (), (), (), ())}, "shows nothing"),
    ],
)
def test_what_is_wrong_is_said(wrong: dict[str, object], said: str) -> None:
    read_section(encode_section(GOOD), TREE.root(), JAM, is_post=False)
    content = encode_section(msgspec.structs.replace(GOOD, **wrong))
    with pytest.raises(UnprovenTree, match=said):
        read_section(content, TREE.root(), JAM, is_post=False)


def test_an_entry_that_nothing_proves_is_refused() -> None:
    entry = WitnessEntry(touched(KEYS[2])[0], ZERO, ZERO)
    entries = sorted((*GOOD.entries, entry), key=lambda one: one.touched.key)
    content = encode_section(msgspec.structs.replace(GOOD, entries=tuple(entries)))
    with pytest.raises(UnprovenTreeKey, match=KEYS[2].hex()):
        read_section(content, TREE.root(), JAM, is_post=False)


def test_a_kind_that_nobody_knows_is_refused() -> None:
    content = bytearray(encode_section(GOOD))
    content[36 + 32] = 5
    with pytest.raises(UnprovenTree, match="5 is no kind"):
        decode_section(bytes(content))


def test_sizes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnprovenTree, match="more keys than a proof has"):
        decode_section(ZERO + (PROOF_KEYS_MAX + 1).to_bytes(4, "big"))
    monkeypatch.setattr(witness_module, "SECTION_BYTES_MAX", 100)
    with pytest.raises(UnprovenTree, match="more than a work package holds"):
        decode_section(bytes(101))


def test_a_section_of_another_profile_is_not_believed() -> None:
    tree = UnifiedTree(GETH).updated(HELD)
    content = encode_section(section_of(tree, KEYS[1]))
    with pytest.raises(UnprovenTree, match="another root"):
        read_section(content, tree.root(), JAM, is_post=False)
