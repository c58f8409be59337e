"""The rules that a guarantee must keep (Gray Paper 0.7.2, §§11.1 and 11.4), one function for each.

A check names the rule that is broken, or says None. Three of them are the checks of a guarantee's
age that builders know by their names in `VerifyGuarantee`: `check_assignment` (checkAssignment),
`check_recent_block` (checkRecentBlock) and `check_time_slot_header` (checkTimeSlotHeader).
What guarantees of one block must be to one another is not asked here.
"""

from collections.abc import Callable, Mapping, Set
from enum import Enum
from itertools import pairwise
from typing import Final, TypeAlias

import msgspec

from laneway.jam.ed25519 import ZERO_KEY, verifies
from laneway.jam.extrinsic import ReportGuarantee
from laneway.jam.report import WorkReport, output_bytes, report_hash
from laneway.jam.rotation import Guarantors, ValidatorStanding, guarantee_slots
from laneway.jam.rules.assuring import PendingReport
from laneway.jam.spec import (
    ACCUMULATE_GAS_MAX,
    DEPENDENCY_COUNT_MAX,
    REPORT_BYTES_MAX,
    WORK_ITEM_COUNT_MAX,
    ChainSpec,
)
from laneway.jam.windows import lookup_slots

GUARANTEE_CONTEXT: Final = b"jam_guarantee"
"""X_G: what a guarantor's signature begins with."""
GUARANTOR_COUNT_MIN: Final = 2
"""How many of the three validators of a core must sign."""


class ReportFault(Enum):
    """The rule that a guarantee breaks; the values are the names of the public test vectors."""

    BAD_CORE_INDEX = "bad_core_index"
    OUT_OF_ORDER_GUARANTEE = "out_of_order_guarantee"
    MISSING_WORK_RESULTS = "missing_work_results"
    TOO_MANY_WORK_RESULTS = "too_many_work_results"
    """The vectors have no name for a report with more results than a package may have items."""
    WORK_REPORT_TOO_BIG = "work_report_too_big"
    TOO_MANY_DEPENDENCIES = "too_many_dependencies"
    WORK_REPORT_GAS_TOO_HIGH = "work_report_gas_too_high"
    INSUFFICIENT_GUARANTEES = "insufficient_guarantees"
    NOT_SORTED_OR_UNIQUE_GUARANTORS = "not_sorted_or_unique_guarantors"
    FUTURE_REPORT_SLOT = "future_report_slot"
    REPORT_EPOCH_BEFORE_LAST = "report_epoch_before_last"
    BAD_VALIDATOR_INDEX = "bad_validator_index"
    WRONG_ASSIGNMENT = "wrong_assignment"
    BANNED_VALIDATOR = "banned_validator"
    CORE_ENGAGED = "core_engaged"
    CORE_UNAUTHORIZED = "core_unauthorized"
    BAD_SERVICE_ID = "bad_service_id"
    BAD_CODE_HASH = "bad_code_hash"
    SERVICE_ITEM_GAS_TOO_LOW = "service_item_gas_too_low"
    ANCHOR_NOT_RECENT = "anchor_not_recent"
    BAD_STATE_ROOT = "bad_state_root"
    BAD_BEEFY_MMR_ROOT = "bad_beefy_mmr_root"
    LOOKUP_ANCHOR_NOT_RECENT = "lookup_anchor_not_recent"
    DUPLICATE_PACKAGE = "duplicate_package"
    DEPENDENCY_MISSING = "dependency_missing"
    SEGMENT_ROOT_LOOKUP_INVALID = "segment_root_lookup_invalid"
    BAD_SIGNATURE = "bad_signature"


class ReportedPackage(msgspec.Struct, frozen=True):
    hash: bytes
    exports_root: bytes


class RecentBlock(msgspec.Struct, frozen=True, kw_only=True):
    """What the chain remembers of one of its latest blocks."""

    header_hash: bytes
    beefy_root: bytes
    state_root: bytes
    reported: tuple[ReportedPackage, ...] = ()


class ServiceTerms(msgspec.Struct, frozen=True):
    """What a service asks of the results that are reported for it."""

    code_hash: bytes
    min_item_gas: int


