"""Bundles: nothing but the package says how long their parts are."""

from random import Random

import pytest
from msgspec.structs import replace
from tests.jam import objects

from laneway.jam.bundle import (
    IMPORT_PROOF,
    WORK_BUNDLE,
    WorkBundle,
    bundle_problem,
    extrinsics_by_item,
    extrinsics_problem,
    import_count,
    imports_by_item,
    work_bundle_codec,
)
from laneway.jam.errors import BundleMismatch, MalformedEncoding, Unencodable
from laneway.jam.hashing import blake2b
from laneway.jam.limits import IMPORT_PROOF_HASHES_MAX
from laneway.jam.package import (
    WORK_PACKAGE,
    WORK_PACKAGE_V080,
    ExtrinsicSpec,
    GrayPaper,
    ImportSpec,
    WorkItem,
)
from laneway.jam.spec import SEGMENT_BYTES, TINY

SEGMENTS = tuple(bytes((number,)) * SEGMENT_BYTES for number in (1, 2, 3))
PROOFS = ((b"p" * 32,), (), (b"q" * 32, b"r" * 32))


def item(*blobs: bytes, imports: int = 0) -> WorkItem:
    return WorkItem(
        service=1,
        code_hash=bytes(32),
        refine_gas_limit=10,
        accumulate_gas_limit=10,
        import_segments=tuple(ImportSpec(bytes(32), n) for n in range(imports)),
        extrinsic=tuple(ExtrinsicSpec(blake2b(blob), len(blob)) for blob in blobs),
    )


PACKAGE = replace(
    objects.work_package(Random(1)), items=(item(b"ab", b"", imports=1), item(b"c", imports=2))
)
BUNDLE = WorkBundle(
    package=PACKAGE, extrinsics=(b"ab", b"", b"c"), import_segments=SEGMENTS, import_proofs=PROOFS
)


def problem_of(bundle: WorkBundle) -> str:
    problem = bundle_problem(bundle, TINY)
    assert isinstance(problem, BundleMismatch)
    return str(problem)


@pytest.mark.parametrize("seed", range(10))
def test_a_bundle_comes_back_from_its_bytes(seed: int) -> None:
    made = objects.work_bundle(Random(seed))
    assert WORK_BUNDLE.decode(WORK_BUNDLE.encode(made)) == made
    assert bundle_problem(made, TINY) is None


def test_only_the_paths_of_proofs_have_a_length_before_them() -> None:
    assert WORK_BUNDLE.encode(BUNDLE) == (
        WORK_PACKAGE.encode(PACKAGE)
        + b"abc"
        + b"".join(SEGMENTS)
        + b"\x01"
        + b"p" * 32
        + b"\x00\x02"
        + b"q" * 32
        + b"r" * 32
    )


def test_a_bundle_of_another_version_holds_a_package_of_it() -> None:
    package = replace(objects.work_package_v080(Random(1)), items=(item(b"ab"),))
    bundle = WorkBundle(package=package, extrinsics=(b"ab",))
    codec = work_bundle_codec(GrayPaper.V0_8_0)
    raw = codec.encode(bundle)
    assert raw == WORK_PACKAGE_V080.encode(package) + b"ab"
    assert codec.decode(raw) == bundle
    assert work_bundle_codec() is WORK_BUNDLE


@pytest.mark.parametrize(
    "bundle",
    [
        replace(BUNDLE, extrinsics=(b"ab", b"c")),
        replace(BUNDLE, extrinsics=(b"abc", b"", b"")),
        replace(BUNDLE, import_segments=SEGMENTS[1:]),
        replace(BUNDLE, import_segments=(*SEGMENTS[1:], b"short")),
        replace(BUNDLE, import_proofs=PROOFS[1:]),
        replace(BUNDLE, import_proofs=((bytes(32),) * (IMPORT_PROOF_HASHES_MAX + 1), (), ())),
    ],
)
def test_a_bundle_whose_parts_are_not_what_the_package_names_has_no_encoding(
    bundle: WorkBundle,
) -> None:
    with pytest.raises(Unencodable):
        WORK_BUNDLE.encode(bundle)


@pytest.mark.parametrize(
    ("kept", "path"),
    [
        (10, "bundle.package.auth_code_hash"),
        (len(WORK_PACKAGE.encode(PACKAGE)) + 2, "bundle.extrinsics"),
        (len(WORK_PACKAGE.encode(PACKAGE)) + 3 + SEGMENT_BYTES, "bundle.import_segments[1]"),
        (-1, "bundle.import_proofs[2][1]"),
    ],
)
def test_a_bundle_that_was_cut_off_says_where(kept: int, path: str) -> None:
    raw = WORK_BUNDLE.encode(BUNDLE)[:kept]
    with pytest.raises(MalformedEncoding) as caught:
        WORK_BUNDLE.decode(raw, "bundle")
    assert caught.value.operands["path"] == path


def test_a_proof_is_no_longer_than_a_tree_of_exports_is_deep() -> None:
    longest = (bytes(32),) * IMPORT_PROOF_HASHES_MAX
    assert IMPORT_PROOF.decode(IMPORT_PROOF.encode(longest)) == longest
    with pytest.raises(MalformedEncoding):
        IMPORT_PROOF.decode(b"\x0d" + bytes(32 * 13))


def test_a_bundle_with_what_its_package_names_is_allowed() -> None:
    assert bundle_problem(BUNDLE, TINY) is None
    assert extrinsics_problem(PACKAGE, BUNDLE.extrinsics) is None


def test_what_forbids_a_package_forbids_its_bundle() -> None:
    empty = WorkBundle(package=replace(PACKAGE, items=()))
    assert "0 work items" in str(bundle_problem(empty, TINY))


def test_an_extrinsic_that_is_not_the_one_named_is_a_mismatch() -> None:
    assert problem_of(replace(BUNDLE, extrinsics=(b"ab",))) == (
        "extrinsic 1 of the bundle is not what the package names: 3 are named"
    )
    assert "extrinsic 1 " in problem_of(replace(BUNDLE, extrinsics=(b"ab", b"x", b"c")))
    assert problem_of(replace(BUNDLE, extrinsics=(b"ab", b"", b"x"))) == (
        "extrinsic 2 of the bundle is not what the package names: its hash is another"
    )


def test_segments_and_proofs_are_as_many_as_the_package_imports() -> None:
    assert "3 are named" in problem_of(replace(BUNDLE, import_segments=()))
    assert "it has 5 bytes" in problem_of(
        replace(BUNDLE, import_segments=(SEGMENTS[0], b"short", SEGMENTS[1]))
    )
    assert "3 are named" in problem_of(replace(BUNDLE, import_proofs=()))


def test_each_item_gets_its_own() -> None:
    assert import_count(PACKAGE) == 3
    assert extrinsics_by_item(BUNDLE) == ((b"ab", b""), (b"c",))
    assert imports_by_item(BUNDLE) == (SEGMENTS[:1], SEGMENTS[1:])
