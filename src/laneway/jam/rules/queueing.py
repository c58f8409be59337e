"""What waits for accumulation (Gray Paper 0.7.2, §§12.1 to 12.3): the ready queue, the history, and
the rounds that the gas of a block allows.

`plan` says which reports can be accumulated in a block and in what order, `settle` what the queue
and the history are once some of them were. How many is not decided here: it depends on gas, and
what a service does with a report is its own.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import accumulate, takewhile
from typing import Final

import msgspec

from laneway.jam.report import WorkReport
from laneway.jam.service.interface import Operand, operand_of
from laneway.jam.spec import ACCUMULATE_GAS_MAX, FULL, TINY, ChainSpec


class ReadyRecord(msgspec.Struct, frozen=True):
    """An available report and the packages it waits for."""

    report: WorkReport
    dependencies: tuple[bytes, ...]
    """In ascending order, without those that were accumulated."""


class QueueState(msgspec.Struct, frozen=True, kw_only=True):
    """What accumulation keeps from one block to the next."""

    slot: int
    """τ: of the latest block."""
    ready: tuple[tuple[ReadyRecord, ...], ...]
    """ω: for each slot of an epoch, by its phase, what became available in it and waits."""
    accumulated: tuple[tuple[bytes, ...], ...]
    """ξ: for as many blocks as an epoch has slots, the packages accumulated in each, the latest
    block last, the packages in ascending order."""


class AccumulationPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What can be accumulated in a block, and what of the new reports cannot be at once."""

    reports: tuple[WorkReport, ...]
    """R*: the order in which they are accumulated, as far as gas goes."""
    queued: tuple[ReadyRecord, ...]
    """R^Q: the new reports that have or had dependencies."""


def empty_queue(slot: int, spec: ChainSpec) -> QueueState:
    nothing = ((),) * spec.epoch_slots
    return QueueState(slot=slot, ready=nothing, accumulated=nothing)


def package_hashes(reports: Iterable[WorkReport]) -> tuple[bytes, ...]:
    """P: the packages of these reports, each once, in ascending order."""
    return tuple(sorted({report.package_spec.hash for report in reports}))


def dependencies(report: WorkReport) -> tuple[bytes, ...]:
    """D: the packages that must be accumulated before this report is, in ascending order."""
    exporters = (item.work_package_hash for item in report.segment_root_lookup)
    return tuple(sorted({*report.context.prerequisites, *exporters}))


def edited(records: Iterable[ReadyRecord], done: Set[bytes]) -> tuple[ReadyRecord, ...]:
    """E: the records without those whose package is done, waiting only for what is not."""
    return tuple(
        _without(record, done) for record in records if record.report.package_spec.hash not in done
    )


def _without(record: ReadyRecord, done: Set[bytes]) -> ReadyRecord:
    if done.isdisjoint(record.dependencies):
        return record
    left = tuple(package for package in record.dependencies if package not in done)
    return ReadyRecord(record.report, left)


def unlocked(records: Sequence[ReadyRecord]) -> tuple[WorkReport, ...]:
    """Q: the records that can be accumulated, those first that wait for nothing, then those that
    wait only for them, and so on. Reports that wait for one another in a ring never come."""
    waiting: dict[bytes, list[int]] = {}
    left = [len(record.dependencies) for record in records]
    for place, record in enumerate(records):
        for package in record.dependencies:
            waiting.setdefault(package, []).append(place)
    found: list[WorkReport] = []
    done: set[bytes] = set()
    wave = [place for place, count in enumerate(left) if not count]
    # Each dependency is taken off once, so that a long chain costs no more than a broad one.
    while wave:
        reports = [records[place].report for place in wave]
        found += reports
        packages = package_hashes(reports)
        done.update(packages)
        freed: list[int] = []
        for package in packages:
            for place in waiting.get(package, ()):
                left[place] -= 1
                if not left[place]:
                    freed.append(place)
        wave = [place for place in sorted(freed) if _package(records[place]) not in done]
    return tuple(found)


