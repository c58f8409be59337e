"""An EVM chain to try things on, in this process: one line starts it, one line ends it.

async with EvmDevnet(block_ms=1_000) as devnet:
    chain = RpcChain([Place(devnet.url, ws_url=devnet.ws_url)], chain_id=devnet.chain_id)
"""

import asyncio
from collections.abc import Mapping, Sequence
from decimal import Decimal

from laneway.devnets.evm.accounts import DEV_ACCOUNTS, MNEMONIC, PATH, dev_accounts
from laneway.devnets.evm.limits import BALANCE_WEI_DEV, BLOCK_GAS_MAX
from laneway.devnets.evm.model.chain import EvmModel
from laneway.devnets.evm.model.rules import ANVIL, EvmRules
from laneway.devnets.evm.node.host import EvmHost, wall_ms
from laneway.devnets.evm.node.rpc import CHANGING, EvmRpc
from laneway.devnets.evm.node.subscriptions import EvmCaller
from laneway.devnets.node.devnet import Devnet
from laneway.devnets.node.serving import Greeting, serve
from laneway.devnets.node.socket import NodeSocket
from laneway.evm.abi.addresses import checksummed
from laneway.evm.fork import Fork
from laneway.evm.secp256k1 import HeldEvmKey
from laneway.wire.hex import octets
from laneway.wire.rpc_server.methods import Json


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
        accounts: int = len(DEV_ACCOUNTS),
        balance_wei: int = BALANCE_WEI_DEV,
        gas_limit: int = BLOCK_GAS_MAX,
        fork: Fork = Fork.PRAGUE,
        chain: EvmModel | None = None,
    ) -> None:
        """`block_ms` 0 mines on every send, None only on command. The first node is at `port`, the
        others at free ones. Without `balances` the first `accounts` of the known ones have
        `balance_wei`. Contracts run unless it does not `execute`: then transactions move value
        alone, which is quicker. A `chain` with as many nodes, for example one that began elsewhere
        (model/continued.py), is taken as it is."""
        self.accounts = dev_accounts(accounts)
        self.balance_wei = balance_wei
        if balances is None:
            balances = {account.address: balance_wei for account in self.accounts}
        self.chain = chain or EvmModel(
            balances,
            chain_id=chain_id,
            nodes=nodes,
            rules=rules,
            fork=fork,
            block_gas_max=gas_limit,
            executes=executes,
            first_ms=wall_ms(),
        )
        """Anyone who changes it by hand calls `settle` afterwards."""
        self.chain_id = self.chain.chain_id
        keys = tuple([HeldEvmKey(account.secret) for account in self.accounts])
        host = EvmHost(self.chain, block_ms=block_ms, keys=keys)
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


def run_devnet(devnet: EvmDevnet, *, as_json: bool) -> int:
    """The EVM devnet as a process."""
    return asyncio.run(serve(devnet, greeting, as_json=as_json))


def greeting(devnet: EvmDevnet) -> Greeting:
    """What it says when it listens: an object, or anvil's own paragraphs."""
    place: Json = {"url": devnet.url, "ws_url": devnet.ws_url, "chain_id": devnet.chain_id}
    known = [(octets(one.address), octets(one.secret)) for one in devnet.accounts]
    place["accounts"] = [{"address": address, "key": key} for address, key in known]
    first = devnet.chain.history()[0]
    amount = f"({Decimal(devnet.balance_wei) / 10**18:.18f} ETH)"
    named = [f"{checksummed(one.address)} {amount}" for one in devnet.accounts]
    return place, [
        *titled("Available Accounts", *numbered(named)),
        *titled("Private Keys", *numbered([key for _, key in known])),
        *titled("Wallet", f"Mnemonic:          {MNEMONIC}", f"Derivation path:   {PATH}"),
        *titled("Chain ID", str(devnet.chain_id)),
        *titled("Base Fee", str(first.base_fee_wei)),
        *titled("Gas Limit", str(first.gas_limit)),
        *titled("Genesis Timestamp", str(first.made_ms // 1000)),
        "Everybody knows these keys: never send anything of value to them.",
        f"Listening on {devnet.url.removeprefix('http://')}",
    ]


def numbered(lines: Sequence[str]) -> list[str]:
    return [f"({place}) {line}" for place, line in enumerate(lines)]


def titled(title: str, *lines: str) -> list[str]:
    """A paragraph of the greeting."""
    return [title, "==================", "", *lines, ""]
