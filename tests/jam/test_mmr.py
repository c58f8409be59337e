"""Laws of mountain ranges: what was ever in one is proven under it, and nothing else is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from laneway.jam.errors import InvalidProof
from laneway.jam.hashing import ZERO_HASH, blake2b, keccak
from laneway.jam.mmr import (
    EMPTY,
    Mmr,
    MmrProof,
    Mountains,
    append,
    root_from_proof,
    size,
    super_peak,
    verify,
)


def leaf(place: int) -> bytes:
    return keccak(b"leaf %d" % place)


def range_of(count: int) -> Mmr:
    found = EMPTY
    for place in range(count):
        found = append(found, leaf(place))
    return found


def flipped(raw: bytes) -> bytes:
    return raw[:-1] + bytes([raw[-1] ^ 0x80])


def test_peaks_join_like_the_digits_of_a_binary_number() -> None:
    a, b, c = leaf(0), leaf(1), leaf(2)
    assert range_of(1) == (a,)
    assert range_of(2) == (None, keccak(a + b))
    assert range_of(3) == (c, keccak(a + b))
    assert range_of(4) == (None, None, keccak(keccak(a + b) + keccak(c + leaf(3))))


def test_a_super_peak_hashes_the_peaks_from_the_lowest() -> None:
    assert super_peak(EMPTY) == ZERO_HASH
    assert super_peak((None, None)) == ZERO_HASH
    assert super_peak((None, leaf(1))) == leaf(1)
    low, middle, high = leaf(1), leaf(2), leaf(3)
    first = keccak(b"peak" + low + middle)
    assert super_peak((low, None, middle, high)) == keccak(b"peak" + first + high)
    assert super_peak((low, middle), blake2b) == blake2b(b"peak" + low + middle)


@settings(max_examples=30)
@given(st.integers(0, 130))
def test_the_mountains_are_the_range_at_every_size(count: int) -> None:
    mountains = Mountains(leaf(place) for place in range(count))
    assert len(mountains) == count
    assert mountains.leaves == tuple(leaf(place) for place in range(count))
    assert mountains.peaks() == range_of(count)
    assert size(mountains.peaks()) == count
    for earlier in range(0, count, 7):
        assert mountains.peaks(earlier) == range_of(earlier)


@settings(max_examples=40)
@given(st.integers(1, 130), st.data())
def test_every_leaf_is_proven_under_every_later_super_peak(count: int, data: st.DataObject) -> None:
    mountains = Mountains(leaf(place) for place in range(count))
    then = data.draw(st.integers(1, count))
    index = data.draw(st.integers(0, then - 1))
    proof = mountains.proof(index, then)
    assert proof.size == then
    assert proof.peaks == range_of(then)
    verify(leaf(index), proof, super_peak(range_of(then)))
    assert mountains.proof(index) == mountains.proof(index, count)


def test_another_hash_makes_another_range() -> None:
    mountains = Mountains((leaf(place) for place in range(11)), blake2b)
    proof = mountains.proof(6)
    verify(leaf(6), proof, super_peak(mountains.peaks(), blake2b), blake2b)
    with pytest.raises(InvalidProof):
        verify(leaf(6), proof, super_peak(mountains.peaks(), blake2b))


@settings(max_examples=30)
@given(st.integers(0, 100), st.integers(0, 100), st.integers(0, 30))
def test_cut_mountains_grow_as_if_nothing_had_been_there(count: int, kept: int, more: int) -> None:
    kept = min(kept, count)
    mountains = Mountains(leaf(place) for place in range(count))
    mountains.cut(kept)
    others = [leaf(1_000 + place) for place in range(more)]
    for one in others:
        mountains.append(one)
    fresh = Mountains([*(leaf(place) for place in range(kept)), *others])
    assert mountains.leaves == fresh.leaves
    assert mountains.peaks() == fresh.peaks()
    for index in range(len(fresh)):
        assert mountains.proof(index) == fresh.proof(index)


def test_mountains_tell_nothing_of_what_is_not_there() -> None:
    mountains = Mountains(leaf(place) for place in range(5))
    for wrong in (-1, 6):
        with pytest.raises(AssertionError):
            mountains.peaks(wrong)
        with pytest.raises(AssertionError):
            mountains.cut(wrong)
        with pytest.raises(AssertionError):
            mountains.proof(0, wrong)
    for wrong in (-1, 5):
        with pytest.raises(AssertionError):
            mountains.proof(wrong)


SOUND = Mountains(leaf(place) for place in range(0b1011)).proof(9)
ROOT = super_peak(range_of(0b1011))


def test_the_sound_proof_holds() -> None:
    assert SOUND.path == (leaf(8),)
    assert root_from_proof(leaf(9), SOUND) == ROOT


@pytest.mark.parametrize(
    ("proof", "problem"),
    [
        (replace(SOUND, index=-1), "after the end"),
        (replace(SOUND, index=11), "after the end"),
        (replace(SOUND, size=0, index=0, peaks=()), "after the end"),
        (replace(SOUND, size=10), "not the peaks"),
        (replace(SOUND, size=0b1111), "not the peaks"),
        (replace(SOUND, size=1 << 1_000_000), "not the peaks"),
        (replace(SOUND, peaks=(*SOUND.peaks, None)), "not the peaks"),
        (replace(SOUND, peaks=SOUND.peaks[:-1]), "not the peaks"),
        (replace(SOUND, peaks=(*SOUND.peaks[:2], leaf(0), SOUND.peaks[3])), "not the peaks"),
        (replace(SOUND, path=(b"short",)), "no hash"),
        (replace(SOUND, peaks=(b"short", *SOUND.peaks[1:])), "no hash"),
        (replace(SOUND, path=()), "0 nodes, and the peak stands at 1"),
        (replace(SOUND, path=(leaf(8), leaf(8))), "2 nodes, and the peak stands at 1"),
        (replace(SOUND, index=10), "the peak stands at 0"),
        (replace(SOUND, index=7), "the peak stands at 3"),
        (replace(SOUND, index=8), "does not lead to peak 1"),
        (replace(SOUND, path=(flipped(leaf(8)),)), "does not lead to peak 1"),
        (replace(SOUND, peaks=(flipped(leaf(10)), *SOUND.peaks[1:])), "another range"),
    ],
)
def test_a_proof_of_another_shape_is_refused(proof: MmrProof, problem: str) -> None:
    with pytest.raises(InvalidProof, match=problem):
        verify(leaf(9), proof, ROOT)


def test_a_leaf_that_is_no_hash_is_refused() -> None:
    with pytest.raises(InvalidProof, match="no hash"):
        root_from_proof(b"short", SOUND)


@settings(max_examples=30)
@given(st.integers(1, 64), st.data())
def test_a_changed_bit_anywhere_is_refused(count: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, count - 1))
    proof = Mountains(leaf(place) for place in range(count)).proof(index)
    root = super_peak(range_of(count))
    bent: list[tuple[bytes, MmrProof]] = [(flipped(leaf(index)), proof)]
    for place, node in enumerate(proof.path):
        path = (*proof.path[:place], flipped(node), *proof.path[place + 1 :])
        bent.append((leaf(index), replace(proof, path=path)))
    for place, peak in enumerate(proof.peaks):
        other = ZERO_HASH if peak is None else flipped(peak)
        peaks = (*proof.peaks[:place], other, *proof.peaks[place + 1 :])
        bent.append((leaf(index), replace(proof, peaks=peaks)))
    bent += [(leaf(index), replace(proof, index=wrong)) for wrong in range(count) if wrong != index]
    bent += [(leaf(index), replace(proof, size=count + by)) for by in (-1, 1)]
    for given_leaf, wrong_proof in bent:
        with pytest.raises(InvalidProof):
            verify(given_leaf, wrong_proof, root)
