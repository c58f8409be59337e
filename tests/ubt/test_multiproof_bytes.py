"""Laws of a proof's bytes: one form each way, and the layout of the original."""

import random

import pytest
from tests.ubt.scene import KEYS

from laneway.ubt.errors import UnprovenTree
from laneway.ubt.multiproof import MultiProof, prove
from laneway.ubt.multiproof_bytes import ProofBytes, decode_multiproof, encode_multiproof
from laneway.ubt.tree import UnifiedTree

SMALL = MultiProof(
    ((0, 5), (1, 6)), (None, b"v" * 32), (b"n" * 32,), (0, 0, 0), (b"s" * 31, b"t" * 31)
)
LAYOUT = (
    "02000000" "02000000" "01000000" "03000000" "02000000"
    "0000000005" "0100000006"
    "00" "01" + "76" * 32 + "6e" * 32 + "00000000" * 3 + "73" * 31 + "74" * 31
)  # fmt: skip


def test_the_layout_is_the_originals() -> None:
    assert encode_multiproof(SMALL).hex() == LAYOUT
    assert decode_multiproof(bytes.fromhex(LAYOUT)) == SMALL
    assert encode_multiproof(MultiProof((), (), (), (), ())) == bytes(20)


def test_a_proof_is_read_as_it_was_written() -> None:
    tree = UnifiedTree().updated(dict.fromkeys(KEYS[::2], b"v" * 32))
    proof = prove(tree, KEYS[:40])
    assert decode_multiproof(encode_multiproof(proof)) == proof


def test_bytes_too_few_or_too_many_are_refused() -> None:
    content = encode_multiproof(SMALL)
    for size in range(len(content)):
        with pytest.raises(UnprovenTree, match="bytes"):
            decode_multiproof(content[:size])
    with pytest.raises(UnprovenTree, match=f"go on after {len(content)}"):
        decode_multiproof(content + b"\x00")


def test_a_count_that_cannot_be_is_refused_before_anything_is_made_of_it() -> None:
    for at in range(0, 20, 4):
        content = bytearray(encode_multiproof(SMALL))
        content[at : at + 4] = b"\xff" * 4
        with pytest.raises(UnprovenTree, match="values" if at < 8 else "bytes end"):
            decode_multiproof(bytes(content))


def test_a_value_is_there_or_not() -> None:
    content = bytes.fromhex(LAYOUT.replace("0001" + "76" * 32, "0002" + "76" * 32))
    with pytest.raises(UnprovenTree, match="begins with 2"):
        decode_multiproof(content)


@pytest.mark.parametrize("seed", range(5))
def test_bytes_have_one_meaning(seed: int) -> None:
    chance = random.Random(seed)
    content = encode_multiproof(SMALL)
    for _ in range(200):
        changed = bytearray(content)
        changed[chance.randrange(len(changed))] = chance.choice([0, 1, 2, 255])
        try:
            proof = decode_multiproof(bytes(changed))
        except UnprovenTree:
            continue
        assert encode_multiproof(proof) == changed


def test_parts_are_read_in_order() -> None:
    reader = ProofBytes(b"\x01\x02\x03\x04\x05")
    assert (reader.number(2), reader.takes(2, 1)) == (0x0102, [b"\x03", b"\x04"])
    with pytest.raises(UnprovenTree, match="end at 5"):
        reader.take(2)
    assert reader.take(1) == b"\x05"
    reader.check_end()
