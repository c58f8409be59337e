"""One block under way: from its parent's state to its own, in the order of the Gray Paper (§4.2).

`BlockDraft` opens a block at a slot, takes its assurances, lets guarantees be judged, and is sealed
with what the block holds. The author and all who import the block are one here, so that every rule
is asked once. What an honest author makes must be valid, and is asserted to be.
"""

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from laneway.devnets.jam.model.accumulation import accumulate
from laneway.devnets.jam.model.activity import statistics_after
from laneway.devnets.jam.model.epochs import drawn, epoch_mark, is_first_of_epoch, next_era, turned
from laneway.devnets.jam.model.faults import Faults, JamFault
from laneway.devnets.jam.model.genesis import preimage_entries
from laneway.devnets.jam.model.keyring import Keyring, stand_in_vrf, vrf_output
from laneway.devnets.jam.model.state import ChainState, Era, changes
from laneway.jam import history
from laneway.jam.codec import U32
from laneway.jam.extrinsic import (
    AvailAssurance,
    Extrinsic,
    Preimage,
    ReportGuarantee,
    bitfield,
    extrinsic_hash,
)
from laneway.jam.header import Block, EpochMark, Header, header_hash, unsealed
from laneway.jam.report import WorkReport
from laneway.jam.roots import accumulate_root
from laneway.jam.rotation import Guarantors, guarantors_for
from laneway.jam.rules.assuring import (
    Assured,
    PendingReport,
    assurance_message,
    judge_assurances,
    tally,
)
from laneway.jam.rules.checks import CheckContext, ReportedPackage, ReportingState
from laneway.jam.rules.queueing import plan, settle
from laneway.jam.rules.reporting import (
    ReportedGuarantees,
    judge_guarantees,
    next_pools,
    packages_in_pipeline,
)
from laneway.jam.service.interface import Service
from laneway.jam.spec import ChainSpec
from laneway.jam.state import Hashes


class ChainParts(Struct, frozen=True):
    """The parts of a chain that every block is made with."""

    spec: ChainSpec
    keyring: Keyring
    services: Mapping[int, Service]
    signs: bool


class SlotOpening(Struct, frozen=True):
    """What the slot of a block alone determines."""

    era: Era
    entropy: Hashes
    """η′ before the author's draw, of which nothing but its first part depends."""
    mark: EpochMark | None

    def author_place(self, slot: int, spec: ChainSpec) -> int:
        return self.era.authors[slot % spec.epoch_slots]


class AuthoredBlock(Struct, frozen=True, kw_only=True):
    """A block, the state after it, and the reports that it made available or dropped."""

    block: Block
    header_hash: bytes
    state: ChainState
    available: tuple[WorkReport, ...]
    timed_out: tuple[WorkReport, ...]
    accumulated: Hashes


def opened(before: ChainState, slot: int, world: ChainParts) -> SlotOpening:
    """The validators of a block at this slot upon this state."""
    if not is_first_of_epoch(before.slot, slot, world.spec):
        return SlotOpening(before.era, before.entropy, None)
    entropy = turned(before.entropy)
    era = next_era(before.era, entropy, world.keyring, world.spec)
    return SlotOpening(era, entropy, epoch_mark(before.entropy, era))


