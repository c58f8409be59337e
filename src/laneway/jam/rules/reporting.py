"""The guarantees of a block (Gray Paper 0.7.2, §§11.4 and 11.5): which reports it puts on cores,
and which authorizers the cores take afterwards (§8).

The rules that each guarantee must keep are those of `checks`; here they are asked, together with
what the guarantees of one block must be to one another. Nothing that goes in is changed. Disputes
and assurances of the same block come before this.
"""

from collections.abc import Iterable, Set

import msgspec

from laneway.jam.extrinsic import ReportGuarantee
from laneway.jam.report import WorkReport
from laneway.jam.rotation import guarantee_slots, guarantors_for
from laneway.jam.rules.assuring import PendingReport
from laneway.jam.rules.checks import (
    CHECKS,
    CheckContext,
    RecentBlock,
    ReportedPackage,
    ReportFault,
    ReportingState,
    check_signatures,
)
from laneway.jam.rules.queueing import QueueState
from laneway.jam.spec import AUTHORIZER_POOL_COUNT_MAX, ChainSpec


class ReportedGuarantees(msgspec.Struct, frozen=True, kw_only=True):
    """What the guarantees of a block come to."""

    pending: tuple[PendingReport | None, ...]
    """ρ′: what occupies each core after this block."""
    reported: tuple[ReportedPackage, ...]
    """What the chain remembers of the block, in ascending order of the packages."""
    reporters: tuple[bytes, ...]
    """The keys of all who signed, each once, in ascending order."""


class GuaranteesRefused(msgspec.Struct, frozen=True):
    """A block with these guarantees is invalid."""

    fault: ReportFault
    place: int
    """Which of the guarantees breaks the rule."""


def packages_in_pipeline(
    recent: Iterable[RecentBlock],
    queue: QueueState,
    pending: Iterable[PendingReport | None],
) -> frozenset[bytes]:
    """The packages that may not be reported again: lately reported, accumulated, ready, on a core.

    `pending` is ρ, from before the block: what its assurances make available is in the pipeline."""
    reported = (package.hash for block in recent for package in block.reported)
    accumulated = (package for block in queue.accumulated for package in block)
    ready = (one.report.package_spec.hash for records in queue.ready for one in records)
    waiting = (one.report.package_spec.hash for one in pending if one is not None)
    return frozenset((*reported, *accumulated, *ready, *waiting))


def judge_guarantees(
    state: ReportingState,
    guarantees: tuple[ReportGuarantee, ...],
    slot: int,
    known_packages: Set[bytes],
    spec: ChainSpec,
) -> ReportedGuarantees | GuaranteesRefused:
    """Say what the cores hold once the block at this slot has taken its guarantees, or which rule
    one of them breaks; `known_packages` is what `packages_in_pipeline` says."""
    bench = _bench(state, guarantees, slot, known_packages, spec)
    refused = _refused_together(guarantees) or _refused_alone(bench, guarantees)
    if refused is not None:
        return refused
    pending = list(state.pending)
    for one in guarantees:
        pending[one.report.core_index] = PendingReport(one.report, slot)
    signers = {
        bench.guarantors_of(one).keys[signature.validator_index]
        for one in guarantees
        for signature in one.signatures
    }
    return ReportedGuarantees(
        pending=tuple(pending),
        reported=tuple(sorted(map(_package, guarantees), key=lambda package: package.hash)),
        reporters=tuple(sorted(signers)),
    )


def _bench(
    state: ReportingState,
    guarantees: tuple[ReportGuarantee, ...],
    slot: int,
    known_packages: Set[bytes],
    spec: ChainSpec,
) -> CheckContext:
    allowed = guarantee_slots(slot, spec)
    slots = {one.slot // spec.rotation_slots: one.slot for one in guarantees if one.slot in allowed}
    packages = [package for block in state.recent for package in block.reported]
    packages += map(_package, guarantees)
    return CheckContext(
        state=state,
        slot=slot,
        spec=spec,
        known_packages=known_packages,
        guarantors={
            rotation: guarantors_for(state.standing, slot, named, spec)
            for rotation, named in slots.items()
        },
        recent={block.header_hash: block for block in state.recent},
        packages=frozenset(package.hash for package in packages),
        exports=frozenset((package.hash, package.exports_root) for package in packages),
    )


def _package(guarantee: ReportGuarantee) -> ReportedPackage:
    package = guarantee.report.package_spec
    return ReportedPackage(package.hash, package.exports_root)


def _refused_together(guarantees: tuple[ReportGuarantee, ...]) -> GuaranteesRefused | None:
    """Guarantees stand in the order of their cores, one for each, and report no package twice."""
    core_before = -1
    packages: set[bytes] = set()
    for place, one in enumerate(guarantees):
        if one.report.core_index <= core_before:
            return GuaranteesRefused(ReportFault.OUT_OF_ORDER_GUARANTEE, place)
        if one.report.package_spec.hash in packages:
            return GuaranteesRefused(ReportFault.DUPLICATE_PACKAGE, place)
        core_before = one.report.core_index
        packages.add(one.report.package_spec.hash)
    return None


def _refused_alone(
    bench: CheckContext, guarantees: tuple[ReportGuarantee, ...]
) -> GuaranteesRefused | None:
    # No signature is verified before every other rule was asked of every guarantee.
    for checks in (CHECKS, (check_signatures,)):
        for place, one in enumerate(guarantees):
            for check in checks:
                fault = check(bench, one)
                if fault is not None:
                    return GuaranteesRefused(fault, place)
    return None


def next_pools(
    pools: tuple[tuple[bytes, ...], ...],
    queues: tuple[tuple[bytes, ...], ...],
    reports: Iterable[WorkReport],
    slot: int,
) -> tuple[tuple[bytes, ...], ...]:
    """α′: the pools after the block of this slot, with these reports in its guarantees.

    `queues` are φ′, from after the block's accumulation. Every block takes one authorizer from
    each queue, the next in turn by its slot, and the oldest of a full pool gives way."""
    used = {report.core_index: report.authorizer_hash for report in reports}
    return tuple(
        (*_without(pool, used.get(core)), queue[slot % len(queue)])[-AUTHORIZER_POOL_COUNT_MAX:]
        for core, (pool, queue) in enumerate(zip(pools, queues, strict=True))
    )


def _without(pool: tuple[bytes, ...], used: bytes | None) -> tuple[bytes, ...]:
    """The pool without one entry of the used authorizer, the oldest if there are several."""
    if used is None:
        return pool
    place = pool.index(used)
    return pool[:place] + pool[place + 1 :]
