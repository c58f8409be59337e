"""Subscriptions of a client to new heads (`eth_subscribe`)."""

from collections.abc import Mapping, Sequence
from typing import Final

from laneway.devnets.evm.limits import SUBSCRIPTIONS_COUNT_MAX
from laneway.devnets.evm.model.block import EvmBlock
from laneway.devnets.evm.model.chain import EvmModel
from laneway.devnets.evm.node.host import EvmHost
from laneway.devnets.evm.node.parameters import anything, wrong
from laneway.devnets.evm.node.views import header_of
from laneway.devnets.node.host import NodeCaller
from laneway.wire.hex import quantity
from laneway.wire.rpc_server.methods import Method


class EvmCaller(NodeCaller[EvmHost]):
    """A client of one node; its subscriptions are the newest heads that it was notified of."""

    @property
    def chain(self) -> EvmModel:
        return self.host.chain

    def notify(self) -> None:
        head = self.chain.head(self.node)
        for name, newest in self._followed.items():
            self._followed[name] = head
            for block in fresh_blocks(self.chain, newest, head):
                result = header_of(block)
                self.connection.notify("eth_subscription", {"subscription": name, "result": result})

    def subscribe(self, topic: object) -> str:
        if topic != "newHeads":
            raise wrong("this devnet has the topic newHeads alone")
        if len(self._followed) >= SUBSCRIPTIONS_COUNT_MAX:
            raise wrong(f"at most {SUBSCRIPTIONS_COUNT_MAX} subscriptions")
        name = quantity(self.host.subscription_number())
        self._followed[name] = self.chain.head(self.node)
        return name

    def unsubscribe(self, name: object) -> bool:
        return self._followed.pop(str(name), None) is not None


SUBSCRIPTIONS: Final[Mapping[str, Method]] = {
    "eth_subscribe": Method((anything,), EvmCaller.subscribe, needs_connection=True),
    "eth_unsubscribe": Method((anything,), EvmCaller.unsubscribe, needs_connection=True),
}


def fresh_blocks(chain: EvmModel, old: EvmBlock, new: EvmBlock) -> Sequence[EvmBlock]:
    """What a node shows that it did not before, oldest first; nothing where it was set back."""
    fresh: list[EvmBlock] = []
    while new is not old:
        if new.number >= old.number:
            fresh.append(new)
            new = chain.parent(new)
        else:
            old = chain.parent(old)
    return fresh[::-1]
