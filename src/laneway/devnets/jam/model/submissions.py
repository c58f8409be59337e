"""Reading what builders hand in: a package with its extrinsics, or a whole bundle; strictly.

Segments that a package imports are fetched from what the validators keep, or come along in a bundle
and are checked against it. What its authorizer does not let pass no guarantor refines, so that is
refused here. Anchors, pools and services are the chain's to judge, later.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from laneway.devnets.jam.model.shards import ShardStore
from laneway.devnets.jam.model.values import RefusalKind, SegmentUnavailable, SubmissionRefusal
from laneway.jam.authorizers import authorization_problem
from laneway.jam.bundle import WORK_BUNDLE, WorkBundle, bundle_problem, extrinsics_problem
from laneway.jam.codec import Many
from laneway.jam.errors import InvalidJam, InvalidProof
from laneway.jam.hashing import blake2b
from laneway.jam.limits import PACKAGE_BYTES_MAX
from laneway.jam.package import (
    WORK_ITEM,
    WORK_PACKAGE,
    ImportSpec,
    WorkPackage,
    package_hash,
    package_problem,
)
from laneway.jam.report import SegmentRootLookupItem
from laneway.jam.segments import check_import
from laneway.jam.spec import BUNDLE_BYTES_MAX, ChainSpec

ITEMS: Final = Many(WORK_ITEM)


class SubmittedPackage(Struct, frozen=True, kw_only=True):
    """A package with all that refining it takes."""

    package_hash: bytes
    core: int
    bundle: WorkBundle
    bundle_bytes: bytes
    lookup: tuple[SegmentRootLookupItem, ...]
    """The roots of segments that are imported by their package's hash, in ascending order."""
    items_hash: bytes
    """The same for all packages that ask for the same work."""


def read_package(
    core: int, raw: bytes, extrinsics: Sequence[bytes], spec: ChainSpec, shards: ShardStore
) -> SubmittedPackage | SubmissionRefusal:
    if core >= spec.core_count:
        return _bad_core(core, spec)
    if len(raw) > PACKAGE_BYTES_MAX:
        return _malformed(f"the package has {len(raw)} bytes; {PACKAGE_BYTES_MAX} are allowed")
    try:
        package = WORK_PACKAGE.decode(raw, "package")
    except InvalidJam as malformed:
        return _malformed(str(malformed))
    problem = package_problem(package, spec) or extrinsics_problem(package, extrinsics)
    if problem is not None:
        return _malformed(str(problem))
    refusal = authorization_problem(package)
    if refusal:
        return SubmissionRefusal(RefusalKind.UNAUTHORISED, refusal)
    try:
        found = [shards.proved_segment(one.tree_root, one.index) for one in imports_of(package)]
    except SegmentUnavailable as missing:
        return SubmissionRefusal(RefusalKind.IMPORTS_UNAVAILABLE, str(missing))
    bundle = WorkBundle(
        package=package,
        extrinsics=tuple(extrinsics),
        import_segments=tuple(segment for segment, _ in found),
        import_proofs=tuple(path for _, path in found),
    )
    return _submission(core, bundle, WORK_BUNDLE.encode(bundle), shards)


def read_bundle(
    core: int, raw: bytes, spec: ChainSpec, shards: ShardStore
) -> SubmittedPackage | SubmissionRefusal:
    if core >= spec.core_count:
        return _bad_core(core, spec)
    if len(raw) > BUNDLE_BYTES_MAX:
        return _malformed(f"the bundle has {len(raw)} bytes; {BUNDLE_BYTES_MAX} are allowed")
    try:
        bundle = WORK_BUNDLE.decode(raw, "bundle")
    except InvalidJam as malformed:
        return _malformed(str(malformed))
    problem = bundle_problem(bundle, spec)
    if problem is not None:
        return _malformed(str(problem))
    unsigned = authorization_problem(bundle.package)
    if unsigned:
        return SubmissionRefusal(RefusalKind.UNAUTHORISED, unsigned)
    refusal = _import_problem(bundle, shards)
    return refusal or _submission(core, bundle, raw, shards)


def imports_of(package: WorkPackage) -> list[ImportSpec]:
    return [one for item in package.items for one in item.import_segments]


def _import_problem(bundle: WorkBundle, shards: ShardStore) -> SubmissionRefusal | None:
    """Why the segments that came along are not the ones that the package names."""
    for place, one in enumerate(imports_of(bundle.package)):
        kept = shards.exported(one.tree_root)
        if kept is None:
            missing = SegmentUnavailable(one.tree_root)
            return SubmissionRefusal(RefusalKind.IMPORTS_UNAVAILABLE, str(missing))
        package = kept.package
        try:
            check_import(
                bundle.import_segments[place],
                bundle.import_proofs[place],
                root=package.exports_root,
                index=one.index,
                count=package.exports_count,
            )
        except InvalidProof as wrong:
            return _malformed(str(wrong))
    return None


def _submission(core: int, bundle: WorkBundle, raw: bytes, shards: ShardStore) -> SubmittedPackage:
    package = bundle.package
    roots = {
        one.tree_root: kept.package.exports_root
        for one in imports_of(package)
        if one.by_package and (kept := shards.exported(one.tree_root)) is not None
    }
    return SubmittedPackage(
        package_hash=package_hash(package),
        core=core,
        bundle=bundle,
        bundle_bytes=raw,
        lookup=tuple(SegmentRootLookupItem(name, roots[name]) for name in sorted(roots)),
        items_hash=blake2b(ITEMS.encode(package.items)),
    )


def _bad_core(core: int, spec: ChainSpec) -> SubmissionRefusal:
    message = f"core {core} does not exist; the chain has {spec.core_count}"
    return SubmissionRefusal(RefusalKind.BAD_CORE, message)


def _malformed(message: str) -> SubmissionRefusal:
    return SubmissionRefusal(RefusalKind.MALFORMED, message)
