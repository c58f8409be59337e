"""A JAM chain asked through one node or several, by JIP-2 over WebSocket: the port `JamChain`.

It keeps nothing that matters: what it remembers of blocks never changes, and what it knows of its
nodes is asked again after a restart. Nothing here decides when a package is sent or built anew.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress

from laneway.chains.jam.agreement import Agreement
from laneway.chains.jam.blocks import Forks, Way, are_alike, read_context, read_roots
from laneway.chains.jam.clock import BlockArrivals, steady_ms, wall_ms
from laneway.chains.jam.heads import JamHeads
from laneway.chains.jam.limits import (
    FINALITY_BLOCKS,
    HEADS_PAUSE_MS,
    LOOK_AT_ONCE,
    LOOK_BLOCKS_MAX,
    LOOK_PACKAGES_MAX,
    SUBMIT_ALL_MS,
)
from laneway.chains.jam.node import Identity, JamNode, JamPlace, NodeLacksBlock
from laneway.chains.jam.phrases import Row
from laneway.chains.jam.reads import Reads
from laneway.chains.jam.statuses import StateAt, Statuses
from laneway.chains.jam.submissions import Submissions
from laneway.chains.jam.subscriptions import News, Watches
from laneway.chains.jam.verdicts import Verdicts
from laneway.chains.nodes import KnownNodes, NodeSet, PollPace
from laneway.core.errors import BadRequest, ChainError
from laneway.core.jam import (
    Context,
    JamBlockRef,
    JamBlockSeen,
    JamBlocksSeen,
    JamHead,
    LineAsked,
    Package,
    Parameters,
    SlotClock,
    SubmissionAnswers,
    Watched,
)
from laneway.ports import SendPermit


class Jip2Chain(Reads, KnownNodes):
    """The adapter. Its settings:

    `genesis` is the first block's header hash, by which nodes of another chain are found out.
    `slot_ms` is for development chains whose slots are shorter than they say. `era_ms` is when slot
    0 began, where the chain keeps a calendar (`clock.JAM_ERA_MS`). `finality_blocks` is the depth
    that stands for finality on a node that calls its best block final; 0 believes it. `submit_ms`
    is the time of one package for one core; without it, it is by the chain's slots.
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
        pace: PollPace = PollPace(),  # noqa: B008  It is frozen.
        submit_ms: int | None = None,
        submit_all_ms: int = SUBMIT_ALL_MS,
        now_ms: Callable[[], int] = wall_ms,
        steady: Callable[[], int] = steady_ms,
    ) -> None:
        self._identity = Identity(genesis, slot_ms)
        nodes = [JamNode(place, self._identity, words) for place in places]
        known = NodeSet(nodes, self._identity.patience)
        self._forks = Forks(finality_blocks)
        self._arrivals = BlockArrivals(now_ms, era_ms, steady)
        super().__init__(known, Agreement(known, self._forks, self._identity, self._arrivals))
        self._takers = [node for node in self._nodes.all if node.place.takes_packages]
        if not self._takers:
            raise BadRequest("nodes", "no node takes packages")
        self.endpoints = self._nodes.all
        self.nodes = tuple(node.name for node in self._takers)
        self._statuses = Statuses(self._forks)
        self._submissions = Submissions(submit_ms=submit_ms, submit_all_ms=submit_all_ms)
        self.unknown_words = self._submissions.unknown_words
        """Error messages that no table knows, and how often nodes sent them."""
        self._heads = JamHeads(self._nodes.all, pace)
        self._verdicts = Verdicts(self._agreement, self._statuses)
        self._watches = Watches(self._nodes.all, self._heads, self.look, pace)

    async def probe(self, timeout_ms: int, heard_ms: int) -> None:
        """The first nodes to answer are judged before the others have, and then once more."""
        await super().probe(timeout_ms, heard_ms)
        again = [self._nodes.by_name[name] for name in self._identity.misjudged()]
        await asyncio.gather(*(node.probe(timeout_ms, 0) for node in again))

    async def parameters(self) -> Parameters:
        if self._identity.parameters is None:
            # A node that answers anything has greeted before, and so have those that it is
            # compared with.
            await self._nodes.read(self._agreement.head, at_head=False)
        assert self._identity.parameters is not None
        return self._identity.parameters

    async def clock(self) -> SlotClock:
        parameters = await self.parameters()
        clock = self._arrivals.clock(parameters.slot_ms)
        if clock is None:
            await self.head()
            clock = self._arrivals.clock(parameters.slot_ms)
        assert clock is not None
        return clock

    async def head(self) -> JamHead:
        return await self._nodes.read(self._agreement.head)

    async def heads(self) -> AsyncGenerator[JamHead, None]:
        last: JamHead | None = None
        bell = self._heads.open_bell()
        try:
            while True:
                await bell.wait()
                bell.clear()
                with suppress(ChainError):  # The next change is noticed again.
                    head = await self.head()
                    if last is None or (head.best, head.finalised) != (last.best, last.finalised):
                        last = head
                        yield head
                await asyncio.sleep(HEADS_PAUSE_MS / 1000)
        finally:
            await self._heads.close_bell(bell)

    async def context(self, *, offset: int = 1) -> Context:
        parameters = await self.parameters()

        async def context_by(node: JamNode) -> Context:
            head = await self._agreement.head(node)
            found = await read_context(node, self._forks, parameters, head, offset)
            await self._check_below(node, head.best, offset, found.anchor)
            final, lookup = head.finalised, found.lookup_anchor
            if final is not None and lookup not in (final, found.anchor):
                await self._check_below(node, final, 1, lookup)
            roots = (found.state_root, found.beefy_root, found.lookup_state_root)
            await self._agreement.confirmed(
                node,
                f"the roots of block {found.anchor.header_hash.hex()}",
                roots,
                lambda other: read_roots(other, found.anchor, found.lookup_anchor),
                are_alike,
            )
            return found

        return await self._nodes.read(context_by, rotates=True)

    async def submit(
        self,
        package: Package,
        cores: Sequence[int],
        only: Sequence[str] = (),
        permit: SendPermit | None = None,
    ) -> SubmissionAnswers:
        nodes = [node for node in self._takers if not only or node.name in only]

        def why_not() -> str:
            return permit(self._clock_now()) if permit is not None else ""

        return await self._submissions.submit(nodes, package, cores, why_not)

    async def submit_preimage(self, requester: int, preimage: bytes) -> SubmissionAnswers:
        return await self._submissions.preimage(self._takers, requester, preimage)

    async def look(
        self,
        known: Sequence[JamBlockRef],
        packages: Sequence[Watched],
        limit: int = LOOK_BLOCKS_MAX,
        line: LineAsked | None = None,
    ) -> JamBlocksSeen:
        assert len(packages) <= LOOK_PACKAGES_MAX
        parameters = await self.parameters()
        limit = min(limit, LOOK_BLOCKS_MAX)

        async def look_by(node: JamNode) -> JamBlocksSeen:
            head = await self._agreement.head(node)
            way = await self._way(node, known, head.best)
            wanted = way.blocks[:limit]
            blocks: list[JamBlockSeen] = []
            while len(blocks) < len(wanted):
                # By the first block it is learnt what the node serves. From then on none waits for
                # another, since each takes several questions, one after the other.
                end = len(blocks) + LOOK_AT_ONCE if blocks else 1
                several = wanted[len(blocks) : end]
                asked = [
                    self._look_at(StateAt(node, one, parameters), head, packages) for one in several
                ]
                for found in await asyncio.gather(*asked, return_exceptions=True):
                    if isinstance(found, BaseException):
                        raise found
                    blocks.append(found)
            await self._verdicts.check(node, blocks, packages, parameters)
            is_whole = len(way.blocks) <= limit
            final = None
            if line is not None and head.finalised is not None and is_whole:
                final = await self._verdicts.line(node, head.finalised, line)
            return JamBlocksSeen(way.after, way.gone, tuple(blocks), head, is_whole, final)

        return await self._nodes.read(look_by, rotates=True)

    def watch(
        self, package: Watched, known: Sequence[JamBlockRef] = ()
    ) -> AsyncGenerator[News, None]:
        return self._watches.watch(package, known)

    async def aclose(self) -> None:
        await self._submissions.aclose()
        await self._heads.stop()
        await self._nodes.close()

    def _clock_now(self) -> SlotClock | None:
        """The chain's clock, as far as it is known without asking a node."""
        parameters = self._identity.parameters
        return None if parameters is None else self._arrivals.clock(parameters.slot_ms)

    async def _way(self, node: JamNode, known: Sequence[JamBlockRef], best: JamBlockRef) -> Way:
        """The blocks since the last look; another node's parents lead the same way."""

        async def ask(other: JamNode) -> Way | None:
            way = await self._forks.way(other, known, best)
            return None if way.after is None else way

        what = f"the blocks before {best.header_hash.hex()}"
        return await self._agreement.confirmed(
            node, what, await self._forks.way(node, known, best), ask
        )

    async def _check_below(
        self, node: JamNode, block: JamBlockRef, depth: int, found: JamBlockRef
    ) -> None:
        """An anchor that nobody else has kills the package that stands on it."""
        await self._agreement.confirmed(
            node,
            f"the blocks before {block.header_hash.hex()}",
            found,
            lambda other: self._forks.exactly_below(other, block, depth),
        )

    async def _look_at(
        self, at: StateAt, head: JamHead, packages: Sequence[Watched]
    ) -> JamBlockSeen:
        block = at.block
        parent = await self._forks.parent(at.node, block)
        parent_hash = bytes(32) if parent is None else parent.header_hash
        try:
            seen = await self._statuses.read(at, packages)
        except NodeLacksBlock:
            if block == head.best:
                raise
            return JamBlockSeen(block, parent_hash, (), is_readable=False)
        return JamBlockSeen(block, parent_hash, seen)
