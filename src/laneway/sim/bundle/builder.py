"""The builder of one process, as strict as the real one (`laneway.builder.builder`) and as slow.

It stands on what a node shows as final and on the blocks that it is given, moves its base with the
service's line, and answers an order that it cannot carry out as the real one does. What it makes of
transactions is the maker's. Its faults: it is away, it takes longer than its order may or than its
lane waits, and it lacks what only an operator can bring. An order that its lane gave up is carried
out all the same, and its answer is kept for when the order is repeated.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from laneway.builder.builder import ACTED_ON
from laneway.builder.execution import check_others
from laneway.builder.orders import Orders
from laneway.builder.shelf import REMEDY
from laneway.builder.snapshots import Snapshot, Snapshots
from laneway.core.errors import BuildFailed, ChainUnreachable, ChainUnreadable
from laneway.core.ids import IntentId
from laneway.core.jam import Context, JamHead
from laneway.jam.service.values import ServiceHead
from laneway.lanes.bundle.rows import ExecutionVerdict, Tell
from laneway.lanes.bundle.values import BuildBlock, BuildVersion
from laneway.ports import ExecutedBlock, MadePackage
from laneway.rollups.rules import SealedBlock
from laneway.sim.bundle.maker import (
    GENESIS_BLOCK,
    GENESIS_ROOT,
    Body,
    block_hash,
    decode_body,
    decode_request,
    encode_request,
    root_after,
    transaction_hash,
)
from laneway.sim.bundle.probes import Probes
from laneway.sim.link import Link

if TYPE_CHECKING:
    from laneway.sim.bundle.port import JamGround

BlockSnapshot: TypeAlias = Snapshot[None, Body | None]

FILE = "/var/lib/laneway/rollup-7.builder"
LOST = (
    (
        f"the chain has another block {{number}} than the builder: {FILE} is of another chain, or "
        "of one that began anew; ",
        REMEDY,
    ),
    (
        f"block {{number}} is final, and no node has the segments of its package {'5c' * 32} any "
        "more (it is not known here); ",
        "put back the builder's file or a state of it, or name a node that kept them",
    ),
)
"""What the real builder says when it needs an operator, and the remedy."""

TOO_LONG = "it takes longer than"
NO_VERSION = "there never will be one"

JOB_SHARE = 0.75
"""How long a job may take, of the time that the lane waits; the real bounds are 45 s of 60 s."""

PASSES_SLOTS = (2, 6, None, None)
"""After how many slots what a builder lacks is there by itself; None: never."""


class Workshop:
    """What the builders of a world have in common: their file, and what they lack."""

    def __init__(self, world: "JamGround") -> None:
        self._world = world
        self.dice = world.plan.rng("builder")
        genesis = sealed_block(0, GENESIS_BLOCK, b"", b"", GENESIS_ROOT)
        self.base: BlockSnapshot = Snapshot(genesis, None, None)
        self.finals: dict[int, bytes] = {0: GENESIS_BLOCK}
        """The final blocks in the file, by their numbers."""
        self.remedy = ""
        """What an operator has to do; empty: nothing."""
        self.slow_until_ms = 0
        """Until then a builder is at a job that takes long, and does nothing else."""
        self._problem = ""

    def check(self) -> None:
        """BuildFailed while something is lacking."""
        world = self._world
        if not self.remedy and self.is_hit(world.plan.help):
            self._lose()
        if self.remedy:
            world.seen["builder needs help"] += 1
            raise BuildFailed(self._problem + self.remedy, needs_help=True)

    def is_hit(self, chance: float) -> bool:
        return self._world.is_faulty and chance > 0 and self.dice.random() < chance

    def _lose(self) -> None:
        world = self._world
        problem, self.remedy = self.dice.choice(LOST)
        self._problem = problem.format(number=self.base.sealed.number)
        slots = self.dice.choice(PASSES_SLOTS)
        world.note(f"the builder needs help: {self._problem}")
        if slots is not None:
            world.after(slots * world.plan.slot_ms, "builder's trouble passes", self.repair)

    def repair(self) -> None:
        """What was lacking is there."""
        self.remedy = self._problem = ""


class SimBuilder:
    """The maker under the rules of the real builder."""

    def __init__(self, world: "JamGround", link: Link) -> None:
        self._world = world
        self._link = link
        self._shop = world.shop
        self._probes = Probes(world.network, world.plan, link.clock)
        self._snapshots: Snapshots[None, Body | None] = Snapshots(self._shop.base)
        self._orders: Orders[ExecutedBlock] = Orders()
        self._turn = asyncio.Lock()
        self._given_up: dict[tuple[int, int], None] = {}
        self._busy_until_ms = 0
        """When a job is done that took too long."""

    # What a lane orders.

    async def execute(self, order: BuildBlock) -> ExecutedBlock:
        try:
            return await self._orders.once(order, lambda: self._execute(order))
        except asyncio.CancelledError:
            self._world.seen["build given up in time"] += 1
            self._given_up[order.slot, order.order] = None
            raise

    async def _execute(self, order: BuildBlock) -> ExecutedBlock:
        async with self._turn:
            await self._work("block not built")
            parent = self._ground(order.parent, order.below)
            below = parent.sealed
            if below.number + 1 != order.number:
                problem = f"block {order.number} is ordered, and below it is {below.number}"
                raise BuildFailed(f"{problem}; the lane sees that with its next look")
            if order.expired:
                self._check_others(parent, payloads_of(order, order.expired))
            network, base = self._world.network, self._snapshots.base.sealed
            done = network.done(network.final().header_hash, base.number)
            payloads = [decode_request(payload) for payload in order.payloads]
            if any(transaction_hash(one) not in done for one in payloads):
                try:
                    await self._in_time()
                except BuildFailed:
                    self._check_others(parent, order.payloads)
                    raise
            if order.parent_root and order.parent_root != below.post_root:
                raise BuildFailed(f"block {below.number} left another state than is ordered")
            made = self._world.maker.execute(order, (below.hash, below.post_root), done)
            refused = [one.intent for one in made.judged if one.verdict == ExecutionVerdict.REFUSED]
            if refused:
                self._check_others(parent, payloads_of(order, refused))
            if made.payload:
                body = decode_body(made.payload)
                self._snapshots.put(Snapshot(sealed(body, made.block), body, None))
            if self._given_up.pop((order.slot, order.order), False) is None:
                self._world.seen["abandoned build finished"] += 1
            return made

    def _check_others(self, parent: BlockSnapshot, ending: Iterable[bytes]) -> None:
        """Transactions that end without a block, by their payloads, are in no block that a node
        shows, and the laws hold it to that."""
        network, maker = self._world.network, self._world.maker
        best = self._head().best.header_hash
        try:
            check_others(self._snapshots, parent, self._service(best))
        except BuildFailed:
            self._world.seen["nothing called expired yet"] += 1
            raise
        applied = frozenset([record.block for record in network.line(best)])
        for payload in ending:
            maker.expiries.setdefault(payload, []).append(applied)

    async def package(self, order: BuildVersion, context: Context) -> MadePackage:
        async with self._turn:
            await self._work("version not built")
            world = self._world
            body = decode_body(order.payload)
            if block_hash(order.payload) != order.block:
                raise BuildFailed("the payload is that of another block", final=True)
            if self._is_final(order.block):
                raise BuildFailed(f"block {body.number} is final, and needs no package any more")
            parent = self._ground(body.parent, order.below)
            await asyncio.sleep(world.plan.packing_ms / 1000)
            try:
                if world.chance(world.plan.hopeless):
                    world.seen["no version ever"] += 1
                    raise BuildFailed(NO_VERSION, final=True)
                await self._in_time()
                return world.maker.package(order, context)
            except BuildFailed as error:
                if error.final:
                    self._check_others(parent, map(encode_request, body.inside))
                raise

    async def notified(self, tells: Sequence[Tell]) -> None:
        """All of them, or some and then a failure."""
        world = self._world
        await self._link.pause()
        ear = world.builder_log
        if world.chance(world.plan.deaf):
            world.seen["the builder did not hear"] += 1
            ear.hear(tells[: tells[0].id % len(tells)])
            raise BuildFailed("it raised")
        async with self._turn:
            for tell in tells:
                self._apply(tell)
                world.seen["told twice"] += tell.id in ear.tells
                ear.hear((tell,))

    async def aclose(self) -> None: ...

    # How long it takes.

    async def _work(self, what: str) -> None:
        world = self._world
        await self._link.pause()
        if world.chance(world.plan.build):
            world.seen[what] += 1
            raise BuildFailed("the builder is away")
        self._shop.check()
        if self._busy_until_ms > world.now_ms:
            world.seen["builder busy"] += 1
            raise BuildFailed(
                "it is still executing what it was to execute in a time, and does nothing else "
                "before; if that does not end, restart"
            )
        if self._shop.is_hit(world.plan.slow):
            world.seen["builder slow"] += 1
            takes_ms = self._shop.dice.choice((0.5, 1.2, 2.0)) * world.plan.build_timeout_ms
            self._shop.slow_until_ms = max(self._shop.slow_until_ms, world.now_ms + int(takes_ms))
            await asyncio.sleep(takes_ms / 1000)

    async def _in_time(self) -> None:
        """A job that takes too long is finished, and until then nothing else is done."""
        world = self._world
        if not self._shop.is_hit(world.plan.overlong):
            return
        most_ms = int(JOB_SHARE * world.plan.build_timeout_ms)
        self._busy_until_ms = world.now_ms + most_ms * self._shop.dice.choice((2, 3, 5))
        world.seen["build too long"] += 1
        await asyncio.sleep(most_ms / 1000)
        raise BuildFailed(f"{TOO_LONG} {most_ms / 1000:g} s to execute", final=True)

    # The states below a block.

    def _ground(self, parent: bytes, below: Sequence[bytes]) -> BlockSnapshot:
        """The snapshot of a parent. That it cannot be had is never the fault of what is ordered on
        it."""
        try:
            return self._snapshot_of(parent, below)
        except BuildFailed as error:
            raise BuildFailed(str(error), needs_help=error.needs_help) from error

    def _snapshot_of(self, parent: bytes, below: Sequence[bytes]) -> BlockSnapshot:
        if not parent:
            return self._service_head()
        found = self._remade(parent, below)
        if found is None:
            self._sync(self._head())
            found = self._remade(parent, below)
        if found is None:
            number = self._snapshots.base.sealed.number
            if self._is_final(parent):
                problem = "the block below is final, and so are others on it"
            else:
                problem = f"block {parent.hex()} below is neither open nor final"
            self._world.seen[problem.partition(" block")[0] + " is no ground"] += 1
            raise BuildFailed(f"{problem}; the newest final block is {number}, as the chain is now")
        return found

    def _service_head(self) -> BlockSnapshot:
        """What the service has, if nobody can take it back."""
        head = self._head()
        final, best = self._final_of(head), self._service(self._head().best.header_hash)
        if best.block != final.block:
            self._world.seen["builder waits for finality"] += 1
            raise BuildFailed(
                f"the service has block {best.number}, which is not from here, and final is "
                f"{final.number}; stop the other deployment that builds on it, or wait"
            )
        self._sync(head)
        return self._snapshots.base

    def _remade(self, parent: bytes, below: Sequence[bytes]) -> BlockSnapshot | None:
        """The snapshot of the block with this hash; None if the lowest of these blocks does not
        stand on anything that is here."""
        found = self._snapshots.get(parent)
        for payload in below if found is None else ():
            body, name = decode_body(payload), block_hash(payload)
            if self._snapshots.get(name) is not None or self._is_below(body, name):
                continue
            if self._snapshots.get(body.parent) is None:
                return None
            self._snapshots.put(Snapshot(sealed(body, name), body, None))
        return self._snapshots.get(parent)

    def _is_below(self, body: Body, name: bytes) -> bool:
        base = self._snapshots.base.sealed
        if body.number > base.number:
            return False
        if body.number == base.number or self._shop.finals.get(body.number) != name:
            problem = f"block {body.number} is final, and another one than that below the block"
            raise BuildFailed(f"{problem} that is ordered", final=True)
        return True

    # The chain.

    def _head(self) -> JamHead:
        lose = self._world.plan.lose
        network = self._world.network
        view = self._probes.view(lambda one: network.is_up(one) and not self._shop.is_hit(lose))
        if view is None:
            raise ChainUnreachable("the nodes", "lost on the way")
        head = view.head()
        if head.finalised is None:
            raise ChainUnreadable(view.name, "no final block")
        return head

    def _final_of(self, head: JamHead) -> ServiceHead:
        assert head.finalised is not None
        return self._service(head.finalised.header_hash)

    def _service(self, block: bytes) -> ServiceHead:
        return self._world.network.service_head(block)

    def _sync(self, head: JamHead) -> None:
        """Move the base up to the service's final head."""
        assert head.finalised is not None
        maker, known = self._world.maker, self._snapshots
        line = self._world.network.line(head.finalised.header_hash)
        if len(line) < known.base.sealed.number:
            self._world.seen["builder ahead of its node"] += 1
            raise BuildFailed(
                f"the builder has block {known.base.sealed.number}, and final on the chain is "
                f"{len(line)}: the node is behind, or the chain began anew and {FILE} is of the "
                f"one before; then {REMEDY}"
            )
        for record in line[known.base.sealed.number :]:
            body = maker.blocks[record.block]
            if known.get(record.block) is None:
                known.put(Snapshot(sealed(body, record.block), body, None))
            self._finalise(record.block)

    def _finalise(self, block: bytes) -> bool:
        """Whether it is final now, or was before."""
        way = self._snapshots.way(block)
        for one in way:
            self._shop.finals[one.sealed.number] = one.sealed.hash
        self._snapshots.finalise(block)
        if self._snapshots.base.sealed.number > self._shop.base.sealed.number:
            self._shop.base = self._snapshots.base
        return bool(way) or self._is_final(block)

    def _is_final(self, block: bytes) -> bool:
        body = self._world.maker.blocks.get(block)
        number = 0 if body is None else body.number
        is_read = number <= self._snapshots.base.sealed.number
        return is_read and self._shop.finals.get(number) == block

    def _apply(self, tell: Tell) -> None:
        if tell.word not in ACTED_ON or (tell.word != "finalised" and self._is_final(tell.block)):
            return
        match tell.word:
            case "accumulated":
                self._snapshots.commit(tell.block, tell.package_hash)
            case "restored":
                self._snapshots.restore(tell.block)
            case "failed":
                self._snapshots.invalidate(tell.block)
            case _:
                if self._finalise(tell.block):
                    return
                self._sync(self._head())
                if self._snapshots.base.sealed.number < tell.number:
                    self._world.seen["final is not shown yet"] += 1
                    problem = f"block {tell.number} is final, and no node that was asked has it so"
                    raise BuildFailed(problem)


def sealed(body: Body, name: bytes) -> SealedBlock:
    return sealed_block(body.number, name, body.parent, body.pre_root, root_after(body))


def sealed_block(
    number: int, name: bytes, parent: bytes, pre_root: bytes, post_root: bytes
) -> SealedBlock:
    return SealedBlock(
        number=number, hash=name, parent=parent, pre_root=pre_root, post_root=post_root
    )


def payloads_of(order: BuildBlock, chosen: Sequence[IntentId]) -> list[bytes]:
    both = zip(order.intents, order.payloads, strict=True)
    return [payload for intent, payload in both if intent in chosen]
