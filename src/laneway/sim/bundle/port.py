"""The ports `JamChain` and `RollupBuilder` over the chain model, with loss and delay on the way.

The chain promises what the adapter does: every node is offered a package at once, a refusal for
good stays one, and what a look shows is one node's view.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from msgspec.structs import replace

from laneway.chains.jam.clock import BlockArrivals
from laneway.chains.jam.phrases import answer_of
from laneway.core.errors import BuildFailed, ChainUnreachable
from laneway.core.ids import LaneId
from laneway.core.jam import (
    Context,
    JamBlockRef,
    JamBlocksSeen,
    LineAsked,
    May,
    Package,
    PackageAnswer,
    PackageKind,
    SlotClock,
    SubmissionAnswers,
    Watched,
)
from laneway.core.outcome import Outcome
from laneway.engine.bundle import BundlePerformer, Rollup
from laneway.engine.bundle.rollup import KIND, rollup_lane
from laneway.jam.hashing import blake2b
from laneway.lanes.bundle.machine import bundle_kind
from laneway.lanes.bundle.rows import Tell
from laneway.lanes.bundle.values import BuildBlock, BuildVersion
from laneway.ports import ExecutedBlock, JamChain, MadePackage
from laneway.sim.bundle.maker import SERVICE, BlockGround, Maker, TellLog
from laneway.sim.bundle.network import JamNetwork
from laneway.sim.bundle.node_view import WORDS, NodeView
from laneway.sim.bundle.plan import NODES, RollupPlan
from laneway.sim.link import Ground, Link, Reply
from laneway.sim.loops import VirtualClock
from laneway.sim.world import LawBroken

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

LATELY_SLOTS = 3
"""How long a node that was further binds the others."""


class JamGround(Ground):
    """A world of one rollup, in every layer."""

    plan: RollupPlan
    network: JamNetwork

    def __init__(self, plan: RollupPlan, *place: Any) -> None:
        super().__init__(plan, *place)
        self.kinds = {KIND: bundle_kind(plan.settings)}
        self.network = JamNetwork(self)
        self.lanes = [rollup_lane(SERVICE)]
        self.maker = Maker()
        self.builder_log = TellLog()
        self.user_log = TellLog()

    def performers(self, link: Link) -> dict[str, BundlePerformer]:
        chain = cast(JamChain, FaultyJamChain(self, link))
        rollups = {
            rollup_lane(SERVICE): Rollup(
                chain, FaultyBuilder(self, link), self.plan.settings.clock_skew_ms_max
            )
        }
        return {KIND: BundlePerformer(rollups, link.clock, on_block=partial(listener, self))}

    def sending(self, package: bytes) -> None:
        """A node is offered this package now."""

    def submitting(self, skew_ms: int | None) -> None:
        """A submission begins, by a clock that is so far from the chain's calendar as the adapter
        knows it."""
        self.ask_law(check_skew, skew_ms, self.plan.settings.clock_skew_ms_max)

    def befall(self) -> None:
        """What others do in a slot."""


def check_skew(skew_ms: int | None, most_ms: int) -> None:
    if skew_ms is not None and abs(skew_ms) > most_ms:
        raise LawBroken(f"clock: a package leaves with a skew of {skew_ms} ms, {most_ms} at most")


class FaultyBuilder:
    """The maker, which sometimes fails and takes its time."""

    def __init__(self, world: JamGround, link: Link) -> None:
        self._world = world
        self._link = link

    async def execute(self, order: BuildBlock) -> ExecutedBlock:
        await self._work("block not built")
        network = self._world.network
        final = network.final().header_hash
        ground = self._ground(order, final)
        if order.expired:
            self._check_expiry(order, final)
        return self._world.maker.execute(order, ground, network.done(final))

    def _ground(self, order: BuildBlock, final: bytes) -> BlockGround | None:
        """What a block stands on that is ordered on whatever the service has. A builder builds on
        final blocks and on those that it is given, and waits while the service has others."""
        network, head = self._world.network, self._world.network.service_head(final)
        if order.parent:
            line = [record.block for record in network.line(final)]
            if order.parent in line[:-1]:
                raise BuildFailed("the block below is final, and so are others on it")
            return None
        if network.service_head(network.best().header_hash) != head:
            raise BuildFailed("the service has newer blocks, which are not final")
        if head.number + 1 != order.number:
            raise BuildFailed(f"block {order.number} is ordered, and {head.number} is the newest")
        return head.block, head.state_root

    def _check_expiry(self, order: BuildBlock, final: bytes) -> None:
        """Nothing is called expired while the service has a block that is neither final nor below
        the one that is ordered: it may hold what is."""
        network, maker = self._world.network, self._world.maker
        known = {record.block for record in network.line(final)}
        applied = [record.block for record in network.line(network.best().header_hash)]
        below = order.parent
        while below in maker.blocks and below not in known:
            known.add(below)
            below = maker.blocks[below].parent
        if not known.issuperset(applied):
            self._world.seen["nothing called expired yet"] += 1
            raise BuildFailed("the service has newer blocks, which may hold what is expired")
        for intent, payload in zip(order.intents, order.payloads, strict=True):
            if intent in order.expired:
                maker.expiries.setdefault(payload, []).append(frozenset(applied))

    async def package(self, order: BuildVersion, context: Context) -> MadePackage:
        await self._work("version not built")
        world = self._world
        if world.chance(world.plan.hopeless):
            world.seen["no version ever"] += 1
            raise BuildFailed("there never will be one", final=True)
        return world.maker.package(order, context)

    async def notified(self, tells: Sequence[Tell]) -> None:
        """All of them, or some and then a failure."""
        world = self._world
        await self._link.pause()
        ear = world.builder_log
        if world.chance(world.plan.deaf):
            world.seen["the builder did not hear"] += 1
            ear.hear(tells[: tells[0].id % len(tells)])
            raise BuildFailed("it raised")
        world.seen["told twice"] += any(one.id in ear.tells for one in tells)
        ear.hear(tells)

    async def aclose(self) -> None: ...

    async def _work(self, what: str) -> None:
        world = self._world
        await self._link.pause()
        if world.chance(world.plan.build):
            world.seen[what] += 1
            raise BuildFailed("the builder is away")


def listener(world: JamGround, _lane: LaneId, tell: Tell) -> None:
    """A user's callback, which fails sometimes."""
    if world.chance(world.plan.deaf):
        world.seen["the user did not hear"] += 1
        raise ValueError("a user's own trouble")
    world.seen["told twice"] += tell.id in world.user_log.tells
    if tell.id not in world.builder_log.tells:
        world.user_log.problem = f"callback {tell.id} came before the builder heard"
    world.user_log.hear((tell,))


