"""Work reports: what guarantors say that a package came to, as values, bytes and hashes.

A work result is what the Gray Paper calls a work digest. Its outcome is either output or one of six
failures; no other number is read. Signatures and the chain's state are not looked at.
"""

from enum import Enum
from typing import Final, TypeAlias, assert_never

import msgspec

from laneway.jam.codec import (
    BLOB,
    ByteReader,
    Bytes,
    Codec,
    Hash,
    Many,
    Natural,
    Uint16,
    Uint32,
    Uint64,
    record,
)
from laneway.jam.hashing import blake2b
from laneway.jam.package import REFINE_CONTEXT, RefineContext


class PackageSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What must be available before a report counts, and the roots that prove it."""

    hash: Hash
    """Of the work package."""
    length: Uint32
    """Of the bundle, in bytes."""
    erasure_root: Hash
    exports_root: Hash
    exports_count: Uint16


class RefineLoad(msgspec.Struct, frozen=True):
    """What refining one item used."""

    gas_used: Natural = 0
    imports: Natural = 0
    extrinsic_count: Natural = 0
    extrinsic_size: Natural = 0
    exports: Natural = 0


class Ok(msgspec.Struct, frozen=True):
    output: bytes


class WorkError(Enum):
    """Why an item has no output; the value is its number in an encoding."""

    OUT_OF_GAS = 1
    PANIC = 2
    BAD_EXPORTS = 3
    OUTPUT_OVERSIZE = 4
    BAD_CODE = 5
    CODE_OVERSIZE = 6


Outcome: TypeAlias = Ok | WorkError


class WorkResult(msgspec.Struct, frozen=True, kw_only=True):
    service_id: Uint32
    code_hash: Hash
    payload_hash: Hash
    accumulate_gas: Uint64
    result: Outcome
    refine_load: RefineLoad = RefineLoad()


class SegmentRootLookupItem(msgspec.Struct, frozen=True):
    """The root of the segments that a package exported."""

    work_package_hash: Hash
    segment_tree_root: Hash


class WorkReport(msgspec.Struct, frozen=True, kw_only=True):
    package_spec: PackageSpec
    context: RefineContext
    core_index: Natural
    authorizer_hash: Hash
    auth_gas_used: Natural = 0
    auth_output: Bytes = b""
    segment_root_lookup: tuple[SegmentRootLookupItem, ...] = ()
    results: tuple[WorkResult, ...]


class _Outcome(Codec[Outcome]):
    def write(self, out: bytearray, value: Outcome) -> None:
        match value:
            case Ok(output=output):
                out.append(0)
                BLOB.write(out, output)
            case WorkError():
                out.append(value.value)
            case _:
                assert_never(value)

    def read(self, reader: ByteReader) -> Outcome:
        number = reader.byte()
        if number == 0:
            return Ok(BLOB.read(reader))
        if number > len(WorkError):
            raise reader.trouble(f"{number} is no outcome of a work item")
        return WorkError(number)


OUTCOME: Final[Codec[Outcome]] = _Outcome()
WORK_RESULT: Final = record(WorkResult, result=OUTCOME)
WORK_REPORT: Final = record(WorkReport, context=REFINE_CONTEXT, results=Many(WORK_RESULT))


def report_hash(report: WorkReport) -> bytes:
    return blake2b(WORK_REPORT.encode(report))


def output_bytes(report: WorkReport) -> int:
    """What the report counts for against W_R: its outputs and the authorizer's trace."""
    outcomes = (result.result for result in report.results)
    outputs = sum(len(outcome.output) for outcome in outcomes if isinstance(outcome, Ok))
    return len(report.auth_output) + outputs
