"""The newest blocks, whenever they change: told by the nodes that can, asked of the others.

All nodes are followed, so that a read is never taken from one that is known to be behind. A
subscription that ends, is refused or is silent for too long is followed by polling until the next
try. Any number may follow at once: they share the subscriptions, which end with the last of them.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from msgspec import Struct

from laneway.chains.endpoint import loop_s
from laneway.chains.jam.clock import Arrivals
from laneway.chains.jam.limits import POLL_MS, RESUBSCRIBE_MS, SILENCE_MS
from laneway.chains.jam.node import JamNode
from laneway.chains.jam.shapes import read_as, read_descriptor, read_raw
from laneway.core.errors import ChainError
from laneway.core.jam import BlockRef
from laneway.wire.jip2 import call

BEST, FINAL = "subscribeBestBlock", "subscribeFinalizedBlock"


class Pace(Struct, frozen=True):
    """How often nodes are asked, and how long they may be silent; settings."""

    poll_ms: int = POLL_MS
    silence_ms: int = SILENCE_MS
    resubscribe_ms: int = RESUBSCRIBE_MS


class Heads:
    """Follows all nodes; what it passes on comes from the one that is ahead."""

    def __init__(self, nodes: Sequence[JamNode], arrivals: Arrivals, pace: Pace) -> None:
        self.leader: JamNode | None = None
        self._nodes = nodes
        self._arrivals = arrivals
        self._pace = pace
        self._newest: BlockRef | None = None
        self._final: BlockRef | None = None
        self._bells: list[asyncio.Event] = []
        self._tasks: list[asyncio.Task[None]] = []

    def open_bell(self) -> asyncio.Event:
        """An event that is set whenever a head changes; whoever waits clears it, and closes it."""
        bell = asyncio.Event()
        if self._newest is not None:
            bell.set()
        self._bells.append(bell)
        if not self._tasks:
            followed = [(node, method) for node in self._nodes for method in (BEST, FINAL)]
            self._tasks = [asyncio.create_task(self._watch(*one)) for one in followed]
        return bell

    async def close_bell(self, bell: asyncio.Event) -> None:
        self._bells.remove(bell)
        if not self._bells:
            await self.stop()

    async def stop(self) -> None:
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def saw_best(self, node: JamNode, best: BlockRef) -> None:
        """Take a node's word when it is ahead, or when it is the one that is followed: forks
        change, and a development chain may begin again."""
        node.saw_best(best)
        self._arrivals.saw(best.slot)
        leads = self.leader is None or self.leader is node or self.leader.binding_head() < 0
        if self._newest is None or best.slot > self._newest.slot or leads:
            self.leader = node
            if best != self._newest:
                self._newest = best
                self._ring()

    def saw_final(self, node: JamNode, final: BlockRef) -> None:
        node.finalised = final
        if self._final is None or final.slot > self._final.slot:
            self._final = final
            self._ring()

    def _ring(self) -> None:
        for bell in self._bells:
            bell.set()

    async def _watch(self, node: JamNode, method: str) -> None:
        while True:
            with suppress(ChainError):
                await self._listen(node, method)
            until_s = loop_s() + self._pace.resubscribe_ms / 1000
            while loop_s() < until_s:
                with suppress(ChainError):
                    await self._poll(node)
                await asyncio.sleep(self._pace.poll_ms / 1000)

    async def _poll(self, node: JamNode) -> None:
        best_said, final_said = await node.ask([call("bestBlock"), call("finalizedBlock")])
        self.saw_best(node, read_as(node.name, best_said, read_descriptor))
        self.saw_final(node, read_as(node.name, final_said, read_descriptor))

    async def _listen(self, node: JamNode, method: str) -> None:
        subscription = await node.subscribe(method)
        if subscription is None:
            return
        async with subscription:
            # A block may have come between the last question and this subscription.
            await self._poll(node)
            while True:
                raw = await subscription.next(self._pace.silence_ms)
                block = read_raw(node.name, raw, read_descriptor)
                if method == BEST:
                    self.saw_best(node, block)
                else:
                    self.saw_final(node, block)
