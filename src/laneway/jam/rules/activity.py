"""What a block counts of its cores and services (Gray Paper 0.7.2, §13.2).

These numbers are of one block: nothing of the block before is added to them. The gas that services
used and the preimages that were provided are arguments, not computed here. What is counted of
validators over an epoch is not here.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from laneway.jam.codec import Natural
from laneway.jam.extrinsic import AvailAssurance
from laneway.jam.report import RefineLoad, WorkReport, WorkResult
from laneway.jam.rules.assuring import tally
from laneway.jam.spec import SEGMENT_BYTES, ChainSpec


class CoreActivity(msgspec.Struct, frozen=True, kw_only=True):
    da_load: Natural = 0
    """Bytes of bundles and segments that became available."""
    popularity: Natural = 0
    """Validators that assured the core's report."""
    imports: Natural = 0
    extrinsic_count: Natural = 0
    extrinsic_size: Natural = 0
    exports: Natural = 0
    bundle_size: Natural = 0
    gas_used: Natural = 0


class ServiceActivity(msgspec.Struct, frozen=True, kw_only=True):
    provided_count: Natural = 0
    provided_size: Natural = 0
    refinement_count: Natural = 0
    refinement_gas_used: Natural = 0
    imports: Natural = 0
    extrinsic_count: Natural = 0
    extrinsic_size: Natural = 0
    exports: Natural = 0
    accumulate_count: Natural = 0
    accumulate_gas_used: Natural = 0


class CountAndSum(msgspec.Struct, frozen=True):
    """How many of something a service had, and what they came to: bytes, or gas."""

    count: int
    amount: int


NOTHING = CountAndSum(0, 0)


def core_activity(
    reports: Iterable[WorkReport],
    available: Iterable[WorkReport],
    assurances: Iterable[AvailAssurance],
    spec: ChainSpec,
) -> tuple[CoreActivity, ...]:
    """Of every core: what the block reports on it, makes available from it, and assures of it."""
    reported = {report.core_index: report for report in reports}
    stored = {report.core_index: report for report in available}
    return tuple(
        _core(reported.get(core), stored.get(core), count)
        for core, count in enumerate(tally(assurances, spec))
    )


def _core(
    reported: WorkReport | None, available: WorkReport | None, popularity: int
) -> CoreActivity:
    loads = [result.refine_load for result in reported.results] if reported else []
    return CoreActivity(
        da_load=stored_bytes(available) if available else 0,
        popularity=popularity,
        **_moved(loads),
        bundle_size=reported.package_spec.length if reported else 0,
        gas_used=sum(load.gas_used for load in loads),
    )


def _moved(loads: list[RefineLoad]) -> dict[str, int]:
    """The totals of what goes into refining these and comes out of it."""
    names = ("imports", "extrinsic_count", "extrinsic_size", "exports")
    return {name: sum(getattr(load, name) for load in loads) for name in names}


def stored_bytes(report: WorkReport) -> int:
    """What validators keep of a package: its bundle, its segments, and a proof for every 64."""
    segments = -(-report.package_spec.exports_count * 65 // 64)
    return report.package_spec.length + SEGMENT_BYTES * segments


def service_activity(
    reports: Iterable[WorkReport],
    provided: Mapping[int, CountAndSum],
    accumulated: Mapping[int, CountAndSum],
) -> dict[int, ServiceActivity]:
    """Of every service that has any: results reported in the block, preimages provided to it, and
    results accumulated with the gas that took; in ascending order of the services."""
    refined: dict[int, list[WorkResult]] = {}
    for report in reports:
        for result in report.results:
            refined.setdefault(result.service_id, []).append(result)
    return {
        service: _service(
            refined.get(service, []),
            provided.get(service, NOTHING),
            accumulated.get(service, NOTHING),
        )
        for service in sorted({*refined, *provided, *accumulated})
    }


def _service(
    results: list[WorkResult], provided: CountAndSum, accumulated: CountAndSum
) -> ServiceActivity:
    loads = [result.refine_load for result in results]
    return ServiceActivity(
        provided_count=provided.count,
        provided_size=provided.amount,
        refinement_count=len(results),
        refinement_gas_used=sum(load.gas_used for load in loads),
        **_moved(loads),
        accumulate_count=accumulated.count,
        accumulate_gas_used=accumulated.amount,
    )


def accumulated_counts(reports: Iterable[WorkReport]) -> Counter[int]:
    """How many results of each service are in these reports, which were accumulated."""
    return Counter(result.service_id for report in reports for result in report.results)