class ReportingState(msgspec.Struct, frozen=True, kw_only=True):
    """What the guarantees of a block are judged by."""

    pending: tuple[PendingReport | None, ...]
    """ρ‡: what occupies each core after this block's assurances."""
    standing: ValidatorStanding
    """κ′, λ′, η′ and ψ′_O: the validators after this block's header was taken in."""
    recent: tuple[RecentBlock, ...]
    """β†: the latest blocks, oldest first; the newest has the state root that this block's header
    names."""
    authorizer_pools: tuple[tuple[bytes, ...], ...]
    """α: of each core, before this block."""
    services: Mapping[int, ServiceTerms]
    """δ: before this block."""
    ancestors: Mapping[bytes, int] | None = None
    """The slots of earlier headers by their hashes, for as long as a lookup anchor may be old. A
    judge that keeps no headers says None, and then a lookup anchor's age alone is judged."""


class CheckContext(msgspec.Struct, frozen=True, kw_only=True):
    """What the checks look things up in, made once for all guarantees of a block."""

    state: ReportingState
    slot: int
    spec: ChainSpec
    known_packages: Set[bytes]
    """Those that may not be reported again."""
    guarantors: Mapping[int, Guarantors]
    """By rotation: those who may sign, for every rotation that a guarantee may and does name."""
    recent: Mapping[bytes, RecentBlock]
    """By header hash."""
    packages: frozenset[bytes]
    """Those that this block or a recent one reports."""
    exports: frozenset[tuple[bytes, bytes]]
    """The same, each with the root of its segments."""

    def guarantors_of(self, guarantee: ReportGuarantee) -> Guarantors:
        return self.guarantors[guarantee.slot // self.spec.rotation_slots]


Check: TypeAlias = Callable[[CheckContext, ReportGuarantee], ReportFault | None]


def guarantee_message(report: WorkReport) -> bytes:
    """What the guarantors of a report sign."""
    return GUARANTEE_CONTEXT + report_hash(report)


def check_core(bench: CheckContext, guarantee: ReportGuarantee) -> ReportFault | None:
    if guarantee.report.core_index >= bench.spec.core_count:
        return ReportFault.BAD_CORE_INDEX
    return None


def check_shape(_: CheckContext, guarantee: ReportGuarantee) -> ReportFault | None:
    """What no report may be, whatever the chain's state is."""
    report = guarantee.report
    if not report.results:
        return ReportFault.MISSING_WORK_RESULTS
    if len(report.results) > WORK_ITEM_COUNT_MAX:
        return ReportFault.TOO_MANY_WORK_RESULTS
    if output_bytes(report) > REPORT_BYTES_MAX:
        return ReportFault.WORK_REPORT_TOO_BIG
    if len(report.segment_root_lookup) + len(report.context.prerequisites) > DEPENDENCY_COUNT_MAX:
        return ReportFault.TOO_MANY_DEPENDENCIES
    if sum(result.accumulate_gas for result in report.results) > ACCUMULATE_GAS_MAX:
        return ReportFault.WORK_REPORT_GAS_TOO_HIGH
    return None


def check_credential(_: CheckContext, guarantee: ReportGuarantee) -> ReportFault | None:
    """Two validators at least, in ascending order. There is no rule for more than three: no more
    are assigned to a core."""
    signers = [one.validator_index for one in guarantee.signatures]
    if len(signers) < GUARANTOR_COUNT_MIN:
        return ReportFault.INSUFFICIENT_GUARANTEES
    if any(before >= after for before, after in pairwise(signers)):
        return ReportFault.NOT_SORTED_OR_UNIQUE_GUARANTORS
    return None


def check_assignment(bench: CheckContext, guarantee: ReportGuarantee) -> ReportFault | None:
    """The guarantee is of this rotation or the one before, and its signers were at the core then.

    This is `checkAssignment`: with R slots in a rotation, a guarantee may be (slot mod R) + R slots
    old and no older, and what is older fails as ErrGReportEpochBeforeLast. The age is that of the
    guarantors' signatures and not of the package: they may sign it again."""
    if guarantee.slot > bench.slot:
        return ReportFault.FUTURE_REPORT_SLOT
    if guarantee.slot not in guarantee_slots(bench.slot, bench.spec):
        return ReportFault.REPORT_EPOCH_BEFORE_LAST
    guarantors = bench.guarantors_of(guarantee)
    signers = [one.validator_index for one in guarantee.signatures]
    if any(signer >= len(guarantors.keys) for signer in signers):
        return ReportFault.BAD_VALIDATOR_INDEX
    if any(guarantors.cores[signer] != guarantee.report.core_index for signer in signers):
        return ReportFault.WRONG_ASSIGNMENT
    if any(guarantors.keys[signer] == ZERO_KEY for signer in signers):
        # An offender's key was replaced by zero, for which anybody could sign.
        return ReportFault.BANNED_VALIDATOR
    return None


def check_place(bench: CheckContext, guarantee: ReportGuarantee) -> ReportFault | None:
    """The core is free, and its pool holds the report's authorizer."""
    core = guarantee.report.core_index
    if bench.state.pending[core] is not None:
        return ReportFault.CORE_ENGAGED
    if guarantee.report.authorizer_hash not in bench.state.authorizer_pools[core]:
        return ReportFault.CORE_UNAUTHORIZED
    return None


def check_services(bench: CheckContext, guarantee: ReportGuarantee) -> ReportFault | None:
    """Every result is of a service's present code, with the gas that the service asks for."""
    for result in guarantee.report.results:
        terms = bench.state.services.get(result.service_id)
        if terms is None:
            return ReportFault.BAD_SERVICE_ID
        if result.code_hash != terms.code_hash:
            return ReportFault.BAD_CODE_HASH
        if result.accumulate_gas < terms.min_item_gas:
            return ReportFault.SERVICE_ITEM_GAS_TOO_LOW
    return None


def check_recent_block(bench: CheckContext, guarantee: ReportGuarantee) -> ReportFault | None:
    """The anchor is one of the latest eight blocks, and its roots are as the report says.

    This is `checkRecentBlock`: an anchor that left those blocks fails as ErrGAnchorNotRecent (G15).
    It is counted in blocks: skipped slots do not age an anchor."""
    context = guarantee.report.context
    anchor = bench.recent.get(context.anchor)
    if anchor is None:
        return ReportFault.ANCHOR_NOT_RECENT
    if context.state_root != anchor.state_root:
        return ReportFault.BAD_STATE_ROOT
    if context.beefy_root != anchor.beefy_root:
        return ReportFault.BAD_BEEFY_MMR_ROOT
    return None


def check_time_slot_header(bench: CheckContext, guarantee: ReportGuarantee) -> ReportFault | None:
    """The lookup anchor is at most L slots old, and a block of this chain.

    This is `checkTimeSlotHeader`, which fails as ErrGReportEpochBeforeLast too: here it has a name
    of its own, because the remedy is another lookup anchor and not another signature."""
    context = guarantee.report.context
    if bench.slot not in lookup_slots(context.lookup_anchor_slot, bench.spec):
        return ReportFault.LOOKUP_ANCHOR_NOT_RECENT
    ancestors = bench.state.ancestors
    if ancestors is None or ancestors.get(context.lookup_anchor) == context.lookup_anchor_slot:
        return None
    return ReportFault.LOOKUP_ANCHOR_NOT_RECENT


def check_package(bench: CheckContext, guarantee: ReportGuarantee) -> ReportFault | None:
    """The package is new, and what it depends on is in this block or was reported lately."""
    report = guarantee.report
    if report.package_spec.hash in bench.known_packages:
        return ReportFault.DUPLICATE_PACKAGE
    if not bench.packages.issuperset(report.context.prerequisites):
        return ReportFault.DEPENDENCY_MISSING
    for item in report.segment_root_lookup:
        # A package that nobody reported has no root either: the vectors give both one name.
        if (item.work_package_hash, item.segment_tree_root) not in bench.exports:
            return ReportFault.SEGMENT_ROOT_LOOKUP_INVALID
    return None


def check_signatures(bench: CheckContext, guarantee: ReportGuarantee) -> ReportFault | None:
    """Every signer signed this report. The signers must have been found assigned before."""
    keys = bench.guarantors_of(guarantee).keys
    message = guarantee_message(guarantee.report)
    for one in guarantee.signatures:
        if not verifies(keys[one.validator_index], one.signature, message):
            return ReportFault.BAD_SIGNATURE
    return None


CHECKS: Final[tuple[Check, ...]] = (
    check_core,
    check_shape,
    check_credential,
    check_assignment,
    check_place,
    check_services,
    check_recent_block,
    check_time_slot_header,
    check_package,
)
"""In the order in which they are asked; the Gray Paper knows no order, and of several rules that a
guarantee breaks, the first is named. Signatures are dearer than all of these and are asked last."""
