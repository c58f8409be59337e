"""Messages of the JAM network (JAMNP-S) that a builder and a data keeper send: bytes and values.

A stream carries one request and its answer. Its opener sends a byte that says of what kind it is,
and then messages; a message is its length in four bytes and its content. Kinds here: 133 and 146
submit a package, 138 asks for a shard of a bundle, 139 and 140 for shards of segments, 147 for a
whole bundle, 148 for whole segments.

Truth is the text of JAMNP-S for 133 to 140; for 146 to 148 and for the bytes that tell the nodes of
a justification apart, that text as other implementations quote it. No vector shows any of them, and
no node was spoken to.

Nothing is sent from here, and no proof is checked: a justification is the nodes of a path.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import Final, TypeAlias, TypeVar, assert_never

import msgspec

from laneway.jam.bundle import (
    IMPORT_PROOF,
    SEGMENT,
    WorkBundle,
    extrinsics_codec,
    proofs_codec,
    segments_codec,
    work_bundle_codec,
)
from laneway.jam.codec import (
    HASH,
    U16,
    U32,
    Codec,
    Exactly,
    Many,
    Mapped,
    Octets,
    Reader,
    Record,
    told_within,
)
from laneway.jam.errors import Unencodable
from laneway.jam.limits import BLOB_BYTES_MAX, JUSTIFICATION_NODES_MAX, PACKAGE_BYTES_MAX
from laneway.jam.package import GrayPaper, WorkPackage, work_package_codec
from laneway.jam.report import SEGMENT_ROOT_LOOKUP_ITEM, SegmentRootLookupItem
from laneway.jam.spec import DEPENDENCY_COUNT_MAX, IMPORT_COUNT_MAX, SEGMENT_BYTES, ChainSpec

T = TypeVar("T")

Justification: TypeAlias = tuple[bytes, ...]
"""A path from a root to a shard: hashes, a pair of hashes, and at the end perhaps a shard."""


class StreamKind(IntEnum):
    PACKAGE_SUBMISSION = 133
    BUNDLE_SHARD = 138
    SEGMENT_SHARDS = 139
    SEGMENT_SHARDS_JUSTIFIED = 140
    BUNDLE_SUBMISSION = 146
    BUNDLE = 147
    SEGMENTS = 148


class PackageSubmission(msgspec.Struct, frozen=True, kw_only=True):
    """CE 133, builder to guarantor; the answer is the stream's end."""

    core_index: int
    package: WorkPackage
    extrinsics: tuple[bytes, ...] = ()


class BundleSubmission(msgspec.Struct, frozen=True, kw_only=True):
    """CE 146, builder to guarantor, when something is imported; the answer is the stream's end."""

    core_index: int
    segment_roots: tuple[SegmentRootLookupItem, ...] = ()
    bundle: WorkBundle


class BundleShardRequest(msgspec.Struct, frozen=True):
    """CE 138, auditor to assurer."""

    erasure_root: bytes
    shard_index: int


class ShardsWanted(msgspec.Struct, frozen=True, kw_only=True):
    """Shards of some segments of one package, all of one index."""

    erasure_root: bytes
    shard_index: int
    segment_indices: tuple[int, ...]


class SegmentShardRequest(msgspec.Struct, frozen=True):
    """CE 139, guarantor to assurer; CE 140 if each shard is to be justified."""

    wanted: tuple[ShardsWanted, ...]
    justified: bool = False


class BundleRequest(msgspec.Struct, frozen=True):
    """CE 147, auditor to guarantor."""

    erasure_root: bytes


class SegmentsWanted(msgspec.Struct, frozen=True):
    segments_root: bytes
    segment_indices: tuple[int, ...]


class SegmentRequest(msgspec.Struct, frozen=True):
    """CE 148, guarantor or builder to guarantor."""

    wanted: tuple[SegmentsWanted, ...]


class BundleShard(msgspec.Struct, frozen=True):
    """The answer to CE 138."""

    shard: bytes
    justification: Justification


class SegmentShards(msgspec.Struct, frozen=True):
    """The answer to CE 139, and with a justification for each shard to CE 140."""

    shards: tuple[bytes, ...]
    justifications: tuple[Justification, ...] = ()


class Segments(msgspec.Struct, frozen=True):
    """The answer to CE 148."""

    segments: tuple[bytes, ...]
    proofs: tuple[tuple[bytes, ...], ...]