class FaultyJamChain:
    """The nodes as one process reaches them."""

    def __init__(self, world: JamGround, link: Link) -> None:
        self.nodes: tuple[str, ...] = world.plan.settings.nodes
        self._world = world
        self._link = link
        self._dice = world.plan.rng("port")
        self._network = world.network
        self._probes = Probes(world.network, world.plan, link.clock)

    # Reading.

    async def context(self, *, offset: int = 1) -> Context:
        return self._reach().context(offset)

    async def look(
        self,
        known: Sequence[JamBlockRef],
        packages: Sequence[Watched],
        limit: int,
        line: LineAsked | None = None,
    ) -> JamBlocksSeen:
        limit = min(limit, self._world.plan.look_limit)
        seen = self._reach().look(known, packages, limit, line)
        await self._link.pause()
        return seen

    async def clock(self) -> SlotClock:
        told = self._probes.clock()
        # The adapter knows it from the first block on. With a calendar it says what may leave.
        is_lost = self._world.chance(self._world.plan.lose) and not self._world.plan.has_calendar
        if told is None or is_lost:
            raise ChainUnreachable("the nodes", "nothing was heard of them")
        return told

    def _reach(self) -> NodeView:
        view = self._probes.view(lambda node: not self._is_lost(node))
        if view is None:
            self._world.seen["look failed"] += 1
            raise ChainUnreachable("the nodes", "lost on the way")
        return view

    def _is_lost(self, node: int) -> bool:
        return not self._network.is_up(node) or self._world.chance(self._world.plan.lose)

    # Submitting.

    async def submit(
        self, package: Package, cores: Sequence[int], only: Sequence[str] = ()
    ) -> SubmissionAnswers:
        clock = self._probes.clock()
        self._world.submitting(None if clock is None else clock.skew_ms)
        found = await asyncio.gather(*(self._at_node(name, package, cores) for name in only))
        answers = tuple([answer for some in found for answer in some])
        final = [answer.node for answer in answers if answer.final]
        return SubmissionAnswers(answers, all(name in final for name in only))

    async def _at_node(
        self, name: str, package: Package, cores: Sequence[int]
    ) -> list[PackageAnswer]:
        answers: list[PackageAnswer] = []
        for core in cores:
            kind = await self._offer(NODES.index(name), core, package.encoded)
            answers.append(answer_of(name, core, kind))
            if answers[-1].outcome is not Outcome.REFUSED or May.OTHER_CORE not in answers[-1].may:
                break
        return answers

    async def _offer(self, node: int, core: int, encoded: bytes) -> PackageKind:
        world, name = self._world, blake2b(encoded)
        if self._is_lost(node):
            world.seen["node unreachable"] += 1
            return PackageKind.UNREACHABLE
        refusal = self._refusal(name)
        if refusal is not None:
            return refusal
        world.sending(name)
        kind: PackageKind
        if world.chance(world.plan.lose):
            world.seen["bytes late"] += 1
            self._travel(node, core, name, encoded)
            kind = await self._link.answer(PackageKind.SILENT, TIMEOUT_MS)
        else:
            self._network.travelling[name] += 1
            act = partial(self._arrive, node, core, name, encoded)
            kind = await self._link.begin("offer", act)
        return kind

    def _refusal(self, name: bytes) -> PackageKind | None:
        """Why a node does not take it; some refusals are for good and every node's."""
        world, condemned = self._world, self._network.condemned
        known = condemned.get(name)
        if known is None and not self._network.is_out(name) and world.chance(world.plan.condemn):
            known = condemned[name] = self._dice.choice(CONDEMNED)
            world.seen[f"condemned: {known.value}"] += 1
        if known is None and world.chance(world.plan.refuse):
            world.seen["refused by whim"] += 1
            known = self._dice.choice(WHIMS)
        return known

    def _travel(self, node: int, core: int, name: bytes, encoded: bytes) -> None:
        """Bytes whose answer nobody waits for."""
        self._network.travelling[name] += 1
        delay_ms = self._dice.randint(0, LATE_MS_MAX)
        self._world.after(delay_ms, "late bytes", partial(self._hand, node, core, name, encoded))

    def _arrive(self, node: int, core: int, name: bytes, encoded: bytes, reply: Reply) -> None:
        world = self._world
        kind = self._hand(node, core, name, encoded)
        if world.chance(world.plan.lose):
            world.seen["answer lost"] += 1
            kind = PackageKind.SILENT
        elif world.chance(world.plan.mumble):
            world.seen["answer mumbled"] += 1
            kind = self._dice.choice(MUMBLED)
        if kind in (PackageKind.TAKEN, *MUMBLED) and world.chance(world.plan.double):
            world.seen["bytes doubled"] += 1
            self._travel(node, core, name, encoded)
        reply(kind, TIMEOUT_MS if kind is PackageKind.SILENT else None)

    def _hand(self, node: int, core: int, name: bytes, encoded: bytes) -> PackageKind:
        """The node itself, and what its answer means."""
        world, network = self._world, self._network
        network.travelling[name] -= 1
        if not network.is_up(node):
            return PackageKind.SILENT
        world.seen["same bytes again"] += name in network.handed
        said = network.hand_in(node, core, name, encoded)
        made = world.maker.packages[name]
        told = f"{made.slot}v{made.version} for core {core}"
        if said is None:
            world.note(f"{NODES[node]} takes {told}")
            return PackageKind.TAKEN
        kind = WORDS.kind(0, said.message)
        world.seen[f"node says {kind.value}"] += 1
        world.note(f"{NODES[node]} says {kind.value} to {told}")
        return kind


