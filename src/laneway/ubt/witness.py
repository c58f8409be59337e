"""The witness of a block: what it read under the root before it, what it wrote under the one after.

Both sections have the bytes of JAM DUNA's: root, entries of 161 bytes sorted by key, a multiproof,
and a proof for each stem that is not in the tree. What its proofs of missing stems cannot show,
the multiproof shows here: it holds the two neighbours of each, and since a proof may hold no key
without an entry, their keys have entries too, of the kind NEIGHBOUR.

`read_section` believes nothing but the root that the caller names: addresses and slots in the
entries are a description for people; who needs a value asks for its key.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct

from laneway.ubt.errors import UnprovenTree
from laneway.ubt.extension import (
    ExtensionProof,
    check_missing,
    decode_extension,
    encode_extension,
    prove_missing,
)
from laneway.ubt.keys import KeyKind, TouchedKey
from laneway.ubt.limits import PROOF_KEYS_MAX, SECTION_BYTES_MAX, STEM_BYTES
from laneway.ubt.multiproof import MultiProof, ProvenKeys, prove, verify
from laneway.ubt.multiproof_bytes import ProofBytes, decode_multiproof, encode_multiproof
from laneway.ubt.profile import JAM, ZERO, TreeProfile
from laneway.ubt.tree import UnifiedTree, find


class WitnessEntry(Struct, frozen=True):
    touched: TouchedKey
    pre: bytes
    """The value before the block; zeros if there is none."""
    post: bytes
    """The value after it; in the section of what was read the one before."""


class WitnessSection(Struct, frozen=True):
    root: bytes
    entries: tuple[WitnessEntry, ...]
    proof: MultiProof
    missing: tuple[ExtensionProof, ...]


class Witness(NamedTuple):
    pre: bytes
    post: bytes


def make_witness(
    before: UnifiedTree,
    after: UnifiedTree,
    reads: Iterable[TouchedKey],
    writes: Iterable[TouchedKey],
) -> Witness:
    """The two sections of a block that led from one tree to the other."""
    return Witness(
        encode_section(make_section(before, reads, before, before)),
        encode_section(make_section(after, writes, before, after)),
    )


def make_section(
    proven: UnifiedTree,
    touched: Iterable[TouchedKey],
    before: UnifiedTree,
    after: UnifiedTree,
) -> WitnessSection:
    """What a tree holds at some keys, with their values in two trees beside."""
    first: dict[bytes, TouchedKey] = {}
    for one in touched:
        held = first.get(one.key)
        if held is None or one.tx_index < held.tx_index:
            first[one.key] = one
    proof = prove(proven, first)
    for at, subindex in proof.keys:
        key = proof.stems[at] + bytes((subindex,))
        first.setdefault(key, TouchedKey(key, KeyKind.NEIGHBOUR, bytes(20)))
    keys = sorted(first)
    entries = [
        WitnessEntry(first[key], before.get(key) or ZERO, after.get(key) or ZERO) for key in keys
    ]
    stems = dict.fromkeys(key[:STEM_BYTES] for key in keys)
    missing = [
        found
        for stem in stems
        if find(proven.node, stem) is None
        if (found := prove_missing(proven, stem)) is not None
    ]
    return WitnessSection(proven.root(), tuple(entries), proof, tuple(missing))


def read_section(
    content: bytes, root: bytes, profile: TreeProfile = JAM, *, is_post: bool
) -> ProvenKeys:
    """What a section shows of the tree with this root: exactly what its entries say.

    UnprovenTree if anything of it is malformed, superfluous or not so; `is_post` says which value
    of an entry is the one that is proven.
    """
    section = decode_section(content)
    if section.root != root:
        raise UnprovenTree(problem="it is of another root")
    shown = verify(root, section.proof, profile)
    named = dict.fromkeys(proof.missing for proof in section.missing)
    if len(named) != len(section.missing):
        raise UnprovenTree(problem="a missing stem is proven twice")
    for proof in section.missing:
        check_missing(root, proof, profile)
    used: dict[bytes, None] = {}
    left = dict(shown.values)
    for entry in section.entries:
        key = entry.touched.key
        value = entry.post if is_post else entry.pre
        if (shown.get(key) or ZERO) != value or not (is_post or entry.pre == entry.post):
            raise UnprovenTree(problem=f"the value of {key.hex()} is another one")
        if key not in left:
            used[key[:STEM_BYTES]] = None
        left.pop(key, None)
    if left:
        raise UnprovenTree(problem="a key that is proven has no entry")
    if root != ZERO and used != named:
        raise UnprovenTree(problem="the stems that are proven missing are not those of the entries")
    return shown


# Bytes.


def encode_section(section: WitnessSection) -> bytes:
    proof = encode_multiproof(section.proof)
    return b"".join(
        [
            section.root,
            len(section.entries).to_bytes(4, "big"),
            *[encode_entry(entry) for entry in section.entries],
            len(proof).to_bytes(4, "big"),
            proof,
            len(section.missing).to_bytes(4, "big"),
            *[encode_extension(one) for one in section.missing],
        ]
    )


def encode_entry(entry: WitnessEntry) -> bytes:
    one = entry.touched
    described = bytes((one.kind,)) + one.address + one.chunk.to_bytes(8, "big") + one.slot
    return one.key + described + entry.pre + entry.post + one.tx_index.to_bytes(4, "big")


def decode_section(content: bytes) -> WitnessSection:
    """UnprovenTree unless these are the bytes of a section; what it says is not looked at."""
    if len(content) > SECTION_BYTES_MAX:
        raise UnprovenTree(problem=f"{len(content)} bytes are more than a work package holds")
    reader = ProofBytes(content)
    root = reader.take(32)
    entries: list[WitnessEntry] = []
    for _ in range(bounded(reader.number(4))):
        entry = decode_entry(reader)
        if entries and entry.touched.key <= entries[-1].touched.key:
            raise UnprovenTree(problem="its entries are not sorted")
        entries.append(entry)
    proof = decode_multiproof(reader.take(reader.number(4)))
    missing = tuple([decode_extension(reader) for _ in range(bounded(reader.number(4)))])
    reader.check_end()
    return WitnessSection(root, tuple(entries), proof, missing)


def decode_entry(reader: ProofBytes) -> WitnessEntry:
    key, kind, address = reader.take(32), reader.number(1), reader.take(20)
    if kind not in KINDS:
        raise UnprovenTree(problem=f"{kind} is no kind of key")
    chunk, slot, pre, post = reader.number(8), reader.take(32), reader.take(32), reader.take(32)
    touched = TouchedKey(key, KINDS[kind], address, chunk, slot, reader.number(4))
    return WitnessEntry(touched, pre, post)


KINDS: Mapping[int, KeyKind] = {kind.value: kind for kind in KeyKind}


def bounded(count: int) -> int:
    if count > PROOF_KEYS_MAX:
        raise UnprovenTree(problem=f"{count} are more keys than a proof has")
    return count