Request: TypeAlias = (
    PackageSubmission
    | BundleShardRequest
    | SegmentShardRequest
    | BundleSubmission
    | BundleRequest
    | SegmentRequest
)


class _ToTheEnd(Codec[tuple[T, ...]]):
    """Things of one kind until the message ends."""

    def __init__(self, item: Codec[T], count_max: int) -> None:
        self.item = item
        self.count_max = count_max

    def write(self, out: bytearray, value: Sequence[T]) -> None:
        if len(value) > self.count_max:
            raise Unencodable(problem=f"{len(value)} items, and at most {self.count_max} are taken")
        for item in value:
            self.item.write(out, item)

    def read(self, reader: Reader) -> tuple[T, ...]:
        found: list[T] = []
        while reader.left:
            if len(found) == self.count_max:
                raise reader.trouble(f"more than {self.count_max} items")
            with told_within(f"[{len(found)}]"):
                found.append(self.item.read(reader))
        return tuple(found)


class _Node(Codec[bytes]):
    """A node of a path, behind the byte that says of which of these lengths it is."""

    def __init__(self, lengths: tuple[int, ...]) -> None:
        self.lengths = lengths

    def write(self, out: bytearray, value: bytes) -> None:
        if len(value) not in self.lengths:
            raise Unencodable(
                problem=f"a node has {len(value)} bytes and not one of {self.lengths}"
            )
        out.append(self.lengths.index(len(value)))
        out += value

    def read(self, reader: Reader) -> bytes:
        number = reader.byte()
        if number >= len(self.lengths):
            raise reader.trouble(f"{number} is no kind of node")
        return reader.take(self.lengths[number])


class _Raw(Codec[bytes]):
    """The whole message as it is."""

    def write(self, out: bytearray, value: bytes) -> None:
        out += value

    def read(self, reader: Reader) -> bytes:
        return reader.take(reader.left)


class _Addressed(msgspec.Struct, frozen=True):
    core_index: int
    package: WorkPackage


class _Introduction(msgspec.Struct, frozen=True):
    core_index: int
    segment_roots: tuple[SegmentRootLookupItem, ...]


Wanted = TypeVar("Wanted", tuple[ShardsWanted, ...], tuple[SegmentsWanted, ...])


def _few(wanted: Wanted) -> Wanted:
    count = wanted_count(wanted)
    if count > IMPORT_COUNT_MAX:
        raise Unencodable(problem=f"{count} are wanted, and at most {IMPORT_COUNT_MAX} are given")
    return wanted


def wanted_count(wanted: tuple[ShardsWanted, ...] | tuple[SegmentsWanted, ...]) -> int:
    return sum(len(one.segment_indices) for one in wanted)


_INDICES: Final = Many(U16, IMPORT_COUNT_MAX)
_INTRODUCTION: Final = Record(
    _Introduction,
    core_index=U16,
    segment_roots=Many(SEGMENT_ROOT_LOOKUP_ITEM, DEPENDENCY_COUNT_MAX),
)
_BUNDLE_SHARD_REQUEST: Final = Record(BundleShardRequest, erasure_root=HASH, shard_index=U16)
_BUNDLE_REQUEST: Final = Record(BundleRequest, erasure_root=HASH)
_SHARDS_WANTED: Final[Codec[tuple[ShardsWanted, ...]]] = Mapped(
    _ToTheEnd(
        Record(ShardsWanted, erasure_root=HASH, shard_index=U16, segment_indices=_INDICES),
        IMPORT_COUNT_MAX,
    ),
    _few,
    _few,
)
_SEGMENTS_WANTED: Final[Codec[tuple[SegmentsWanted, ...]]] = Mapped(
    _ToTheEnd(
        Record(SegmentsWanted, segments_root=HASH, segment_indices=_INDICES), IMPORT_COUNT_MAX
    ),
    _few,
    _few,
)
_HASHES: Final = (32, 64)
"""A node is a hash, or the pair of hashes that is a leaf of the erasure root's tree."""
_BUNDLE_JUSTIFICATION: Final = _ToTheEnd(_Node(_HASHES), JUSTIFICATION_NODES_MAX)
_RAW: Final = _Raw()
_KINDS: Final = tuple(kind.value for kind in StreamKind)


