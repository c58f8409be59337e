"""The guarantors: they hold packages, refine them, sign what they find, and offer it to authors.

A package is held until it is reported, its anchor can never be recent again, or a switch makes them
drop it. Every signer refines it itself, and only those who found the same sign together. Which of
the guarantees a block takes is chosen here by the chain's rules, in the order in which packages
came, a package together with those that it waits for.
"""

from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from laneway.devnets.jam.limits import HELD_PER_CORE_MAX, VERSIONS_KEPT_MAX
from laneway.devnets.jam.model.faults import Faults, JamFault
from laneway.devnets.jam.model.keyring import Keyring
from laneway.devnets.jam.model.refinery import Refined, refined, reported
from laneway.devnets.jam.model.shards import KeptShards, ShardStore
from laneway.devnets.jam.model.submissions import SubmittedPackage
from laneway.devnets.jam.model.transition import BlockDraft, ChainParts
from laneway.devnets.jam.model.values import RefusalKind, RefusedWork, SubmissionRefusal
from laneway.jam.codec import U32
from laneway.jam.extrinsic import ReportGuarantee, ValidatorSignature
from laneway.jam.report import Ok, WorkReport, report_hash
from laneway.jam.rotation import Guarantors as Assigned
from laneway.jam.rules.checks import (
    CHECKS,
    GUARANTEE_CONTEXT,
    Check,
    CheckContext,
    ReportFault,
    check_assignment,
    check_recent_block,
    check_time_slot_header,
)
from laneway.jam.spec import ChainSpec

CHECK_NAMES: Final[dict[Check, str]] = {
    check_assignment: "checkAssignment",
    check_recent_block: "checkRecentBlock",
    check_time_slot_header: "checkTimeSlotHeader",
}
AGE_ERRORS: Final = {
    ReportFault.REPORT_EPOCH_BEFORE_LAST: "ErrGReportEpochBeforeLast",
    ReportFault.ANCHOR_NOT_RECENT: "ErrGAnchorNotRecent",
    ReportFault.LOOKUP_ANCHOR_NOT_RECENT: "ErrGReportEpochBeforeLast",
}
"""The three checks of a guarantee's age, and their errors, have the names that builders know from
`VerifyGuarantee`; two of the checks have one error."""
PASSING: Final = frozenset(
    {
        ReportFault.INSUFFICIENT_GUARANTEES,
        ReportFault.REPORT_EPOCH_BEFORE_LAST,
        ReportFault.WRONG_ASSIGNMENT,
        ReportFault.CORE_ENGAGED,
        ReportFault.CORE_UNAUTHORIZED,
        ReportFault.DEPENDENCY_MISSING,
        ReportFault.SEGMENT_ROOT_LOOKUP_INVALID,
    }
)
"""Faults that another signature, another block or another package can fix."""
WAITING: Final = frozenset(
    {ReportFault.DEPENDENCY_MISSING, ReportFault.SEGMENT_ROOT_LOOKUP_INVALID}
)
"""Faults that a guarantee in the same block can fix."""


class PackageVerdict(Struct, frozen=True):
    """The verdict on a guarantee that a block cannot take."""

    fault: ReportFault
    check: str
    error: str


class Party(Struct, frozen=True):
    """The validators of one side of a partition, and what they know of anchors."""

    has_member: Callable[[int], bool]
    """Whether the validator is one of them."""
    remaining_blocks: Callable[[bytes], int]
    """How many blocks, with the one that is made, may still report a package with this anchor."""
    is_past: Callable[[bytes], bool]
    """Whether an anchor can never be recent again."""


class Pledge(Struct, frozen=True):
    """A guarantee on its way to the authors."""

    guarantee: ReportGuarantee
    arrives_slot: int


class HeldPackage:
    """A package that guarantors hold."""

    def __init__(self, submission: SubmittedPackage) -> None:
        self.submission = submission
        self.holders: dict[int, None] = {}
        """The validators that hold it."""
        self.rotation = 0
        """The rotation in which they received it last."""
        self.found: dict[tuple[int, bool], Refined] = {}
        """What each validator found, honest or not."""
        self.reports: dict[Refined, tuple[bytes, WorkReport]] = {}
        """Reports with their hashes, by what they report."""
        self.signatures: dict[tuple[int, bytes], bytes] = {}
        """Signatures, by validator and report hash."""
        self.pledge: Pledge | None = None


