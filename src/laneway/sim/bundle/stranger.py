"""Somebody else who builds blocks of the same rollup: a second deployment on its service, one with
a copy of the store, or a stranger.

Its blocks are as good as the lane's own, so the service takes whichever comes first. Some hold
transactions that callers gave to the lane as well.
"""

from typing import TYPE_CHECKING

from laneway.core.jam import Context
from laneway.jam.service.commitment import head_of
from laneway.lanes.bundle.values import BuildVersion
from laneway.sim.bundle.maker import (
    SERVICE,
    Body,
    PoolRequest,
    block_hash,
    decode_request,
    digest_of,
    encode_body,
    transaction_hash,
)
from laneway.sim.bundle.node_view import Storage

if TYPE_CHECKING:
    from laneway.sim.bundle.world import RollupWorld

PLAIN = ("send", "revert")
"""What any builder makes the same of, whatever it knows."""


class Stranger:
    """Acts once in a slot at the most, on the chain as it is."""

    def __init__(self, world: "RollupWorld") -> None:
        self._world = world
        self._dice = world.plan.rng("stranger")
        self._count = 0

    def act(self) -> None:
        """Build a block on the newest one of the service, and hand its package to the chain."""
        world, network = self._world, self._world.network
        best = network.best().header_hash
        head = head_of(Storage(network.model, network.eye(best), best, SERVICE))
        assert head is not None
        inside = self._chosen(best)
        body = Body(head.number + 1, head.block, head.state_root, world.now_ms, inside)
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
            prerequisites=(),
            anchor_offset=1,
            core=0,
        )
        made = world.maker.package(order, self._context())
        core = self._dice.randrange(2)
        node = self._dice.randrange(len(network.views))
        refusal = network.hand_in(node, core, made.package_hash, made.package.encoded)
        said = "takes" if refusal is None else f"refuses ({refusal.message})"
        world.note(f"a stranger brings block {body.number}, and node {node} {said} it")

    def _context(self) -> Context:
        return self._world.network.truth.context(1)

    def _chosen(self, best: bytes) -> tuple[PoolRequest, ...]:
        """Callers' transactions that had no effect yet on this fork, and one of its own."""
        world = self._world
        done = {
            transaction_hash(one): None
            for record in world.network.line(best)
            for one in world.maker.blocks[record.block].inside
        }
        accepted = {wish.number: wish for wish in world.client.by_intent.values()}
        wanted = [decode_request(wish.payload) for wish in accepted.values()]
        able = [one for one in wanted if one.way in PLAIN and transaction_hash(one) not in done]
        self._dice.shuffle(able)
        self._count += 1
        own = PoolRequest(f"x{self._count}")
        count = self._dice.choice((0, 0, 1, 2))
        return (own, *able[:count])
