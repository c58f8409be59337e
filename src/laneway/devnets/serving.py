"""A devnet as a process: it says where it listens, and ends when told to."""

import asyncio
import signal
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

D = TypeVar("D")


async def serve(devnet: AbstractAsyncContextManager[D], told: Callable[[D], str]) -> int:
    """`told` is what it says of itself, once it listens."""
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with devnet as running:
        print(told(running), flush=True)
        await ended.wait()
    return 0
