"""A chain as it was seen last, shared by its accounts: fees, and the newest blocks' hashes."""

import asyncio
from collections import deque

from msgspec import Struct

from laneway.core.facts import BlockRef, BlockSeen, BlocksSeen, FeesSeen
from laneway.engine.limits import (
    BLOCKS_ASKED,
    BLOCKS_KEPT_MAX,
    BLOCKS_ROUNDS_MAX,
    FEES_KEPT_MS,
    ORPHANS_KEPT_MAX,
)
from laneway.ports import Clock, EvmChain


class Since(Struct, frozen=True):
    """The blocks of a chain after a known block."""

    blocks: tuple[BlockSeen, ...] | None
    """The blocks after it, up to the one that was asked for; None if there are too many to read."""
    fork: int | None = None
    """The last block that still stands, if the known one does not."""


class ChainView:
    def __init__(self, chain: EvmChain, clock: Clock) -> None:
        self.chain = chain
        self.fees: FeesSeen | None = None
        self._clock = clock
        self._fees_ms = 0
        self._blocks: deque[BlockSeen] = deque()
        """Consecutive, the newest last."""
        self._orphans: dict[bytes, int] = {}
        """Blocks that were taken back, each with the last block that stands below it."""
        self._reading = asyncio.Lock()

    async def fees_now(self) -> FeesSeen:
        now_ms = self._clock.monotonic_ms()
        if self.fees is None or now_ms - self._fees_ms >= FEES_KEPT_MS:
            self.fees = await self.chain.fees()
            self._fees_ms = now_ms
        return self.fees

    async def since(self, known: BlockRef | None, upto: BlockRef, node: str = "") -> Since | None:
        """The blocks after the known one, up to the one that this node named; None while the nodes
        do not agree."""
        async with self._reading:
            if not await self._reach(upto, node):
                return None
        if known is None:
            return Since(())
        end = self._place(upto)
        assert end is not None
        begin, fork = self._place(known), None
        if begin is None:
            fork = self._orphans.get(known.hash)
            begin = None if fork is None else self._place_of(fork)
        if begin is None:
            return await self._read_far(known, upto, node)
        if begin > end:
            return None  # This node lags the others.
        return Since(tuple([self._blocks[place] for place in range(begin + 1, end + 1)]), fork)

    def _place(self, block: BlockRef) -> int | None:
        place = self._place_of(block.number)
        return place if place is not None and self._blocks[place].block == block else None

    def _place_of(self, number: int) -> int | None:
        if not self._blocks:
            return None
        place = number - self._blocks[0].block.number
        return place if 0 <= place < len(self._blocks) else None

    async def _reach(self, upto: BlockRef, node: str) -> bool:
        for _ in range(BLOCKS_ROUNDS_MAX):
            if self._place(upto) is not None:
                return True
            # What is above it is not on the branch of the node that named it, or not yet; a node
            # that lies may have invented it.
            known = [seen.block for seen in self._blocks if seen.block.number <= upto.number]
            if self._blocks and not known:
                # All that is kept is newer: the next question is newer too. What is newer by far
                # was invented, or the chain was set back.
                if self._blocks[0].block.number - upto.number <= BLOCKS_KEPT_MAX:
                    break
                self._blocks.clear()
            lacking = upto.number - known[-1].number if known else 1
            if lacking > BLOCKS_ASKED * BLOCKS_ROUNDS_MAX:
                # They are too old to be followed block by block.
                self._blocks.clear()
                known = []
            asked = max(1, min(lacking, BLOCKS_ASKED))
            if not self._take(await self.chain.blocks(known, asked, node)):
                break
        return self._place(upto) is not None

    def _take(self, seen: BlocksSeen) -> bool:
        """Add these blocks; True if there were any."""
        if seen.after is None:
            self._take_back(0)
            self._blocks.clear()
        else:
            self._take_back(seen.after.number)
        self._blocks.extend(seen.blocks)
        while len(self._blocks) > BLOCKS_KEPT_MAX:
            self._blocks.popleft()
        return bool(seen.blocks)

    def _take_back(self, fork: int) -> None:
        """Blocks above this one are gone, and so are those that were gone down to a higher one."""
        gone = False
        while self._blocks and self._blocks[-1].block.number > fork:
            self._orphans[self._blocks.pop().block.hash] = fork
            gone = True
        if not gone:
            return
        for hash_, stands in self._orphans.items():
            self._orphans[hash_] = min(stands, fork)
        while len(self._orphans) > ORPHANS_KEPT_MAX:
            del self._orphans[next(iter(self._orphans))]

    async def _read_far(self, known: BlockRef, upto: BlockRef, node: str) -> Since | None:
        """A block from before all that is kept: a lane that slept, or that was just loaded."""
        limit = BLOCKS_ASKED * BLOCKS_ROUNDS_MAX
        seen = await self.chain.blocks([known], limit, node)
        if seen.after is None:
            return Since(None, fork=0)
        found = [block for block in seen.blocks if block.block.number <= upto.number]
        if found and found[-1].block == upto:
            return Since(tuple(found))
        # The known block stands, and there are too many above it: the one that was asked for is
        # out of sight. Anything else is another branch than that one's: what was taken back between
        # the two must not pass for what stands.
        is_far = len(found) == limit and found[-1].block.number < upto.number
        return Since(None) if is_far else None
