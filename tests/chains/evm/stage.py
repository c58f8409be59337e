"""Nodes that say what a test wants, and the adapter before them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from tests.rpc_stub import No, Stub

from laneway.chains.evm.chain import RpcChain
from laneway.chains.evm.endpoint import EvmPlace
from laneway.chains.evm.phrases import Row

CHAIN_ID = 7
ADDRESS = bytes(20)
SEND = "eth_sendRawTransaction"


class Node:
    """A node with numbers for a chain: block n has the hash n, on branch 0 unless told."""

    def __init__(self, head: int = 10, **said: Any) -> None:
        self.head = head
        self.gas_limit: object = "0x1c9c380"
        self.branches: dict[int, int] = {}
        """The branch of each block from this number on."""
        self.said: dict[str, Any] = {
            "eth_chainId": hex(CHAIN_ID),
            "web3_clientVersion": "Geth/v1.16.0",
            "eth_getTransactionCount": "0x5",
            "eth_getBalance": "0x64",
            SEND: "0x" + "00" * 32,
            **said,
        }
        """What it answers by method: a value, an exception to raise, or a function."""

    def hash(self, number: int) -> str:
        branch = max((b for at, b in self.branches.items() if at <= number), default=0)
        return f"0x{branch:02x}{number:062x}"

    def block(self, number: int) -> dict[str, Any] | None:
        if number > self.head:
            return None
        return {
            "number": hex(number),
            "hash": self.hash(number),
            "parentHash": self.hash(number - 1) if number else "0x" + "00" * 32,
            "baseFeePerGas": "0x7",
            "gasLimit": self.gas_limit,
            "transactions": [f"0x{number:064x}"],
        }

    def __call__(self, method: str, params: list[Any]) -> Any:
        if method in self.said:
            said = self.said[method]
            if isinstance(said, Exception):
                raise said
            return said(params) if callable(said) else said
        if method == "eth_blockNumber":
            return hex(self.head)
        if method == "eth_getBlockByNumber":
            return self.block(self.head if params[0] == "latest" else int(params[0], 16))
        raise No(-32601, f"the method {method} does not exist")


@asynccontextmanager
async def served(
    nodes: Sequence[Node], words: Sequence[Row] = (), **settings: Any
) -> AsyncIterator[tuple[RpcChain, list[Stub]]]:
    async with AsyncExitStack() as stack:
        stubs = [await stack.enter_async_context(Stub(node)) for node in nodes]
        places = [
            EvmPlace(stub.url, name=name, **settings.pop(name, {}))
            for stub, name in zip(stubs, "abcd", strict=False)
        ]
        chain = RpcChain(places, chain_id=CHAIN_ID, words=words, **settings)
        stack.push_async_callback(chain.close)
        yield chain, stubs


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(story())
