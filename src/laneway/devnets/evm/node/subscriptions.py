"""Subscriptions of a client on a WebSocket (`eth_subscribe`): heads, logs, and transactions that
became ready to be mined."""

from collections.abc import Mapping
from typing import Final

from laneway.devnets.evm.limits import SUBSCRIPTIONS_COUNT_MAX
from laneway.devnets.evm.model.block import EvmBlock
from laneway.devnets.evm.model.chain import EvmModel
from laneway.devnets.evm.model.values import FoundTransaction
from laneway.devnets.evm.node.filters import ReadyPool
from laneway.devnets.evm.node.host import EvmHost
from laneway.devnets.evm.node.logs import LogCriteria, changed_logs, criteria_of, fresh_blocks
from laneway.devnets.evm.node.parameters import anything, flag_of, wrong
from laneway.devnets.evm.node.prices import base_fee_next
from laneway.devnets.evm.node.views import block_of, header_of, transaction_of
from laneway.devnets.node.host import NodeCaller
from laneway.evm.execution.fees import effective_price_wei
from laneway.wire.hex import octets, quantity
from laneway.wire.rpc_codes import INTERNAL
from laneway.wire.rpc_server.methods import Json, Method, RpcRefused


class HeadFollower:
    def fresh(self, chain: EvmModel, old: EvmBlock, new: EvmBlock) -> list[object]:
        """What is to be shown when a node's head has moved from one block to another."""
        return [head_of(chain, block) for block in fresh_blocks(chain, old, new)]


class LogFollower:
    def __init__(self, criteria: LogCriteria) -> None:
        self._criteria = criteria

    def fresh(self, chain: EvmModel, old: EvmBlock, new: EvmBlock) -> list[object]:
        return list(changed_logs(chain, old, new, self._criteria))


class PendingFollower:
    def __init__(self, chain: EvmModel, node: int, *, full: bool) -> None:
        self._node = node
        self._pool = ReadyPool(chain, node)
        self._full = full

    def fresh(self, chain: EvmModel, old: EvmBlock, new: EvmBlock) -> list[object]:  # noqa: ARG002
        found = self._pool.fresh()
        if not self._full:
            return [octets(sent.hash) for sent in found]
        base = base_fee_next(chain, self._node)
        return [
            transaction_of(
                FoundTransaction(sent, None), None, effective_price_wei(sent.transaction, base)
            )
            for sent in found
        ]


Follower = HeadFollower | LogFollower | PendingFollower


class EvmCaller(NodeCaller[EvmHost]):
    """A client of one node; each of its subscriptions has the head that it was last notified of."""

    @property
    def chain(self) -> EvmModel:
        return self.host.chain

    def notify(self) -> None:
        head = self.chain.head(self.node)
        for name, (follower, newest) in self._followed.items():
            self._followed[name] = follower, head
            for result in follower.fresh(self.chain, newest, head):
                self.connection.notify("eth_subscription", {"subscription": name, "result": result})

    def subscribe(self, topic: object, wanted: object = None) -> str:
        follower = self._follower(topic, wanted)
        if len(self._followed) >= SUBSCRIPTIONS_COUNT_MAX:
            raise wrong(f"at most {SUBSCRIPTIONS_COUNT_MAX} subscriptions")
        name = quantity(self.host.subscription_number())
        self._followed[name] = follower, self.chain.head(self.node)
        return name

    def unsubscribe(self, name: object) -> bool:
        return self._followed.pop(str(name), None) is not None

    def _follower(self, topic: object, wanted: object) -> Follower:
        if topic == "newHeads":
            return HeadFollower()
        if topic == "logs":
            return LogFollower(criteria_of({} if wanted is None else wanted))
        if topic == "newPendingTransactions":
            full = wanted is not None and flag_of(wanted)
            return PendingFollower(self.chain, self.node, full=full)
        if topic == "syncing":
            raise RpcRefused(INTERNAL, "Not implemented")
        raise wrong("expected newHeads, logs or newPendingTransactions")


def head_of(chain: EvmModel, block: EvmBlock) -> Json:
    """The header; anvil shows the transactions as well."""
    if chain.rules.reads_as_geth:
        return header_of(block, as_geth=True)
    sent = [chain.sent(digest) for digest in block.transactions]
    return block_of(block, [octets(one.hash) for one in sent], sent, as_geth=False)


SUBSCRIPTIONS: Final[Mapping[str, Method]] = {
    "eth_subscribe": Method(
        (anything, anything), EvmCaller.subscribe, optional=1, needs_connection=True
    ),
    "eth_unsubscribe": Method((anything,), EvmCaller.unsubscribe, needs_connection=True),
}