class Choice(Struct, frozen=True):
    """What a block takes of what guarantors hold."""

    guarantees: tuple[ReportGuarantee, ...]
    """In the order of their cores."""
    refused: tuple[RefusedWork, ...]


class GuarantorNodes:
    """All of them; what one has it shares with the others of its core."""

    def __init__(self, world: ChainParts, shards: ShardStore, faults: Faults) -> None:
        self._world = world
        self._shards = shards
        self._faults = faults
        self._held: dict[tuple[int, bytes], HeldPackage] = {}
        """By core and package, the oldest first."""
        self._counts: dict[int, int] = {}
        """Of the packages that are held, by core."""
        self._versions: dict[bytes, dict[bytes, None]] = {}
        """Packages by the hash of their items."""

    def __iter__(self) -> Iterator[HeldPackage]:
        return iter(tuple(self._held.values()))

    def take(
        self, submission: SubmittedPackage, holders: tuple[int, ...], rotation: int
    ) -> SubmissionRefusal | None:
        """Give a package to these validators; the same one twice is one package."""
        core, name = submission.core, submission.package_hash
        held = self._held.get((core, name))
        if held is None:
            waiting = self._counts.get(core, 0)
            if waiting >= HELD_PER_CORE_MAX:
                message = f"the guarantors of core {core} hold {waiting} packages"
                return SubmissionRefusal(RefusalKind.CORE_QUEUE_FULL, message)
            held = self._held[core, name] = HeldPackage(submission)
            self._counts[core] = waiting + 1
        held.holders.update(dict.fromkeys(holders))
        held.rotation = rotation
        self._remember(submission)
        return None

    def choose(self, draft: BlockDraft, party: Party) -> Choice:
        """What the block at hand takes. What it took, and what nobody can take, is let go."""
        return _Choosing(self, draft, party).choice()

    def open(self, party: Party, rotation: int) -> list[HeldPackage]:
        """The packages that are offered at all."""
        return [held for held in self if self._is_offered(held, party, rotation)]

    def drop(self, held: HeldPackage) -> None:
        core = held.submission.core
        del self._held[core, held.submission.package_hash]
        self._counts[core] -= 1

    def guarantee(
        self, held: HeldPackage, places: dict[int, int], slot: int, party: Party
    ) -> ReportGuarantee | None:
        """What these validators, by their places, sign together; None if it comes later, or from
        nobody."""
        late = self._faults.late_slots
        if held.pledge is None or not late:
            made = self._signed(held, places, slot, party)
            if made is None or not late:
                return made
            self._faults.bit(JamFault.LATE)
            held.pledge = Pledge(made, slot + late)
        return held.pledge.guarantee if held.pledge.arrives_slot <= slot else None

    def keep(self, held: HeldPackage, report: WorkReport) -> None:
        """The package stands in a block: its shards are handed out."""
        found = next(one for one, (_, made) in held.reports.items() if made is report)
        self._shards.keep(
            KeptShards(
                package=report.package_spec,
                core=report.core_index,
                bundle=held.submission.bundle_bytes,
                segments=found.segments,
            )
        )

    def _remember(self, submission: SubmittedPackage) -> None:
        known = self._versions.setdefault(submission.items_hash, {})
        known[submission.package_hash] = None
        if len(self._versions) > VERSIONS_KEPT_MAX:
            del self._versions[next(iter(self._versions))]

    def _is_offered(self, held: HeldPackage, party: Party, rotation: int) -> bool:
        faults, submission = self._faults, held.submission
        if faults.drops_at_rotation and held.rotation < rotation:
            faults.bit(JamFault.DROPPED_AT_ROTATION)
            self.drop(held)
            return False
        if submission.core in faults.withheld_cores:
            faults.bit(JamFault.WITHHELD)
            return False
        if submission.package_hash in faults.censored:
            faults.bit(JamFault.CENSORED)
            return False
        if faults.pairs_versions and not self._is_paired(submission, party):
            faults.bit(JamFault.BOTH_VERSIONS)
            return False
        return any(map(party.has_member, held.holders))

    def _is_paired(self, submission: SubmittedPackage, party: Party) -> bool:
        rivals = self._versions.get(submission.items_hash, ())
        if len(rivals) > 1:
            return True
        return party.remaining_blocks(submission.bundle.package.context.anchor) <= 1

    def _signed(
        self, held: HeldPackage, places: dict[int, int], slot: int, party: Party
    ) -> ReportGuarantee | None:
        signers: dict[bytes, list[int]] = {}
        reports: dict[bytes, WorkReport] = {}
        for place, validator in places.items():
            if self._faults.takes_part(validator, party.has_member, JamFault.SILENT_GUARANTOR):
                name, report = self._report_of(held, validator)
                reports[name] = report
                signers.setdefault(name, []).append(place)
        if not signers:
            return None
        # The first report that most of them agree on; a wrong one has a single signer.
        name = max(signers, key=lambda one: len(signers[one]))
        return ReportGuarantee(
            report=reports[name],
            slot=slot,
            signatures=tuple(
                ValidatorSignature(place, self._signature(held, places[place], name))
                for place in signers[name]
            ),
        )

    def _report_of(self, held: HeldPackage, validator: int) -> tuple[bytes, WorkReport]:
        """What this validator finds when it refines the package itself."""
        is_wrong = validator in self._faults.wrong_refiners
        found = held.found.get((validator, is_wrong))
        if found is None:
            submission = held.submission
            name = submission.package_hash
            found = refined(submission.bundle, name, self._world.services)
            if is_wrong:
                found = _falsified(found, validator)
                self._faults.bit(JamFault.WRONG_REFINE)
            held.found[validator, is_wrong] = found
        known = held.reports.get(found)
        if known is None:
            known = held.reports[found] = self._reported(held.submission, found)
        return known

    def _reported(self, submission: SubmittedPackage, found: Refined) -> tuple[bytes, WorkReport]:
        described = self._shards.described(
            submission.package_hash, submission.bundle_bytes, found.segments
        )
        report = reported(
            submission.bundle, described, submission.core, found.results, submission.lookup
        )
        return report_hash(report), report

    def _signature(self, held: HeldPackage, validator: int, name: bytes) -> bytes:
        made = held.signatures.get((validator, name))
        if made is None:
            message = GUARANTEE_CONTEXT + name
            made = self._world.keyring.sign_as(validator, message)
            held.signatures[validator, name] = made
        return made


