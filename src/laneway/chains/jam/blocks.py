"""Forks, followed back by their parents: JIP-2 tells a block's parent and nothing of its children.

Every step between two heads is taken, so that no block which came between two questions is missed.
What is said of a parent never changes and is remembered.
"""

from collections import OrderedDict
from collections.abc import Sequence

from msgspec import Struct

from laneway.chains.jam.limits import FINALITY_BLOCKS, PARENTS_KEPT_MAX, WALK_BLOCKS_MAX
from laneway.chains.jam.node import JamNode, Unavailable
from laneway.chains.jam.shapes import read_as, read_descriptor
from laneway.core.errors import ChainUnreadable
from laneway.core.jam import BlockRef, Head
from laneway.wire.jip2 import call


class Way(Struct, frozen=True):
    """From a known block to the head."""

    after: BlockRef | None
    """The known block that it begins behind; None: none is on this fork, or none was reached."""
    gone: tuple[BlockRef, ...]
    """Known blocks that are not on this fork."""
    blocks: tuple[BlockRef, ...]
    """Oldest first."""


class Forks:
    """What was heard of parents. Finality is reckoned from it too, where a node has none."""

    def __init__(self, finality_blocks: int = FINALITY_BLOCKS) -> None:
        self._finality_blocks = finality_blocks
        self._parents: OrderedDict[bytes, BlockRef] = OrderedDict()

    async def parent(self, node: JamNode, block: BlockRef) -> BlockRef | None:
        """None: it is the first block, or the node keeps none before it."""
        found = self._parents.get(block.header_hash)
        if found is not None:
            self._parents.move_to_end(block.header_hash)
            return found
        try:
            found = await node.read(read_descriptor, "parent", block.header_hash)
        except Unavailable as error:
            asked_for_is_missing = error.about == block.header_hash
            if asked_for_is_missing or (error.about is None and block.slot > 0):
                raise
            return None
        if found.slot >= block.slot:
            raise ChainUnreadable(
                node.name, f"the parent of a block of slot {block.slot} is of slot {found.slot}"
            )
        self._parents[block.header_hash] = found
        if len(self._parents) > PARENTS_KEPT_MAX:
            self._parents.popitem(last=False)
        return found

    async def below(self, node: JamNode, block: BlockRef, depth: int) -> BlockRef:
        """The block so many parents below, or the last one that can be reached."""
        for _ in range(depth):
            parent = await self.parent(node, block)
            if parent is None:
                break
            block = parent
        return block

    async def way(self, node: JamNode, known: Sequence[BlockRef], head: BlockRef) -> Way:
        """From the newest of the known blocks that is on the head's fork."""
        by_hash = {block.header_hash: block for block in known}
        oldest_slot = min((block.slot for block in known), default=head.slot + 1)
        walked: list[BlockRef] = []
        at: BlockRef | None = head
        while at is not None and at.slot >= oldest_slot and len(walked) < WALK_BLOCKS_MAX:
            if at.header_hash in by_hash:
                gone = tuple(block for block in known if block.slot > at.slot)
                return Way(at, gone, tuple(reversed(walked)))
            walked.append(at)
            at = await self.parent(node, at)
        is_below_all = at is not None and at.slot < oldest_slot
        return Way(None, tuple(known) if is_below_all else (), (head,))

    async def is_below(self, node: JamNode, older: BlockRef, newer: BlockRef) -> bool:
        """Whether one block is the other, or before it on its fork, as far as a walk reaches."""
        return (await self.way(node, [older], newer)).after is not None

    async def slots(self, node: JamNode, block: BlockRef, after: int, most: int) -> list[int]:
        """Of this block and of those before it that are behind a slot, oldest first: so many at
        the most, and no more than the node has."""
        found: list[int] = []
        at: BlockRef | None = block
        while at is not None and at.slot > after and len(found) < most:
            found.append(at.slot)
            try:
                at = await self.parent(node, at)
            except Unavailable:
                break
        return found[::-1]

    async def head(self, node: JamNode) -> Head:
        """What one node has as its best block, and what of that fork is final."""
        best_said, final_said = await node.ask([call("bestBlock"), call("finalizedBlock")])
        best = read_as(node.name, best_said, read_descriptor)
        told = read_as(node.name, final_said, read_descriptor)
        node.saw_best(best)
        node.finalised = told
        return Head(best, await self.finalised(node, best, told), node.name)

    async def finalised(self, node: JamNode, best: BlockRef, told: BlockRef) -> BlockRef | None:
        """What a node calls final, if it is on the fork of its best block. A node that calls its
        best block final has no finality: then depth stands for it."""
        if told == best and self._finality_blocks:
            return await self.below(node, best, self._finality_blocks)
        return told if await self.is_below(node, told, best) else None
