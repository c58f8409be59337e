"""A JAM chain behind one node or several, by JIP-2 over WebSocket: the port `JamChain`.

It keeps nothing that matters: what it remembers of blocks never changes, and what it knows of its
nodes is asked again after a restart. Nothing here decides when a package is sent or built anew.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress

from laneway.chains.endpoint import KnownNodes
from laneway.chains.jam.blocks import Forks
from laneway.chains.jam.clock import Arrivals, wall_ms
from laneway.chains.jam.contexts import read_context
from laneway.chains.jam.heads import Heads, Pace
from laneway.chains.jam.limits import (
    FINALITY_BLOCKS,
    LOOK_AT_ONCE,
    LOOK_BLOCKS_MAX,
    LOOK_PACKAGES_MAX,
    SUBMIT_ALL_MS,
    SUBMIT_MS,
)
from laneway.chains.jam.node import Identity, JamNode, JamPlace, Unavailable
from laneway.chains.jam.nodes import Nodes
from laneway.chains.jam.reads import Reads
from laneway.chains.jam.statuses import Statuses
from laneway.chains.jam.submissions import Submissions
from laneway.chains.jam.subscriptions import Watches
from laneway.chains.jam.trails import Told
from laneway.chains.jam.words import Row
from laneway.core.errors import BadRequest, ChainError
from laneway.core.jam import (
    BlockRef,
    BlockSeen,
    BlocksSeen,
    Context,
    Head,
    Package,
    Parameters,
    SlotClock,
    Submission,
    Watched,
)


class Jip2Chain(Reads, KnownNodes):
    """The adapter. Its settings:

    `genesis` is the first block's header hash, by which nodes of another chain are found out.
    `slot_ms` is for development chains whose slots are shorter than they say. `era_ms` is when slot
    0 began, where the chain keeps a calendar (`clock.JAM_ERA_MS`). `finality_blocks` is the depth
    that stands for finality on a node that calls its best block final; 0 believes it.
    """

    def __init__(
        self,
        places: Sequence[JamPlace],
        *,
        genesis: bytes | None = None,
        slot_ms: int | None = None,
        era_ms: int | None = None,
        finality_blocks: int = FINALITY_BLOCKS,
        words: Sequence[Row] = (),
        pace: Pace = Pace(),  # noqa: B008  It is frozen.
        submit_ms: int = SUBMIT_MS,
        submit_all_ms: int = SUBMIT_ALL_MS,
        now_ms: Callable[[], int] = wall_ms,
    ) -> None:
        self._identity = Identity(genesis, slot_ms)
        super().__init__(Nodes([JamNode(place, self._identity, words) for place in places]))
        self._takers = [node for node in self._nodes.all if node.place.takes_packages]
        if not self._takers:
            raise BadRequest("nodes", "no node takes packages")
        self.endpoints = self._nodes.all
        self.nodes = tuple(node.name for node in self._takers)
        self._forks = Forks(finality_blocks)
        self._statuses = Statuses(self._forks)
        self._submissions = Submissions(submit_ms=submit_ms, submit_all_ms=submit_all_ms)
        self._arrivals = Arrivals(now_ms, era_ms)
        self._heads = Heads(self._nodes.all, self._arrivals, pace)
        self._watches = Watches(self._nodes.all, self._heads, self.look, pace)

    @property
    def unknown_words(self) -> Counter[str]:
        """What nodes said that no table knows, and how often."""
        return self._submissions.unknown_words

    def subscriptions_count(self) -> int:
        """Subscriptions that take a place at a node."""
        return sum(node.socket.held_count for node in self._nodes.all)

    async def parameters(self) -> Parameters:
        if self._identity.parameters is None:
            # Whoever answers anything has greeted before.
            await self._nodes.anywhere(self._forks.head)
        assert self._identity.parameters is not None
        return self._identity.parameters

    async def clock(self) -> SlotClock:
        parameters = await self.parameters()
        told = self._arrivals.clock(parameters.slot_ms)
        if told is None:
            await self.head()
            told = self._arrivals.clock(parameters.slot_ms)
        assert told is not None
        return told

    async def head(self) -> Head:
        return await self._nodes.at_head(self._head)

    async def heads(self) -> AsyncGenerator[Head, None]:
        last: Head | None = None
        bell = self._heads.open_bell()
        try:
            while True:
                await bell.wait()
                bell.clear()
                with suppress(ChainError):  # The next change is told again.
                    head = await self.head()
                    if last is None or (head.best, head.finalised) != (last.best, last.finalised):
                        last = head
                        yield head
        finally:
            await self._heads.close_bell(bell)

    async def context(self, *, offset: int = 1) -> Context:
        parameters = await self.parameters()
        return await self._nodes.at_head(
            lambda node: read_context(node, self._forks, parameters, offset)
        )

    async def submit(
        self, package: Package, cores: Sequence[int], only: Sequence[str] = ()
    ) -> Submission:
        nodes = [node for node in self._takers if not only or node.name in only]
        return await self._submissions.submit(nodes, package, cores)

    async def submit_preimage(self, requester: int, preimage: bytes) -> Submission:
        return await self._submissions.preimage(self._takers, requester, preimage)

    async def look(
        self, known: Sequence[BlockRef], packages: Sequence[Watched], limit: int = LOOK_BLOCKS_MAX
    ) -> BlocksSeen:
        assert len(packages) <= LOOK_PACKAGES_MAX
        parameters = await self.parameters()
        return await self._nodes.at_head(
            lambda node: self._look(node, known, packages, min(limit, LOOK_BLOCKS_MAX), parameters)
        )

    def watch(self, package: Watched, known: Sequence[BlockRef] = ()) -> AsyncGenerator[Told, None]:
        return self._watches.watch(package, known)

    async def aclose(self) -> None:
        await self._heads.stop()
        await self._nodes.close()

    async def _head(self, node: JamNode) -> Head:
        head = await self._forks.head(node)
        self._heads.saw_best(node, head.best)
        return head

    async def _look(
        self,
        node: JamNode,
        known: Sequence[BlockRef],
        packages: Sequence[Watched],
        limit: int,
        parameters: Parameters,
    ) -> BlocksSeen:
        head = await self._head(node)
        way = await self._forks.way(node, known, head.best)
        wanted = way.blocks[:limit]
        blocks: list[BlockSeen] = []
        while len(blocks) < len(wanted):
            # By the first block it is learnt what the node serves. From then on none waits for
            # another, since each takes several questions, one behind the other.
            end = len(blocks) + LOOK_AT_ONCE if blocks else 1
            several = wanted[len(blocks) : end]
            asked = [self._look_at(node, one, head, packages, parameters) for one in several]
            for found in await asyncio.gather(*asked, return_exceptions=True):
                if isinstance(found, BaseException):
                    raise found
                blocks.append(found)
        is_whole = len(way.blocks) <= limit
        return BlocksSeen(way.after, way.gone, tuple(blocks), head, is_whole)

    async def _look_at(
        self,
        node: JamNode,
        block: BlockRef,
        head: Head,
        packages: Sequence[Watched],
        parameters: Parameters,
    ) -> BlockSeen:
        parent = await self._forks.parent(node, block)
        parent_hash = bytes(32) if parent is None else parent.header_hash
        try:
            seen = await self._statuses.read(node, block, packages, parameters)
        except Unavailable:
            if block == head.best:
                raise
            return BlockSeen(block, parent_hash, (), is_readable=False)
        return BlockSeen(block, parent_hash, seen)
