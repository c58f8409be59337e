"""Forks, followed back by their parents: JIP-2 names a block's parent and none of its children.

Every step between two heads is taken, so that no block which came between two questions is missed.
The parent of a block never changes and is remembered. What is remembered may lead below the blocks
that a node still keeps: a walk ends there, and proves nothing of what is below.
"""

from collections import OrderedDict
from collections.abc import Sequence

from msgspec import Struct

from laneway.chains.jam.limits import (
    COMMON_STEPS_MAX,
    FINALITY_BLOCKS,
    PARENTS_KEPT_MAX,
    WALK_BLOCKS_MAX,
)
from laneway.chains.jam.node import JamNode, NodeLacksBlock
from laneway.chains.jam.shapes import read_as, read_descriptor
from laneway.core.errors import ChainUnreadable
from laneway.core.jam import Context, JamBlockRef, JamHead, Parameters
from laneway.wire.jip2 import call, read_hash
from laneway.wire.jsonrpc import RpcError


class Way(Struct, frozen=True):
    """From a known block to the head."""

    after: JamBlockRef | None
    """The known block that it follows; None if none is on this fork, or none was reached."""
    gone: tuple[JamBlockRef, ...]
    """Known blocks that are not on this fork."""
    blocks: tuple[JamBlockRef, ...]
    """Oldest first."""


class Forks:
    """The known parents of blocks, each as one node named it: what another says may be a lie.
    Finality is reckoned from them too, where a node has none."""

    def __init__(self, finality_blocks: int = FINALITY_BLOCKS) -> None:
        self._finality_blocks = finality_blocks
        self._parents: dict[str, OrderedDict[bytes, JamBlockRef]] = {}

    async def parent(self, node: JamNode, block: JamBlockRef) -> JamBlockRef | None:
        """None if it is the first block, or the node keeps none before it."""
        parents = self._parents.setdefault(node.name, OrderedDict())
        found = parents.get(block.header_hash)
        if found is not None and found.slot < block.slot:
            parents.move_to_end(block.header_hash)
            return found
        try:
            found = await node.read(read_descriptor, "parent", block.header_hash)
        except NodeLacksBlock as error:
            asked_for_is_missing = error.about == block.header_hash
            if asked_for_is_missing or (error.about is None and block.slot > 0):
                raise
            return None
        if found.slot >= block.slot:
            raise ChainUnreadable(
                node.name, f"the parent of a block of slot {block.slot} is of slot {found.slot}"
            )
        parents[block.header_hash] = found
        if len(parents) > PARENTS_KEPT_MAX:
            parents.popitem(last=False)
        return found

    async def step(
        self, node: JamNode, begin: JamBlockRef, block: JamBlockRef
    ) -> JamBlockRef | None:
        """The block before one, on a walk that began at `begin`; None where the walk ends. Only the
        block where it began must be the node's: it may have forgotten one to which remembered
        parents lead, and is sound all the same."""
        try:
            return await self.parent(node, block)
        except NodeLacksBlock:
            if block == begin:
                raise
            return None

    async def common(
        self, node: JamNode, block: JamBlockRef, other: JamNode, theirs: JamBlockRef
    ) -> JamBlockRef | None:
        """The newest block on the forks of two nodes, each with its newest block; None if they do
        not meet within COMMON_STEPS_MAX."""
        mine: JamBlockRef | None = block
        at: JamBlockRef | None = theirs
        for _ in range(COMMON_STEPS_MAX):
            if mine is None or at is None or mine == at:
                break
            if mine.slot >= at.slot:
                mine = await self.step(node, block, mine)
            else:
                at = await self.step(other, theirs, at)
        return mine if mine == at else None

    async def below(self, node: JamNode, block: JamBlockRef, depth: int) -> JamBlockRef:
        """The block `depth` parents below, or the last one that can be reached."""
        at = block
        for _ in range(depth):
            parent = await self.step(node, block, at)
            if parent is None:
                break
            at = parent
        return at

    async def exactly_below(
        self, node: JamNode, block: JamBlockRef, depth: int
    ) -> JamBlockRef | None:
        """The block `depth` parents below, or the chain's first one; None where the node's blocks
        end before."""
        at = block
        for _ in range(depth):
            parent = await self.step(node, block, at)
            if parent is None:
                return at if at.slot == 0 else None
            at = parent
        return at

    async def way(self, node: JamNode, known: Sequence[JamBlockRef], head: JamBlockRef) -> Way:
        """From the newest of the known blocks that is on the head's fork. Where the node's blocks
        end before one is reached, the head is alone and no block is said to be gone."""
        places = {block.header_hash: place for place, block in enumerate(known)}
        oldest_slot = min((block.slot for block in known), default=head.slot + 1)
        walked: list[JamBlockRef] = []
        at: JamBlockRef | None = head
        while at is not None and at.slot >= oldest_slot and len(walked) < WALK_BLOCKS_MAX:
            place = places.get(at.header_hash)
            if place is not None:
                # As it is known: by its place, for a slot may have been a lie.
                return Way(known[place], tuple(known[place + 1 :]), tuple(reversed(walked)))
            walked.append(at)
            at = await self.step(node, head, at)
        is_below_all = at is not None and at.slot < oldest_slot
        return Way(None, tuple(known) if is_below_all else (), (head,))

    async def is_below(self, node: JamNode, older: JamBlockRef, newer: JamBlockRef) -> bool:
        """Whether one block is the other, or before it on its fork, as far as a walk reaches."""
        return (await self.way(node, [older], newer)).after is not None

    async def slots(self, node: JamNode, block: JamBlockRef, after: int, most: int) -> list[int]:
        """Slots of this block and of those before it that are later than `after`, oldest first:
        `most` at the most, and no more than the node has."""
        found: list[int] = []
        at: JamBlockRef | None = block
        while at is not None and at.slot > after and len(found) < most:
            found.append(at.slot)
            try:
                at = await self.parent(node, at)
            except NodeLacksBlock:
                break
        return found[::-1]

    async def head(self, node: JamNode) -> JamHead:
        """What one node has as its best block, and what of that fork is final."""
        best_answer, final_answer = await node.ask([call("bestBlock"), call("finalizedBlock")])
        best = node.read_best(best_answer)
        claimed = read_as(node.name, final_answer, read_descriptor)
        node.best, node.finalised = best, claimed
        return JamHead(best, await self.finalised(node, best, claimed), node.name)

    async def finalised(
        self, node: JamNode, best: JamBlockRef, claimed: JamBlockRef
    ) -> JamBlockRef | None:
        """What a node calls final, if it is on the fork of its best block. A node that calls its
        best block final has no finality: then depth stands for it."""
        if claimed == best and self._finality_blocks:
            # A block less deep may be taken back.
            return await self.exactly_below(node, best, self._finality_blocks)
        return claimed if await self.is_below(node, claimed, best) else None