def _package(record: ReadyRecord) -> bytes:
    return record.report.package_spec.hash


def plan(
    state: QueueState, available: Iterable[WorkReport], slot: int, spec: ChainSpec
) -> AccumulationPlan:
    """Say what can be accumulated in the block of this slot, with these newly available reports."""
    history = frozenset(package for block in state.accumulated for package in block)
    immediate: list[WorkReport] = []
    dependent: list[ReadyRecord] = []
    for report in available:
        needed = dependencies(report)
        if needed:
            dependent.append(ReadyRecord(report, needed))
        else:
            immediate.append(report)
    queued = edited(dependent, history)
    phase = slot % spec.epoch_slots
    # The oldest slot of the epoch comes first: it is the one that this block's slot overwrites.
    turned = (*state.ready[phase:], *state.ready[:phase], queued)
    waiting = [record for records in turned for record in records]
    rest = unlocked(edited(waiting, frozenset(package_hashes(immediate))))
    return AccumulationPlan(reports=(*immediate, *rest), queued=queued)


def settle(
    state: QueueState, plan: AccumulationPlan, count: int, slot: int, spec: ChainSpec
) -> QueueState:
    """The queue and the history after a block that accumulated the first `count` of its plan.

    A record's place is the phase of the slot it became available in: it is dropped when that phase
    comes again, an epoch later, whether or not there was a block in it."""
    assert 0 <= count <= len(plan.reports)
    assert slot > state.slot
    latest = package_hashes(plan.reports[:count])
    done = frozenset(latest)
    ready = [edited(records, done) for records in state.ready]
    for skipped in range(min(slot - state.slot, spec.epoch_slots)):
        ready[(slot - skipped) % spec.epoch_slots] = ()
    ready[slot % spec.epoch_slots] = edited(plan.queued, done)
    return QueueState(slot=slot, ready=tuple(ready), accumulated=(*state.accumulated[1:], latest))


BLOCK_GAS: Final = {TINY.name: 20_000_000, FULL.name: 3_500_000_000}
"""G_T: what the blocks of a chain have for accumulation, by the chain's name."""


class ServiceTurn(msgspec.Struct, frozen=True, kw_only=True):
    """One service's part in a round."""

    service_id: int
    gas: int
    """All it may use: the limits of its results, and what it may use for nothing."""
    operands: tuple[Operand, ...]
    """In the order of the reports, and of the results in each."""


def block_gas(spec: ChainSpec, free: Mapping[int, int]) -> int:
    """What the first round may hand out; `free` is the gas of the services that always accumulate.

    Every core may bring a report with all the gas of one, so a chain never has less than that."""
    cores = ACCUMULATE_GAS_MAX * spec.core_count + sum(free.values())
    return max(BLOCK_GAS.get(spec.name, 0), cores)


def accumulate_gas(report: WorkReport) -> int:
    return sum(result.accumulate_gas for result in report.results)


def round_count(reports: Sequence[WorkReport], gas: int) -> int:
    """How many of the reports a round takes: as many from the first on as their limits allow."""
    totals = accumulate(accumulate_gas(report) for report in reports)
    return sum(1 for _ in takewhile(lambda total: total <= gas, totals))


def turns(reports: Iterable[WorkReport], free: Mapping[int, int]) -> tuple[ServiceTurn, ...]:
    """The services that accumulate in a round of these reports, in ascending order.

    Only the first round has `free` gas in it: a service with some accumulates without a report."""
    operands: dict[int, list[Operand]] = {service: [] for service in free}
    for report in reports:
        for result in report.results:
            operands.setdefault(result.service_id, []).append(operand_of(report, result))
    return tuple(
        ServiceTurn(
            service_id=service,
            gas=free.get(service, 0) + sum(one.gas for one in operands[service]),
            operands=tuple(operands[service]),
        )
        for service in sorted(operands)
    )
