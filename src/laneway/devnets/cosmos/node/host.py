"""The Cosmos devnet on the event loop: blocks by the clock, or only on command."""

from time import time

from laneway.devnets.cosmos.model.chain import CosmosBlock, CosmosModel
from laneway.devnets.node.host import DevnetHost


class CosmosHost(DevnetHost):
    def __init__(self, chain: CosmosModel, *, block_ms: int | None) -> None:
        """`block_ms` None: a block only on command."""
        assert block_ms is None or block_ms > 0
        super().__init__(block_ms or 0)
        self.chain = chain

    def produce(self, count: int = 1) -> None:
        for _ in range(count):
            self.chain.produce(self.now_ms())

    def tick(self) -> None:
        self.produce()

    def now_ms(self) -> int:
        """No block is older than the one before it, whatever the wall clock does."""
        newest: list[CosmosBlock] = self.chain.blocks[-1:]
        return max(int(time() * 1000), *(one.made_ms for one in newest), 0)
