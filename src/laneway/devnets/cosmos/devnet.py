"""A Cosmos chain to try things on, in this process: one line starts it, one line ends it.

async with CosmosDevnet(block_ms=500) as devnet:
    account = devnet.accounts[0]
"""

from collections.abc import Mapping, Sequence
from secrets import token_bytes
from types import TracebackType

from laneway.devnets.cosmos.accounts import DEV_ACCOUNTS
from laneway.devnets.cosmos.app import Rules
from laneway.devnets.cosmos.host import CosmosHost
from laneway.devnets.cosmos.limits import BALANCE_DEV, BLOCK_MS_DEV
from laneway.devnets.cosmos.mempool import MempoolRules
from laneway.devnets.cosmos.model import CosmosChain
from laneway.devnets.cosmos.socket import CosmosSocket


class CosmosDevnet:
    """A chain, its nodes and their sockets. Everything is forgotten when the process ends."""

    def __init__(
        self,
        *,
        block_ms: int | None = BLOCK_MS_DEV,
        port: int = 0,
        rules: Rules | None = None,
        nodes: Sequence[MempoolRules] = (MempoolRules(),),
        balances: Mapping[bytes, int] | None = None,
    ) -> None:
        """`block_ms` None: a block only when told to. The first node is at `port`, the others
        wherever there is room. Without `balances` the known accounts have some."""
        self.accounts = DEV_ACCOUNTS
        if balances is None:
            balances = {account.raw: BALANCE_DEV for account in DEV_ACCOUNTS}
        # A chain that begins anew has other blocks, though its name and its accounts are the same.
        self.chain = CosmosChain(balances, rules=rules, nodes=nodes, genesis=token_bytes(8))
        self.chain.produce()
        self._host = CosmosHost(self.chain, block_ms=block_ms)
        self._sockets = [
            CosmosSocket(self.chain, node, port=port if node == 0 else 0)
            for node in range(len(nodes))
        ]

    @property
    def chain_id(self) -> str:
        return self.chain.app.rules.chain_id

    @property
    def url(self) -> str:
        return self._sockets[0].url

    @property
    def urls(self) -> tuple[str, ...]:
        """Each node's."""
        return tuple(socket.url for socket in self._sockets)

    async def start(self) -> None:
        try:
            for socket in self._sockets:
                await socket.open()
        except OSError:
            await self.close()
            raise
        self._host.start()

    async def close(self) -> None:
        self._host.close()
        for socket in self._sockets:
            await socket.close()

    async def __aenter__(self) -> "CosmosDevnet":
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def produce(self, count: int = 1) -> None:
        self._host.produce(count)

    async def stop_node(self, node: int) -> None:
        """It hears nothing and answers nobody."""
        self.chain.stop(node)
        await self._sockets[node].close()

    async def start_node(self, node: int) -> None:
        """Back at the same place, with its blocks and nothing else."""
        self.chain.restart(node)
        await self._sockets[node].open()
