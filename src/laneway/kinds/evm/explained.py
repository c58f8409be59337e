"""What the chain says of a mined transaction that is shown by itself: its logs, and why it failed.

It is asked when a person asks, briefly, a few at a time, and remembered for a while; no lane waits
for it, and nothing of it is stored.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from msgspec import Struct

from laneway.core.errors import ChainError
from laneway.core.facts import LogsSeen, RevertSeen
from laneway.kinds.limits import (
    EXPLANATION_S_MAX,
    EXPLANATIONS_AT_ONCE,
    EXPLANATIONS_KEPT_MAX,
    UNEXPLAINED_KEPT_S,
)
from laneway.ports import ExplainingChain, MinedCall


class Unexplained(Struct, frozen=True):
    """No node said it."""

    why: str
    until_s: float
    """When it is worth asking again, by the loop's clock."""


Explanation: TypeAlias = LogsSeen | RevertSeen | Unexplained


class Explanations:
    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[bytes, bytes, bool], Explanation] = OrderedDict()
        self._asking = asyncio.Semaphore(EXPLANATIONS_AT_ONCE)

    async def of(self, chain: ExplainingChain | None, mined: MinedCall, *, ok: bool) -> Explanation:
        """Its logs if it succeeded, else why it failed. A reorg makes it another question."""
        if chain is None:
            return Unexplained("this process has no node of its chain", now_s())
        key = (mined.hash, mined.block.hash, ok)
        known = self._kept.get(key)
        if known is None or (isinstance(known, Unexplained) and known.until_s <= now_s()):
            known = await self._ask(lambda: chain.logs(mined) if ok else chain.revert(mined))
            self._kept[key] = known
        self._kept.move_to_end(key)
        while len(self._kept) > EXPLANATIONS_KEPT_MAX:
            self._kept.popitem(last=False)
        return known

    async def _ask(self, question: Callable[[], Awaitable[LogsSeen | RevertSeen]]) -> Explanation:
        why = f"no node answered within {EXPLANATION_S_MAX:g} s"
        try:
            async with asyncio.timeout(EXPLANATION_S_MAX), self._asking:
                return await question()
        except ChainError as error:
            why = str(error)
        except TimeoutError:
            pass
        return Unexplained(why, now_s() + UNEXPLAINED_KEPT_S)


def now_s() -> float:
    return asyncio.get_running_loop().time()
