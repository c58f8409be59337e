"""A node of a chain: what it has seen of it, and its pool."""

from laneway.devnets.evm.model.block import EvmBlock
from laneway.devnets.evm.model.pool import NodePool


class ChainNode:
    def __init__(self, head: EvmBlock) -> None:
        self.head = head
        self.pool = NodePool()
        self.lag_blocks = 0
        self.frozen = False
        self.state_blocks: int | None = None
        """How many of its newest blocks it knows the state of; None for all."""
