"""Answers of a real anvil and of the model, laid side by side."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from tests.anvil import Said, signed
from tests.evm_worlds import WORLDS, World

from laneway.wire.rpc_server.methods import RpcRefused

SEND = "eth_sendRawTransaction"

CHOSEN_BY_THE_CHAIN = {
    # Hashes are of other contents, times are of the machine; anvil has accounts of its own.
    "hash", "blockHash", "parentHash", "timestamp", "blockTimestamp", "stateRoot", "mixHash",
    "transactionsRoot", "receiptsRoot", "size", "accountProof",
}  # fmt: skip


def raw(nonce: int, **fields: Any) -> str:
    return "0x" + signed(nonce, **fields)[0].hex()


def digest(nonce: int, **fields: Any) -> str:
    return "0x" + signed(nonce, **fields)[1].hex()


def told(name: str, story: Callable[[World], Coroutine[Any, Any, Any]]) -> Any:
    async def run() -> Any:
        async with WORLDS[name]() as world:
            return await story(world)

    return asyncio.run(run())


def same(value: Any) -> Any:
    """An answer without what each chain chooses for itself; what is there stays there."""
    if isinstance(value, list):
        return [same(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: "chosen" if key in CHOSEN_BY_THE_CHAIN and item is not None else same(item)
        for key, item in value.items()
    }


def answer(world: World, method: str, *params: object) -> Any:
    """The result, or code and words of the no."""
    try:
        return same(world.say(method, *params))
    except (Said, RpcRefused) as no:
        return no.code, no.message
