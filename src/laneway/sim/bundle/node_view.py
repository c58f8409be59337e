"""What one node of the chain model shows, as the adapter reads it (`laneway.chains.jam`): heads,
contexts, and what blocks show of packages. A test holds it against the adapter itself."""

from collections.abc import Sequence
from typing import assert_never

from laneway.chains.jam.limits import FINALITY_BLOCKS, HELD_NEAR, WALK_BLOCKS_MAX
from laneway.chains.jam.parameters import parameters_of
from laneway.chains.jam.phrases import JamPhrases, may_after
from laneway.chains.jam.silence import OVER, blocks_needed, is_over
from laneway.core.jam import (
    Accumulated,
    Context,
    Failed,
    JamBlockRef,
    JamBlockSeen,
    JamBlocksSeen,
    JamHead,
    LineAsked,
    LineBlock,
    LineSeen,
    PackageFact,
    PackageSeen,
    Ready,
    Reportable,
    Reported,
    ServiceRefused,
    Watched,
)
from laneway.devnets.jam.model import values
from laneway.devnets.jam.model.chain import JamModel
from laneway.devnets.jam.model.values import BlockUnavailable, Descriptor
from laneway.jam.codec import U64
from laneway.jam.service.commitment import (
    HEAD_KEY,
    block_of,
    head_of,
    package_key,
    refusal_key,
    rivals_of,
    slot_max_of,
)
from laneway.jam.service.values import REFUSAL, NoEffectReason
from laneway.jam.spec import RECENT_BLOCK_COUNT

WORDS = JamPhrases("laneway")


def ref(block: Descriptor) -> JamBlockRef:
    return JamBlockRef(block.header_hash, block.slot)


class Storage:
    """A service's storage after one block."""

    def __init__(self, model: JamModel, node: int, block: bytes, service: int) -> None:
        self._model = model
        self._node = node
        self._block = block
        self._service = service

    def read(self, key: bytes, /) -> bytes | None:
        return self._model.service_value(self._node, self._block, self._service, key)


class ShownStorage:
    """The same, as a node shows it."""

    def __init__(self, view: "NodeView", block: bytes, service: int) -> None:
        self._view = view
        self._block = block
        self._service = service

    def read(self, key: bytes, /) -> bytes | None:
        return self._view.value(self._block, self._service, key)


