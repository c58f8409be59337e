"""Work reports: their bytes, their name, and what an item can come to."""

from random import Random

import pytest
from msgspec.structs import replace
from tests.jam import objects

from laneway.jam.codec import record
from laneway.jam.errors import MalformedEncoding
from laneway.jam.hashing import blake2b
from laneway.jam.report import (
    OUTCOME,
    WORK_REPORT,
    WORK_RESULT,
    Ok,
    PackageSpec,
    RefineLoad,
    SegmentRootLookupItem,
    WorkError,
    output_bytes,
    report_hash,
)


@pytest.mark.parametrize("seed", range(20))
def test_a_report_comes_back_from_its_bytes(seed: int) -> None:
    made = objects.work_report(Random(seed))
    assert WORK_REPORT.decode(WORK_REPORT.encode(made)) == made


@pytest.mark.parametrize("error", WorkError)
def test_each_failure_is_its_number(error: WorkError) -> None:
    assert OUTCOME.encode(error) == bytes((error.value,))
    assert OUTCOME.decode(bytes((error.value,))) is error


def test_output_stands_behind_a_zero_and_its_length() -> None:
    assert OUTCOME.encode(Ok(b"abc")) == b"\x00\x03abc"
    assert OUTCOME.decode(b"\x00\x03abc") == Ok(b"abc")


@pytest.mark.parametrize("number", [7, 8, 0x80, 0xFF])
def test_no_other_outcome_is_read(number: int) -> None:
    with pytest.raises(MalformedEncoding) as caught:
        OUTCOME.decode(bytes((number,)), "result")
    assert str(caught.value) == f"result, byte 1: {number} is no outcome of a work item"


def test_an_error_leads_to_the_outcome() -> None:
    result = replace(objects.work_result(Random(1)), result=WorkError.PANIC)
    raw = bytearray(WORK_RESULT.encode(result))
    raw[4 + 32 + 32 + 8] = 9
    with pytest.raises(MalformedEncoding) as caught:
        WORK_RESULT.decode(bytes(raw), "digest")
    assert caught.value.operands["path"] == "digest.result"


def test_a_load_is_five_naturals() -> None:
    assert record(RefineLoad).encode(RefineLoad(1, 2, 3, 128, 5)) == b"\x01\x02\x03\x80\x80\x05"


def test_a_report_begins_with_what_must_be_available() -> None:
    made = objects.work_report(Random(1))
    spec = PackageSpec(
        hash=b"h" * 32, length=258, erasure_root=b"e" * 32, exports_root=b"x" * 32, exports_count=3
    )
    raw = WORK_REPORT.encode(replace(made, package_spec=spec))
    begin = b"h" * 32 + b"\x02\x01\x00\x00" + b"e" * 32 + b"x" * 32 + b"\x03\x00"
    assert record(PackageSpec).encode(spec) == begin
    assert raw.startswith(begin)


def test_a_lookup_is_two_hashes() -> None:
    item = SegmentRootLookupItem(b"p" * 32, b"r" * 32)
    assert record(SegmentRootLookupItem).encode(item) == b"p" * 32 + b"r" * 32


def test_a_report_is_named_by_the_hash_of_its_bytes() -> None:
    made = objects.work_report(Random(2))
    assert report_hash(made) == blake2b(WORK_REPORT.encode(made))


def test_a_report_counts_by_its_outputs_and_the_trace() -> None:
    result = objects.work_result(Random(1))
    made = replace(
        objects.work_report(Random(1)),
        auth_output=b"12345",
        results=(
            replace(result, result=Ok(b"123")),
            replace(result, result=WorkError.PANIC),
            replace(result, result=Ok(b"1")),
        ),
    )
    assert output_bytes(made) == 9