class BlockDraft:
    """A block that is being made upon a parent."""

    def __init__(self, world: ChainParts, before: ChainState, parent: bytes, slot: int) -> None:
        assert slot > before.slot
        self.world = world
        self.before = before
        self.parent = parent
        self.slot = slot
        self.opening = opened(before, slot, world)
        self.author_place = self.opening.author_place(slot, world.spec)
        self.assurances: tuple[AvailAssurance, ...] = ()
        self._assured = Assured(available=(), pending=before.pending, timed_out=())
        self._known = packages_in_pipeline(before.history.blocks, before.queue, before.pending)
        self.ancestors: Mapping[bytes, int] = {}
        """Headers before this block, with their slots, that lookup anchors may name."""

    def assure(self, assurances: tuple[AvailAssurance, ...]) -> None:
        """Take the assurances, which free cores."""
        before, world = self.before, self.world
        pending = before.pending
        available: dict[int, WorkReport] = {}
        if not world.signs:
            # Nothing is signed: what is assured often enough is taken out by hand.
            pending, available = _unverified(pending, assurances, world.spec)
        judged = judge_assurances(
            pending,
            assurances if world.signs else (),
            keys=before.era.active_keys,
            slot=self.slot,
            parent=self.parent,
            spec=world.spec,
        )
        assert isinstance(judged, Assured), judged
        if available:
            judged = replace(judged, available=tuple(available.values()))
        self.assurances = assurances
        self._assured = judged

    def reporting_state(self) -> ReportingState:
        before = self.before
        return ReportingState(
            pending=self._assured.pending,
            standing=self.opening.era.standing(self.opening.entropy),
            recent=history.corrected(before.history, before.trie.root).blocks,
            authorizer_pools=before.pools,
            services=before.terms(),
            ancestors=self.ancestors,
        )

    def bench(self, guarantees: Iterable[ReportGuarantee]) -> CheckContext:
        """The context in which each guarantee is judged, as if all of them stood in the block."""
        spec, state = self.world.spec, self.reporting_state()
        packages = [package for block in state.recent for package in block.reported]
        packages += [_reported(one) for one in guarantees]
        return CheckContext(
            state=state,
            slot=self.slot,
            spec=spec,
            known_packages=self._known,
            guarantors=self._guarantors(),
            recent={block.header_hash: block for block in state.recent},
            packages=frozenset(package.hash for package in packages),
            exports=frozenset((package.hash, package.exports_root) for package in packages),
        )

    def _guarantors(self) -> dict[int, Guarantors]:
        """Who may sign for a guarantee in this block, by rotation."""
        spec, standing = self.world.spec, self.opening.era.standing(self.opening.entropy)
        first = max(self.slot - spec.rotation_slots, 0)
        return {
            slot // spec.rotation_slots: guarantors_for(standing, self.slot, slot, spec)
            for slot in (first, self.slot)
        }

    def seal(
        self,
        guarantees: tuple[ReportGuarantee, ...],
        preimages: tuple[Preimage, ...] = (),
        variant: int = 0,
    ) -> AuthoredBlock:
        """The block with these guarantees, in the order of their cores, and its state."""
        extrinsic = Extrinsic(
            preimages=preimages, guarantees=guarantees, assurances=self.assurances
        )
        header = self._header(extrinsic, variant)
        state = self._state(header, extrinsic)
        return AuthoredBlock(
            block=Block(header=header, extrinsic=extrinsic),
            header_hash=state.history.blocks[-1].header_hash,
            state=state,
            available=self._assured.available,
            timed_out=self._assured.timed_out,
            accumulated=state.queue.accumulated[-1],
        )

    def _header(self, extrinsic: Extrinsic, variant: int) -> Header:
        spec, era = self.world.spec, self.opening.era
        author = era.active[self.author_place].bandersnatch
        drawn_from = U32.encode(self.slot) + self.opening.entropy[3]
        header = Header(
            parent=self.parent,
            parent_state_root=self.before.trie.root,
            extrinsic_hash=extrinsic_hash(extrinsic, spec),
            slot=self.slot,
            epoch_mark=self.opening.mark,
            author_index=self.author_place,
            entropy_source=stand_in_vrf(author, drawn_from),
            seal=bytes(96),
        )
        sealed = unsealed(header, spec) + U32.encode(variant)
        return replace(header, seal=stand_in_vrf(author, sealed))

    def _state(self, header: Header, extrinsic: Extrinsic) -> ChainState:
        before, spec, slot = self.before, self.world.spec, self.slot
        reported = self._reported(extrinsic.guarantees)
        planned = plan(before.queue, self._assured.available, slot, spec)
        done = accumulate(before, planned.reports, slot, self.world.services, spec)
        after = ChainState(
            era=self.opening.era,
            entropy=drawn(self.opening.entropy, vrf_output(header.entropy_source)),
            pools=next_pools(
                before.pools, before.queues, (one.report for one in extrinsic.guarantees), slot
            ),
            queues=before.queues,
            history=history.advanced(
                before.history,
                header_hash=header_hash(header, spec),
                parent_state_root=header.parent_state_root,
                accumulate_root=accumulate_root(done.outputs),
                reported=reported.reported,
            ),
            pending=reported.pending,
            privileges=before.privileges,
            statistics=statistics_after(
                before.statistics,
                extrinsic,
                is_new_epoch=self.opening.mark is not None,
                author=self.author_place,
                keys=self.opening.era.active_keys,
                reporters=reported.reporters,
                available=self._assured.available,
                accumulated=done.counted,
                spec=spec,
            ),
            queue=settle(before.queue, planned, done.count, slot, spec),
            outputs=done.outputs,
            accounts=done.accounts,
        )
        entries = {**changes(before, after, spec), **done.storage}
        for one in extrinsic.preimages:
            entries |= preimage_entries(one.requester, one.blob, slot)
        return replace(after, trie=before.trie.with_changes(entries))

    def _reported(self, guarantees: tuple[ReportGuarantee, ...]) -> ReportedGuarantees:
        if not self.world.signs:
            return self._unverified(guarantees)
        state, spec = self.reporting_state(), self.world.spec
        judged = judge_guarantees(state, guarantees, self.slot, self._known, spec)
        assert isinstance(judged, ReportedGuarantees), judged
        return judged

    def _unverified(self, guarantees: tuple[ReportGuarantee, ...]) -> ReportedGuarantees:
        """What the guarantees come to where every check but that of signatures was made before."""
        cores = list(self._assured.pending)
        for one in guarantees:
            cores[one.report.core_index] = PendingReport(one.report, self.slot)
        packages = sorted(map(_reported, guarantees), key=lambda package: package.hash)
        guarantors, rotation_slots = self._guarantors(), self.world.spec.rotation_slots
        signers = {
            guarantors[one.slot // rotation_slots].keys[signature.validator_index]
            for one in guarantees
            for signature in one.signatures
        }
        return ReportedGuarantees(
            pending=tuple(cores), reported=tuple(packages), reporters=tuple(sorted(signers))
        )


def assurances(
    draft: BlockDraft, faults: Faults, has_member: Callable[[int], bool]
) -> tuple[AvailAssurance, ...]:
    """The assurances of the reachable validators, by their places, for the reports of the parent
    block that they hold shards of; a validator that would vouch for nothing makes none."""
    engaged = [core for core, report in enumerate(draft.before.pending) if report is not None]
    cores = tuple(core for core in engaged if core not in faults.unavailable_cores)
    faults.bit(JamFault.UNAVAILABLE, len(engaged) - len(cores))
    if not cores:
        return ()
    keyring, bits = draft.world.keyring, bitfield(cores, draft.world.spec)
    message = assurance_message(draft.parent, bits)
    validators = enumerate(map(keyring.number, draft.before.era.active_keys))
    return tuple(
        AvailAssurance(
            anchor=draft.parent,
            bitfield=bits,
            validator_index=place,
            signature=keyring.sign_as(validator, message),
        )
        for place, validator in validators
        if faults.takes_part(validator, has_member, JamFault.SILENT_ASSURER)
    )


def _reported(guarantee: ReportGuarantee) -> ReportedPackage:
    package = guarantee.report.package_spec
    return ReportedPackage(package.hash, package.exports_root)


def _unverified(
    pending: tuple[PendingReport | None, ...],
    assurances: tuple[AvailAssurance, ...],
    spec: ChainSpec,
) -> tuple[tuple[PendingReport | None, ...], dict[int, WorkReport]]:
    """What is left on the cores, and what is available, by the numbers of assurances alone."""
    available = {
        core: waiting.report
        for core, (waiting, count) in enumerate(zip(pending, tally(assurances, spec), strict=True))
        if waiting is not None and count >= spec.supermajority
    }
    left = (None if core in available else one for core, one in enumerate(pending))
    return tuple(left), available
