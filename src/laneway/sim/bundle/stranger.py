"""Somebody else who builds blocks of the same rollup: a second deployment on its service, one with
a copy of the store, or a stranger.

Its blocks are as good as the lane's own, so the service takes whichever comes first. Some hold
transactions that callers gave to the lane as well.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from laneway.core.jam import Context
from laneway.lanes.bundle.values import BuildVersion
from laneway.sim.bundle.maker import (
    GENESIS_BLOCK,
    Body,
    PoolRequest,
    block_hash,
    decode_request,
    digest_of,
    encode_body,
    root_after,
    transaction_hash,
)

if TYPE_CHECKING:
    from laneway.sim.bundle.world import RollupWorld

PACE_SLOTS = (2, 4, 8)
"""How long the second deployment builds in a row, and how long it pauses: the lane builds where the
service has nothing that is not final, which a pause has to be long enough for."""

SLOTS_AFTER = (0, 10, 40)
"""How long it goes on after the faults stopped."""

OPEN_MAX = 3
"""Blocks that it has on their way."""

PATIENCE_SLOTS = 6
"""After these it gives up blocks that did not land, and builds others."""

PLAIN = ("send", "revert")
"""What any builder makes the same of, whatever it knows."""


class Stranger:
    """Acts once in a slot at the most, on the chain as it is."""

    def __init__(self, world: "RollupWorld", actor: str = "stranger") -> None:
        self._world = world
        self._dice = world.plan.rng(actor)
        self._count = 0

    def act(self) -> None:
        """Build a block on the newest one of the service, and hand its package to the chain."""
        world, network = self._world, self._world.network
        best = network.best().header_hash
        head = network.service_head(best)
        body = Body(
            head.number + 1, head.block, head.state_root, world.now_ms, self.chosen(best, "x")
        )
        self.bring(body)

    def bring(self, body: Body, prerequisites: tuple[bytes, ...] = ()) -> tuple[bytes, bytes]:
        """Hand a package of a block to the chain: the hashes of both."""
        world, network = self._world, self._world.network
        payload = encode_body(body)
        name = block_hash(payload)
        world.maker.blocks[name] = body
        world.maker.foreign[name] = None
        order = BuildVersion(
            slot=0,
            order=0,
            version=1,
            number=body.number,
            block=name,
            digest=digest_of(payload),
            payload=payload,
            pre_root=body.pre_root,
            prerequisites=prerequisites,
            anchor_offset=1,
            core=0,
        )
        made = world.maker.package(order, self._context())
        core = self._dice.randrange(2)
        node = self._dice.randrange(len(network.views))
        refusal = network.hand_in(node, core, made.package_hash, made.package.encoded)
        said = "takes" if refusal is None else f"refuses ({refusal.message})"
        world.note(f"a stranger brings block {body.number}, and node {node} {said} it")
        return name, made.package_hash

    def _context(self) -> Context:
        return self._world.network.truth.context(1)

    def chosen(self, best: bytes, mark: str, begun: Iterable[Body] = ()) -> tuple[PoolRequest, ...]:
        """Callers' transactions that had no effect yet on this fork and are in none of the blocks
        that were begun, and one of its own."""
        world = self._world
        line = [world.maker.blocks[record.block] for record in world.network.line(best)]
        done = {transaction_hash(one): None for body in (*line, *begun) for one in body.inside}
        accepted = {wish.number: wish for wish in world.client.by_intent.values()}
        wanted = [decode_request(wish.payload) for wish in accepted.values()]
        able = [one for one in wanted if one.way in PLAIN and transaction_hash(one) not in done]
        self._dice.shuffle(able)
        self._count += 1
        own = PoolRequest(f"{mark}{self._count}")
        count = self._dice.choice((0, 0, 1, 2))
        return (own, *able[:count])


class OpenBlock(Struct, frozen=True):
    """A block of the second deployment that is on its way."""

    name: bytes
    package: bytes
    body: Body


class SecondDeployment:
    """Another deployment on the service: it builds blocks on its own open ones, for some slots in a
    row, and goes on for a while after the faults stopped."""

    def __init__(self, world: "RollupWorld") -> None:
        self._world = world
        self._stranger = Stranger(world, "second deployment")
        self._dice = world.plan.rng("second deployment's pace")
        self._open: list[OpenBlock] = []
        self._begun_slot = 0
        """When the lowest open block was brought."""
        self._turns_slot = 0
        """When it begins to build, or pauses."""
        self._builds = False
        self._left = self._dice.choice(SLOTS_AFTER)

    def pass_slot(self, slot: int) -> None:
        world = self._world
        if not world.is_faulty:
            self._left -= 1
        if self._left < 0:
            return
        if slot >= self._turns_slot:
            self._builds = not self._builds and self._dice.random() < world.plan.faults.second
            self._turns_slot = slot + self._dice.choice(PACE_SLOTS)
        self._settle(slot)
        if self._builds and len(self._open) < OPEN_MAX:
            self._build(slot)

    def _settle(self, slot: int) -> None:
        """What landed is done, and what cannot land, or did not for long, is given up."""
        network = self._world.network
        line = {record.block: None for record in network.line(network.best().header_hash)}
        while self._open and self._open[0].name in line:
            self._open.pop(0)
            self._begun_slot = slot
        newest = next(reversed(line), GENESIS_BLOCK)
        is_late = slot - self._begun_slot > PATIENCE_SLOTS
        if self._open and (self._open[0].body.parent != newest or is_late):
            self._open = []

    def _build(self, slot: int) -> None:
        world, network = self._world, self._world.network
        best = network.best().header_hash
        head = network.service_head(best)
        number, parent, root = head.number, head.block, head.state_root
        if self._open:
            newest = self._open[-1]
            number, parent, root = newest.body.number, newest.name, root_after(newest.body)
            world.seen["second deployment builds on its own open block"] += 1
        else:
            self._begun_slot = slot
        inside = self._stranger.chosen(best, "y", [one.body for one in self._open])
        body = Body(number + 1, parent, root, world.now_ms, inside)
        is_chained = world.plan.settings.order == "chained"
        names = (self._open[-1].package,) if self._open and is_chained else ()
        name, package = self._stranger.bring(body, names)
        world.maker.second[name] = None
        self._open.append(OpenBlock(name, package, body))