def _addressed(version: GrayPaper) -> Codec[_Addressed]:
    return Record(_Addressed, core_index=U16, package=work_package_codec(version))


def segment_shard_bytes(spec: ChainSpec) -> int:
    return SEGMENT_BYTES // spec.recovery_count


def _shards(spec: ChainSpec, count: int) -> Codec[tuple[bytes, ...]]:
    return Exactly(Octets(segment_shard_bytes(spec)), count)


def _segment_justification(spec: ChainSpec) -> Codec[Justification]:
    return _ToTheEnd(_Node((*_HASHES, segment_shard_bytes(spec))), JUSTIFICATION_NODES_MAX)


def _message(codec: Codec[T], value: T, bytes_max: int = BLOB_BYTES_MAX) -> bytes:
    content = codec.encode(value)
    if len(content) > bytes_max:
        raise Unencodable(problem=f"a message of {len(content)} bytes, and {bytes_max} are taken")
    return U32.encode(len(content)) + content


def _taken(reader: Reader, name: str, codec: Codec[T], bytes_max: int = BLOB_BYTES_MAX) -> T:
    """The next message; a byte in an error counts from the message's begin."""
    with told_within(name):
        size = U32.read(reader)
        if size > bytes_max:
            raise reader.trouble(f"a message of {size} bytes, and {bytes_max} are taken")
        content = Reader(reader.take(size))
        value = codec.read(content)
        content.close()
    return value


def encode_request(request: Request, version: GrayPaper = GrayPaper.V0_7_2) -> bytes:
    """All that the opener of a stream sends."""
    match request:
        case PackageSubmission(core_index=core, package=package, extrinsics=extrinsics):
            addressed = _Addressed(core, package)
            return _opened(
                StreamKind.PACKAGE_SUBMISSION,
                _message(_addressed(version), addressed, 2 + PACKAGE_BYTES_MAX),
                _message(extrinsics_codec(package), extrinsics),
            )
        case BundleSubmission(core_index=core, segment_roots=roots, bundle=bundle):
            package = bundle.package
            return _opened(
                StreamKind.BUNDLE_SUBMISSION,
                _message(_INTRODUCTION, _Introduction(core, roots)),
                _message(work_package_codec(version), package, PACKAGE_BYTES_MAX),
                _message(extrinsics_codec(package), bundle.extrinsics),
                _message(segments_codec(package), bundle.import_segments),
                _message(proofs_codec(package), bundle.import_proofs),
            )
        case BundleShardRequest():
            return _opened(StreamKind.BUNDLE_SHARD, _message(_BUNDLE_SHARD_REQUEST, request))
        case SegmentShardRequest(wanted=shards, justified=justified):
            kind = StreamKind.SEGMENT_SHARDS
            if justified:
                kind = StreamKind.SEGMENT_SHARDS_JUSTIFIED
            return _opened(kind, _message(_SHARDS_WANTED, shards))
        case BundleRequest():
            return _opened(StreamKind.BUNDLE, _message(_BUNDLE_REQUEST, request))
        case SegmentRequest(wanted=segments):
            return _opened(StreamKind.SEGMENTS, _message(_SEGMENTS_WANTED, segments))
        case _:
            assert_never(request)


def _opened(kind: StreamKind, *messages: bytes) -> bytes:
    return bytes((kind,)) + b"".join(messages)


def decode_request(raw: bytes, version: GrayPaper = GrayPaper.V0_7_2) -> Request:
    """The request that is exactly these bytes; MalformedEncoding if none is."""
    reader = Reader(raw)
    with told_within("request"):
        number = reader.byte()
        if number not in _KINDS:
            raise reader.trouble(f"{number} is no kind of stream that is known here")
        request = _read_request(reader, StreamKind(number), version)
        reader.close()
    return request


def _read_request(reader: Reader, kind: StreamKind, version: GrayPaper) -> Request:
    match kind:
        case StreamKind.PACKAGE_SUBMISSION:
            return _read_package_submission(reader, version)
        case StreamKind.BUNDLE_SUBMISSION:
            return _read_bundle_submission(reader, version)
        case StreamKind.BUNDLE_SHARD:
            return _taken(reader, "shard", _BUNDLE_SHARD_REQUEST)
        case StreamKind.SEGMENT_SHARDS | StreamKind.SEGMENT_SHARDS_JUSTIFIED:
            justified = kind is StreamKind.SEGMENT_SHARDS_JUSTIFIED
            return SegmentShardRequest(_taken(reader, "shards", _SHARDS_WANTED), justified)
        case StreamKind.BUNDLE:
            return _taken(reader, "bundle", _BUNDLE_REQUEST)
        case StreamKind.SEGMENTS:
            return SegmentRequest(_taken(reader, "segments", _SEGMENTS_WANTED))
        case _:
            assert_never(kind)


