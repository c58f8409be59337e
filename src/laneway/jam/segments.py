"""Exported segments under one root, and pages of proofs that are kept beside them.

Truth is Gray Paper 0.7.2, §14.4: the exports root is the constant-depth root over the segments, and
page p holds E(J_6(segments, p), L_6(segments, p)), filled up with zeros to a segment: the path to
the p-th 64 segments and the hashes of these. A holder of a segment and its page can check it, and
can prove it to others. No public vector shows a page.

The count of the segments is not under the root. It stands in the work report, and is never taken
from the one who brings a segment.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from laneway.jam.codec import HASH, ByteReader, Codec, Many, Record, named_within
from laneway.jam.errors import InvalidProof, Unencodable
from laneway.jam.hashing import ZERO_HASH
from laneway.jam.limits import IMPORT_PROOF_HASHES_MAX
from laneway.jam.spec import SEGMENT_BYTES
from laneway.jam.trees import (
    co_path,
    co_paths,
    constant_depth_root,
    leaf_hash,
    node,
    padded_leaf_hashes,
    root_from_justification,
)

PAGE_BITS: Final = 6
PAGE_SEGMENTS: Final = 1 << PAGE_BITS
"""Segments that one page proves."""


class ProofPage(msgspec.Struct, frozen=True):
    path: tuple[bytes, ...]
    """J_6: from the root down to the page's own root, what stands beside the way."""
    leaves: tuple[bytes, ...]
    """L_6: the hashes of the page's segments."""


_PROOF_PAGE: Final[Codec[ProofPage]] = Record(
    ProofPage, path=Many(HASH, IMPORT_PROOF_HASHES_MAX), leaves=Many(HASH, PAGE_SEGMENTS)
)


def exports_root(segments: Sequence[bytes]) -> bytes:
    """M; of none it is the zero hash."""
    return constant_depth_root(_whole(segments))


def page_count(segment_count: int) -> int:
    return -(-segment_count // PAGE_SEGMENTS)


def proof_pages(segments: Sequence[bytes]) -> tuple[bytes, ...]:
    """All pages, each as long as a segment."""
    hashes = padded_leaf_hashes(_whole(segments))
    pages = page_count(len(segments))
    # The roots of all full pages are the leaves of the tree above them: so each is hashed once.
    tops = [node(hashes[at : at + PAGE_SEGMENTS]) for at in range(0, len(hashes), PAGE_SEGMENTS)]
    paths = co_paths(tops)[:pages]
    return tuple(
        encode_page(ProofPage(path, hashes[at : min(at + PAGE_SEGMENTS, len(segments))]))
        for path, at in zip(paths, range(0, len(segments), PAGE_SEGMENTS), strict=True)
    )


def encode_page(page: ProofPage) -> bytes:
    return _PROOF_PAGE.encode(page).ljust(SEGMENT_BYTES, b"\0")


def decode_page(raw: bytes) -> ProofPage:
    """The page that is exactly these bytes; MalformedEncoding if none is."""
    reader = ByteReader(raw)
    with named_within("proof page"):
        page = _PROOF_PAGE.read(reader)
        if len(raw) != SEGMENT_BYTES or any(raw[reader.at :]):
            raise reader.trouble(f"the rest of {SEGMENT_BYTES} bytes is not zeros")
    return page


def check_segment(segment: bytes, page: bytes, *, root: bytes, index: int, count: int) -> None:
    """InvalidProof unless this is the segment at this index of the `count` under the root;
    MalformedEncoding if the page is none."""
    proved = _proved_page(page, index, count, root)
    if leaf_hash(segment) != proved.leaves[index % PAGE_SEGMENTS]:
        raise InvalidProof(problem=f"segment {index} is not what its page says")


def import_proof(page: bytes, *, root: bytes, index: int, count: int) -> tuple[bytes, ...]:
    """J_0: the path to one segment, from a page that holds under the root."""
    proved = _proved_page(page, index, count, root)
    full = min(PAGE_SEGMENTS, 1 << (count - 1).bit_length())
    leaves = (*proved.leaves, *[ZERO_HASH] * (full - len(proved.leaves)))
    return proved.path + co_path(leaves, index % PAGE_SEGMENTS)


def check_import(
    segment: bytes, proof: Sequence[bytes], *, root: bytes, index: int, count: int
) -> None:
    """InvalidProof unless the path leads from the root to this segment."""
    leaves = (leaf_hash(segment),)
    found = root_from_justification(leaves, proof, index=index, count=count, page_bits=0)
    if found != root:
        raise InvalidProof(problem=f"segment {index} is not under the exports root")


def _proved_page(raw: bytes, index: int, count: int, root: bytes) -> ProofPage:
    """The page of this segment, which holds a hash of it."""
    if not 0 <= index < count:
        raise InvalidProof(problem=f"segment {index} of {count} does not exist")
    page, number = decode_page(raw), index // PAGE_SEGMENTS
    found = root_from_justification(
        page.leaves, page.path, index=number, count=count, page_bits=PAGE_BITS
    )
    if found != root:
        raise InvalidProof(problem=f"page {number} is not under the exports root")
    return page


def _whole(segments: Sequence[bytes]) -> Sequence[bytes]:
    for index, segment in enumerate(segments):
        if len(segment) != SEGMENT_BYTES:
            problem = f"segment {index} has {len(segment)} bytes and not {SEGMENT_BYTES}"
            raise Unencodable(problem=problem)
    return segments
