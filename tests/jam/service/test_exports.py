"""A block in segments: read back to the byte, and nothing else beside it."""

import pytest

from laneway.jam.errors import InvalidBlock, MalformedEncoding
from laneway.jam.service.exports import LENGTH_BYTES, body_of, exported, segments_count
from laneway.jam.spec import IMPORT_COUNT_MAX, SEGMENT_BYTES


@pytest.mark.parametrize(
    ("size", "count"),
    [(0, 1), (1, 1), (SEGMENT_BYTES - 4, 1), (SEGMENT_BYTES - 3, 2), (3 * SEGMENT_BYTES, 4)],
)
def test_a_block_goes_into_segments_and_comes_back(size: int, count: int) -> None:
    body = b"x" * size
    segments = exported(body)
    assert [len(segment) for segment in segments] == [SEGMENT_BYTES] * count
    assert segments[0][:LENGTH_BYTES] == size.to_bytes(4, "little")
    assert segments_count(segments[0]) == count
    assert body_of(segments) == body


def test_segments_hold_the_block_alone() -> None:
    segments = exported(b"x" * SEGMENT_BYTES)
    (first, second) = segments
    for wrong in (segments[:1], (*segments, bytes(SEGMENT_BYTES)), (first, second[:-1]), ()):
        with pytest.raises((InvalidBlock, MalformedEncoding)):
            body_of(wrong)
    with pytest.raises(InvalidBlock, match="more than the block"):
        body_of((first, second[:-1] + b"\1"))


def test_a_block_that_no_package_can_export_is_refused_by_its_first_segment() -> None:
    most = IMPORT_COUNT_MAX * SEGMENT_BYTES - LENGTH_BYTES
    assert segments_count(most.to_bytes(4, "little")) == IMPORT_COUNT_MAX
    with pytest.raises(InvalidBlock, match="bytes, which none has"):
        segments_count((most + 1).to_bytes(4, "little"))