class _Choosing:
    """One block's choice under way."""

    def __init__(self, guarantors: GuarantorNodes, draft: BlockDraft, party: Party) -> None:
        self._all = guarantors
        self._draft = draft
        self._party = party
        self._faults = guarantors._faults
        self._bench = draft.bench(())
        spec = draft.world.spec
        self._rotation = draft.slot // spec.rotation_slots
        assigned = self._bench.guarantors[self._rotation]
        self._teams = teams(assigned, draft.world.keyring, spec)
        self._places = {draft.world.keyring.number(key): at for at, key in enumerate(assigned.keys)}
        self._open = guarantors.open(party, self._rotation)
        self._closed: set[int] = set()
        self._chosen: dict[int, tuple[HeldPackage, ReportGuarantee]] = {}
        self._names: set[bytes] = set()
        """The packages that were chosen."""
        self._refused: list[RefusedWork] = []

    def choice(self) -> Choice:
        for held in self._open:
            # A package may wait at several cores; one of them reports it.
            is_chosen = held.submission.package_hash in self._names
            if held.submission.core not in self._closed and not is_chosen:
                self._consider(held)
        for held, guarantee in self._chosen.values():
            self._all.keep(held, guarantee.report)
            if not self._faults.keeps_reported:
                self._all.drop(held)
        in_order = (self._chosen[core][1] for core in sorted(self._chosen))
        return Choice(tuple(in_order), tuple(self._refused))

    def _consider(self, held: HeldPackage) -> None:
        guarantee = self._guarantee(held)
        if guarantee is None:
            return
        verdict = verify_guarantee(self._bench, guarantee)
        if verdict is None:
            self._take(held, guarantee)
        elif verdict.fault in WAITING:
            self._consider_together(held, guarantee, verdict)
        else:
            self._refuse(held, verdict)

    def _consider_together(
        self, held: HeldPackage, guarantee: ReportGuarantee, verdict: PackageVerdict
    ) -> None:
        """What it waits for may be chosen already, or be offered for a core that is still free."""
        found = {held.submission.core: (held, guarantee)}
        known = {*self._names, *self._bench.packages, held.submission.package_hash}
        wanted = list(_needs(guarantee.report))
        while wanted:
            name = wanted.pop()
            other = None if name in known else self._offered_beside(name, found)
            offered = None if other is None else self._guarantee(other)
            if other is not None and offered is not None:
                known.add(name)
                found[other.submission.core] = (other, offered)
                wanted += _needs(offered.report)
        if self._are_valid(found):
            for one, offered in found.values():
                self._take(one, offered)
        else:
            self._refuse(held, verdict)

    def _offered_beside(
        self, name: bytes, found: dict[int, tuple[HeldPackage, ReportGuarantee]]
    ) -> HeldPackage | None:
        """A package that waits at a core which neither the block nor these have taken."""
        for held in self._open:
            core = held.submission.core
            is_free = core not in self._closed and core not in found
            if is_free and held.submission.package_hash == name:
                return held
        return None

    def _are_valid(self, found: dict[int, tuple[HeldPackage, ReportGuarantee]]) -> bool:
        together = [one for _, one in (*self._chosen.values(), *found.values())]
        bench = self._draft.bench(together)
        bench = replace(self._bench, packages=bench.packages, exports=bench.exports)
        return all(verify_guarantee(bench, one) is None for _, one in found.values())

    def _guarantee(self, held: HeldPackage) -> ReportGuarantee | None:
        """What its guarantors offer, or those of another core where the switch says so."""
        core = held.submission.core
        if core in self._faults.mismatched_cores:
            core = (core + 1) % self._draft.world.spec.core_count
        places = {self._places[validator]: validator for validator in self._teams[core]}
        return self._all.guarantee(held, places, self._draft.slot, self._party)

    def _take(self, held: HeldPackage, guarantee: ReportGuarantee) -> None:
        core = held.submission.core
        self._closed.add(core)
        self._chosen[core] = (held, guarantee)
        self._names.add(held.submission.package_hash)

    def _refuse(self, held: HeldPackage, verdict: PackageVerdict) -> None:
        fault, submission = verdict.fault, held.submission
        held.pledge = None
        if fault is ReportFault.CORE_ENGAGED:
            self._closed.add(submission.core)
        if submission.core in self._faults.mismatched_cores:
            self._faults.bit(JamFault.MISMATCH, fault is ReportFault.WRONG_ASSIGNMENT)
        if fault is ReportFault.DUPLICATE_PACKAGE and self._faults.keeps_reported:
            return
        is_dropped = fault not in PASSING
        if fault is ReportFault.ANCHOR_NOT_RECENT:
            is_dropped = self._party.is_past(submission.bundle.package.context.anchor)
        if is_dropped:
            self._all.drop(held)
        self._refused.append(
            RefusedWork(
                package_hash=submission.package_hash,
                core=submission.core,
                fault=fault,
                check=verdict.check,
                error=verdict.error,
                is_dropped=is_dropped,
            )
        )


