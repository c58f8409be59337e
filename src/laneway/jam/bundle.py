"""The work-package bundle: a package with everything that refining it takes.

Truth is the Gray Paper's section 14, "Computation of Work-Report", as its source of commit fc644573
has it: the bytes are E(p, X#(items), S#(items), J#(items)), where X are the extrinsics, S the
imported segments and J the proof of each; "only the Merkle paths for the justifications have a
length prefix", all other lengths follow from the package. No public vector shows these bytes.

That extrinsics are what the package names is checked here. That segments are is not: a caller who
knows the segment roots checks the proofs against them.
"""

from collections.abc import Sequence
from typing import Final, TypeVar

import msgspec

from laneway.jam.codec import HASH, ByteReader, Codec, Exactly, Many, Octets, named_within
from laneway.jam.errors import BundleMismatch, ForbiddenPackage, Unencodable
from laneway.jam.hashing import blake2b
from laneway.jam.limits import IMPORT_PROOF_HASHES_MAX
from laneway.jam.package import GrayPaper, WorkPackage, package_problem, work_package_codec
from laneway.jam.spec import SEGMENT_BYTES, ChainSpec

T = TypeVar("T")


class WorkBundle(msgspec.Struct, frozen=True, kw_only=True):
    """The lists run over all items of the package, one item after the other."""

    package: WorkPackage
    extrinsics: tuple[bytes, ...] = ()
    import_segments: tuple[bytes, ...] = ()
    import_proofs: tuple[tuple[bytes, ...], ...] = ()


SEGMENT: Final = Octets(SEGMENT_BYTES)
IMPORT_PROOF: Final = Many(HASH, IMPORT_PROOF_HASHES_MAX)


class _Lengths(Codec[tuple[bytes, ...]]):
    """Byte strings of known lengths, one after the other."""

    def __init__(self, lengths: tuple[int, ...]) -> None:
        self.lengths = lengths

    def write(self, out: bytearray, value: Sequence[bytes]) -> None:
        found = tuple(len(one) for one in value)
        if found != self.lengths:
            raise Unencodable(problem=f"extrinsics of {found} bytes stand for {self.lengths}")
        for one in value:
            out += one

    def read(self, reader: ByteReader) -> tuple[bytes, ...]:
        return tuple(reader.take(length) for length in self.lengths)


def extrinsics_codec(package: WorkPackage) -> Codec[tuple[bytes, ...]]:
    """The extrinsics of the package's items."""
    return _Lengths(tuple(spec.len for item in package.items for spec in item.extrinsic))


def segments_codec(package: WorkPackage) -> Codec[tuple[bytes, ...]]:
    """The segments that the package imports."""
    return Exactly(SEGMENT, import_count(package))


def proofs_codec(package: WorkPackage) -> Codec[tuple[tuple[bytes, ...], ...]]:
    """The proofs of the segments that the package imports."""
    return Exactly(IMPORT_PROOF, import_count(package))


def import_count(package: WorkPackage) -> int:
    return sum(len(item.import_segments) for item in package.items)


class _Bundle(Codec[WorkBundle]):
    def __init__(self, package: Codec[WorkPackage]) -> None:
        self.package = package

    def write(self, out: bytearray, value: WorkBundle) -> None:
        package = value.package
        self.package.write(out, package)
        extrinsics_codec(package).write(out, value.extrinsics)
        segments_codec(package).write(out, value.import_segments)
        proofs_codec(package).write(out, value.import_proofs)

    def read(self, reader: ByteReader) -> WorkBundle:
        with named_within("package"):
            package = self.package.read(reader)
        with named_within("extrinsics"):
            extrinsics = extrinsics_codec(package).read(reader)
        with named_within("import_segments"):
            segments = segments_codec(package).read(reader)
        with named_within("import_proofs"):
            proofs = proofs_codec(package).read(reader)
        return WorkBundle(
            package=package, extrinsics=extrinsics, import_segments=segments, import_proofs=proofs
        )


WORK_BUNDLE: Final[Codec[WorkBundle]] = _Bundle(work_package_codec())


def work_bundle_codec(version: GrayPaper = GrayPaper.V0_7_2) -> Codec[WorkBundle]:
    """Bundles of packages of one version; those of 0.8.0 are *unverified*."""
    return WORK_BUNDLE if version is GrayPaper.V0_7_2 else _Bundle(work_package_codec(version))


def extrinsics_problem(package: WorkPackage, extrinsics: Sequence[bytes]) -> BundleMismatch | None:
    """Why these are not the extrinsics that the package names; None if they are."""
    specs = [spec for item in package.items for spec in item.extrinsic]
    if len(extrinsics) != len(specs):
        return _mismatch("extrinsic", len(extrinsics), f"{len(specs)} are named")
    for index, (spec, blob) in enumerate(zip(specs, extrinsics, strict=True)):
        if len(blob) != spec.len:
            return _mismatch("extrinsic", index, f"it has {len(blob)} bytes, not {spec.len}")
        if blake2b(blob) != spec.hash:
            return _mismatch("extrinsic", index, "its hash is another")
    return None


def bundle_problem(bundle: WorkBundle, spec: ChainSpec) -> ForbiddenPackage | BundleMismatch | None:
    """Why no guarantor takes the bundle, whatever the chain's state is; None if it is allowed."""
    imports = import_count(bundle.package)
    if problem := package_problem(bundle.package, spec):
        return problem
    if mismatch := extrinsics_problem(bundle.package, bundle.extrinsics):
        return mismatch
    if len(bundle.import_segments) != imports:
        return _mismatch("segment", len(bundle.import_segments), f"{imports} are named")
    for index, segment in enumerate(bundle.import_segments):
        if len(segment) != SEGMENT_BYTES:
            return _mismatch("segment", index, f"it has {len(segment)} bytes, not {SEGMENT_BYTES}")
    if len(bundle.import_proofs) != imports:
        return _mismatch("proof", len(bundle.import_proofs), f"{imports} are named")
    return None


def _mismatch(what: str, index: int, problem: str) -> BundleMismatch:
    return BundleMismatch(what=what, index=index, problem=problem)


def extrinsics_by_item(bundle: WorkBundle) -> tuple[tuple[bytes, ...], ...]:
    """The extrinsics of each item of the package."""
    return _dealt(bundle.extrinsics, [len(item.extrinsic) for item in bundle.package.items])


def imports_by_item(bundle: WorkBundle) -> tuple[tuple[bytes, ...], ...]:
    """The segments that each item of the package imports."""
    counts = [len(item.import_segments) for item in bundle.package.items]
    return _dealt(bundle.import_segments, counts)


def _dealt(things: tuple[T, ...], counts: list[int]) -> tuple[tuple[T, ...], ...]:
    assert len(things) == sum(counts)
    dealt = iter(things)
    return tuple(tuple(next(dealt) for _ in range(count)) for count in counts)
