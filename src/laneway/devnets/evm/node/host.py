"""The EVM devnet on the event loop: it mines by its mode.

It mines when something can be mined (block time 0), by the clock, or only on command.
"""

from time import time

from laneway.devnets.evm.limits import BLOCK_MS_MAX
from laneway.devnets.evm.model.block import EvmBlock
from laneway.devnets.evm.model.chain import EvmModel
from laneway.devnets.evm.model.clock import BlockClock
from laneway.devnets.evm.model.snapshots import ChainSnapshots
from laneway.devnets.evm.node.filters import EvmFilters
from laneway.devnets.node.host import DevnetHost
from laneway.evm.secp256k1 import HeldEvmKey


class EvmHost(DevnetHost):
    def __init__(
        self, chain: EvmModel, *, block_ms: int | None = 0, keys: tuple[HeldEvmKey, ...] = ()
    ) -> None:
        """`block_ms` 0 mines on every send, None only on command. It signs with these `keys`."""
        assert block_ms is None or 0 <= block_ms <= BLOCK_MS_MAX
        super().__init__(block_ms or 0)
        self.chain = chain
        self.automines = block_ms == 0
        self.filters = EvmFilters()
        self._seen = chain.newest()
        self._clock = BlockClock(self._seen.made_ms)
        self.snapshots = ChainSnapshots(chain)
        self._first = chain.snapshot()
        self.keys = {key.address: key for key in keys}
        self.impersonated: dict[bytes, None] = {}
        """Accounts that send without a signature."""
        self.impersonates_all = False
        self._subscription_next = 1

    @property
    def clock(self) -> BlockClock:
        """It follows the chain, which others move too."""
        newest = self.chain.newest()
        if newest is not self._seen:
            self._seen = newest
            self._clock.follow(newest.made_ms)
        return self._clock

    def now_ms(self) -> int:
        """The time of a block that is made now; the one after it is not older."""
        return self.clock.take(wall_ms())

    def pending(self, node: int) -> EvmBlock:
        """The block that would be made now."""
        return self.chain.pending(node, self.clock.next_ms(wall_ms()))

    def mine(self, count: int = 1, *, interval_s: int = 0) -> None:
        for _ in range(count):
            self.clock.increase(interval_s)
            self.chain.mine(self.now_ms())
        self.settle()

    def set_time(self, at_ms: int) -> int:
        """How many seconds ahead that is."""
        return self.clock.set_now(at_ms, wall_ms())

    def revert(self, number: int) -> bool:
        """Go back to a snapshot, and to its time."""
        if not self.snapshots.revert(number):
            return False
        self.set_time(self.chain.newest().made_ms)
        return True

    def reset(self) -> None:
        """Begin anew from where the chain stood at first, with empty pools and no snapshots."""
        self.chain.restore(self._first)
        for node in range(self.chain.nodes_count()):
            self.chain.restart(node)
        self.snapshots.clear()
        self._clock = BlockClock(self.chain.newest().made_ms)

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


def wall_ms() -> int:
    return int(time() * 1000)
