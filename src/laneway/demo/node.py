"""The EVM node of the demo: an anvil if this machine has one, else the devnet in this process.

It is asked here past every adapter, for its answers judge what the adapters did.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from msgspec import json

from laneway.core.errors import ChainError, LanewayError
from laneway.demo.limits import ANVIL_START_S_MAX, ANVIL_STOP_S_MAX, CALL_MS_MAX
from laneway.devnets.evm.devnet import EvmDevnet
from laneway.devnets.evm.node.anvil import anvil_program
from laneway.wire.hex import quantity, read_octets, read_quantity
from laneway.wire.jsonrpc import RpcCall, RpcClient, RpcError
from laneway.wire.limits import RPC_BATCH_COUNT_MAX, WEI_MAX

CHAIN_ID = 31_337
LISTENING = re.compile(rb"Listening on (127\.0\.0\.1:[0-9]+)")
VERSION = re.compile(rb"^\s+([0-9]+\.[0-9]+\.[0-9]+) \(", re.MULTILINE)


class AnvilFailed(LanewayError):
    """The anvil that was found does not start."""

    code = "anvil_failed"

    def __init__(self, program: str, problem: str) -> None:
        self.program = program
        self.problem = problem
        super().__init__(f"{program} {problem}")


class NodeRefused(ChainError):
    """The node's no to a question that has an answer."""

    code = "node_refused"

    def __init__(self, method: str, problem: str) -> None:
        self.method = method
        self.problem = problem
        super().__init__(f"the node refuses {method}: {problem}")


class DemoNode:
    """Where the chain is, and what it says."""

    def __init__(self, name: str, url: str, ws_url: str) -> None:
        self.name = name
        self.url = url
        self.ws_url = ws_url
        self._client = RpcClient(url, name=name)

    async def ask(self, calls: Sequence[RpcCall]) -> list[Any]:
        """Answers in the order of the calls, in as many requests as it takes."""
        found: list[Any] = []
        for begin in range(0, len(calls), RPC_BATCH_COUNT_MAX):
            part = calls[begin : begin + RPC_BATCH_COUNT_MAX]
            for call, answer in zip(part, await self._client.ask(part, CALL_MS_MAX), strict=True):
                if isinstance(answer, RpcError):
                    raise NodeRefused(call.method, answer.message)
                found.append(json.decode(answer))
        return found

    async def counts(self, addresses: Sequence[str]) -> list[int]:
        """How many transactions of each account are mined."""
        calls = [RpcCall("eth_getTransactionCount", (one, "latest")) for one in addresses]
        return [read_quantity(count) for count in await self.ask(calls)]

    async def mined(self) -> dict[bytes, list[tuple[int, int]]]:
        """Nonce and value of all that each account has on chain, in the chain's order."""
        (head,) = await self.ask([RpcCall("eth_blockNumber")])
        blocks = await self.ask(
            [
                RpcCall("eth_getBlockByNumber", (quantity(number), True))
                for number in range(read_quantity(head) + 1)
            ]
        )
        found: dict[bytes, list[tuple[int, int]]] = {}
        for block in blocks:
            for tx in block["transactions"]:
                paid = (read_quantity(tx["nonce"]), read_quantity(tx["value"], WEI_MAX))
                found.setdefault(read_octets(tx["from"]), []).append(paid)
        return found

    async def close(self) -> None:
        await self._client.close()


@asynccontextmanager
async def open_node(folder: Path, block_ms: int) -> AsyncIterator[DemoNode]:
    """A chain that makes a block every `block_ms`; it is forgotten in the end."""
    async with AsyncExitStack() as stack:
        node = await chosen(stack, folder, block_ms)
        stack.push_async_callback(node.close)
        yield node


async def chosen(stack: AsyncExitStack, folder: Path, block_ms: int) -> DemoNode:
    program = anvil_program()
    if program is None:
        return await stack.enter_async_context(open_devnet(block_ms))
    try:
        return await stack.enter_async_context(open_anvil(program, folder, block_ms))
    except AnvilFailed as error:
        node = await stack.enter_async_context(open_devnet(block_ms))
        node.name += f" (for {error})"
        return node


@asynccontextmanager
async def open_devnet(block_ms: int) -> AsyncIterator[DemoNode]:
    async with EvmDevnet(block_ms=block_ms, chain_id=CHAIN_ID) as devnet:
        yield DemoNode("laneway's devnet", devnet.url, devnet.ws_url)


@asynccontextmanager
async def open_anvil(program: str, folder: Path, block_ms: int) -> AsyncIterator[DemoNode]:
    log = folder / "anvil.log"
    with log.open("wb") as output:
        try:
            child = await asyncio.create_subprocess_exec(
                program,
                *("--host", "127.0.0.1", "--port", "0", "--chain-id", str(CHAIN_ID)),
                *("--block-time", f"{block_ms / 1000:g}"),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                # Ctrl-C is for the parent, who ends it when the worker is gone.
                start_new_session=True,
            )
        except OSError as error:
            raise AnvilFailed(program, f"cannot be run: {error.strerror}") from error
    try:
        yield await listening(program, child, log)
    finally:
        await end(child)


async def listening(program: str, child: asyncio.subprocess.Process, log: Path) -> DemoNode:
    """Where it listens, from its own log: so no port is chosen that another takes meanwhile."""
    deadline_s = monotonic() + ANVIL_START_S_MAX
    while True:
        ended = child.returncode
        if (node := said_in(log)) is not None:
            return node
        if ended is not None:
            raise AnvilFailed(program, f"ended with code {ended}; its log is {log}")
        if monotonic() > deadline_s:
            raise AnvilFailed(program, f"does not listen after {ANVIL_START_S_MAX:g} s")
        await asyncio.sleep(0.01)


def said_in(log: Path) -> DemoNode | None:
    output = log.read_bytes()
    place = LISTENING.search(output)
    if place is None:
        return None
    version = VERSION.search(output)
    at = place[1].decode()
    name = "anvil" if version is None else f"anvil {version[1].decode()}"
    return DemoNode(name, f"http://{at}", f"ws://{at}")


async def end(child: asyncio.subprocess.Process) -> None:
    if child.returncode is not None:
        return
    child.terminate()
    try:
        async with asyncio.timeout(ANVIL_STOP_S_MAX):
            await child.wait()
    except TimeoutError:
        child.kill()
        await child.wait()