def _read_package_submission(reader: Reader, version: GrayPaper) -> PackageSubmission:
    addressed = _taken(reader, "package", _addressed(version), 2 + PACKAGE_BYTES_MAX)
    package = addressed.package
    extrinsics = _taken(reader, "extrinsics", extrinsics_codec(package))
    return PackageSubmission(
        core_index=addressed.core_index, package=package, extrinsics=extrinsics
    )


def _read_bundle_submission(reader: Reader, version: GrayPaper) -> BundleSubmission:
    introduction = _taken(reader, "segment_roots", _INTRODUCTION)
    package = _taken(reader, "package", work_package_codec(version), PACKAGE_BYTES_MAX)
    bundle = WorkBundle(
        package=package,
        extrinsics=_taken(reader, "extrinsics", extrinsics_codec(package)),
        import_segments=_taken(reader, "import_segments", segments_codec(package)),
        import_proofs=_taken(reader, "import_proofs", proofs_codec(package)),
    )
    return BundleSubmission(
        core_index=introduction.core_index, segment_roots=introduction.segment_roots, bundle=bundle
    )


def encode_bundle_shard(answer: BundleShard) -> bytes:
    return _message(_RAW, answer.shard) + _message(_BUNDLE_JUSTIFICATION, answer.justification)


def decode_bundle_shard(raw: bytes) -> BundleShard:
    reader = Reader(raw)
    with told_within("answer"):
        shard = _taken(reader, "shard", _RAW)
        justification = _taken(reader, "justification", _BUNDLE_JUSTIFICATION)
        reader.close()
    return BundleShard(shard, justification)


def encode_segment_shards(answer: SegmentShards, spec: ChainSpec) -> bytes:
    justification = _segment_justification(spec)
    if answer.justifications and len(answer.justifications) != len(answer.shards):
        raise Unencodable(problem="not each shard has a justification")
    out = _message(_shards(spec, len(answer.shards)), answer.shards)
    return out + b"".join(_message(justification, one) for one in answer.justifications)


def decode_segment_shards(
    raw: bytes, request: SegmentShardRequest, spec: ChainSpec
) -> SegmentShards:
    """The answer that is exactly these bytes: as many shards as were asked for."""
    reader = Reader(raw)
    count = wanted_count(request.wanted)
    justification = _segment_justification(spec)
    with told_within("answer"):
        shards = _taken(reader, "shards", _shards(spec, count))
        justifications = tuple(
            _taken(reader, f"justifications[{index}]", justification)
            for index in range(count if request.justified else 0)
        )
        reader.close()
    return SegmentShards(shards, justifications)


def encode_bundle(bundle: WorkBundle, version: GrayPaper = GrayPaper.V0_7_2) -> bytes:
    return _message(work_bundle_codec(version), bundle)


def decode_bundle(raw: bytes, version: GrayPaper = GrayPaper.V0_7_2) -> WorkBundle:
    reader = Reader(raw)
    with told_within("answer"):
        bundle = _taken(reader, "bundle", work_bundle_codec(version))
        reader.close()
    return bundle


def encode_segments(answer: Segments) -> bytes:
    if len(answer.segments) != len(answer.proofs):
        raise Unencodable(problem="not each segment has a proof")
    count = len(answer.segments)
    return _message(Exactly(SEGMENT, count), answer.segments) + _message(
        Exactly(IMPORT_PROOF, count), answer.proofs
    )


def decode_segments(raw: bytes, request: SegmentRequest) -> Segments:
    """The answer that is exactly these bytes: as many segments as were asked for."""
    reader = Reader(raw)
    count = wanted_count(request.wanted)
    with told_within("answer"):
        segments = _taken(reader, "segments", Exactly(SEGMENT, count))
        proofs = _taken(reader, "proofs", Exactly(IMPORT_PROOF, count))
        reader.close()
    return Segments(segments, proofs)
