"""Roots, keys and proofs of the unified binary tree: what stands in evm/ubt, whatever it is called.

A file is known by its shape: cases with entries and a root, rows with operations, rows with a
proof's path, or keys of one address by profile. EIP-8297 is another tree and is left out.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pytest
from tests.vectors.folder import folder, unhex

from laneway.ubt.keys import basic_data_key, chunk_key, code_hash_key, slot_key
from laneway.ubt.profile import (
    EIP7864_2025,
    EIP7864_2026,
    GETH,
    JAM,
    JAM_EIP,
    TreeProfile,
)
from laneway.ubt.single import SingleProof, prove_one, verify_one
from laneway.ubt.tree import UnifiedTree

pytestmark = pytest.mark.vectors

OF_HASH = {"blake3": (EIP7864_2025, EIP7864_2026), "sha256": (GETH,)}
"""EIP-7864's own profiles by their hash; those of one hash have the same roots."""
JAM_DUNA = {"jam": JAM, "eip": JAM_EIP}
KEYS = {
    "eip7864_2025_LE_blake3": EIP7864_2025,
    "eip7864_2026_03_BE_blake3": EIP7864_2026,
    "geth_V3_BE_sha256": GETH,
    "jamduna_jam_blake3_63B": JAM,
    "jamduna_eip_sha256_63B": JAM_EIP,
}


def found(*, other_tree: bool = False) -> Iterator[tuple[str, Any]]:
    place = folder("evm", "ubt")
    for path in sorted(place.rglob("*.json")):
        if ("pbt" in path.relative_to(place).parts) == other_tree:
            yield path.stem, msgspec.json.decode(path.read_bytes())


def marked(cases: list[Any]) -> list[Any]:
    return cases or [pytest.param(None, id="none", marks=pytest.mark.skip(reason="no vectors"))]


def entry_cases() -> list[Any]:
    return marked(
        [
            pytest.param((profile, case), id=f"{name}:{case['name']}:{profile.name}")
            for name, listed in found()
            if isinstance(listed, dict) and "cases" in listed
            for case in listed["cases"]
            for profile in OF_HASH[listed["hash"]]
        ]
    )


def rows(has: str) -> list[Any]:
    return marked(
        [
            pytest.param(row, id=f"{name}:{row['name']}")
            for name, listed in found()
            if isinstance(listed, list)
            for row in listed
            if has in row
        ]
    )


def key_cases() -> list[Any]:
    return marked(
        [
            pytest.param((unhex(listed["address"]), KEYS[profile], keys), id=profile)
            for _, listed in found()
            if isinstance(listed, dict) and "address" in listed
            for profile, keys in listed.items()
            if isinstance(keys, dict)
        ]
    )


@pytest.mark.parametrize("case", entry_cases())
def test_a_tree_has_the_root_of_the_vectors(case: tuple[TreeProfile, dict[str, Any]]) -> None:
    profile, listed = case
    entries = [(unhex(key), unhex(value)) for key, value in listed["entries"]]
    check_root(profile, entries, unhex(listed["root"]))


@pytest.mark.parametrize("row", rows("operations"))
def test_operations_lead_to_the_root_of_the_vectors(row: dict[str, Any]) -> None:
    profile = JAM_DUNA[row.get("profile", "eip")]
    operations = [
        (key_of(one), unhex(one["value"]) if one["type"] == "insert" else None)
        for one in row["operations"]
    ]
    tree = check_root(profile, operations, unhex(row["expected_root"]))
    for query in row.get("queries", ()):
        wanted = query["expected"]
        assert tree.get(key_of(query)) == (None if wanted is None else unhex(wanted))


def check_root(
    profile: TreeProfile, operations: Sequence[tuple[bytes, bytes | None]], root: bytes
) -> UnifiedTree:
    """One after the other, and all at once."""
    tree = UnifiedTree(profile)
    for key, value in operations:
        tree = tree.updated({key: value})
    assert tree.root() == root
    assert UnifiedTree(profile).updated(dict(operations)).root() == root
    return tree


def key_of(listed: dict[str, Any]) -> bytes:
    """A whole key, or the first bytes of a stem and a subindex."""
    if "key" in listed:
        return unhex(listed["key"])
    return unhex(listed["stem"]).ljust(31, b"\x00") + bytes([listed["subindex"]])


@pytest.mark.parametrize("row", rows("path"))
def test_a_proof_of_the_vectors_shows_its_value(row: dict[str, Any]) -> None:
    profile, key, root = JAM_DUNA[row["profile"]], key_of(row["key"]), unhex(row["expected_root"])
    group, *above = row["path"]
    assert unhex(group["stem"]) == key[:31]
    value = unhex(row["value"]) if row.get("value") else None
    inner = tuple(unhex(one) for one in group["subtree_siblings"])
    outer = tuple(unhex(one["sibling"]) for one in above)
    path = int.from_bytes(key[:31], "big")
    assert [one["direction"] == "right" for one in above] == [
        bool(path >> level & 1) for level in range(248)
    ]
    proof = SingleProof(key, value, inner, outer)
    assert verify_one(root, proof, profile) == value
    # A tree of this group alone has the same hashes in it.
    if value is not None and not any(any(one) for one in outer + inner):
        tree = UnifiedTree(profile).updated({key: value})
        assert prove_one(tree, key) == proof


@pytest.mark.parametrize("case", key_cases())
def test_keys_are_those_of_the_vectors(case: tuple[bytes, TreeProfile, dict[str, str]]) -> None:
    address, profile, keys = case
    for name, wanted in keys.items():
        assert derived(profile, address, name) == unhex(wanted), name


def derived(profile: TreeProfile, address: bytes, name: str) -> bytes:
    if name == "basic":
        return basic_data_key(profile, address)
    if name == "code_hash":
        return code_hash_key(profile, address)
    what, _, which = name.partition("_")
    if what == "chunk":
        return chunk_key(profile, address, int(which))
    assert what == "slot"
    return slot_key(profile, address, number(which))


def number(text: str) -> int:
    """A number, a power, or 32 bytes of which the middle ones are left out and zeros."""
    base, _, power = text.partition("^")
    if power:
        return int(pow(int(base), int(power)))
    first, _, last = text.partition("..")
    if last:
        return int(first.removeprefix("0x").ljust(64 - len(last), "0") + last, 16)
    return int(text, 0)
