"""The newest block, whenever it changes: told by the nodes that can, asked of the others.

A subscription that ends, or is silent for too long, is followed by polling until the next try.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress

from laneway.chains.endpoint import loop_s
from laneway.chains.evm.blocks import LATEST
from laneway.chains.evm.endpoint import Endpoint
from laneway.chains.evm.limits import POLL_MS, RESUBSCRIBE_MS, SILENCE_MS
from laneway.chains.evm.shapes import HEADER, read_header, read_raw, translated
from laneway.core.errors import ChainError
from laneway.core.facts import BlockRef
from laneway.core.majority import look_quorum
from laneway.wire.subscription import subscribe


class Heads:
    """Follows all nodes; what it passes on is the newest head that enough of them have reached."""

    def __init__(
        self,
        nodes: Sequence[Endpoint],
        *,
        poll_ms: int = POLL_MS,
        silence_ms: int = SILENCE_MS,
        resubscribe_ms: int = RESUBSCRIBE_MS,
    ) -> None:
        self._nodes = nodes
        self._poll_s = poll_ms / 1000
        self._silence_ms = silence_ms
        self._resubscribe_s = resubscribe_ms / 1000
        self._newest: BlockRef | None = None
        self._heads: dict[str, BlockRef] = {}
        self._changed = asyncio.Event()

    async def follow(self) -> AsyncIterator[BlockRef]:
        tasks = [asyncio.create_task(self._watch(node)) for node in self._nodes]
        try:
            while True:
                await self._changed.wait()
                self._changed.clear()
                assert self._newest is not None
                yield self._newest
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def saw(self, node: Endpoint, head: BlockRef) -> None:
        """Take a node's word. What nodes said that are silent by now counts no longer, and one that
        is ahead of all others waits for them."""
        node.saw_head(head.number)
        self._heads[node.name] = head
        fresh = [
            self._heads[one.name]
            for one in self._nodes
            if one is node or (one.name in self._heads and one.binding_head() >= 0)
        ]
        fresh.sort(key=lambda one: one.number, reverse=True)
        newest = fresh[min(look_quorum(len(self._nodes)), len(fresh)) - 1]
        if newest != self._newest:
            self._newest = newest
            self._changed.set()

    async def _watch(self, node: Endpoint) -> None:
        while True:
            if node.place.ws_url:
                with suppress(ChainError):
                    await self._listen(node)
            until_s = loop_s() + self._resubscribe_s
            while not node.place.ws_url or loop_s() < until_s:
                await self._poll(node)
                await asyncio.sleep(self._poll_s)

    async def _poll(self, node: Endpoint) -> None:
        with suppress(ChainError):
            (answer,) = await node.ask([LATEST])
            self.saw(node, read_header(node, answer))

    async def _listen(self, node: Endpoint) -> None:
        told = subscribe(
            node.client.session(),
            node.place.ws_url,
            ("newHeads",),
            name=node.name,
            silence_ms=self._silence_ms,
            headers=node.place.headers,
        )
        async for raw in told:
            if raw is None:
                # A block may have come between the last question and this subscription.
                await self._poll(node)
                continue
            header = read_raw(node, raw, HEADER)
            if header is not None:
                self.saw(node, translated(node, header.ref))
