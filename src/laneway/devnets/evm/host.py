"""The EVM devnet on the event loop: it mines by its mode, and tells every new block.

It mines when something can be mined (block time 0), by the clock, or only when it is told to.
"""

import asyncio
from collections.abc import Callable, Sequence
from time import time

from laneway.devnets.evm.block import Block
from laneway.devnets.evm.limits import BLOCK_MS_MAX
from laneway.devnets.evm.model import EvmChain

Listener = Callable[[Block], None]


class EvmHost:
    """Drives one chain. `settle` must follow whatever changes it from outside."""

    def __init__(self, chain: EvmChain, *, block_ms: int | None = 0) -> None:
        """`block_ms` 0 mines on every send, None only when told to."""
        assert block_ms is None or 0 <= block_ms <= BLOCK_MS_MAX
        self.chain = chain
        self.automines = block_ms == 0
        self.interval_ms = block_ms or 0
        self._listeners: dict[int, tuple[int, Listener]] = {}
        self._listener_next = 1
        self._told: dict[int, Block] = {}
        """The newest block that each listened-to node showed."""
        self._timer: asyncio.TimerHandle | None = None
        self._running = False

    def start(self) -> None:
        self._running = True
        self._arm()

    def close(self) -> None:
        """Stop the clock; the chain stays as it is."""
        self._running = False
        self._disarm()

    def now_ms(self) -> int:
        """No block is older than the one before it, whatever the wall clock does."""
        return max(int(time() * 1000), self.chain.newest().made_ms)

    def mine(self, count: int = 1) -> None:
        for _ in range(count):
            self.chain.mine(self.now_ms())
        self.settle()

    def set_automine(self, on: bool) -> None:
        self.automines = on
        if on:
            self.interval_ms = 0
            self._disarm()
        self.settle()

    def set_interval(self, interval_ms: int) -> None:
        self.automines = False
        self.interval_ms = interval_ms
        self._disarm()
        self._arm()

    def settle(self) -> None:
        """Mine if something waits that can be, and tell the new blocks."""
        if self.automines and self.chain.has_ready(0):
            self.chain.mine(self.now_ms())
        if self._listeners:
            self._tell()

    def listen(self, node: int, listener: Listener) -> int:
        """Tell the blocks that a node shows from now on, each once; the number ends it."""
        number = self._listener_next
        self._listener_next += 1
        self._told.setdefault(node, self.chain.head(node))
        self._listeners[number] = (node, listener)
        return number

    def unlisten(self, number: int) -> bool:
        gone = self._listeners.pop(number, None)
        if gone is not None and not any(gone[0] == node for node, _ in self._listeners.values()):
            del self._told[gone[0]]
        return gone is not None

    def listeners_count(self) -> int:
        return len(self._listeners)

    def _tell(self) -> None:
        fresh = {
            node: fresh_blocks(self.chain, old, self.chain.head(node))
            for node, old in self._told.items()
        }
        self._told = {node: self.chain.head(node) for node in self._told}
        for node, listener in tuple(self._listeners.values()):
            for block in fresh[node]:
                listener(block)

    def _arm(self) -> None:
        if self._running and self.interval_ms > 0:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self.interval_ms / 1000, self._fire)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fire(self) -> None:
        self._arm()
        self.mine()


def fresh_blocks(chain: EvmChain, old: Block, new: Block) -> Sequence[Block]:
    """What a node shows that it did not before, oldest first; nothing where it was set back."""
    fresh: list[Block] = []
    while new is not old:
        if new.number >= old.number:
            fresh.append(new)
            new = chain.parent(new)
        else:
            old = chain.parent(old)
    return fresh[::-1]
