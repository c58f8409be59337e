"""Messages of the network: what a stream carries, byte by byte, and nothing else is read."""

from random import Random

import pytest
from msgspec.structs import replace
from tests.jam import objects

from laneway.jam.bundle import WORK_BUNDLE, WorkBundle
from laneway.jam.codec import U32
from laneway.jam.errors import MalformedEncoding, Unencodable
from laneway.jam.limits import BLOB_BYTES_MAX, JUSTIFICATION_NODES_MAX, PACKAGE_BYTES_MAX
from laneway.jam.messages import (
    BundleRequest,
    BundleShard,
    BundleShardRequest,
    BundleSubmission,
    PackageSubmission,
    Request,
    SegmentRequest,
    Segments,
    SegmentShardRequest,
    SegmentShards,
    SegmentsWanted,
    ShardsWanted,
    StreamKind,
    decode_bundle,
    decode_bundle_shard,
    decode_request,
    decode_segment_shards,
    decode_segments,
    encode_bundle,
    encode_bundle_shard,
    encode_request,
    encode_segment_shards,
    encode_segments,
    segment_shard_bytes,
)
from laneway.jam.package import WORK_PACKAGE, GrayPaper
from laneway.jam.report import SegmentRootLookupItem
from laneway.jam.spec import FULL, IMPORT_COUNT_MAX, SEGMENT_BYTES, TINY, ChainSpec

ROOT = b"e" * 32
WANTED = ShardsWanted(erasure_root=ROOT, shard_index=3, segment_indices=(0, 258))
SEGMENT_WANTED = SegmentsWanted(ROOT, (0, 258))
SPECS = pytest.mark.parametrize("spec", [TINY, FULL], ids=["tiny", "full"])


def message(content: bytes) -> bytes:
    return len(content).to_bytes(4, "little") + content


def bundle() -> WorkBundle:
    """One that brings something of each kind."""
    made = (objects.work_bundle(Random(seed)) for seed in range(100))
    return next(one for one in made if one.extrinsics and one.import_segments)


def trouble(raw: bytes) -> str:
    with pytest.raises(MalformedEncoding) as caught:
        decode_request(raw)
    return str(caught.value)


@pytest.mark.parametrize("seed", range(40))
def test_a_request_comes_back_from_its_bytes(seed: int) -> None:
    request = objects.request(Random(seed))
    assert decode_request(encode_request(request)) == request


def test_a_package_is_submitted_behind_its_core_and_before_its_extrinsics() -> None:
    made = bundle()
    request = PackageSubmission(core_index=258, package=made.package, extrinsics=made.extrinsics)
    assert encode_request(request) == (
        b"\x85"
        + message(b"\x02\x01" + WORK_PACKAGE.encode(made.package))
        + message(b"".join(made.extrinsics))
    )


def test_a_bundle_is_submitted_in_five_messages() -> None:
    made = bundle()
    roots = (SegmentRootLookupItem(b"p" * 32, b"r" * 32),)
    request = BundleSubmission(core_index=1, segment_roots=roots, bundle=made)
    proofs = b"".join(bytes((len(one),)) + b"".join(one) for one in made.import_proofs)
    raw = (
        b"\x92"
        + message(b"\x01\x00\x01" + b"p" * 32 + b"r" * 32)
        + message(WORK_PACKAGE.encode(made.package))
        + message(b"".join(made.extrinsics))
        + message(b"".join(made.import_segments))
        + message(proofs)
    )
    assert encode_request(request) == raw
    assert decode_request(raw) == request


@pytest.mark.parametrize(
    ("request_", "raw"),
    [
        (BundleShardRequest(ROOT, 258), b"\x8a" + message(ROOT + b"\x02\x01")),
        (
            SegmentShardRequest((WANTED,)),
            b"\x8b" + message(ROOT + b"\x03\x00\x02\x00\x00\x02\x01"),
        ),
        (
            SegmentShardRequest((WANTED,), justified=True),
            b"\x8c" + message(ROOT + b"\x03\x00\x02\x00\x00\x02\x01"),
        ),
        (BundleRequest(ROOT), b"\x93" + message(ROOT)),
        (
            SegmentRequest((SEGMENT_WANTED, SEGMENT_WANTED)),
            b"\x94" + message((ROOT + b"\x02\x00\x00\x02\x01") * 2),
        ),
    ],
)
def test_a_question_is_one_message_behind_the_kind_of_its_stream(
    request_: Request, raw: bytes
) -> None:
    assert encode_request(request_) == raw
    assert decode_request(raw) == request_


