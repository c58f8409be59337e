from msgspec.structs import replace
from tests.devnets.jam.stage import chain, work_package

from laneway.devnets.jam.model.shards import KeptShards, ShardStore
from laneway.devnets.jam.model.submissions import SubmittedPackage, read_bundle, read_package
from laneway.devnets.jam.model.values import RefusalKind, SubmissionRefusal
from laneway.jam.authorizers import SIGNED_AUTHORIZER, sign_package
from laneway.jam.bundle import WORK_BUNDLE, WorkBundle
from laneway.jam.ed25519 import HeldEd25519Key
from laneway.jam.hashing import blake2b
from laneway.jam.limits import PACKAGE_BYTES_MAX
from laneway.jam.package import WORK_PACKAGE, ImportSpec, WorkPackage, package_hash
from laneway.jam.report import SegmentRootLookupItem
from laneway.jam.spec import BUNDLE_BYTES_MAX, SEGMENT_BYTES, TINY

MODEL = chain(1)
PACKAGE = work_package(MODEL, b"\0said", extrinsics=[b"one", b"two"])
RAW = WORK_PACKAGE.encode(PACKAGE)
STORE = ShardStore(TINY, codes=True)
EXPORTER = blake2b(b"exporter")
SEGMENTS = tuple(bytes([place]) * SEGMENT_BYTES for place in range(3))
EXPORTED = STORE.described(EXPORTER, b"bundle", SEGMENTS)
STORE.keep(KeptShards(package=EXPORTED, core=0, bundle=b"bundle", segments=SEGMENTS))


def importing(*imports: ImportSpec) -> WorkPackage:
    return work_package(MODEL, b"\0said", imports=imports)


def bundled(package: WorkPackage, *indices: int) -> WorkBundle:
    found = [STORE.proved_segment(EXPORTER, index) for index in indices]
    return WorkBundle(
        package=package,
        import_segments=tuple(segment for segment, _ in found),
        import_proofs=tuple(path for _, path in found),
    )


def kind(found: SubmittedPackage | SubmissionRefusal) -> RefusalKind | None:
    return found.kind if isinstance(found, SubmissionRefusal) else None


def read(raw: bytes, *extrinsics: bytes, core: int = 0) -> SubmittedPackage | SubmissionRefusal:
    return read_package(core, raw, extrinsics, TINY, STORE)


def test_a_package_is_read_with_its_extrinsics() -> None:
    found = read(RAW, b"one", b"two", core=1)
    assert isinstance(found, SubmittedPackage)
    assert (found.package_hash, found.core) == (package_hash(PACKAGE), 1)
    assert found.bundle.extrinsics == (b"one", b"two")
    assert WORK_BUNDLE.decode(found.bundle_bytes) == found.bundle
    assert found.lookup == ()


def test_packages_that_ask_for_the_same_work_have_one_hash_of_their_items() -> None:
    other = replace(PACKAGE, context=replace(PACKAGE.context, lookup_anchor_slot=9))
    first, second = read(RAW, b"one", b"two"), read(WORK_PACKAGE.encode(other), b"one", b"two")
    assert isinstance(first, SubmittedPackage)
    assert isinstance(second, SubmittedPackage)
    assert first.items_hash == second.items_hash
    assert first.package_hash != second.package_hash


def test_what_is_no_package_is_refused() -> None:
    assert kind(read(RAW, b"one", b"two", core=2)) is RefusalKind.BAD_CORE
    for wrong in (b"", RAW[:-1], RAW + b"\0", bytes(PACKAGE_BYTES_MAX + 1)):
        assert kind(read(wrong, b"one", b"two")) is RefusalKind.MALFORMED
    for extrinsics in ((), (b"one",), (b"two", b"one"), (b"one", b"two", b"three")):
        assert kind(read(RAW, *extrinsics)) is RefusalKind.MALFORMED
    greedy = replace(PACKAGE, items=(replace(PACKAGE.items[0], refine_gas_limit=1 << 40),))
    assert kind(read(WORK_PACKAGE.encode(greedy), b"one", b"two")) is RefusalKind.MALFORMED


def test_what_its_authorizer_does_not_let_pass_is_refused_as_a_package_and_as_a_bundle() -> None:
    key = HeldEd25519Key(blake2b(b"key"))
    asked = replace(
        work_package(MODEL, b"\0said"),
        auth_code_hash=SIGNED_AUTHORIZER,
        authorizer_config=key.public_key,
    )
    for package, fate in ((asked, RefusalKind.UNAUTHORISED), (sign_package(asked, key), None)):
        assert kind(read(WORK_PACKAGE.encode(package))) is fate
        raw = WORK_BUNDLE.encode(bundled(package))
        assert kind(read_bundle(0, raw, TINY, STORE)) is fate


def test_imported_segments_are_fetched() -> None:
    package = importing(
        ImportSpec(EXPORTED.exports_root, 2),
        ImportSpec(EXPORTER, 0, by_package=True),
        ImportSpec(EXPORTER, 1, by_package=True),
    )
    found = read(WORK_PACKAGE.encode(package))
    assert isinstance(found, SubmittedPackage)
    assert found.bundle == bundled(package, 2, 0, 1)
    assert found.lookup == (SegmentRootLookupItem(EXPORTER, EXPORTED.exports_root),)
    assert read_bundle(0, found.bundle_bytes, TINY, STORE) == found


def test_segments_that_nobody_keeps_cannot_be_imported() -> None:
    for one in (ImportSpec(blake2b(b"?"), 0), ImportSpec(EXPORTER, 3, by_package=True)):
        package = importing(one)
        assert kind(read(WORK_PACKAGE.encode(package))) is RefusalKind.IMPORTS_UNAVAILABLE
    unknown = bundled(importing(ImportSpec(blake2b(b"?"), 0)), 0)
    raw = WORK_BUNDLE.encode(unknown)
    assert kind(read_bundle(0, raw, TINY, STORE)) is RefusalKind.IMPORTS_UNAVAILABLE


def test_what_is_no_bundle_is_refused() -> None:
    right = WORK_BUNDLE.encode(bundled(importing(ImportSpec(EXPORTED.exports_root, 2)), 2))
    assert kind(read_bundle(1, right, TINY, STORE)) is None
    assert kind(read_bundle(2, right, TINY, STORE)) is RefusalKind.BAD_CORE
    other = WORK_BUNDLE.encode(bundled(importing(ImportSpec(EXPORTED.exports_root, 2)), 1))
    altered = replace(
        WorkBundle(package=PACKAGE, extrinsics=(b"one", b"two")), extrinsics=(b"two", b"one")
    )
    too_long = bytes(BUNDLE_BYTES_MAX + 1)
    for wrong in (b"", right[:-1], right + b"\0", other, WORK_BUNDLE.encode(altered), too_long):
        assert kind(read_bundle(0, wrong, TINY, STORE)) is RefusalKind.MALFORMED
