"""An EVM chain to try things on, in this process: one line starts it, one line ends it.

async with EvmDevnet(block_ms=1_000) as devnet:
    chain = RpcChain([Place(devnet.url, ws_url=devnet.ws_url)], chain_id=devnet.chain_id)
"""

import asyncio
from collections.abc import Mapping

from laneway.devnets.evm.accounts import DEV_ACCOUNTS
from laneway.devnets.evm.limits import BALANCE_WEI_DEV
from laneway.devnets.evm.model.chain import EvmModel
from laneway.devnets.evm.model.rules import ANVIL, EvmRules
from laneway.devnets.evm.node.host import EvmHost
from laneway.devnets.evm.node.rpc import CHANGING, EvmRpc
from laneway.devnets.evm.node.subscriptions import EvmCaller
from laneway.devnets.node.devnet import Devnet
from laneway.devnets.node.serving import Greeting, greeting_of, serve
from laneway.devnets.node.socket import NodeSocket
from laneway.wire.hex import octets


class EvmDevnet(Devnet[EvmHost]):
    """A chain, its nodes and their sockets. Everything is forgotten when the process ends."""

    def __init__(
        self,
        *,
        block_ms: int | None = 0,
        port: int = 0,
        nodes: int = 1,
        chain_id: int = 31_337,
        rules: EvmRules = ANVIL,
        balances: Mapping[bytes, int] | None = None,
        executes: bool = True,
        chain: EvmModel | None = None,
    ) -> None:
        """`block_ms` 0 mines on every send, None only on command. The first node is at `port`, the
        others at free ones. Without `balances` the known accounts have some. Contracts run unless
        it does not `execute`: then transactions move value alone, which is quicker. A `chain` with
        as many nodes, for example one that began elsewhere (model/continued.py), is taken as it
        is."""
        self.accounts = DEV_ACCOUNTS
        if balances is None:
            balances = {account.address: BALANCE_WEI_DEV for account in DEV_ACCOUNTS}
        self.chain = chain or EvmModel(
            balances, chain_id=chain_id, nodes=nodes, rules=rules, executes=executes
        )
        """Anyone who changes it by hand calls `settle` afterwards."""
        self.chain_id = self.chain.chain_id
        host = EvmHost(self.chain, block_ms=block_ms)
        sockets = [
            NodeSocket(EvmRpc(), EvmCaller, host, node, port=port if node == 0 else 0)
            for node in range(nodes)
        ]
        super().__init__(host, sockets)

    @property
    def ws_url(self) -> str:
        return self._sockets[0].ws_url

    def say(self, method: str, *params: object, node: int = 0) -> object:
        """One call without the socket; RpcRefused is the node's refusal."""
        result = EvmRpc().invoke(EvmCaller(self._host, node), method, list(params))
        if method in CHANGING:
            self._host.settle()
        return result

    def mine(self, count: int = 1) -> None:
        self._host.mine(count)

    def listeners_count(self) -> int:
        """How many subscriptions are open."""
        return self._host.open_count()


def run_devnet(*, port: int, block_ms: int, chain_id: int, as_json: bool) -> int:
    """The EVM devnet as a process."""
    devnet = EvmDevnet(port=port, block_ms=block_ms, chain_id=chain_id)
    return asyncio.run(serve(devnet, greeting, as_json=as_json))


def greeting(devnet: EvmDevnet) -> Greeting:
    keys = {octets(account.address): octets(account.secret) for account in devnet.accounts}
    place = {"url": devnet.url, "ws_url": devnet.ws_url, "chain_id": devnet.chain_id}
    return greeting_of(place, keys, "10,000 ether")
