"""A Cosmos chain to try things on, in this process: one line starts it, one line ends it.

async with CosmosDevnet(block_ms=500) as devnet:
    account = devnet.accounts[0]
"""

import asyncio
from collections.abc import Mapping, Sequence
from secrets import token_bytes

from laneway.devnets.cosmos.accounts import DEV_ACCOUNTS
from laneway.devnets.cosmos.limits import BALANCE_DEV, BLOCK_MS_DEV
from laneway.devnets.cosmos.model.app import CosmosRules
from laneway.devnets.cosmos.model.chain import CosmosModel
from laneway.devnets.cosmos.model.mempool import MempoolRules
from laneway.devnets.cosmos.node.host import CosmosHost
from laneway.devnets.cosmos.node.socket import CosmosSocket
from laneway.devnets.node.devnet import Devnet
from laneway.devnets.node.serving import Greeting, greeting_of, serve


class CosmosDevnet(Devnet[CosmosHost]):
    """A chain, its nodes and their sockets. Everything is forgotten when the process ends."""

    def __init__(
        self,
        *,
        block_ms: int | None = BLOCK_MS_DEV,
        port: int = 0,
        rules: CosmosRules | None = None,
        nodes: Sequence[MempoolRules] = (MempoolRules(),),
        balances: Mapping[bytes, int] | None = None,
    ) -> None:
        """With `block_ms` None there is a block only on command. The first node is at `port`, the
        others at free ones. Without `balances` the known accounts have some."""
        self.accounts = DEV_ACCOUNTS
        if balances is None:
            balances = {account.raw: BALANCE_DEV for account in DEV_ACCOUNTS}
        # A chain that begins anew has other blocks, though its name and its accounts are the same.
        self.chain = CosmosModel(balances, rules=rules, nodes=nodes, genesis=token_bytes(8))
        self.chain.produce()
        sockets = [
            CosmosSocket(self.chain, node, port=port if node == 0 else 0)
            for node in range(len(nodes))
        ]
        super().__init__(CosmosHost(self.chain, block_ms=block_ms), sockets)

    @property
    def chain_id(self) -> str:
        return self.chain.app.rules.chain_id

    def produce(self, count: int = 1) -> None:
        self._host.produce(count)

    async def stop_node(self, node: int) -> None:
        """Stop a node: it receives nothing and answers nobody."""
        self.chain.stop(node)
        await super().stop_node(node)

    async def start_node(self, node: int) -> None:
        """Start a node again at the same address, with its blocks and an empty mempool."""
        self.chain.restart(node)
        await super().start_node(node)


def run_devnet(*, port: int, block_ms: int, chain_id: str, as_json: bool) -> int:
    """The Cosmos devnet as a process."""
    devnet = CosmosDevnet(port=port, block_ms=block_ms, rules=CosmosRules(chain_id=chain_id))
    return asyncio.run(serve(devnet, greeting, as_json=as_json))


def greeting(devnet: CosmosDevnet) -> Greeting:
    prefix = devnet.chain.app.rules.prefix
    keys = {account.address(prefix): account.secret.hex() for account in devnet.accounts}
    place = {"url": devnet.url, "chain_id": devnet.chain_id}
    return greeting_of(place, keys, "a million TIA")
