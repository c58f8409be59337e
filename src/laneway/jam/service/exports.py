"""A rollup's block as the segments that its package exports: its length, its bytes, and zeros to
fill the last segment."""

from collections.abc import Sequence
from typing import Final

from laneway.jam.codec import U32, ByteReader, named_within
from laneway.jam.errors import InvalidBlock
from laneway.jam.spec import IMPORT_COUNT_MAX, SEGMENT_BYTES

LENGTH_BYTES: Final = 4


def exported(body: bytes) -> tuple[bytes, ...]:
    """The segments of a block."""
    raw = U32.encode(len(body)) + body
    return tuple(
        [
            raw[at : at + SEGMENT_BYTES].ljust(SEGMENT_BYTES, b"\0")
            for at in range(0, len(raw), SEGMENT_BYTES)
        ]
    )


def segments_count(first: bytes) -> int:
    """How many segments hold a block, by the first of them."""
    length = LENGTH_BYTES + int.from_bytes(first[:LENGTH_BYTES], "little")
    if length > IMPORT_COUNT_MAX * SEGMENT_BYTES:
        problem = f"the first segment is of a block of {length} bytes, which none has"
        raise InvalidBlock(problem=problem)
    return len(_lengths(length))


def body_of(segments: Sequence[bytes]) -> bytes:
    """The bytes of the block that these segments hold."""
    raw = b"".join(segments)
    reader = ByteReader(raw)
    with named_within("block"):
        body = reader.take(U32.read(reader))
    if any(raw[reader.at :]) or _lengths(reader.at) != tuple(map(len, segments)):
        raise InvalidBlock(problem="its segments hold more than the block")
    return body


def _lengths(size: int) -> tuple[int, ...]:
    """The lengths of the segments that N bytes take."""
    return (SEGMENT_BYTES,) * -(-size // SEGMENT_BYTES)
