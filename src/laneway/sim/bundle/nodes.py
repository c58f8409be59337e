"""Performs a rollup lane's effects on the chain model, with all that goes wrong on the way.

It keeps what the real performer and adapter promise: nodes are offered a package in turn until one
takes it or may have it, a refusal for good stays one, and what a look shows is one node's view.
"""

from collections import Counter
from typing import TYPE_CHECKING, assert_never

from msgspec import Struct
from msgspec.structs import replace

from laneway.chains.jam.words import answer_of
from laneway.core.errors import BuildFailed
from laneway.core.ids import LaneId
from laneway.core.jam import May, PackageAnswer, PackageKind, Submission
from laneway.core.outcome import Outcome
from laneway.engine.bundle.building import no_version
from laneway.engine.bundle.performer import unsent
from laneway.lanes.bundle.rows import Ear as Told
from laneway.lanes.bundle.rows import Tell
from laneway.lanes.bundle.values import (
    BlockBuilt,
    BlockNotBuilt,
    BlocksTold,
    BuildBlock,
    BuildVersion,
    ChainLooked,
    Effect,
    Event,
    LookAtChain,
    LookFailed,
    PackagesSubmitted,
    SubmitPackage,
    Submitted,
    TellBlocks,
    TellBuilder,
    VersionBuilt,
    VersionNotBuilt,
    VersionsMade,
)
from laneway.ports import ExecutedBlock
from laneway.sim.bundle.maker import Ear, Maker
from laneway.sim.bundle.plan import NODES
from laneway.sim.bundle.senses import Senses
from laneway.sim.bundle.shown import WORDS, NodeView

if TYPE_CHECKING:
    from laneway.sim.bundle.world import RollupWorld
    from laneway.sim.process import Process

WHIMS = (
    PackageKind.CORE_BUSY,
    PackageKind.QUEUE_FULL,
    PackageKind.NO_GUARANTOR,
    PackageKind.UNAUTHORIZED,
    PackageKind.ANCHOR_UNKNOWN,
    PackageKind.DEPENDENCY_MISSING,
    PackageKind.ANCHOR_NOT_RECENT,
    PackageKind.BAD_SERVICE,
)
"""What a node says once and not the next time."""
CONDEMNED = (
    PackageKind.BAD_CONTEXT,
    PackageKind.BAD_CONTEXT,
    PackageKind.TOO_MANY_DEPENDENCIES,
    PackageKind.GAS,
    PackageKind.MALFORMED,
)
"""What every node says from then on."""
MUMBLED = (PackageKind.UNKNOWN, PackageKind.RATE_LIMITED, PackageKind.SILENT)

TIMEOUT_MS = 150
LATE_MS_MAX = 3_000
"""Bytes that were given up as lost arrive as late as this."""


class Offer(Struct):
    """One order on its way: whom it goes to next, and what was answered so far."""

    process: "Process"
    lane: LaneId
    effect: SubmitPackage
    node: int
    core: int
    answers: list[PackageAnswer]


