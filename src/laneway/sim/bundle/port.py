"""The ports `JamChain` and `RollupBuilder` on the chain model and the virtual loop, with loss and
delay on the way. The chain promises what the adapter does."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from laneway.chains.jam.words import answer_of
from laneway.core.errors import BuildFailed, ChainUnreachable
from laneway.core.jam import (
    BlockRef,
    BlocksSeen,
    Context,
    May,
    Package,
    PackageAnswer,
    PackageKind,
    SlotClock,
    Submission,
    Watched,
)
from laneway.core.outcome import Outcome
from laneway.jam.hashing import blake2b
from laneway.lanes.bundle.rows import Tell
from laneway.lanes.bundle.values import BuildBlock, BuildVersion
from laneway.ports import ExecutedBlock, MadePackage
from laneway.sim.bundle.nodes import LATE_MS_MAX, WHIMS
from laneway.sim.bundle.plan import NODES
from laneway.sim.bundle.senses import Senses
from laneway.sim.bundle.shown import WORDS, NodeView

if TYPE_CHECKING:
    from laneway.sim.bundle.shell import RollupShell


class LoopBuilder:
    """The maker, which sometimes fails and takes its time."""

    def __init__(self, world: "RollupShell") -> None:
        self._world = world

    async def execute(self, order: BuildBlock) -> ExecutedBlock:
        await self._work("block not built")
        return self._world.maker.execute(order)

    async def package(self, order: BuildVersion, context: Context) -> MadePackage:
        await self._work("version not built")
        return self._world.maker.package(order, context)

    async def told(self, tells: Sequence[Tell]) -> None:
        await self._work("tells not heard")
        self._world.ear.hear(tells)

    async def aclose(self) -> None:
        pass

    async def _work(self, what: str) -> None:
        world = self._world
        await asyncio.sleep(world.delay_s())
        if world.chance(world.plan.build):
            world.seen[what] += 1
            raise BuildFailed("the builder is away")


class LoopChain:
    """What a performer asks of a chain."""

    def __init__(self, world: "RollupShell") -> None:
        self.nodes: tuple[str, ...] = world.plan.settings.nodes
        self._world = world
        self._sky = world.sky
        self._senses = Senses(world.sky, world.plan, lambda: world.now_ms)

    # Reading.

    async def context(self, *, offset: int = 1) -> Context:
        return (await self._reach()).context(offset)

    async def look(
        self, known: Sequence[BlockRef], packages: Sequence[Watched], limit: int
    ) -> BlocksSeen:
        view = await self._reach()
        seen = view.look(known, packages, min(limit, self._world.plan.look_limit))
        await asyncio.sleep(self._world.delay_s())
        return seen

    async def clock(self) -> SlotClock:
        told = self._senses.clock()
        if told is None or self._world.chance(self._world.plan.lose):
            raise ChainUnreachable("the nodes", "nothing was heard of them")
        return told

    async def _reach(self) -> NodeView:
        world = self._world
        await asyncio.sleep(world.delay_s())
        view = self._senses.view(
            lambda node: self._sky.is_up(node) and not world.chance(world.plan.lose)
        )
        if view is None:
            world.seen["node unreachable"] += 1
            raise ChainUnreachable("the nodes", "lost on the way")
        return view

    # Submitting.

    async def submit(
        self, package: Package, cores: Sequence[int], only: Sequence[str] = ()
    ) -> Submission:
        answers: list[PackageAnswer] = []
        for name in only:
            for core in cores:
                answer = await self._offer(name, core, package)
                answers.append(answer)
                if answer.outcome is not Outcome.REFUSED:
                    return Submission(tuple(answers), final=False)
                if May.OTHER_CORE not in answer.may:
                    break
        final = [answer.node for answer in answers if answer.final]
        return Submission(tuple(answers), all(name in final for name in only))

    async def _offer(self, name: str, core: int, package: Package) -> PackageAnswer:
        world, node = self._world, NODES.index(name)
        if world.chance(world.plan.lose) or not self._sky.is_up(node):
            world.seen["node unreachable"] += 1
            return answer_of(name, core, PackageKind.UNREACHABLE, "refused")
        if world.chance(world.plan.refuse):
            world.seen["refused by whim"] += 1
            return answer_of(name, core, world.pick(WHIMS), "a whim")
        hash_ = blake2b(package.encoded)
        world.leaving(hash_)
        if world.chance(world.plan.lose):
            world.seen["bytes late"] += 1
            delay_s = world.delay_s() + world.pick(range(LATE_MS_MAX)) / 1000
            world.travel(delay_s, node, core, package.encoded)
            return answer_of(name, core, PackageKind.SILENT, "no answer")
        await asyncio.sleep(world.delay_s())
        said = self._sky.hand_in(node, core, hash_, package.encoded)
        kind = PackageKind.TAKEN if said is None else WORDS.kind(0, said.message)
        await asyncio.sleep(world.delay_s())
        if world.chance(world.plan.lose):
            world.seen["answer lost"] += 1
            kind = PackageKind.SILENT
        return answer_of(name, core, kind)
