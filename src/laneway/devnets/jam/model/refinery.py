"""What a guarantor does with a package: refine its items, and say in a report what they came to.

This is Gray Paper 0.7.2, §14.4, with a service's `refine` in the place of its code. What
its authorizer does not let pass is refused before (`submissions`); an authorizer leaves no trace.
Which authorizers a core takes is the chain's to judge.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from laneway.jam.bundle import WorkBundle, extrinsics_by_item, imports_by_item
from laneway.jam.hashing import blake2b
from laneway.jam.package import WorkItem, authorizer_hash
from laneway.jam.report import (
    Ok,
    PackageSpec,
    RefineLoad,
    SegmentRootLookupItem,
    WorkError,
    WorkReport,
    WorkResult,
)
from laneway.jam.service.interface import RefineInput, RefineOutput, Service
from laneway.jam.spec import REPORT_BYTES_MAX, SEGMENT_BYTES

EMPTY_SEGMENT = bytes(SEGMENT_BYTES)


class Refined(Struct, frozen=True):
    """What one guarantor found."""

    results: tuple[WorkResult, ...]
    segments: tuple[bytes, ...]
    """All exports, one item's after the other's."""


def refined(bundle: WorkBundle, package_hash: bytes, services: Mapping[int, Service]) -> Refined:
    results: list[WorkResult] = []
    segments: list[bytes] = []
    output_bytes = 0
    extrinsics, imports = extrinsics_by_item(bundle), imports_by_item(bundle)
    for index, item in enumerate(bundle.package.items):
        request = RefineInput(
            service=item.service,
            payload=item.payload,
            extrinsics=extrinsics[index],
            imports=imports[index],
            context=bundle.package.context,
            package_hash=package_hash,
            item_index=index,
            gas_limit=item.refine_gas_limit,
        )
        output = _bounded(_refined_item(item, request, services), item, output_bytes)
        if isinstance(output.result, Ok):
            output_bytes += len(output.result.output)
        results.append(_result(item, request, output))
        segments += output.exports
    return Refined(tuple(results), tuple(segments))


def _refined_item(
    item: WorkItem, request: RefineInput, services: Mapping[int, Service]
) -> RefineOutput:
    service = services.get(item.service)
    if service is None or service.code_hash != item.code_hash:
        return RefineOutput(result=WorkError.BAD_CODE, gas_used=0)
    return service.refine(request)


def _bounded(output: RefineOutput, item: WorkItem, output_bytes: int) -> RefineOutput:
    """An item that failed, or exports another number of segments than it said, exports that many
    empty ones: what others import stands where the package says."""
    result = output.result
    if isinstance(result, Ok):
        if output_bytes + len(result.output) > REPORT_BYTES_MAX:
            result = WorkError.OUTPUT_OVERSIZE
        elif len(output.exports) != item.export_count:
            result = WorkError.BAD_EXPORTS
    exports = output.exports
    if isinstance(result, WorkError):
        exports = (EMPTY_SEGMENT,) * item.export_count
    return RefineOutput(result=result, exports=exports, gas_used=output.gas_used)


def _result(item: WorkItem, request: RefineInput, output: RefineOutput) -> WorkResult:
    return WorkResult(
        service_id=item.service,
        code_hash=item.code_hash,
        payload_hash=blake2b(item.payload),
        accumulate_gas=item.accumulate_gas_limit,
        result=output.result,
        refine_load=RefineLoad(
            gas_used=output.gas_used,
            imports=len(request.imports),
            extrinsic_count=len(request.extrinsics),
            extrinsic_size=sum(map(len, request.extrinsics)),
            exports=item.export_count,
        ),
    )


def reported(
    bundle: WorkBundle,
    package: PackageSpec,
    core: int,
    results: Sequence[WorkResult],
    lookup: Sequence[SegmentRootLookupItem],
) -> WorkReport:
    made = bundle.package
    return WorkReport(
        package_spec=package,
        context=made.context,
        core_index=core,
        authorizer_hash=authorizer_hash(made.auth_code_hash, made.authorizer_config),
        segment_root_lookup=tuple(lookup),
        results=tuple(results),
    )