class Nodes:
    """Answers what it is asked, sometimes; the chain remembers what really happened."""

    def __init__(self, world: "RollupWorld") -> None:
        self._world = world
        self._dice = world.plan.rng("nodes")
        self._senses: dict[str, Senses] = {}
        self.maker = Maker()
        self.builder_ears: dict[LaneId, Ear] = {}
        self.ears: dict[LaneId, Ear] = {}
        """The users', who hear what their builder has heard."""
        self.travelling: Counter[bytes] = Counter()
        """Packages on their way to a node."""
        self.condemned: dict[bytes, PackageKind] = {}
        """Packages that every node refuses for good."""

    def perform(self, process: "Process", lane: LaneId, effect: Effect) -> None:
        if isinstance(effect, BuildBlock | BuildVersion | SubmitPackage):
            for observer in self._world.observers:
                observer.leaving(process, lane, effect)
        match effect:
            case BuildBlock():
                process.answered(lane, self._execute(effect))
            case BuildVersion():
                self._package(process, lane, effect)
            case SubmitPackage():
                self._go_on(Offer(process, lane, effect, 0, 0, []))
            case LookAtChain():
                self._look(process, lane, effect)
            case TellBuilder(tells=tells):
                process.answered(lane, self._tell(self.builder_ears, lane, tells, Told.BUILDER))
            case TellBlocks(tells=tells):
                process.answered(lane, self._tell(self.ears, lane, tells, Told.USER))
            case _:
                assert_never(effect)

    def declined(self, effect: Effect, now_ms: int, reason: str) -> Event:
        match effect:
            case BuildBlock(slot=slot, order=order):
                return BlockNotBuilt(now_ms, slot, order, reason)
            case BuildVersion():
                return VersionsMade(now_ms, (no_version(effect, reason),))
            case SubmitPackage():
                return PackagesSubmitted(now_ms, (unsent(effect, reason),))
            case LookAtChain():
                return LookFailed(now_ms, reason)
            case TellBuilder(tells=tells):
                last = tells[-1].id
                return BlocksTold(now_ms, last, is_done=False, reason=reason, ear=Told.BUILDER)
            case TellBlocks(tells=tells):
                return BlocksTold(now_ms, tells[-1].id, is_done=False, reason=reason)
            case _:
                assert_never(effect)

    # The builder.

    def _execute(self, order: BuildBlock) -> BlockBuilt | BlockNotBuilt:
        world = self._world
        if world.chance(world.plan.build):
            world.seen["block not built"] += 1
            return BlockNotBuilt(world.now_ms, order.slot, order.order, "the builder is away")
        return built(order, self.maker.execute(order), world.now_ms)

    def _package(self, process: "Process", lane: LaneId, order: BuildVersion) -> None:
        """The context first; the package a moment later."""
        world = self._world
        view = self._sense(process)
        if view is None or world.chance(world.plan.build):
            world.seen["version not built"] += 1
            failed = no_version(order, "no context, or no builder")
            process.answered(lane, VersionsMade(world.now_ms, (failed,)))
            return
        context = view.context(order.anchor_offset)

        def make() -> None:
            made: VersionBuilt | VersionNotBuilt
            if world.chance(world.plan.hopeless):
                world.seen["no version ever"] += 1
                made = no_version(order, "there never will be one", final=True)
            else:
                try:
                    done = self.maker.package(order, context)
                except BuildFailed as error:
                    raise AssertionError(f"{lane}: {error}") from error
                made = VersionBuilt(
                    slot=order.slot,
                    order=order.order,
                    block=done.block,
                    package_hash=done.package_hash,
                    package=done.package,
                    anchor=context.anchor,
                    lookup_anchor=context.lookup_anchor,
                )
            process.answered(lane, VersionsMade(world.now_ms, (made,)))

        world.after(world.delay(), "package", make, process)

    def _tell(
        self, ears: dict[LaneId, Ear], lane: LaneId, tells: tuple[Tell, ...], whose: str
    ) -> BlocksTold:
        """All of them, or some and then a failure."""
        world = self._world
        ear = ears.setdefault(lane, Ear())
        last = tells[-1].id
        if world.chance(world.plan.deaf):
            world.seen[f"the {whose} did not hear"] += 1
            ear.hear(tells[: self._dice.randrange(len(tells))])
            return BlocksTold(world.now_ms, last, is_done=False, reason="it raised", ear=whose)
        if any(one.id in ear.tells for one in tells):
            world.seen["told twice"] += 1
        ear.hear(tells)
        return BlocksTold(world.now_ms, last, ear=whose)

    # Submitting.

    def _go_on(self, offer: Offer) -> None:
        """To the next node and core."""
        world, effect = self._world, offer.effect
        if offer.node == len(effect.nodes):
            self._finish(offer)
            return
        name = effect.nodes[offer.node]
        node = NODES.index(name)
        if not world.sky.is_up(node) or world.chance(world.plan.lose):
            world.seen["node unreachable"] += 1
            self._heard(offer, PackageKind.UNREACHABLE)
            return
        kind = self._no(effect)
        if kind is not None:
            self._heard(offer, kind)
            return
        if world.chance(world.plan.lose):
            world.seen["bytes late"] += 1
            self._travel(offer)
            self._time_out(offer)
            return
        # On the way they no longer belong to the process: a kill does not call them back.
        self.travelling[effect.package_hash] += 1
        world.after(world.delay(), "offer", lambda: self._arrive(offer))

    def _no(self, effect: SubmitPackage) -> PackageKind | None:
        """Why a node does not take it; some refusals are for good and every node's."""
        world, package = self._world, effect.package_hash
        known = self.condemned.get(package)
        if known is None and not self.is_out(package) and world.chance(world.plan.condemn):
            known = self.condemned[package] = self._dice.choice(CONDEMNED)
            world.seen[f"condemned: {known.value}"] += 1
        if known is None and world.chance(world.plan.refuse):
            world.seen["refused by whim"] += 1
            known = self._dice.choice(WHIMS)
        return known

    def is_out(self, package: bytes) -> bool:
        """Whether a guarantor has it, or may have it soon."""
        return package in self._world.sky.handed or self.travelling[package] > 0

    def _travel(self, offer: Offer) -> None:
        """Bytes whose answer nobody waits for."""
        self.travelling[offer.effect.package_hash] += 1
        delay_ms = self._dice.randint(0, LATE_MS_MAX)
        copy = replace(offer, answers=[])

        def arrive() -> None:
            self._hand(copy)

        self._world.after(delay_ms, "late bytes", arrive)

    def _arrive(self, offer: Offer) -> None:
        world = self._world
        kind = self._hand(offer)
        if world.chance(world.plan.lose):
            world.seen["answer lost"] += 1
            kind = PackageKind.SILENT
        elif world.chance(world.plan.mumble):
            world.seen["answer mumbled"] += 1
            kind = self._dice.choice(MUMBLED)
        if kind in (PackageKind.TAKEN, *MUMBLED) and world.chance(world.plan.double):
            world.seen["bytes doubled"] += 1
            self._travel(offer)
        if kind is PackageKind.SILENT:
            self._time_out(offer)
        else:
            world.after(world.delay(), "heard", lambda: self._heard(offer, kind), offer.process)

    def _time_out(self, offer: Offer) -> None:
        self._world.after(
            TIMEOUT_MS,
            "no answer",
            lambda: self._heard(offer, PackageKind.SILENT),
            offer.process,
        )

    def _hand(self, offer: Offer) -> PackageKind:
        """The node itself, and what its answer means."""
        world, effect = self._world, offer.effect
        package = effect.package_hash
        self.travelling[package] -= 1
        name, core = effect.nodes[offer.node], effect.cores[offer.core]
        node = NODES.index(name)
        if not world.sky.is_up(node):
            return PackageKind.SILENT
        if package in world.sky.handed:
            world.seen["same bytes again"] += 1
        said = world.sky.hand_in(node, core, package, effect.package.encoded)
        told = f"{effect.slot}v{effect.version} for core {core}"
        if said is None:
            world.note(f"{name} takes {told}")
            return PackageKind.TAKEN
        kind = WORDS.kind(0, said.message)
        world.seen[f"node says {kind.value}"] += 1
        world.note(f"{name} says {kind.value} to {told}")
        return kind

    def _heard(self, offer: Offer, kind: PackageKind) -> None:
        name, core = offer.effect.nodes[offer.node], offer.effect.cores[offer.core]
        answer = answer_of(name, core, kind)
        offer.answers.append(answer)
        if answer.outcome is not Outcome.REFUSED:
            offer.node = len(offer.effect.nodes)
        elif May.OTHER_CORE in answer.may and offer.core + 1 < len(offer.effect.cores):
            offer.core += 1
        else:
            offer.node, offer.core = offer.node + 1, 0
        self._go_on(offer)

    def _finish(self, offer: Offer) -> None:
        effect, answers = offer.effect, tuple(offer.answers)
        refused = all(answer.outcome is Outcome.REFUSED for answer in answers)
        final = [answer.node for answer in answers if answer.final]
        told = Submission(answers, refused and all(name in final for name in effect.nodes))
        result = Submitted(effect.slot, effect.version, effect.serial, told)
        offer.process.answered(offer.lane, PackagesSubmitted(self._world.now_ms, (result,)))

    # Reading.

    def _sense(self, process: "Process") -> NodeView | None:
        world = self._world
        senses = self._senses_of(process)
        return senses.view(lambda node: world.sky.is_up(node) and not world.chance(world.plan.lose))

    def _senses_of(self, process: "Process") -> Senses:
        world = self._world
        known = self._senses.get(process.owner)
        if known is None:
            known = Senses(world.sky, world.plan, lambda: world.now_ms)
            self._senses[process.owner] = known
        return known

    def _look(self, process: "Process", lane: LaneId, order: LookAtChain) -> None:
        world = self._world
        view = self._sense(process)
        if view is None:
            world.seen["look failed"] += 1
            process.answered(lane, LookFailed(world.now_ms, "no node"))
            return
        seen = view.look(order.known, order.packages, world.plan.look_limit)
        clock = None if world.chance(world.plan.lose) else self._senses_of(process).clock()
        process.answered(lane, ChainLooked(world.now_ms, seen, clock))


def built(order: BuildBlock, done: ExecutedBlock, now_ms: int) -> BlockBuilt:
    return BlockBuilt(
        now_ms=now_ms,
        slot=order.slot,
        order=order.order,
        payload=done.payload,
        digest=done.digest,
        block=done.block,
        pre_root=done.pre_root,
        post_root=done.post_root,
        judged=done.judged,
    )
