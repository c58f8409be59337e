"""An EVM chain to try things on, in this process: one line starts it, one line ends it.

async with EvmDevnet(block_ms=1_000) as devnet:
    chain = RpcChain([Place(devnet.url, ws_url=devnet.ws_url)], chain_id=devnet.chain_id)
"""

from collections.abc import Mapping
from types import TracebackType

from laneway.devnets.evm.accounts import DEV_ACCOUNTS
from laneway.devnets.evm.calls import ask, changes
from laneway.devnets.evm.host import EvmHost
from laneway.devnets.evm.limits import BALANCE_WEI_DEV
from laneway.devnets.evm.model import EvmChain
from laneway.devnets.evm.rules import ANVIL, Rules
from laneway.devnets.evm.socket import EvmSocket


class EvmDevnet:
    """A chain, its nodes and their sockets. Everything is forgotten when the process ends."""

    def __init__(
        self,
        *,
        block_ms: int | None = 0,
        port: int = 0,
        nodes: int = 1,
        chain_id: int = 31_337,
        rules: Rules = ANVIL,
        balances: Mapping[bytes, int] | None = None,
    ) -> None:
        """`block_ms` 0 mines on every send, None only when told to. The first node is at `port`,
        the others wherever there is room. Without `balances` the known accounts have some."""
        self.accounts = DEV_ACCOUNTS
        self.chain_id = chain_id
        if balances is None:
            balances = {account.address: BALANCE_WEI_DEV for account in DEV_ACCOUNTS}
        self.chain = EvmChain(balances, chain_id=chain_id, nodes=nodes, rules=rules)
        """Whoever changes it by hand says `settle` afterwards."""
        self._host = EvmHost(self.chain, block_ms=block_ms)
        self._sockets = [
            EvmSocket(self._host, node, port=port if node == 0 else 0) for node in range(nodes)
        ]

    @property
    def url(self) -> str:
        return self._sockets[0].url

    @property
    def ws_url(self) -> str:
        return self._sockets[0].ws_url

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

    async def __aenter__(self) -> "EvmDevnet":
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def say(self, method: str, *params: object, node: int = 0) -> object:
        """One call without the socket; RpcRefused is the node's no."""
        result = ask(self._host, node, method, list(params))
        if changes(method):
            self._host.settle()
        return result

    def mine(self, count: int = 1) -> None:
        self._host.mine(count)

    def settle(self) -> None:
        """Mine what can be, if it mines on every send, and tell the new heads."""
        self._host.settle()

    def listeners_count(self) -> int:
        """How many subscriptions are open."""
        return self._host.listeners_count()
