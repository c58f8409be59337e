"""The newest blocks, whenever they change: notified by the nodes that can, asked of the others.

All nodes are followed, so that a read is never taken from one that is known to lag. A
subscription that ends, is refused or is silent for too long is followed by polling until the next
try. Any number may follow at once: they share the subscriptions, which end with the last of them.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from itertools import product

from laneway.chains.jam.clock import BlockArrivals
from laneway.chains.jam.node import JamNode
from laneway.chains.jam.shapes import read_as, read_descriptor, read_raw
from laneway.chains.nodes import PollPace, cancel_all, follow_node
from laneway.core.jam import JamBlockRef
from laneway.wire.jip2 import call

BEST, FINAL = "subscribeBestBlock", "subscribeFinalizedBlock"


class JamHeads:
    """Follows all nodes; what it passes on comes from the one that is ahead."""

    def __init__(self, nodes: Sequence[JamNode], arrivals: BlockArrivals, pace: PollPace) -> None:
        self.leader: JamNode | None = None
        self._nodes = nodes
        self._arrivals = arrivals
        self._pace = pace
        self._newest: JamBlockRef | None = None
        self._final: JamBlockRef | None = None
        self._bells: list[asyncio.Event] = []
        self._tasks: list[asyncio.Task[None]] = []

    def open_bell(self) -> asyncio.Event:
        """An event that is set whenever a head changes; the caller clears it, and closes it."""
        bell = asyncio.Event()
        if self._newest is not None:
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
        """Note a node's best block; it counts when the node is ahead, or is the one that is
        followed: forks change, and a development chain may begin again."""
        node.saw_best(best)
        self._arrivals.saw(best.slot)
        leads = self.leader is None or self.leader is node or self.leader.binding_head() < 0
        if self._newest is None or best.slot > self._newest.slot or leads:
            self.leader = node
            if best != self._newest:
                self._newest = best
                self._ring()

    def saw_final(self, node: JamNode, final: JamBlockRef) -> None:
        node.finalised = final
        if self._final is None or final.slot > self._final.slot:
            self._final = final
            self._ring()

    def _ring(self) -> None:
        for bell in self._bells:
            bell.set()

    async def _poll(self, node: JamNode) -> None:
        best, final = await node.ask([call("bestBlock"), call("finalizedBlock")])
        self.saw_best(node, node.read_best(best))
        self.saw_final(node, read_as(node.name, final, read_descriptor))

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
