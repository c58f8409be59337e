"""Several nodes as one source of facts: what is read of the head never goes back in time while
another node could tell; what is read of a named block is the same everywhere.

A read goes to the next node when one cannot be reached, does not answer, answers nonsense or is
behind.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from laneway.chains.jam.limits import TURN_MS
from laneway.chains.jam.node import JamNode
from laneway.core.errors import BadRequest, ChainError, ChainUnreachable, ChainUnreadable
from laneway.wire.jsonrpc import AnswerLost

T = TypeVar("T")


class Nodes:
    def __init__(self, nodes: Sequence[JamNode]) -> None:
        names = [node.name for node in nodes]
        if not names:
            raise BadRequest("nodes", "a chain needs at least one node")
        if len(set(names)) < len(names):
            raise BadRequest("nodes", f"two nodes have one name: {', '.join(names)}")
        self.all = tuple(nodes)

    def highest_slot(self) -> int:
        """The slot of the newest block that any node spoke of lately."""
        return max(node.binding_head() for node in self.all)

    async def at_head(self, ask: Callable[[JamNode], Awaitable[T]]) -> T:
        """The first answer of a node that is not behind; `ask` notes the node's head. The only
        node is believed whatever its head is."""
        floor = self.highest_slot() if len(self.all) > 1 else -1

        async def checked(node: JamNode) -> T:
            seen = await ask(node)
            if node.head_number < floor:
                raise Behind(node.name, node.head_number, floor)
            return seen

        return await self._first(checked, floor)

    async def anywhere(self, ask: Callable[[JamNode], Awaitable[T]]) -> T:
        """The first answer of any node."""
        return await self._first(ask, self.highest_slot())

    async def _first(self, ask: Callable[[JamNode], Awaitable[T]], floor: int) -> T:
        troubles: list[ChainError] = []
        for node in sorted(self.all, key=lambda one: (one.is_resting(), one.head_number < floor)):
            try:
                async with asyncio.timeout(TURN_MS / 1000):
                    return await ask(node)
            except ChainError as error:
                troubles.append(error)
            except TimeoutError:
                troubles.append(AnswerLost(node.name, f"not done in {TURN_MS} ms"))
        # What all of them agree on is said; otherwise the one that says most of the trouble.
        worst = next((error for error in troubles if not isinstance(error, ChainUnreachable)), None)
        raise worst or troubles[0]

    async def close(self) -> None:
        for node in self.all:
            await node.client.close()


class Behind(ChainUnreadable):
    """A node that has not seen a block which is known to exist."""

    code = "chain_behind"

    def __init__(self, node: str, slot: int, needed: int) -> None:
        self.slot = slot
        self.needed = needed
        super().__init__(node, f"its newest block is of slot {slot}, and one of {needed} is known")
