"""Follows one package to its end: what each new block shows of it, and a subscription that tells
when there may be something to see.

One subscription for each package, on one node, as far as the node has room; the others are looked
at whenever a head changes. Nothing is believed of a notice but that it is time to look: it may be
missed, and sequences of the best chain may be impossible. However a watch ends, it is left.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from laneway.chains.jam.heads import Heads, Pace
from laneway.chains.jam.limits import LOOK_BLOCKS_MAX
from laneway.chains.jam.node import JamNode
from laneway.chains.jam.shapes import read_descriptor, read_raw
from laneway.chains.jam.trails import Told, Trail
from laneway.core.errors import ChainError
from laneway.core.jam import BlockRef, BlocksSeen, Watched

STATUS = "subscribeWorkPackageStatus"

Look = Callable[[Sequence[BlockRef], Sequence[Watched], int], Awaitable[BlocksSeen]]


class Watches:
    def __init__(self, nodes: Sequence[JamNode], heads: Heads, look: Look, pace: Pace) -> None:
        self.open_count = 0
        self._nodes = nodes
        self._heads = heads
        self._look = look
        self._pace = pace

    async def watch(
        self, package: Watched, known: Sequence[BlockRef]
    ) -> AsyncGenerator[Told, None]:
        trail = Trail(package, known or (package.anchor,))
        bell = self._heads.open_bell()
        # Meanwhile a node tells when the package's status changes, if one can.
        listening = asyncio.create_task(self._listen(package, bell))
        self.open_count += 1
        try:
            while True:
                wait_ms = self._pace.silence_ms
                try:
                    look = await self._look(trail.known(), [package], LOOK_BLOCKS_MAX)
                except ChainError:
                    wait_ms = self._pace.poll_ms
                else:
                    for told in trail.take(look):
                        yield told
                    if trail.is_over:
                        return
                    if not look.is_whole:
                        continue
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait_ms / 1000):
                        await bell.wait()
                bell.clear()
        finally:
            self.open_count -= 1
            listening.cancel()
            await asyncio.wait([listening])
            await self._heads.close_bell(bell)

    async def _listen(self, package: Watched, bell: asyncio.Event) -> None:
        while True:
            node = self._roomy()
            if node is not None:
                with suppress(ChainError):
                    await self._listen_to(node, package, bell)
            await asyncio.sleep(self._pace.resubscribe_ms / 1000)

    def _roomy(self) -> JamNode | None:
        """A node that is well and has a place left, the emptiest first."""
        able = [one for one in self._nodes if one.has_status and one.socket.has_room()]
        able.sort(key=lambda one: (one.is_resting(), one.socket.held_count))
        return next((one for one in able if not one.is_resting()), None)

    async def _listen_to(self, node: JamNode, package: Watched, bell: asyncio.Event) -> None:
        wanted = (package.package_hash, package.anchor.header_hash, False)
        subscription = await node.subscribe(STATUS, *wanted)
        if subscription is None:
            return
        async with subscription:
            while True:
                raw = await subscription.next(self._pace.silence_ms)
                self._heads.saw_best(node, read_raw(node.name, raw, read_update))
                bell.set()


def read_update(value: Any) -> BlockRef:
    """The block that a notice is about; what it says of the package is read there."""
    if isinstance(value, list):
        return read_descriptor(value[:2])
    return read_descriptor({"header_hash": value["header_hash"], "slot": value["slot"]})
