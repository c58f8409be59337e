"""The sizes of the two chains, and what follows from them."""

import pytest

from laneway.jam.spec import FULL, SEGMENT_BYTES, TINY, ChainSpec


@pytest.mark.parametrize(
    ("spec", "supermajority", "bitfield_bytes", "piece_bytes"),
    [(TINY, 5, 1, 4), (FULL, 683, 43, 684)],
)
def test_sizes_follow_from_the_counts(
    spec: ChainSpec, supermajority: int, bitfield_bytes: int, piece_bytes: int
) -> None:
    assert spec.supermajority == supermajority
    assert spec.bitfield_bytes == bitfield_bytes
    assert spec.piece_bytes == piece_bytes


@pytest.mark.parametrize("spec", [TINY, FULL])
def test_a_segment_is_cut_into_whole_pieces(spec: ChainSpec) -> None:
    assert SEGMENT_BYTES % spec.piece_bytes == 0


@pytest.mark.parametrize("spec", [TINY, FULL])
def test_more_than_two_thirds_is_a_supermajority(spec: ChainSpec) -> None:
    assert 3 * spec.supermajority > 2 * spec.validator_count >= 3 * (spec.supermajority - 1)