class Probes:
    """What one process's adapter remembers of its nodes: which of them are behind, and when it
    received blocks."""

    def __init__(self, network: JamNetwork, plan: RollupPlan, clock: VirtualClock) -> None:
        self._network = network
        self._plan = plan
        self._now_ms = clock.monotonic_ms
        self._nodes = [NODES.index(name) for name in plan.settings.nodes]
        self._arrivals = BlockArrivals(clock.now_ms, steady=clock.monotonic_ms)
        self._floor = 0
        self._floor_ms = 0

    def view(self, is_reached: Callable[[int], bool]) -> NodeView | None:
        """The first node that answers and is not behind; None: there is none."""
        lately_ms = LATELY_SLOTS * self._plan.slot_ms
        floor = self._floor if self._now_ms() - self._floor_ms <= lately_ms else 0
        for node in self._nodes:
            if not is_reached(node):
                continue
            slot = self._network.model.best(node).slot
            if slot < floor and len(self._nodes) > 1:
                continue
            if slot >= self._floor:
                self._floor, self._floor_ms = slot, self._now_ms()
            self._arrivals.saw(slot)
            return self._network.views[node]
        return None

    def clock(self) -> SlotClock | None:
        """The chain's slots on this machine's clock; None: no block was received."""
        clock = self._arrivals.clock(self._plan.slot_ms)
        if clock is None or not self._plan.has_calendar:
            return clock
        calendar_ms = self._network.begin_ms - self._network.skew_ms
        return replace(clock, skew_ms=clock.begin_ms - calendar_ms)
