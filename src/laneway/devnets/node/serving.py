"""A devnet as a process: it prints where it listens, and ends on a signal."""

import asyncio
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TypeAlias, TypeVar

from msgspec import json

from laneway.wire.rpc_server.methods import Json

D = TypeVar("D")
Greeting: TypeAlias = tuple[Json, Sequence[str]]
"""What a devnet prints when it listens: an object for programs, or lines for people."""


def greeting_of(place: Json, keys: Mapping[str, str], amount: str) -> Greeting:
    """The greeting of a devnet whose known accounts, here with their keys, have this amount."""
    accounts = [{"address": address, "key": key} for address, key in keys.items()]
    return {**place, "accounts": accounts}, [
        f"listening on {place['url']}, chain {place['chain_id']}",
        f"accounts and their keys, which everybody knows; {amount} each:",
        *(f"  {address}  {key}" for address, key in keys.items()),
    ]


async def serve(
    devnet: AbstractAsyncContextManager[D], greeting: Callable[[D], Greeting], *, as_json: bool
) -> int:
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with devnet as running:
        place, lines = greeting(running)
        print(json.encode(place).decode() if as_json else "\n".join(lines), flush=True)
        await ended.wait()
    return 0