Roots = tuple[bytes, bytes, bytes | None]
"""State and beefy root of an anchor, and the state root of a lookup anchor; None if the node has
forgotten that one."""


async def read_context(
    node: JamNode, forks: Forks, parameters: Parameters, head: JamHead, offset: int
) -> Context:
    """`offset`: how many blocks below the best one the anchor is; 0 is the best one itself."""
    assert 0 <= offset < parameters.recent_block_count
    anchor = await forks.below(node, head.best, offset)
    lookup = await lookup_anchor(node, forks, parameters, head, anchor)
    state_root, beefy_root, lookup_root = await read_roots(node, anchor, lookup)
    return Context(
        anchor=anchor,
        state_root=state_root,
        beefy_root=beefy_root,
        lookup_anchor=lookup,
        lookup_state_root=lookup_root,
        head=head,
    )


async def read_roots(node: JamNode, anchor: JamBlockRef, lookup: JamBlockRef) -> Roots:
    roots = (("stateRoot", anchor), ("beefyRoot", anchor), ("stateRoot", lookup))
    answers = await node.ask([call(method, block.header_hash) for method, block in roots])
    state_root, beefy_root, lookup_root = answers
    is_forgotten = isinstance(lookup_root, RpcError)
    return (
        read_as(node.name, state_root, read_hash),
        read_as(node.name, beefy_root, read_hash),
        None if is_forgotten else read_as(node.name, lookup_root, read_hash),
    )


def are_alike(mine: Roots, theirs: Roots) -> bool:
    """Whether the roots are the same, as far as both nodes have them."""
    is_known = mine[2] is not None and theirs[2] is not None
    return mine[:2] == theirs[:2] and (mine[2] == theirs[2] or not is_known)


async def lookup_anchor(
    node: JamNode, forks: Forks, parameters: Parameters, head: JamHead, anchor: JamBlockRef
) -> JamBlockRef:
    """The parent of the final block, as other builders have it; the anchor itself where that would
    be too old before the anchor is, or newer: then the anchor is final too, and a package lives no
    longer than its anchor says."""
    if head.finalised is None:
        return anchor
    lookup = await forks.below(node, head.finalised, 1)
    age_max = parameters.lookup_anchor_slots_max - parameters.recent_block_count
    is_fit = head.best.slot - age_max <= lookup.slot <= anchor.slot
    return lookup if is_fit else anchor
