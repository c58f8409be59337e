"""A JAM chain in memory: its validators, its blocks and forks, and nodes that show it. Pure.

`JamModel(ModelSetup(...))` starts at a genesis block. `step(slot)` is one timeslot of an honest
network, so far as `faults` lets it: the slot's author builds on the best block that it knows, with
guarantees by the validators that are assigned, assurances of what its parent reported, and what
accumulates; then the validators vote. `produce` makes one block where the caller wants it, without
votes. Nothing happens but by a call, and the same calls give the same bytes.

Real are the rules (`laneway.jam.rules`), all bytes and hashes, the state trie, rotation, Ed25519
signatures of the development keys, erasure coding, and refine, which every signer runs itself.
Stand-ins are what Bandersnatch and BLS keys would make: seals, VRF outputs and those keys are
hashes of what they would sign; there are no tickets, so all blocks are sealed by the fallback keys;
nothing is disputed, and balances pay for nothing.

A validator is known by the number of its development key. Reads are in `answers`; blocks far below
the final one are forgotten.
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from laneway.devnets.jam.limits import PREIMAGES_WAITING_MAX, TEAMS_KEPT_MAX
from laneway.devnets.jam.model.answers import ChainAnswers
from laneway.devnets.jam.model.faults import JamFault
from laneway.devnets.jam.model.guarantors import Choice, GuarantorNodes, Party, teams
from laneway.devnets.jam.model.submissions import SubmittedPackage, read_bundle, read_package
from laneway.devnets.jam.model.transition import (
    AuthoredBlock,
    BlockDraft,
    ChainParts,
    assurances,
    opened,
)
from laneway.devnets.jam.model.tree import TreeEntry, TreeView
from laneway.devnets.jam.model.values import (
    Descriptor,
    Impossible,
    ModelSetup,
    RefusalKind,
    ReportedWork,
    StepReport,
    SubmissionRefusal,
)
from laneway.jam.extrinsic import Preimage
from laneway.jam.hashing import blake2b
from laneway.jam.report import WorkReport, report_hash
from laneway.jam.rotation import current_guarantors
from laneway.jam.state import REQUEST
from laneway.jam.state_keys import request_key
from laneway.jam.windows import remaining_blocks

NOTHING_CHOSEN = Choice((), ())
REQUESTED = REQUEST.encode(())


class JamModel(ChainAnswers):
    """Steppable. Nodes are named by their places, from zero; they are no validators."""

    def __init__(self, setup: ModelSetup) -> None:
        super().__init__(setup)
        services = {service: made.service for service, made in setup.services.items()}
        self._world = ChainParts(setup.spec, self._keyring, services, setup.signs)
        self._guarantors = GuarantorNodes(self._world, self._shards, self.faults)
        self._preimages: dict[tuple[int, bytes], None] = {}
        self._teams_known: dict[tuple[bytes, int], tuple[tuple[int, ...], ...]] = {}
        """By the best block and the slot they were found for."""

    # What happens.

    def step(self, slot: int) -> StepReport:
        """One timeslot: its author's block, if there is one, and the votes. Slots that are left
        out are slots in which nobody made a block. Impossible unless the slot is a later one."""
        if slot <= self.slot:
            raise Impossible(f"slot {slot} is not after {self.slot}")
        self.slot = slot
        made = [one for one in map(self._take_turn, range(len(self._network.sides))) if one]
        finalised = self.vote() if self.setup.is_voting else ()
        self._settle()
        first = made[0] if made else StepReport(slot=slot)
        return replace(first, finalised=finalised, rivals=tuple(made[1:]))

    def produce(self, slot: int, *, parent: bytes | None = None, variant: int = 0) -> StepReport:
        """A block of this slot on this parent, or on the best block of the first side; everybody
        on the author's side of a partition sees it at once, and nobody votes. Blocks that differ
        in nothing are one block: another `variant` makes another. Impossible where the parent's
        slot is not earlier, or the parent does not stand upon the final block."""
        above = self._network.sides[0].best if parent is None else self._tree.get(parent)
        if above is None:
            raise Impossible("the parent is not known")
        if slot <= above.slot:
            raise Impossible(f"slot {slot} is not after {above.slot}")
        if not self._tree.is_ancestor(self._tree.final, above):
            raise Impossible("the parent is not upon the final block")
        side = self._network.side_of(self._author(above, slot))
        if above.hash not in self._network.sides[side].seen:
            raise Impossible("the author does not know the parent")
        self.slot = max(self.slot, slot)
        return self._make(slot, above, side, variant=variant).made

    def vote(self) -> tuple[Descriptor, ...]:
        """The validators vote; the blocks that became final, the newest last."""
        found: list[TreeEntry] = []
        for side, view in enumerate(self._network.sides):
            members = self._network.members(side)
            found += self._voters.vote(view, members, self.setup.finality_lag_blocks)
        return tuple(entry.descriptor for entry in found)

    def prefer(self, block: bytes | None) -> None:
        """Let the best block be one upon this one, whatever is longer; None ends it."""
        entry = None if block is None else self._tree.get(block)
        if block is not None and entry is None:
            raise Impossible("the block is not known")
        self._network.prefer(entry)

    def partition(
        self, groups: Sequence[Sequence[int]], nodes: Mapping[int, int] | None = None
    ) -> None:
        """Cut the network: each group of validators sees only its own blocks. Validators that are
        not named are with the first group, and so are nodes unless `nodes` gives their groups."""
        self._network.partition(groups, nodes or {}, self.slot)

    def heal(self) -> None:
        """Join what was cut: everybody sees all blocks."""
        self._network.heal(self.slot)

    # What builders hand in.

    def submit(
        self, node: int, core: int, package: bytes, extrinsics: Sequence[bytes] = ()
    ) -> SubmissionRefusal | None:
        """Hand a package to the guarantors of the core, who hold it until they can report it or
        its anchor is too old. None says that it reached one of them, and nothing more."""
        return self._hand_in(node, read_package(core, package, extrinsics, self.spec, self._shards))

    def submit_bundle(self, node: int, core: int, bundle: bytes) -> SubmissionRefusal | None:
        """The same for a package that brings its imported segments along."""
        return self._hand_in(node, read_bundle(core, bundle, self.spec, self._shards))

    def submit_preimage(self, node: int, service: int, blob: bytes) -> SubmissionRefusal | None:
        """Give a service the bytes that it asked for, with the next block."""
        best = self._node(node).view.best
        if not _is_requested(best, service, blob):
            message = f"service {service} waits for no preimage of these {len(blob)} bytes"
            return SubmissionRefusal(RefusalKind.NOT_REQUESTED, message)
        if len(self._preimages) >= PREIMAGES_WAITING_MAX:
            return SubmissionRefusal(
                RefusalKind.CORE_QUEUE_FULL, "too many preimages wait for a block"
            )
        self._preimages[service, blob] = None
        return None

    def waiting(self) -> tuple[tuple[int, bytes], ...]:
        """Cores and packages that guarantors hold, in the order in which they came."""
        submissions = (held.submission for held in self._guarantors)
        return tuple((one.core, one.package_hash) for one in submissions)

    def _hand_in(
        self, node: int, submission: SubmittedPackage | SubmissionRefusal
    ) -> SubmissionRefusal | None:
        if isinstance(submission, SubmissionRefusal):
            return submission
        here, slot = self._node(node), self.slot + 1
        # A node with a wrong clock may take others for the guarantors, who then do nothing.
        team = self._teams(here.view.best, self.clock(node) + 1)[submission.core]
        assigned = self._teams(here.view.best, slot)[submission.core]
        members = self._network.members(here.side)
        reached = [validator for validator in team if members(validator)]
        if not reached:
            self.faults.bit(JamFault.PARTITION)
            return SubmissionRefusal(
                RefusalKind.UNREACHABLE,
                "failed to submit the work-package to even a single guarantor",
            )
        holders = tuple(validator for validator in reached if validator in assigned)
        if not holders:
            self.faults.bit(JamFault.SKEW)
            return None
        return self._guarantors.take(submission, holders, slot // self.spec.rotation_slots)

    def _teams(self, best: TreeEntry, slot: int) -> tuple[tuple[int, ...], ...]:
        """The validators that guarantee for each core at this slot, as a block's state says; of a
        slot that has passed by, those of the next."""
        slot = max(slot, best.slot + 1)
        known = self._teams_known.get((best.hash, slot))
        if known is None:
            opening = opened(best.state, slot, self._world)
            guarantors = current_guarantors(opening.era.standing(opening.entropy), slot, self.spec)
            known = teams(guarantors, self._keyring, self.spec)
            self._teams_known[best.hash, slot] = known
            if len(self._teams_known) > TEAMS_KEPT_MAX:
                del self._teams_known[next(iter(self._teams_known))]
        return known

    def _take_turn(self, side: int) -> StepReport | None:
        """What the author of the present slot makes, if it is on this side."""
        view = self._network.sides[side]
        author = self._author(view.best, self.slot)
        if self._network.side_of(author) != side:
            return None
        if self.slot in self.faults.skipped_slots:
            self.faults.bit(JamFault.SKIPPED)
            return None
        if author in self.faults.silent_authors:
            self.faults.bit(JamFault.SILENT_AUTHOR)
            return None
        return self._make(self.slot, self._reorged(view, side), side).made

    def _author(self, parent: TreeEntry, slot: int) -> int:
        """The validator whose turn it is at a slot, upon this block."""
        opening = opened(parent.state, slot, self._world)
        place = opening.author_place(slot, self.spec)
        return self._keyring.number(opening.era.active_keys[place])

    def _reorged(self, view: TreeView, side: int) -> TreeEntry:
        """What the next block stands upon: the best one, or another fork of the same height, of
        blocks that report nothing."""
        best = view.best
        depth = min(self.faults.reorg_depth, best.number - view.final.number)
        if depth <= 0:
            return best
        self.faults.reorg_depth = 0
        self.faults.bit(JamFault.REORG)
        fork = self._tree.ancestor(best, best.number - depth)
        for old in self._tree.between(fork, best):
            fork = self._make(old.slot, fork, side, guarantees=False, variant=old.variant + 1)
        return fork

    def _make(
        self,
        slot: int,
        parent: TreeEntry,
        side: int,
        *,
        guarantees: bool = True,
        variant: int = 0,
    ) -> TreeEntry:
        draft = BlockDraft(self._world, parent.state, parent.hash, slot)
        members = self._network.members(side)
        draft.assure(assurances(draft, self.faults, members))
        draft.ancestors = self._lookup_anchors(parent)
        choice = NOTHING_CHOSEN
        if guarantees:
            choice = self._guarantors.choose(draft, self._party(parent, slot, members))
        sealed = draft.seal(choice.guarantees, self._requested(parent), variant)
        known = self._tree.get(sealed.header_hash)
        if known is not None:
            return known
        made = _report_of(sealed, choice, parent.number + 1, draft.author_place)
        entry = TreeEntry(sealed.block, sealed.header_hash, sealed.state, made, variant)
        self._tree.add(entry)
        for one, work in zip(choice.guarantees, made.reported, strict=True):
            reported = self._reports.setdefault(work.report_hash, (one.report, {}))
            reported[1][entry.hash] = None
        self._network.spread(entry, side, self.slot)
        return entry

    def _party(self, parent: TreeEntry, slot: int, members: Callable[[int], bool]) -> Party:
        """Who guarantees for a block upon this parent, and what they know of anchors."""

        def remaining(anchor: bytes) -> int:
            entry = self._tree.get(anchor)
            if entry is None or not self._tree.is_ancestor(entry, parent):
                return 0
            return remaining_blocks(entry.number, parent.number)

        def is_past(anchor: bytes) -> bool:
            entry = self._tree.get(anchor)
            if entry is None or self._tree.is_ancestor(entry, parent):
                return True
            # On another fork it may become recent again, until even a lookup is too old.
            return slot - entry.slot > self.spec.lookup_anchor_slots_max

        return Party(members, remaining, is_past)

    def _lookup_anchors(self, parent: TreeEntry) -> dict[bytes, int]:
        """Of the packages that wait: those that are on this fork, with their slots."""
        found: dict[bytes, int] = {}
        for held in self._guarantors:
            anchor = held.submission.bundle.package.context.lookup_anchor
            slot = None if anchor in found else self._tree.slot_before(anchor, parent)
            if slot is not None:
                found[anchor] = slot
        return found

    def _requested(self, parent: TreeEntry) -> tuple[Preimage, ...]:
        """The preimages that a block upon this one brings, in their order."""
        wanted = (one for one in sorted(self._preimages) if _is_requested(parent, *one))
        return tuple(Preimage(service, blob) for service, blob in wanted)

    def _settle(self) -> None:
        """Forget what nobody can ask for any more."""
        for node in range(len(self._network.nodes)):
            self._node(node)
        gone = self._tree.forget(self._network.lowest_final())
        self._network.forget(gone)
        for entry in gone:
            for work in entry.made.reported:
                self._forget_report(work.report_hash, entry.hash)
        final = self._tree.final
        for service, blob in tuple(self._preimages):
            if not _is_requested(final, service, blob):
                del self._preimages[service, blob]

    def _forget_report(self, name: bytes, block: bytes) -> None:
        blocks = self._reports[name][1]
        del blocks[block]
        if not blocks:
            del self._reports[name]


def _is_requested(entry: TreeEntry, service: int, blob: bytes) -> bool:
    key = request_key(service, blake2b(blob), len(blob))
    return entry.state.trie.get(key) == REQUESTED


def _report_of(sealed: AuthoredBlock, choice: Choice, number: int, author: int) -> StepReport:
    state = sealed.state
    return StepReport(
        slot=state.slot,
        author=author,
        made=Descriptor(sealed.header_hash, state.slot),
        number=number,
        reported=tuple(
            ReportedWork(
                one.report.package_spec.hash, one.report.core_index, report_hash(one.report)
            )
            for one in choice.guarantees
        ),
        refused=choice.refused,
        available=_packages(sealed.available),
        timed_out=_packages(sealed.timed_out),
        accumulated=sealed.accumulated,
        pending=tuple(
            None if one is None else one.report.package_spec.hash for one in state.pending
        ),
        queued=tuple(
            record.report.package_spec.hash for records in state.queue.ready for record in records
        ),
    )


def _packages(reports: Sequence[WorkReport]) -> tuple[bytes, ...]:
    return tuple(report.package_spec.hash for report in reports)
