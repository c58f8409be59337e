"""Reads back from the chain what final blocks executed, where the builder's file does not know it.

That is so after a file was lost, or put back from an old copy: the state beside it may know less
than nodes still have. Blocks are read downwards from the lowest that is known, and proven as those
of a sync are, but not executed: their states are of no use any more.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Generic, Protocol, TypeVar

from laneway.builder.limits import (
    PAST_PAGES_ORDERED_MAX,
    PAST_READ_BLOCKS_MAX,
    PAST_READ_HASHES_MAX,
    SYNC_PAGE_BLOCKS,
)
from laneway.builder.past import FIRST_BLOCK
from laneway.builder.shelf import FinalBlock, Shelf
from laneway.builder.sync import FoundBlock, Source
from laneway.core.errors import BuildFailed
from laneway.rollups.rules import B, RollupRules, S

log = logging.getLogger("laneway.builder")

T = TypeVar("T")

ENOUGH = "no more are read back"
TROUBLE = "What final blocks executed cannot be read back from the chain, and is tried again"


class Do(Protocol):
    """Runs a job in the builder's thread."""

    def __call__(self, job: Callable[[], T], /) -> Awaitable[T]: ...


class PastReader(Generic[S, B]):
    def __init__(
        self, rollup: RollupRules[S, B], shelf: Shelf, source: Source[S, B], do: Do
    ) -> None:
        self._rollup = rollup
        self._shelf = shelf
        self._source = source
        self._do = do
        self._turn = asyncio.Lock()
        self._end = 0
        """Nothing below this block can be read, as far as was seen; 0: that was not seen."""
        self._reason = ""

    async def read_on(self) -> None:
        """Read the next page, if there is one. Trouble that passes is raised."""
        lowest = await self._do(self._shelf.past_lowest)
        if lowest not in (FIRST_BLOCK, self._end):
            await self._read(FIRST_BLOCK)

    async def reach(self, number: int) -> None:
        """Read all blocks from this one on, or those that nodes still have."""
        for _ in range(PAST_PAGES_ORDERED_MAX):
            if not await self._read(number):
                return
        lowest = await self._do(self._shelf.past_lowest)
        raise BuildFailed(f"it reads back what blocks {number} to {lowest - 1} executed")

    async def _read(self, number: int) -> bool:
        """Whether a page was read, and more may be to read."""
        async with self._turn:
            lowest, count = await self._do(self._known)
            if lowest <= number:
                return False
            if count >= PAST_READ_HASHES_MAX:
                return self._ends(lowest, ENOUGH)
            final = await self._source.final()
            floor = max(number, final.head.number - PAST_READ_BLOCKS_MAX)
            if lowest <= floor:
                return self._ends(lowest, ENOUGH)
            numbers = range(lowest - 1, max(floor, lowest - SYNC_PAGE_BLOCKS) - 1, -1)
            page, problem = await self._source.found(self._rollup, final.at, numbers)
            await self._do(lambda: self._put(page))
            if problem is None:
                return True
            if not (isinstance(problem, BuildFailed) and problem.needs_help):
                raise problem
            return self._ends(lowest - len(page), str(problem))

    def _ends(self, lowest: int, reason: str) -> bool:
        """Note once that nothing below this block can be read. A file that knows enough forgets
        the oldest block with each new one, which is no news."""
        if lowest != self._end and reason != self._reason:
            what = "What blocks before %d executed is not known here: %s"
            log.warning(what, lowest, reason)
        self._end, self._reason = lowest, reason
        return False

    def _known(self) -> tuple[int, int]:
        return self._shelf.past_lowest(), self._shelf.past_count()

    def _put(self, page: list[FoundBlock[B]]) -> None:
        blocks: list[FinalBlock] = []
        for found in page:
            assert found.block is not None
            blocks.append(
                FinalBlock(
                    sealed=self._rollup.sealed(found.block),
                    payload=self._rollup.encode(found.block),
                    outcomes=self._rollup.outcomes(found.block),
                    package_hash=found.record.package_hash,
                )
            )
        self._shelf.remember(blocks)
