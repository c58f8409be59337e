"""The newest blocks, whenever they change: notified by the nodes that can, asked of the others.

All nodes are followed, and none is believed: what they notify of is read from several. A
subscription that ends, is refused or is silent for too long is followed by polling until the next
try. Any number may follow at once: they share the subscriptions, which end with the last of them.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from itertools import product

from laneway.chains.jam.node import JamNode
from laneway.chains.jam.shapes import read_as, read_descriptor, read_raw
from laneway.chains.nodes import PollPace, cancel_all, follow_node
from laneway.core.jam import JamBlockRef
from laneway.wire.jip2 import call

BEST, FINAL = "subscribeBestBlock", "subscribeFinalizedBlock"


class JamHeads:
    """Follows all nodes, and rings when one of them has another newest or final block."""

    def __init__(self, nodes: Sequence[JamNode], pace: PollPace) -> None:
        self._nodes = nodes
        self._pace = pace
        self._bells: list[asyncio.Event] = []
        self._tasks: list[asyncio.Task[None]] = []

    def open_bell(self) -> asyncio.Event:
        """An event that is set whenever a head changes; the caller clears it, and closes it."""
        bell = asyncio.Event()
        if any(node.best is not None for node in self._nodes):
            bell.set()
        self._bells.append(bell)
        if not self._tasks:
            for node, method in product(self._nodes, (BEST, FINAL)):
                listen, poll = partial(self._listen, node, method), partial(self._poll, node)
                self._tasks.append(asyncio.create_task(follow_node(listen, poll, self._pace)))
        return bell

    async def close_bell(self, bell: asyncio.Event) -> None:
        self._bells.remove(bell)
        if not self._bells:
            await self.stop()

    async def stop(self) -> None:
        tasks, self._tasks = self._tasks, []
        await cancel_all(tasks)

    def saw_best(self, node: JamNode, best: JamBlockRef) -> None:
        """Note a node's best block. That it is another one is a reason to ask, and no more."""
        if best != node.best:
            node.best = best
            self._ring()

    def saw_final(self, node: JamNode, final: JamBlockRef) -> None:
        if final != node.finalised:
            node.finalised = final
            self._ring()

    def _ring(self) -> None:
        for bell in self._bells:
            bell.set()

    async def _poll(self, node: JamNode) -> None:
        if node.is_useless():
            return
        best, final = await node.ask([call("bestBlock"), call("finalizedBlock")])
        self.saw_best(node, node.read_best(best))
        self.saw_final(node, read_as(node.name, final, read_descriptor))

    async def _listen(self, node: JamNode, method: str) -> None:
        subscription = None if node.is_useless() else await node.subscribe(method)
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
