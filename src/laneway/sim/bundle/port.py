"""The ports `JamChain` and `RollupBuilder` over the chain model, with loss and delay on the way.

The chain promises what the adapter does: every node is offered a package at once, a refusal for
good stays one, and what a look shows is one node's view.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, cast

from laneway.chains.jam.phrases import answer_of
from laneway.core.errors import ChainUnreachable
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
from laneway.ports import JamChain, SendPermit
from laneway.sim.bundle.builder import SimBuilder, Workshop
from laneway.sim.bundle.looks import ComparedLooks
from laneway.sim.bundle.maker import SERVICE, Maker, TellLog
from laneway.sim.bundle.network import JamNetwork
from laneway.sim.bundle.node_view import WORDS, NodeView
from laneway.sim.bundle.plan import NODES, RollupPlan
from laneway.sim.bundle.probes import Probes
from laneway.sim.link import Ground, Link, Reply
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
        self.shop = Workshop(self)
        self.builder_log = TellLog()
        self.user_log = TellLog()

    def performers(self, link: Link) -> dict[str, BundlePerformer]:
        chain = cast(JamChain, FaultyJamChain(self, link))
        rollups = {
            rollup_lane(SERVICE): Rollup(
                chain, SimBuilder(self, link), self.plan.settings.clock_skew_ms_max
            )
        }
        performer = BundlePerformer(
            rollups,
            link.clock,
            on_block=partial(listener, self),
            build_timeout_ms=self.plan.build_timeout_ms,
        )
        return {KIND: performer}

    def sending(self, package: bytes) -> None:
        """A node is offered this package now."""

    def submitting(self, skew_ms: int | None) -> None:
        """A package leaves for a node, by a clock that is so far from the chain's calendar as the
        adapter knows it."""
        self.ask_law(check_skew, skew_ms, self.plan.settings.clock_skew_ms_max)

    def befall(self) -> None:
        """What others do in a slot, while there are faults."""

    def pass_slot(self, slot: int) -> None:
        """What others do in every slot."""


def check_skew(skew_ms: int | None, most_ms: int) -> None:
    if skew_ms is not None and abs(skew_ms) > most_ms:
        raise LawBroken(f"clock: a package leaves with a skew of {skew_ms} ms, {most_ms} at most")


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
        self._looks = ComparedLooks(
            self._probes, world.maker, lambda node: not self._is_lost(node), world.seen
        )

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
        if self._network.is_doubtful():
            seen = self._looks.look(known, packages, limit, line)
        else:
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
        self,
        package: Package,
        cores: Sequence[int],
        only: Sequence[str] = (),
        permit: SendPermit | None = None,
    ) -> SubmissionAnswers:
        assert permit is not None
        at_nodes = [self._at_node(name, package, cores, permit) for name in only]
        found = await asyncio.gather(*at_nodes)
        answers = tuple([answer for some in found for answer in some])
        final = [answer.node for answer in answers if answer.final]
        return SubmissionAnswers(answers, all(name in final for name in only))

    async def _at_node(
        self, name: str, package: Package, cores: Sequence[int], permit: SendPermit
    ) -> list[PackageAnswer]:
        answers: list[PackageAnswer] = []
        for core in cores:
            clock = self._probes.clock()
            if reason := permit(clock):
                answers.append(answer_of(name, core, PackageKind.UNREACHABLE, reason))
                break
            self._world.submitting(None if clock is None else clock.skew_ms)
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
