"""The newest block, whenever it changes: notified by the nodes that can, asked of the others.

A subscription that ends, or is silent for too long, is followed by polling until the next try.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from laneway.chains.evm.blocks import LATEST
from laneway.chains.evm.endpoint import EvmEndpoint
from laneway.chains.evm.shapes import HEADER, read_header, read_raw, translated
from laneway.chains.nodes import PollPace, cancel_all, follow_node
from laneway.core.errors import ChainError
from laneway.core.facts import BlockRef
from laneway.core.majority import look_quorum
from laneway.wire.jsonrpc import RpcCall, RpcError
from laneway.wire.rpc_socket import RpcSocket

NEW_HEADS: Final = RpcCall("eth_subscribe", ("newHeads",))


class EvmHeads:
    """Follows all nodes; what it passes on is the newest head that enough of them have reached."""

    def __init__(self, nodes: Sequence[EvmEndpoint], pace: PollPace) -> None:
        self._nodes = nodes
        self._pace = pace
        self._newest: BlockRef | None = None
        self._heads: dict[str, BlockRef] = {}
        self._changed = asyncio.Event()

    async def follow(self) -> AsyncIterator[BlockRef]:
        tasks = [
            asyncio.create_task(
                follow_node(partial(self._listen, node), partial(self._poll, node), self._pace)
            )
            for node in self._nodes
        ]
        try:
            while True:
                await self._changed.wait()
                self._changed.clear()
                assert self._newest is not None
                yield self._newest
        finally:
            await cancel_all(tasks)

    def saw(self, node: EvmEndpoint, head: BlockRef) -> None:
        """Note a node's head. Heads of nodes that are silent by now count no longer, and one
        that is ahead of all others waits for them."""
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

    async def _poll(self, node: EvmEndpoint) -> None:
        with suppress(ChainError):
            (answer,) = await node.ask([LATEST])
            self.saw(node, read_header(node, answer))

    async def _listen(self, node: EvmEndpoint) -> None:
        if not node.place.ws_url:
            return  # It is only polled.
        socket = RpcSocket(node.place.ws_url, name=node.name, headers=node.place.headers)
        try:
            heads = await socket.subscribe(NEW_HEADS, "eth_unsubscribe", self._pace.silence_ms)
            if isinstance(heads, RpcError):
                return
            # A block may have come between the last question and this subscription.
            await self._poll(node)
            while True:
                header = read_raw(node, await heads.next(self._pace.silence_ms), HEADER)
                if header is not None:
                    self.saw(node, translated(node, header.ref))
        finally:
            await socket.close()
