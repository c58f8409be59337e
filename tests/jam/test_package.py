"""Work packages: their bytes, their names, and what no guarantor would take."""

from random import Random

import pytest
from msgspec.structs import replace
from tests.jam import objects

from laneway.jam.codec import record
from laneway.jam.errors import ForbiddenPackage, Unencodable
from laneway.jam.hashing import blake2b
from laneway.jam.package import (
    IMPORT_SPEC,
    REFINE_CONTEXT,
    REFINE_CONTEXT_V080,
    SEGMENT_FOOTPRINT_BYTES,
    WORK_ITEM,
    WORK_PACKAGE,
    WORK_PACKAGE_V080,
    ExtrinsicSpec,
    GrayPaper,
    ImportSpec,
    WorkItem,
    WorkPackage,
    authorizer_hash,
    bundle_bytes_bound,
    package_hash,
    package_problem,
    work_package_codec,
)
from laneway.jam.spec import (
    ACCUMULATE_GAS_MAX,
    BUNDLE_BYTES_MAX,
    EXTRINSIC_COUNT_MAX,
    FULL,
    IMPORT_COUNT_MAX,
    TINY,
    WORK_ITEM_COUNT_MAX,
)

IMPORT = ImportSpec(bytes(32), 0)


def item(
    refine_gas: int = 1,
    accumulate_gas: int = 1,
    *,
    exports: int = 0,
    imports: tuple[ImportSpec, ...] = (),
    extrinsic: tuple[ExtrinsicSpec, ...] = (),
    payload: bytes = b"",
) -> WorkItem:
    return WorkItem(
        service=1,
        code_hash=bytes(32),
        refine_gas_limit=refine_gas,
        accumulate_gas_limit=accumulate_gas,
        export_count=exports,
        payload=payload,
        import_segments=imports,
        extrinsic=extrinsic,
    )


def package(*items: WorkItem) -> WorkPackage:
    return replace(objects.work_package(Random(1)), items=items)


@pytest.mark.parametrize("seed", range(20))
def test_a_package_comes_back_from_its_bytes(seed: int) -> None:
    source = Random(seed)
    made = objects.work_package(source)
    assert WORK_PACKAGE.decode(WORK_PACKAGE.encode(made)) == made
    newer = objects.work_package_v080(source)
    assert WORK_PACKAGE_V080.decode(WORK_PACKAGE_V080.encode(newer)) == newer


def test_the_fields_of_a_context_stand_in_their_order() -> None:
    context = replace(
        objects.refine_context(Random(1)), lookup_anchor_slot=7, prerequisites=(bytes(32),)
    )
    assert REFINE_CONTEXT.encode(context) == (
        context.anchor
        + context.state_root
        + context.beefy_root
        + context.lookup_anchor
        + b"\x07\x00\x00\x00\x01"
        + bytes(32)
    )


def test_the_fields_of_a_newer_context_stand_in_their_order() -> None:
    context = replace(
        objects.refine_context_v080(Random(1)),
        anchor_slot=3,
        lookup_anchor_slot=7,
        prerequisites=(),
    )
    assert REFINE_CONTEXT_V080.encode(context) == (
        context.anchor
        + b"\x03\x00\x00\x00"
        + context.state_root
        + context.beefy_root
        + context.lookup_anchor
        + b"\x07\x00\x00\x00"
        + context.lookup_anchor_state_root
        + b"\x00"
    )


def test_a_context_of_another_version_is_never_written_without_its_fields() -> None:
    older = objects.work_package(Random(1))
    newer = objects.work_package_v080(Random(1))
    with pytest.raises(Unencodable):
        WORK_PACKAGE.encode(newer)
    with pytest.raises(Unencodable):
        WORK_PACKAGE_V080.encode(older)


def test_an_item_is_written_field_by_field() -> None:
    made = replace(
        item(2, 3, exports=4, payload=b"ab"),
        import_segments=(ImportSpec(b"r" * 32, 5, True),),
        extrinsic=(ExtrinsicSpec(b"h" * 32, 6),),
    )
    assert WORK_ITEM.encode(made) == (
        b"\x01\x00\x00\x00"
        + bytes(32)
        + b"\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x04\x00"
        + b"\x02ab\x01"
        + b"r" * 32
        + b"\x05\x80\x01"
        + b"h" * 32
        + b"\x06\x00\x00\x00"
    )


@pytest.mark.parametrize(("index", "by_package", "said"), [(0, False, 0), (0x7FFF, True, 0xFFFF)])
def test_the_highest_bit_of_an_index_says_that_the_root_is_a_package(
    index: int, by_package: bool, said: int
) -> None:
    made = ImportSpec(bytes(32), index, by_package)
    raw = IMPORT_SPEC.encode(made)
    assert raw[32:] == said.to_bytes(2, "little")
    assert IMPORT_SPEC.decode(raw) == made


