"""Laws of exported segments: a page proves its own segments under the root, and no others."""

from functools import cache

import pytest

from laneway.jam.codec import HASH, Many
from laneway.jam.errors import InvalidProof, MalformedEncoding, Unencodable
from laneway.jam.hashing import ZERO_HASH
from laneway.jam.segments import (
    ProofPage,
    check_import,
    check_segment,
    decode_page,
    encode_page,
    exports_root,
    import_proof,
    page_count,
    proof_pages,
)
from laneway.jam.spec import SEGMENT_BYTES
from laneway.jam.trees import constant_depth_root, justification, leaf_page

COUNTS = [1, 2, 3, 63, 64, 65, 130, 200]


@cache
def segments_of(count: int) -> tuple[bytes, ...]:
    return tuple(place.to_bytes(4, "little") * (SEGMENT_BYTES // 4) for place in range(count))


def flipped(raw: bytes, place: int) -> bytes:
    return raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :]


@pytest.mark.parametrize("count", COUNTS)
def test_a_page_is_the_path_and_the_hashes_of_its_segments(count: int) -> None:
    segments = segments_of(count)
    assert exports_root(segments) == constant_depth_root(segments)
    pages = proof_pages(segments)
    assert len(pages) == page_count(count) == (count + 63) // 64
    hashes = Many(HASH)
    for index, page in enumerate(pages):
        path = justification(segments, index=index, page_bits=6)
        leaves = leaf_page(segments, index=index, page_bits=6)
        written = hashes.encode(path) + hashes.encode(leaves)
        assert page == written + bytes(SEGMENT_BYTES - len(written))
        assert decode_page(page) == ProofPage(path, leaves)
        assert encode_page(decode_page(page)) == page


def test_of_no_segments_there_is_no_page() -> None:
    assert exports_root(()) == ZERO_HASH
    assert proof_pages(()) == ()
    assert page_count(0) == 0


@pytest.mark.parametrize("count", COUNTS)
def test_each_segment_is_proved_by_its_page_and_by_a_path_from_it(count: int) -> None:
    segments = segments_of(count)
    root, pages = exports_root(segments), proof_pages(segments)
    for index in (0, count // 2, count - 1):
        page = pages[index // 64]
        check_segment(segments[index], page, root=root, index=index, count=count)
        proof = import_proof(page, root=root, index=index, count=count)
        assert proof == justification(segments, index=index, page_bits=0)
        check_import(segments[index], proof, root=root, index=index, count=count)


def test_another_segment_is_refused() -> None:
    segments = segments_of(130)
    root, pages = exports_root(segments), proof_pages(segments)
    proof = import_proof(pages[1], root=root, index=100, count=130)
    others = [flipped(segments[100], place) for place in (0, 2_000, SEGMENT_BYTES - 1)]
    for other in (*others, segments[101], segments[100] + b"\0", segments[100][:-1], b""):
        with pytest.raises(InvalidProof, match="not what its page says"):
            check_segment(other, pages[1], root=root, index=100, count=130)
        with pytest.raises(InvalidProof, match="not under the exports root"):
            check_import(other, proof, root=root, index=100, count=130)


@pytest.mark.parametrize(("index", "count"), [(130, 130), (-1, 130), (0, 0), (64, 64)])
def test_a_segment_that_does_not_exist_is_refused(index: int, count: int) -> None:
    segments = segments_of(130)
    page, root = proof_pages(segments)[1], exports_root(segments)
    with pytest.raises(InvalidProof, match="does not exist"):
        check_segment(segments[0], page, root=root, index=index, count=count)
    with pytest.raises(InvalidProof, match="does not exist"):
        import_proof(page, root=root, index=index, count=count)
    with pytest.raises(InvalidProof, match="does not exist"):
        check_import(segments[0], (), root=root, index=index, count=count)


def test_a_forged_page_is_refused_wherever_it_was_changed() -> None:
    segments = segments_of(130)
    root, pages = exports_root(segments), proof_pages(segments)
    proof_bytes = 1 + 2 * 32 + 2 + 64 * 32
    for place in (*range(0, proof_bytes, 7), *range(proof_bytes, SEGMENT_BYTES, 97)):
        with pytest.raises((InvalidProof, MalformedEncoding)):
            check_segment(segments[70], flipped(pages[1], place), root=root, index=70, count=130)


def test_a_page_proves_nothing_elsewhere() -> None:
    segments = segments_of(130)
    root, pages = exports_root(segments), proof_pages(segments)
    for page, index, count in ((0, 70, 130), (1, 6, 130), (1, 70, 300), (2, 129, 129)):
        with pytest.raises(InvalidProof):
            check_segment(segments[index], pages[page], root=root, index=index, count=count)
    with pytest.raises(InvalidProof, match="page 1 is not under the exports root"):
        check_segment(segments[70], pages[1], root=ZERO_HASH, index=70, count=130)


def test_a_path_proves_nothing_elsewhere() -> None:
    segments = segments_of(130)
    root, page = exports_root(segments), proof_pages(segments)[1]
    proof = import_proof(page, root=root, index=70, count=130)
    forged = [(*proof[:-1], flipped(proof[-1], 3)), proof[:-1], (*proof, ZERO_HASH), ()]
    for path in forged:
        with pytest.raises(InvalidProof):
            check_import(segments[70], path, root=root, index=70, count=130)
    with pytest.raises(InvalidProof):
        check_import(segments[70], proof, root=root, index=71, count=130)


def test_bytes_that_are_no_page_are_refused() -> None:
    page = proof_pages(segments_of(3))[0]
    for raw in (b"", page[:-1], page + b"\0", flipped(page, SEGMENT_BYTES - 1)):
        with pytest.raises(MalformedEncoding, match="proof page"):
            decode_page(raw)


def test_a_segment_has_one_length() -> None:
    with pytest.raises(Unencodable, match="segment 1 has 3 bytes"):
        exports_root([bytes(SEGMENT_BYTES), b"abc"])
    with pytest.raises(Unencodable, match="segment 0 has 4105 bytes"):
        proof_pages([bytes(SEGMENT_BYTES + 1)])
