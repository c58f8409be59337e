"""The EVM devnet on the event loop: it mines by its mode.

It mines when something can be mined (block time 0), by the clock, or only on command.
"""

from time import time

from laneway.devnets.evm.limits import BLOCK_MS_MAX
from laneway.devnets.evm.model.chain import EvmModel
from laneway.devnets.evm.node.filters import EvmFilters
from laneway.devnets.node.host import DevnetHost


class EvmHost(DevnetHost):
    def __init__(self, chain: EvmModel, *, block_ms: int | None = 0) -> None:
        """`block_ms` 0 mines on every send, None only on command."""
        assert block_ms is None or 0 <= block_ms <= BLOCK_MS_MAX
        super().__init__(block_ms or 0)
        self.chain = chain
        self.automines = block_ms == 0
        self.filters = EvmFilters()
        self._subscription_next = 1

    def now_ms(self) -> int:
        """No block is older than the one before it, whatever the wall clock does."""
        return max(int(time() * 1000), self.chain.newest().made_ms)

    def mine(self, count: int = 1) -> None:
        for _ in range(count):
            self.chain.mine(self.now_ms())
        self.settle()

    def tick(self) -> None:
        self.mine()

    def set_automine(self, on: bool) -> None:
        if on:
            super().set_interval(0)
        self.automines = on
        self.settle()

    def set_interval(self, interval_ms: int) -> None:
        self.automines = False
        super().set_interval(interval_ms)

    def settle(self) -> None:
        """Mine if something waits that can be, and notify the clients of what is new."""
        self._notice()
        if self.automines and self.chain.has_ready(0):
            self.chain.mine(self.now_ms())
            self._notice()

    def _notice(self) -> None:
        """What waits is shown before it is mined."""
        self.filters.notice()
        super().settle()

    def subscription_number(self) -> int:
        """One that no subscription had before."""
        number, self._subscription_next = self._subscription_next, self._subscription_next + 1
        return number
