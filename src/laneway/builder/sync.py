"""Final blocks from the chain alone: the service's records name the packages that brought them, and
those packages exported the blocks.

No node is trusted. A block is what was applied if its segments are under the root in the
service's record, and its state is the rollup's if executing it comes to what it says.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from functools import partial
from typing import Generic, TypeAlias, TypeVar

from msgspec import Struct

from laneway.builder.limits import SYNC_BLOCKS_LOGGED_MIN, SYNC_PAGE_BLOCKS
from laneway.builder.orders import guarded
from laneway.core.errors import BuildFailed, ChainUnreadable
from laneway.jam.codec import Codec
from laneway.jam.errors import InvalidJam
from laneway.jam.segments import exports_root
from laneway.jam.service.commitment import HEAD_KEY, block_key
from laneway.jam.service.values import BLOCK_RECORD, HEAD, AppliedBlock, ServiceHead
from laneway.ports import JamChain
from laneway.rollups.kind import KindOfRollup
from laneway.rollups.rules import B, RollupRules, S, SealedBlock

log = logging.getLogger("laneway.builder")

T = TypeVar("T")
Known: TypeAlias = Callable[[bytes], bool]
"""Whether a block is here already, by its hash."""


class FinalHead(Struct, frozen=True):
    """The service at a final block of the chain."""

    at: bytes
    """The hash of that block's header."""
    head: ServiceHead


class FinalUnknown(ChainUnreadable):
    """What a node calls final is not on the fork of its best block, or it names nothing; that
    passes with the next blocks."""

    code = "final_unknown"
    retry = "later"
    changed = False

    def __init__(self, node: str) -> None:
        super().__init__(node, "no final block")
        self.args = (f"{node} knows no final block; once there is one it is asked again",)


class FoundBlock(Struct, Generic[B], frozen=True):
    """A final block of the rollup."""

    record: AppliedBlock
    block: B | None
    """None if the caller has it already."""


class Source(Generic[S, B]):
    """What a builder reads of its service."""

    def __init__(self, chain: JamChain, service: int) -> None:
        self._chain = chain
        self._service = service

    async def final(self) -> FinalHead:
        head = await self._chain.head()
        if head.finalised is None:
            raise FinalUnknown(head.node)
        at = head.finalised.header_hash
        return FinalHead(at, await self.head(at))

    async def best(self) -> ServiceHead:
        head = await self._chain.head()
        return await self.head(head.best.header_hash)

    async def head(self, at: bytes) -> ServiceHead:
        """The newest block that had its effect there."""
        raw = await self._chain.service_value(at, self._service, HEAD_KEY)
        if raw is None:
            problem = f"service {self._service} has no head, so it is no rollup that was started"
            raise BuildFailed(f"{problem}; is its number right?")
        return read(HEAD, raw, "head")

    async def applied(self, at: bytes, number: int) -> AppliedBlock:
        """The service's record of the block that was applied under a number."""
        raw = await self._chain.service_value(at, self._service, block_key(number))
        if raw is None:
            problem = f"service {self._service} has no record of block {number}"
            raise BuildFailed(f"{problem}, which is below its head; another node may have it")
        return read(BLOCK_RECORD, raw, "block record")

    async def is_on_line(self, at: bytes, block: SealedBlock) -> bool:
        """Whether the service has this block, or it is the genesis."""
        return block.number == 0 or (await self.applied(at, block.number)).block == block.hash

    async def genesis(
        self, at: bytes, kind: KindOfRollup[S, B], rollup: RollupRules[S, B]
    ) -> bytes:
        """The record of what the rollup began with."""

        def fits(raw: bytes) -> bool:
            try:
                guarded(partial(rollup.genesis, raw))
            except BuildFailed:
                return False
            return True

        raw = await self._chain.service_value(at, self._service, kind.genesis_key, fits)
        if raw is None:
            problem = f"service {self._service} has no genesis of a {kind.name}"
            raise BuildFailed(f"{problem}; is its number right?")
        return raw

    async def pages(
        self, rollup: RollupRules[S, B], final: FinalHead, begin: int, known: Known
    ) -> AsyncGenerator[list[FoundBlock[B]], None]:
        """The blocks from this number up to the final head, in their order. Those that are known
        are not read."""
        end = final.head.number + 1
        for first in range(begin, end, SYNC_PAGE_BLOCKS):
            numbers = range(first, min(first + SYNC_PAGE_BLOCKS, end))
            if end - begin >= SYNC_BLOCKS_LOGGED_MIN:
                log.info(
                    "Reading blocks %d to %d of %d of service %d from the chain",
                    numbers[0],
                    numbers[-1],
                    end - 1,
                    self._service,
                )
            page, problem = await self.found(rollup, final.at, numbers, known)
            if problem is not None:
                raise problem
            yield page

    async def found(
        self,
        rollup: RollupRules[S, B],
        at: bytes,
        numbers: Sequence[int],
        known: Known = lambda _: False,
    ) -> tuple[list[FoundBlock[B]], BaseException | None]:
        """Final blocks of these numbers, up to the first that cannot be read, and why it cannot."""
        asked = [self._found(rollup, at, number, known) for number in numbers]
        page: list[FoundBlock[B]] = []
        for answer in await asyncio.gather(*asked, return_exceptions=True):
            if isinstance(answer, BaseException):
                return page, answer
            page.append(answer)
        return page, None

    async def _found(
        self, rollup: RollupRules[S, B], at: bytes, number: int, known: Known
    ) -> FoundBlock[B]:
        record = await self.applied(at, number)
        if known(record.block):
            return FoundBlock(record, None)
        segments = await self._segments(rollup, number, record)
        if exports_root(segments) != record.exports_root:
            problem = f"the segments of block {number} are not those that its package exported"
            raise BuildFailed(f"{problem}; another node may have them")
        block, sealed = await asyncio.to_thread(read_block, rollup, segments)
        if sealed.hash != record.block or sealed.number != number:
            problem = f"package {record.package_hash.hex()} exported block {sealed.number}"
            raise BuildFailed(f"{problem}, and the service has it as another block {number}")
        return FoundBlock(record, block)

    async def _segments(
        self, rollup: RollupRules[S, B], number: int, record: AppliedBlock
    ) -> tuple[bytes, ...]:
        package_hash = record.package_hash
        try:
            return await self._chain.exports(
                package_hash, record.exports_root, rollup.segments_count
            )
        except ChainUnreadable as error:
            raise BuildFailed(
                f"block {number} is final, and no node has the segments of its package "
                f"{package_hash.hex()} any more ({error.answer}); put back the builder's file or a "
                "state of it, or name a node that kept them",
                needs_help=True,
            ) from error


def read_block(rollup: RollupRules[S, B], segments: Sequence[bytes]) -> tuple[B, SealedBlock]:
    block = guarded(partial(rollup.from_segments, segments), final=False)
    return block, guarded(partial(rollup.sealed, block), final=False)


def read(codec: Codec[T], raw: bytes, name: str) -> T:
    """A record of the service; what is none is of another kind of service."""
    try:
        return codec.decode(raw, name)
    except InvalidJam as problem:
        raise BuildFailed(f"the service keeps other records than a rollup: {problem}") from problem
