from typing import Any

from msgspec.structs import replace
from tests.devnets.jam.stage import ECHO, PANIC, Echo, chain, work_package

from laneway.devnets.jam.model.refinery import EMPTY_SEGMENT, Refined, refined, reported
from laneway.devnets.jam.model.values import NULL_AUTHORIZER_HASH
from laneway.jam.bundle import WorkBundle
from laneway.jam.hashing import ZERO_HASH, blake2b
from laneway.jam.package import ImportSpec, WorkItem
from laneway.jam.report import Ok, PackageSpec, RefineLoad, SegmentRootLookupItem, WorkError
from laneway.jam.spec import REPORT_BYTES_MAX, SEGMENT_BYTES

PACKAGE = work_package(chain(0), b"\x02said", extrinsics=[b"one", b"two"], exports=2)
(ITEM,) = PACKAGE.items
PLAIN = replace(ITEM, payload=b"\0said", extrinsic=(), export_count=0)
NAME = blake2b(b"package")


def of(*items: WorkItem, **lists: Any) -> Refined:
    bundle = WorkBundle(package=replace(PACKAGE, items=items), **lists)
    return refined(bundle, NAME, {ECHO: Echo()})


def outcome(*items: WorkItem) -> list[Ok | WorkError]:
    return [result.result for result in of(*items).results]


def test_an_item_comes_to_its_output_its_exports_and_its_load() -> None:
    found = of(ITEM, extrinsics=(b"one", b"two"))
    (result,) = found.results
    assert result.result == Ok(b"\x02saidonetwo")
    assert result.payload_hash == blake2b(b"\x02said")
    assert result.refine_load == RefineLoad(
        gas_used=11, imports=0, extrinsic_count=2, extrinsic_size=6, exports=2
    )
    assert [len(segment) for segment in found.segments] == [SEGMENT_BYTES] * 2


def test_items_are_given_what_is_theirs() -> None:
    segment = b"seg." + bytes(SEGMENT_BYTES - 4)
    importing = replace(PLAIN, import_segments=(ImportSpec(NAME, 0),))
    both = of(
        importing,
        replace(ITEM, export_count=2),
        extrinsics=(b"1", b"2"),
        import_segments=(segment,),
    )
    assert [result.result for result in both.results] == [Ok(b"\0saidseg."), Ok(b"\x02said12")]
    assert both.results[0].refine_load.imports == 1


def test_an_item_of_an_unknown_code_has_bad_code() -> None:
    assert outcome(replace(PLAIN, service=99), replace(PLAIN, code_hash=ZERO_HASH)) == [
        WorkError.BAD_CODE,
        WorkError.BAD_CODE,
    ]


def test_an_item_that_fails_exports_as_many_empty_segments_as_it_said() -> None:
    found = of(replace(PLAIN, payload=PANIC, export_count=3))
    assert found.results[0].result is WorkError.PANIC
    assert found.segments == (EMPTY_SEGMENT,) * 3


def test_an_item_that_exports_another_number_than_it_said_has_failed() -> None:
    found = of(replace(PLAIN, payload=b"\x02", export_count=1))
    assert found.results[0].result is WorkError.BAD_EXPORTS
    assert found.segments == (EMPTY_SEGMENT,)


def test_outputs_of_all_items_together_are_bounded() -> None:
    half = replace(PLAIN, payload=bytes(REPORT_BYTES_MAX // 2))
    found = outcome(half, PLAIN, half, half)
    assert found == [
        Ok(half.payload),
        Ok(b"\0said"),
        WorkError.OUTPUT_OVERSIZE,
        WorkError.OUTPUT_OVERSIZE,
    ]


def test_a_report_says_all_of_it() -> None:
    bundle = WorkBundle(package=PACKAGE, extrinsics=(b"one", b"two"))
    found = refined(bundle, NAME, {ECHO: Echo()})
    spec = PackageSpec(hash=NAME, length=1, erasure_root=NAME, exports_root=NAME, exports_count=2)
    lookup = SegmentRootLookupItem(NAME, ZERO_HASH)
    report = reported(bundle, spec, 1, found.results, [lookup])
    assert report.package_spec == spec
    assert (report.core_index, report.context) == (1, PACKAGE.context)
    assert report.authorizer_hash == NULL_AUTHORIZER_HASH
    assert report.results == found.results
    assert report.segment_root_lookup == (lookup,)
