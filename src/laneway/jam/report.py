"""Work reports: what guarantors say that a package came to, as values, bytes and hashes.

A work result is what the Gray Paper calls a work digest. Its outcome is either output or one of six
failures; no other number is read. Signatures and the chain's state are not looked at.
"""

from enum import Enum
from typing import Final, TypeAlias, assert_never

import msgspec

from laneway.jam.codec import (
    BLOB,
    HASH,
    NATURAL,
    U16,
    U32,
    U64,
    Codec,
    Many,
    Reader,
    Record,
)
from laneway.jam.hashing import blake2b
from laneway.jam.package import REFINE_CONTEXT, RefineContext


class PackageSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What must be available before a report counts, and the roots that prove it."""

    hash: bytes
    """Of the work package."""
    length: int
    """Of the bundle, in bytes."""
    erasure_root: bytes
    exports_root: bytes
    exports_count: int


class RefineLoad(msgspec.Struct, frozen=True):
    """What refining one item used."""

    gas_used: int = 0
    imports: int = 0
    extrinsic_count: int = 0
    extrinsic_size: int = 0
    exports: int = 0


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
    service_id: int
    code_hash: bytes
    payload_hash: bytes
    accumulate_gas: int
    result: Outcome
    refine_load: RefineLoad = RefineLoad()


class SegmentRootLookupItem(msgspec.Struct, frozen=True):
    """The root of the segments that a package exported."""

    work_package_hash: bytes
    segment_tree_root: bytes


class WorkReport(msgspec.Struct, frozen=True, kw_only=True):
    package_spec: PackageSpec
    context: RefineContext
    core_index: int
    authorizer_hash: bytes
    auth_gas_used: int = 0
    auth_output: bytes = b""
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

    def read(self, reader: Reader) -> Outcome:
        number = reader.byte()
        if number == 0:
            return Ok(BLOB.read(reader))
        if number > len(WorkError):
            raise reader.trouble(f"{number} is no outcome of a work item")
        return WorkError(number)


OUTCOME: Final[Codec[Outcome]] = _Outcome()
PACKAGE_SPEC: Final = Record(
    PackageSpec, hash=HASH, length=U32, erasure_root=HASH, exports_root=HASH, exports_count=U16
)
REFINE_LOAD: Final = Record(
    RefineLoad,
    gas_used=NATURAL,
    imports=NATURAL,
    extrinsic_count=NATURAL,
    extrinsic_size=NATURAL,
    exports=NATURAL,
)
WORK_RESULT: Final = Record(
    WorkResult,
    service_id=U32,
    code_hash=HASH,
    payload_hash=HASH,
    accumulate_gas=U64,
    result=OUTCOME,
    refine_load=REFINE_LOAD,
)
SEGMENT_ROOT_LOOKUP_ITEM: Final = Record(
    SegmentRootLookupItem, work_package_hash=HASH, segment_tree_root=HASH
)
WORK_REPORT: Final = Record(
    WorkReport,
    package_spec=PACKAGE_SPEC,
    context=REFINE_CONTEXT,
    core_index=NATURAL,
    authorizer_hash=HASH,
    auth_gas_used=NATURAL,
    auth_output=BLOB,
    segment_root_lookup=Many(SEGMENT_ROOT_LOOKUP_ITEM),
    results=Many(WORK_RESULT),
)


def report_hash(report: WorkReport) -> bytes:
    return blake2b(WORK_REPORT.encode(report))


def output_bytes(report: WorkReport) -> int:
    """What the report counts for against W_R: its outputs and the authorizer's trace."""
    outcomes = (result.result for result in report.results)
    outputs = sum(len(outcome.output) for outcome in outcomes if isinstance(outcome, Ok))
    return len(report.auth_output) + outputs
