"""A devnet, and the adapter to it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from tests.devnets.cosmos.stage import RICH, A, B, raw_of

from laneway.chains.cosmos.chain import CometChain
from laneway.chains.endpoint import NodePlace
from laneway.devnets.cosmos.devnet import CosmosDevnet
from laneway.devnets.cosmos.model.mempool import MempoolRules

Story = Callable[[CosmosDevnet, CometChain], Coroutine[Any, Any, None]]
NAMES = ("one", "two")


@asynccontextmanager
async def world(nodes: int = 1, **rules: Any) -> AsyncIterator[tuple[CosmosDevnet, CometChain]]:
    balances = {raw_of(A): RICH, raw_of(B): RICH}
    mempools = tuple(MempoolRules(**rules) for _ in range(nodes))
    async with CosmosDevnet(block_ms=None, balances=balances, nodes=mempools) as net:
        places = [NodePlace(url, name) for url, name in zip(net.urls, NAMES, strict=False)]
        chain = CometChain(places, net.chain_id)
        try:
            yield net, chain
        finally:
            await chain.close()


def tell(story: Story, **options: Any) -> None:
    async def whole() -> None:
        async with asyncio.timeout(30), world(**options) as (net, chain):
            await story(net, chain)

    asyncio.run(whole())
