"""Filters: what a client that polls has not seen yet.

A filter keeps the head that it was last asked at, and works out what has changed when it is asked
again. It is forgotten when nobody asks for long, or when more has happened than it may keep.
"""

from collections.abc import Callable
from time import monotonic
from typing import Final

from laneway.devnets.evm.limits import (
    FILTER_BLOCKS_MAX,
    FILTER_HASHES_MAX,
    FILTER_IDLE_S,
    FILTERS_COUNT_MAX,
)
from laneway.devnets.evm.model.chain import EvmModel
from laneway.devnets.evm.model.pool import PooledTransaction
from laneway.devnets.evm.node.logs import (
    LogCriteria,
    asked_logs,
    changed_logs,
    check_count,
    fresh_blocks,
)
from laneway.devnets.evm.node.parameters import wrong
from laneway.wire.hex import octets, quantity
from laneway.wire.rpc_server.methods import RpcRefused

FILTER_UNKNOWN: Final = -32000


class ReadyPool:
    """What became ready to be mined in a node's pool since it was last asked."""

    def __init__(self, chain: EvmModel, node: int) -> None:
        self._chain = chain
        self._node = node
        self._ready = dict.fromkeys([sent.hash for sent in chain.pool(node)[0]])

    def fresh(self) -> list[PooledTransaction]:
        pending, _ = self._chain.pool(self._node)
        found = [sent for sent in pending if sent.hash not in self._ready]
        self._ready = dict.fromkeys([sent.hash for sent in pending])
        # One that filled a gap comes before those that had waited for it.
        return sorted(found, key=lambda sent: sent.transaction.nonce)


class NodeFilter:
    """A filter of the chain as one node sees it."""

    def __init__(self, chain: EvmModel, node: int) -> None:
        self.chain = chain
        self.node = node
        self.asked_s = 0.0
        self._newest = chain.head(node)

    def changes(self) -> list[object]:
        """What is new since the last time."""
        raise NotImplementedError

    def is_overrun(self) -> bool:
        """Whether more has happened than a filter may keep."""
        return self.chain.head(self.node).number - self._newest.number > FILTER_BLOCKS_MAX

    def notice(self) -> None:
        """The chain or the pool has changed."""


class BlockFilter(NodeFilter):
    def changes(self) -> list[object]:
        old, self._newest = self._newest, self.chain.head(self.node)
        return [octets(block.hash) for block in fresh_blocks(self.chain, old, self._newest)]


class LogFilter(NodeFilter):
    def __init__(self, chain: EvmModel, node: int, criteria: LogCriteria) -> None:
        super().__init__(chain, node)
        self.criteria = criteria
        self._past: list[object] = []
        if criteria.first is not None and not chain.rules.reads_as_geth:
            # Anvil hands out what was there already, the first time.
            self._past = list(asked_logs(chain, node, criteria))

    def changes(self) -> list[object]:
        past, self._past = self._past, []
        old, self._newest = self._newest, self.chain.head(self.node)
        found = past + changed_logs(self.chain, old, self._newest, self.criteria)
        check_count(found)
        return found


class PendingFilter(NodeFilter):
    def __init__(self, chain: EvmModel, node: int) -> None:
        super().__init__(chain, node)
        self._pool = ReadyPool(chain, node)
        self._waiting: list[object] = []

    def notice(self) -> None:
        self._waiting += [octets(sent.hash) for sent in self._pool.fresh()]

    def changes(self) -> list[object]:
        self.notice()
        found, self._waiting = self._waiting, []
        return found

    def is_overrun(self) -> bool:
        return len(self._waiting) > FILTER_HASHES_MAX


class EvmFilters:
    """The filters of all nodes of a devnet, by their names."""

    def __init__(self, *, now_s: Callable[[], float] = monotonic) -> None:
        self._held: dict[str, NodeFilter] = {}
        self._now_s = now_s
        self._count = 0

    def add(self, one: NodeFilter) -> str:
        self._sweep()
        if len(self._held) >= FILTERS_COUNT_MAX:
            raise wrong(f"at most {FILTERS_COUNT_MAX} filters")
        self._count += 1
        name = quantity(self._count)
        one.asked_s = self._now_s()
        self._held[name] = one
        return name

    def get(self, name: object, node: int) -> NodeFilter:
        """The filter of this name; asking keeps it alive."""
        self._sweep()
        found = self._held.get(str(name))
        if found is None or found.node != node:
            raise RpcRefused(FILTER_UNKNOWN, "filter not found")
        found.asked_s = self._now_s()
        return found

    def remove(self, name: object, node: int) -> bool:
        found = self._held.get(str(name))
        if found is None or found.node != node:
            return False
        del self._held[str(name)]
        return True

    def notice(self) -> None:
        """The chain or a pool has changed."""
        for one in self._held.values():
            one.notice()
        self._sweep()

    def _sweep(self) -> None:
        """Forget what nobody asks for, and what has more to keep than it may."""
        now_s = self._now_s()
        for name, one in tuple(self._held.items()):
            if now_s - one.asked_s > FILTER_IDLE_S or one.is_overrun():
                del self._held[name]