def verify_guarantee(bench: CheckContext, guarantee: ReportGuarantee) -> PackageVerdict | None:
    """The first check that fails, without that of the signatures; None if none does."""
    for check in CHECKS:
        fault = check(bench, guarantee)
        if fault is not None:
            return PackageVerdict(
                fault, CHECK_NAMES.get(check, check.__name__), AGE_ERRORS.get(fault, fault.value)
            )
    return None


def teams(guarantors: Assigned, keyring: Keyring, spec: ChainSpec) -> tuple[tuple[int, ...], ...]:
    """The validators that are assigned to each core, in the order of their places."""
    found: list[list[int]] = [[] for _ in range(spec.core_count)]
    for core, key in zip(guarantors.cores, guarantors.keys, strict=True):
        found[core].append(keyring.number(key))
    return tuple(tuple(team) for team in found)


def _needs(report: WorkReport) -> Iterator[bytes]:
    """The packages that must be reported before or with this one."""
    yield from report.context.prerequisites
    for item in report.segment_root_lookup:
        yield item.work_package_hash


def _falsified(found: Refined, validator: int) -> Refined:
    """The result that a faulty guarantor reports instead; no two of them report the same."""
    first = found.results[0]
    honest = first.result.output if isinstance(first.result, Ok) else b""
    wrong = replace(first, result=Ok(honest + U32.encode(validator)))
    return Refined((wrong, *found.results[1:]), found.segments)
