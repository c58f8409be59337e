"""laneway as a contestant on an account: the few words of it that `laneway bench eoa` uses.

Nothing else of that benchmark knows how an engine with an account's lane is put together.
"""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from msgspec import Struct


class Transfer(Struct, frozen=True):
    """What every contestant sends. All but the nonce is given, so that nobody asks for it."""

    to: bytes
    value_wei: int
    gas_limit: int
    fee_wei_max: int
    tip_wei_max: int


class BenchEngine(Protocol):
    """One engine with the lane of one account."""

    async def submit_many(self, requests: Sequence[Transfer]) -> Sequence[str]:
        """The ids of intents that are durable, in the order of the requests."""

    async def all_included(self) -> None:
        """Until the engine knows of everything it took that it is in a block; raises what stopped
        the engine or its lane, for otherwise it would be waited for in vain."""

    async def waiting(self) -> int:
        """How many intents have no nonce yet."""


def open_bench_engine(
    store: str, chain_url: str, key: str
) -> AbstractAsyncContextManager[BenchEngine]:
    """An engine on a store (a file of SQLite, or the address of a Redis) and one node."""
    raise NotImplementedError("lanes of accounts are not wired to an engine yet")
