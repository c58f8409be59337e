"""The Cosmos devnet on the event loop: blocks by the clock, or only when it is told to."""

import asyncio
from time import time

from laneway.devnets.cosmos.model import Block, CosmosChain


class CosmosHost:
    """Drives one chain."""

    def __init__(self, chain: CosmosChain, *, block_ms: int | None) -> None:
        """`block_ms` None: a block only when told to."""
        assert block_ms is None or block_ms > 0
        self.chain = chain
        self.block_ms = block_ms
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        if self.block_ms is not None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self.block_ms / 1000, self._fire)

    def close(self) -> None:
        """Stop the clock; the chain stays as it is."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def produce(self, count: int = 1) -> None:
        for _ in range(count):
            self.chain.produce(self.now_ms())

    def now_ms(self) -> int:
        """No block is older than the one before it, whatever the wall clock does."""
        newest: list[Block] = self.chain.blocks[-1:]
        return max(int(time() * 1000), *(one.made_ms for one in newest), 0)

    def _fire(self) -> None:
        self.start()
        self.produce()