class NodeView:
    """One node by its place, under its name."""

    def __init__(
        self, model: JamModel, node: int, name: str, *, tells_history: bool = True
    ) -> None:
        self._model = model
        self._node = node
        self.name = name
        self._parameters = parameters_of(model.parameters())
        self._tells_history = tells_history
        """Whether the node serves the draft call by which the chain's own history is read."""

    def value(self, at: bytes, service: int, key: bytes) -> bytes | None:
        """A value of a service after a block."""
        return self._model.service_value(self._node, at, service, key)

    # Blocks.

    def parent(self, block: JamBlockRef) -> JamBlockRef | None:
        try:
            return ref(self._model.parent(self._node, block.header_hash))
        except BlockUnavailable:
            return None

    def below(self, block: JamBlockRef, depth: int) -> JamBlockRef:
        for _ in range(depth):
            parent = self.parent(block)
            if parent is None:
                break
            block = parent
        return block

    def is_below(self, older: JamBlockRef, newer: JamBlockRef) -> bool:
        at: JamBlockRef | None = newer
        while at is not None and at.slot >= older.slot:
            if at == older:
                return True
            at = self.parent(at)
        return False

    def head(self) -> JamHead:
        best = ref(self._model.best(self._node))
        told = ref(self._model.finalized(self._node))
        if told == best:
            return JamHead(best, self.below(best, FINALITY_BLOCKS), self.name)
        return JamHead(best, told if self.is_below(told, best) else None, self.name)

    def way(
        self, known: Sequence[JamBlockRef], head: JamBlockRef
    ) -> tuple[JamBlockRef | None, tuple[JamBlockRef, ...], list[JamBlockRef]]:
        """The newest known block of this fork, those that are not on it, and what is behind it."""
        names = {block.header_hash for block in known}
        oldest = min((block.slot for block in known), default=head.slot + 1)
        walked: list[JamBlockRef] = []
        at: JamBlockRef | None = head
        while at is not None and at.slot >= oldest and len(walked) < WALK_BLOCKS_MAX:
            if at.header_hash in names:
                return at, tuple([one for one in known if one.slot > at.slot]), walked[::-1]
            walked.append(at)
            at = self.parent(at)
        is_below_all = at is not None and at.slot < oldest
        return None, tuple(known) if is_below_all else (), [head]

    # What packages lean on.

    def context(self, offset: int) -> Context:
        model, node = self._model, self._node
        head = self.head()
        anchor = self.below(head.best, offset)
        lookup = self._lookup(head, anchor)
        return Context(
            anchor=anchor,
            state_root=model.state_root(node, anchor.header_hash),
            beefy_root=model.beefy_root(node, anchor.header_hash),
            lookup_anchor=lookup,
            lookup_state_root=model.state_root(node, lookup.header_hash),
            head=head,
        )

    def _lookup(self, head: JamHead, anchor: JamBlockRef) -> JamBlockRef:
        if head.finalised is None:
            return anchor
        lookup = self.below(head.finalised, 1)
        age_max = self._model.spec.lookup_anchor_slots_max - RECENT_BLOCK_COUNT
        is_fit = head.best.slot - age_max <= lookup.slot <= anchor.slot
        return lookup if is_fit else anchor

    # What blocks show.

    def look(
        self,
        known: Sequence[JamBlockRef],
        packages: Sequence[Watched],
        limit: int,
        line: LineAsked | None = None,
    ) -> JamBlocksSeen:
        head = self.head()
        after, gone, blocks = self.way(known, head.best)
        seen = [self.shown(block, packages) for block in blocks[:limit]]
        is_whole, final = len(blocks) <= limit, None
        if line is not None and head.finalised is not None and is_whole:
            final = self.line(head.finalised, line)
        return JamBlocksSeen(after, gone, tuple(seen), head, is_whole, final)

    def line(self, at: JamBlockRef, asked: LineAsked) -> LineSeen | None:
        view = ShownStorage(self, at.header_hash, asked.service)
        head = head_of(view)
        if head is None:
            return None
        blocks: list[LineBlock] = []
        for number in asked.numbers:
            record = block_of(view, number) if number <= head.number else None
            if record is not None:
                blocks.append(LineBlock(number, record.block, record.package_hash))
        return LineSeen(at, head.number, tuple(blocks), head.block)

    def shown(self, block: JamBlockRef, packages: Sequence[Watched]) -> JamBlockSeen:
        parent = self.parent(block)
        hash_ = bytes(32) if parent is None else parent.header_hash
        seen: list[PackageSeen] = []
        for one in packages:
            # Before its anchor there is nothing to see, and a node may call that failed.
            if one.anchor.slot <= block.slot:
                seen += [
                    PackageSeen(one.package_hash, block, fact, may_after(fact), self.name)
                    for fact in self._facts(block, one)
                ]
        return JamBlockSeen(block, hash_, tuple(seen))

    def _facts(self, block: JamBlockRef, package: Watched) -> list[PackageFact]:
        status = self._status(block, package)
        done = self._done(block, package, status)
        if done is not None and isinstance(status, Failed | Reportable):
            status = None
        return [fact for fact in (status, done) if fact is not None]

    def _status(self, block: JamBlockRef, package: Watched) -> PackageFact | None:
        """None: it is the anchor that this node does not know."""
        name, anchor = package.package_hash, package.anchor.header_hash
        try:
            found = self._model.status(self._node, block.header_hash, name, anchor)
        except BlockUnavailable:
            return None
        match found:
            case values.PackageReportable(remaining_blocks=left):
                return Reportable(left)
            case values.PackageReported(reported_in=reported_in, core=core, report_hash=report):
                return Reported(ref(reported_in), core, report)
            case values.PackageReady(reported_in=reported_in, core=core, report_hash=report):
                return Ready(ref(reported_in), core, report, ref(found.ready_in))
            case values.PackageFailed(reason=reason):
                return Failed(WORDS.kind(0, reason), reason)
            case _:
                assert_never(found)

    def _done(
        self, block: JamBlockRef, package: Watched, status: PackageFact | None
    ) -> PackageFact | None:
        """What the service wrote down, or else what the chain's own history names."""
        model, node, name = self._model, self._node, package.package_hash
        at, service = block.header_hash, package.service
        if package.keeps_records:
            number = self.value(at, service, package_key(name))
            if number is not None:
                return Accumulated(U64.decode(number, "package record"))
        if not is_perhaps_done(status, block):
            return None
        if package.keeps_records:
            raw = self.value(at, service, refusal_key(name))
            if raw is not None:
                refusal = REFUSAL.decode(raw, "refusal")
                return ServiceRefused(refusal.reason.name.lower(), refusal.number)
        if self._tells_history and model.is_accumulated(node, at, name):
            return Accumulated(None)
        return self._late(block, package, status) if package.keeps_records else None

    def _late(
        self, block: JamBlockRef, package: Watched, status: PackageFact | None
    ) -> PackageFact | None:
        """Of a package without a word that lasts: its service may hold it, or its time is over."""
        epoch_slots = self._parameters.epoch_slots
        is_old = isinstance(status, Failed) and block.slot > package.anchor.slot + epoch_slots
        is_silent = status is None and self._is_over(block, package.anchor.slot)
        if not is_old and not is_silent:
            return None
        found = self._held(block, package)
        is_silent &= self.value(block.header_hash, package.service, HEAD_KEY) is not None
        return OVER if found is None and is_silent else found

    def _is_over(self, block: JamBlockRef, anchor: int) -> bool:
        most = blocks_needed(self._parameters)
        if block.slot < anchor + most:
            return False
        slots: list[int] = []
        at: JamBlockRef | None = block
        while at is not None and at.slot > anchor and len(slots) < most:
            slots.append(at.slot)
            at = self.parent(at)
        return is_over(slots[::-1], anchor, self._parameters)

    def _held(self, block: JamBlockRef, package: Watched) -> PackageFact | None:
        """What waits with the service for the block before it, or waited too long."""
        view = ShownStorage(self, block.header_hash, package.service)
        head = head_of(view)
        if head is None:
            return None
        first = head.number + 2
        for number in range(first, first + HELD_NEAR):
            for rival in rivals_of(view, number):
                if rival.package_hash != package.package_hash:
                    continue
                if block.slot < slot_max_of(rival):
                    return Accumulated(None)
                return ServiceRefused(NoEffectReason.EXPIRED.name.lower(), rival.claim.number)
        return None


def is_perhaps_done(status: PackageFact | None, block: JamBlockRef) -> bool:
    """Whether it may have been accumulated up to this block: not if it waits for its report, or was
    reported in this very block."""
    if isinstance(status, Reportable):
        return False
    return not (isinstance(status, Reported) and status.reported_in == block)
