"""Chains that answer a driven lane: the chain model of the devnet, and a stub that only counts.

Both report their blocks as a node would; there are no forks here, and nothing is lost.
"""

from collections import deque

from msgspec.structs import replace

from laneway.core.jam import (
    Accumulated,
    JamBlockRef,
    JamBlockSeen,
    JamBlocksSeen,
    JamHead,
    PackageFact,
    PackageSeen,
    Ready,
    Reportable,
    Reported,
    Watched,
)
from laneway.devnets.jam.model.chain import JamModel
from laneway.devnets.jam.model.values import NULL_AUTHORIZER, ModelSetup, StepReport
from laneway.jam.hashing import blake2b
from laneway.jam.package import WORK_PACKAGE, WorkItem, WorkPackage
from laneway.jam.spec import RECENT_BLOCK_COUNT
from laneway.lanes.bundle.values import (
    BlockBuilt,
    BuildBlock,
    BuildVersion,
    ChainLooked,
    LookAtChain,
    SubmitPackage,
    VersionBuilt,
)
from laneway_bench.rollup.lane import clock_at, stub_block, version_of

BLOCKS_KEPT_MAX = 256
"""Blocks that are remembered: four times as many as a lane knows."""


class BlockLine:
    """Blocks one after the other, and what the newest one's state shows of packages."""

    def __init__(self, genesis: JamBlockRef) -> None:
        self.blocks: deque[JamBlockRef] = deque([genesis], maxlen=BLOCKS_KEPT_MAX)
        self.heights: dict[bytes, int] = {genesis.header_hash: 0}
        self.height = 0
        self.facts: dict[bytes, PackageFact] = {}
        self.final = genesis

    @property
    def best(self) -> JamBlockRef:
        return self.blocks[-1]

    def grow(self, block: JamBlockRef) -> None:
        if len(self.blocks) == BLOCKS_KEPT_MAX:
            del self.heights[self.blocks[0].header_hash]
        self.blocks.append(block)
        self.height += 1
        self.heights[block.header_hash] = self.height

    def look(self, order: LookAtChain, now_ms: int) -> ChainLooked:
        """Of several new blocks the newest alone shows the packages: its state shows all."""
        names = {known.header_hash: known for known in order.known}
        new: list[JamBlockRef] = []
        after: JamBlockRef | None = None
        for block in reversed(self.blocks):
            after = names.get(block.header_hash)
            if after is not None:
                break
            new.append(block)
        new = list(reversed(new)) if after is not None else new[:1]
        seen = [JamBlockSeen(block, b"", (), is_readable=False) for block in new[:-1]]
        seen += [JamBlockSeen(block, b"", self._shown(block, order.packages)) for block in new[-1:]]
        head = JamHead(self.best, self.final, "bench")
        found = JamBlocksSeen(after, (), tuple(seen), head, is_whole=True)
        return ChainLooked(now_ms, found, clock_at(self.best.slot, now_ms))

    def _shown(self, block: JamBlockRef, packages: tuple[Watched, ...]) -> tuple[PackageSeen, ...]:
        return tuple(
            [PackageSeen(one.package_hash, block, self._fact(one), (), "bench") for one in packages]
        )

    def _fact(self, watched: Watched) -> PackageFact:
        found = self.facts.get(watched.package_hash)
        if found is not None:
            return found
        age = self.height - self.heights[watched.anchor.header_hash]
        return Reportable(RECENT_BLOCK_COUNT - age)


class ModelChain(BlockLine):
    """The chain model; what a block did is read from the model's own report of the step."""

    def __init__(self, setup: ModelSetup) -> None:
        self.model = JamModel(setup)
        super().__init__(JamBlockRef(self.model.genesis, setup.genesis_slot))
        self.context = self.model.refine_context(0)
        self._slots = {self.model.genesis: setup.genesis_slot}

    def step(self, slot: int) -> StepReport:
        report = self.model.step(slot)
        assert report.made is not None
        assert not report.timed_out
        here = JamBlockRef(report.made.header_hash, report.made.slot)
        self.grow(here)
        self._slots[here.header_hash] = here.slot
        for one in report.reported:
            self.facts[one.package_hash] = Reported(here, one.core, one.report_hash)
        for package in report.available:
            known = self.facts[package]
            assert isinstance(known, Reported)
            core, hashed = known.core or 0, known.report_hash or b""
            self.facts[package] = Ready(known.reported_in, core, hashed, here)
        for package in report.accumulated:
            self.facts[package] = Accumulated(self.number_of(here, package))
        final = self.model.finalized(0)
        self.final = JamBlockRef(final.header_hash, final.slot)
        self.context = self.model.refine_context(0)
        return report

    def number_of(self, _block: JamBlockRef, _package: bytes) -> int | None:
        """The rollup block that a package brought, where the service writes that down."""
        return None

    def made(
        self, order: BuildVersion, item: WorkItem, extrinsics: tuple[bytes, ...] = ()
    ) -> VersionBuilt:
        """A package of one item in the context of now."""
        context = self.context
        encoded = WORK_PACKAGE.encode(
            WorkPackage(
                auth_code_host=0,
                auth_code_hash=NULL_AUTHORIZER,
                context=replace(context, prerequisites=order.prerequisites),
                authorization=b"",
                authorizer_config=b"",
                items=(item,),
            )
        )
        anchor = JamBlockRef(context.anchor, self._slots[context.anchor])
        lookup = JamBlockRef(context.lookup_anchor, context.lookup_anchor_slot)
        return version_of(
            order, encoded, extrinsics=extrinsics, anchor=anchor, lookup_anchor=lookup
        )

    def submit(self, order: SubmitPackage) -> None:
        package = order.package
        refusal = self.model.submit(0, order.cores[0], package.encoded, package.extrinsics)
        assert refusal is None, refusal


class StubChain(BlockLine):
    """A chain that reports all packages in the next block, and accumulates it in the one after;
    two blocks later that is final. Nothing is refined, and nothing is kept of what is final."""

    FINALITY = 2

    def __init__(self) -> None:
        super().__init__(JamBlockRef(bytes(32), 0))
        self._given: dict[bytes, int] = {}
        self._reported: dict[bytes, int] = {}
        self._done: deque[tuple[int, bytes]] = deque()

    def step(self, slot: int) -> None:
        self.grow(JamBlockRef(blake2b(b"%d" % slot), slot))
        for package, number in self._reported.items():
            self.facts[package] = Accumulated(number)
            self._done.append((self.height, package))
        for package in self._given:
            self.facts[package] = Reported(self.best, 0, b"")
        self._reported, self._given = self._given, {}
        self.final = self.blocks[-1 - min(self.FINALITY, self.height)]
        while self._done and self._done[0][0] < self.height - 2 * self.FINALITY:
            del self.facts[self._done.popleft()[1]]

    def execute(self, order: BuildBlock, now_ms: int) -> BlockBuilt:
        return stub_block(order, b"%d" % order.number, now_ms)

    def package(self, order: BuildVersion) -> VersionBuilt:
        encoded = b"%d %d %d" % (order.number, order.version, self.height)
        anchor = self.blocks[-2] if self.height else self.best
        return version_of(order, encoded, anchor=anchor, lookup_anchor=anchor)

    def submit(self, order: SubmitPackage) -> None:
        number = int(order.package.encoded.split()[0])
        if order.package_hash not in self.facts:
            self._given[order.package_hash] = number