@pytest.mark.parametrize("index", [-1, 1 << 15])
def test_an_index_of_more_than_15_bits_has_no_encoding(index: int) -> None:
    with pytest.raises(Unencodable):
        IMPORT_SPEC.encode(ImportSpec(bytes(32), index))


def test_a_package_is_named_by_the_hash_of_its_bytes() -> None:
    made = objects.work_package(Random(3))
    assert package_hash(made) == blake2b(WORK_PACKAGE.encode(made))
    newer = objects.work_package_v080(Random(3))
    assert package_hash(newer, GrayPaper.V0_8_0) == blake2b(WORK_PACKAGE_V080.encode(newer))


def test_each_version_has_its_codec() -> None:
    assert work_package_codec() is work_package_codec(GrayPaper.V0_7_2) is WORK_PACKAGE
    assert work_package_codec(GrayPaper.V0_8_0) is WORK_PACKAGE_V080


def test_an_authorizer_is_named_by_its_code_and_its_configuration() -> None:
    assert authorizer_hash(b"c" * 32, b"config") == blake2b(b"c" * 32 + b"config")


def test_an_extrinsic_is_named_by_its_hash_and_length() -> None:
    encoded = record(ExtrinsicSpec).encode(ExtrinsicSpec(bytes(32), 258))
    assert encoded == bytes(32) + b"\x02\x01\x00\x00"


def test_a_full_set_of_imports_and_a_payload_just_fit_into_a_bundle() -> None:
    """The bound was chosen for these: 3,072 imports, 4 KiB of payload, 64 bytes of each token."""
    full = replace(
        package(item(imports=(IMPORT,) * IMPORT_COUNT_MAX, payload=bytes(4_096))),
        authorization=bytes(64),
        authorizer_config=bytes(64),
    )
    assert bundle_bytes_bound(full) == BUNDLE_BYTES_MAX
    assert package_problem(full, FULL) is None
    above = replace(full, authorization=bytes(65))
    problem = package_problem(above, FULL)
    assert problem is not None
    assert problem.operands["what"] == "bytes of its bundle"


def test_extrinsics_count_by_the_length_that_is_named() -> None:
    made = package(item(extrinsic=(ExtrinsicSpec(bytes(32), 1_000),), imports=(IMPORT,)))
    tokens = len(made.authorization) + len(made.authorizer_config)
    assert bundle_bytes_bound(made) == tokens + 1_000 + SEGMENT_FOOTPRINT_BYTES


SPEC_ONE = ExtrinsicSpec(bytes(32), 1)
MOST = TINY.refine_gas_max - 1
FORBIDDEN = {
    "work items": (
        (item(),) * WORK_ITEM_COUNT_MAX,
        (item(),) * (WORK_ITEM_COUNT_MAX + 1),
    ),
    "imported segments": (
        (item(imports=(IMPORT,) * 3_071), item(imports=(IMPORT,))),
        (item(imports=(IMPORT,) * 3_072), item(imports=(IMPORT,))),
    ),
    "exported segments": (
        (item(exports=IMPORT_COUNT_MAX - 1), item(exports=1)),
        (item(exports=IMPORT_COUNT_MAX), item(exports=1)),
    ),
    "extrinsics": (
        (item(extrinsic=(SPEC_ONE,) * EXTRINSIC_COUNT_MAX),),
        (item(extrinsic=(SPEC_ONE,) * EXTRINSIC_COUNT_MAX), item(extrinsic=(SPEC_ONE,))),
    ),
    "gas to refine": ((item(MOST - 1), item(1)), (item(MOST), item(1))),
    "gas to accumulate": (
        (item(1, ACCUMULATE_GAS_MAX - 2), item(1, 1)),
        (item(1, ACCUMULATE_GAS_MAX - 1), item(1, 1)),
    ),
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_what_stands_at_its_bound_is_allowed_and_one_more_is_not(what: str) -> None:
    allowed, forbidden = FORBIDDEN[what]
    assert package_problem(package(*allowed), TINY) is None
    problem = package_problem(package(*forbidden), TINY)
    assert isinstance(problem, ForbiddenPackage)
    assert problem.operands["what"] == what
    given, most = problem.operands["given"], problem.operands["most"]
    assert isinstance(given, int)
    assert given == int(most) + 1


def test_a_package_without_items_is_forbidden() -> None:
    problem = package_problem(package(), TINY)
    assert str(problem) == "the package has 0 work items; 1 to 16 are allowed"


def test_the_gas_to_refine_depends_on_the_chain() -> None:
    assert package_problem(package(item(TINY.refine_gas_max)), FULL) is None
    assert package_problem(package(item(FULL.refine_gas_max)), FULL) is not None