def test_a_submission_of_another_version_carries_a_package_of_it() -> None:
    package = replace(objects.work_package_v080(Random(1)), items=())
    request = PackageSubmission(core_index=1, package=package)
    raw = encode_request(request, GrayPaper.V0_8_0)
    assert decode_request(raw, GrayPaper.V0_8_0) == request


def test_a_stream_of_an_unknown_kind_is_refused() -> None:
    assert trouble(b"\x84") == "request, byte 1: 132 is no kind of stream that is known here"
    assert trouble(b"") == "request, byte 0: a byte is expected and none is left"


def test_each_kind_of_stream_is_read() -> None:
    for kind in StreamKind:
        assert "no kind" not in trouble(bytes((kind,)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda raw: raw + b"\x00", "follow the end"),
        (lambda raw: raw[:-1], "are expected"),
        (lambda raw: raw[:1] + U32.encode(33) + raw[5:] + b"\x00", "follow the end"),
    ],
)
def test_a_message_is_exactly_as_long_as_it_says(change: object, said: str) -> None:
    assert callable(change)
    assert said in trouble(change(encode_request(BundleRequest(ROOT))))


def test_a_package_above_its_bound_is_neither_sent_nor_read() -> None:
    package = replace(bundle().package, authorization=bytes(PACKAGE_BYTES_MAX))
    with pytest.raises(Unencodable):
        encode_request(PackageSubmission(core_index=0, package=package))
    raw = b"\x85" + message(b"\x00\x00" + WORK_PACKAGE.encode(package)) + message(b"")
    assert f"and {PACKAGE_BYTES_MAX + 2} are taken" in trouble(raw)


def test_a_claim_of_four_gigabytes_is_not_believed() -> None:
    assert f"and {BLOB_BYTES_MAX} are taken" in trouble(b"\x93\xff\xff\xff\xff" + ROOT)


def test_no_more_segments_are_wanted_than_a_package_imports() -> None:
    half = tuple(range(IMPORT_COUNT_MAX // 2))
    enough = (SegmentsWanted(ROOT, half), SegmentsWanted(ROOT, half))
    assert decode_request(encode_request(SegmentRequest(enough))) == SegmentRequest(enough)
    above = (*enough, SegmentsWanted(ROOT, (1,)))
    with pytest.raises(Unencodable):
        encode_request(SegmentRequest(above))
    raw = encode_request(SegmentRequest(enough))[5:] + ROOT + b"\x01\x01\x00"
    assert "3073 are wanted" in trouble(b"\x94" + message(raw))


def test_a_question_for_nothing_is_bounded_too() -> None:
    nothing = SegmentsWanted(ROOT, ())
    with pytest.raises(Unencodable):
        encode_request(SegmentRequest((nothing,) * (IMPORT_COUNT_MAX + 1)))
    raw = message((ROOT + b"\x00") * (IMPORT_COUNT_MAX + 1))
    assert f"more than {IMPORT_COUNT_MAX} items" in trouble(b"\x94" + raw)


def test_a_broken_question_says_which_part_is_broken() -> None:
    raw = b"\x94" + message(ROOT + b"\x01\x00\x00" + ROOT + b"\x02\x00")
    assert trouble(raw).startswith("request.segments[1].segment_indices")


def test_a_shard_of_a_bundle_comes_with_the_path_to_it() -> None:
    answer = BundleShard(b"shard", (b"a" * 32, b"b" * 64, b"c" * 32))
    raw = message(b"shard") + message(
        b"\x00" + b"a" * 32 + b"\x01" + b"b" * 64 + b"\x00" + b"c" * 32
    )
    assert encode_bundle_shard(answer) == raw
    assert decode_bundle_shard(raw) == answer


@pytest.mark.parametrize(
    ("nodes", "said"),
    [(b"\x02" + bytes(12), "2 is no kind of node"), (b"\x01" + bytes(63), "64 bytes are expected")],
)
def test_a_path_to_a_bundle_has_hashes_and_pairs_only(nodes: bytes, said: str) -> None:
    with pytest.raises(MalformedEncoding) as caught:
        decode_bundle_shard(message(b"") + message(nodes))
    assert said in str(caught.value)
    assert caught.value.operands["path"] == "answer.justification[0]"


def test_a_node_of_no_known_length_has_no_encoding() -> None:
    with pytest.raises(Unencodable):
        encode_bundle_shard(BundleShard(b"", (bytes(31),)))


def test_a_path_is_bounded() -> None:
    longest = BundleShard(b"", (bytes(32),) * JUSTIFICATION_NODES_MAX)
    assert decode_bundle_shard(encode_bundle_shard(longest)) == longest
    with pytest.raises(Unencodable):
        encode_bundle_shard(BundleShard(b"", (*longest.justification, bytes(32))))
    with pytest.raises(MalformedEncoding):
        decode_bundle_shard(message(b"") + message((b"\x00" + bytes(32)) * 33))


@SPECS
def test_shards_of_segments_come_one_behind_the_other(spec: ChainSpec) -> None:
    size = segment_shard_bytes(spec)
    shards = (b"a" * size, b"b" * size)
    answer = SegmentShards(shards)
    request = SegmentShardRequest((WANTED,))
    raw = message(b"".join(shards))
    assert encode_segment_shards(answer, spec) == raw
    assert decode_segment_shards(raw, request, spec) == answer


@SPECS
def test_each_shard_is_justified_when_that_was_asked_for(spec: ChainSpec) -> None:
    shard = b"s" * segment_shard_bytes(spec)
    answer = SegmentShards((shard, shard), ((b"a" * 32, b"b" * 64), (shard,)))
    request = SegmentShardRequest((WANTED,), justified=True)
    raw = (
        message(shard + shard)
        + message(b"\x00" + b"a" * 32 + b"\x01" + b"b" * 64)
        + message(b"\x02" + shard)
    )
    assert encode_segment_shards(answer, spec) == raw
    assert decode_segment_shards(raw, request, spec) == answer


def test_a_segment_shard_of_the_full_chain_has_twelve_bytes() -> None:
    assert (segment_shard_bytes(FULL), segment_shard_bytes(TINY)) == (12, 2_052)


def test_an_answer_holds_what_was_asked_for_and_no_more() -> None:
    shard = bytes(12)
    plain, justified = SegmentShardRequest((WANTED,)), SegmentShardRequest((WANTED,), True)
    answer = encode_segment_shards(SegmentShards((shard, shard), ((), ())), FULL)
    for raw, request in (
        (answer, plain),
        (answer[:-4], justified),
        (message(shard), plain),
        (message(shard * 3), plain),
    ):
        with pytest.raises(MalformedEncoding):
            decode_segment_shards(raw, request, FULL)
    with pytest.raises(Unencodable):
        encode_segment_shards(SegmentShards((shard, shard), ((),)), FULL)


def test_a_whole_bundle_is_one_message() -> None:
    made = bundle()
    raw = message(WORK_BUNDLE.encode(made))
    assert encode_bundle(made) == raw
    assert decode_bundle(raw) == made
    with pytest.raises(MalformedEncoding):
        decode_bundle(raw + b"\x00")


def test_whole_segments_come_with_their_proofs() -> None:
    answer = Segments((b"a" * SEGMENT_BYTES, b"b" * SEGMENT_BYTES), ((), (b"p" * 32,)))
    request = SegmentRequest((SEGMENT_WANTED,))
    raw = message(b"".join(answer.segments)) + message(b"\x00\x01" + b"p" * 32)
    assert encode_segments(answer) == raw
    assert decode_segments(raw, request) == answer
    with pytest.raises(MalformedEncoding):
        decode_segments(raw, SegmentRequest((SEGMENT_WANTED, SEGMENT_WANTED)))
    with pytest.raises(Unencodable):
        encode_segments(replace(answer, proofs=()))
