"""Several nodes as one source of facts: reads never go back in time while another node could tell.

A read goes to the next node when one cannot be reached, does not answer, answers nonsense or is
behind; never because of what it says of a nonce.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from laneway.chains.evm.endpoint import Endpoint
from laneway.chains.evm.limits import READ_GRACE_MS
from laneway.chains.grace import with_grace
from laneway.core.errors import BadRequest, ChainError, ChainUnreachable, ChainUnreadable
from laneway.core.majority import final_quorum, look_quorum, reached
from laneway.wire.jsonrpc import AnswerLost

T = TypeVar("T")


class Nodes:
    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        names = [endpoint.name for endpoint in endpoints]
        if not names:
            raise BadRequest("nodes", "a chain needs at least one node")
        if len(set(names)) < len(names):
            raise BadRequest("nodes", f"two nodes have one name: {', '.join(names)}")
        self.all = tuple(endpoints)

    def highest(self) -> int:
        """The newest block that enough nodes spoke of lately. One whose head nobody else has does
        not make the others behind; of two nodes nobody can say which one is right, and the newer
        is taken."""
        return reached([node.binding_head() for node in self.all], look_quorum(len(self.all)))

    async def each(self, ask: Callable[[Endpoint], Awaitable[T]]) -> list[T]:
        """The answers of all nodes that give one in time, in the order of the nodes.

        Those that failed lately are left alone while the others are a majority.
        """
        well = [node for node in self.all if not node.is_resting()]
        asked = well if len(well) >= final_quorum(len(self.all)) else self.all
        said: dict[str, T] = {}

        async def ask_one(node: Endpoint) -> None:
            try:
                said[node.name] = await ask(node)
            except ChainError:
                pass
            except asyncio.CancelledError:
                node.rest_failed(AnswerLost(node.name, "it is slower than the others"))
                raise

        await with_grace(map(ask_one, asked), READ_GRACE_MS / 1000)
        return [said[node.name] for node in asked if node.name in said]

    async def answers(self, ask: Callable[[Endpoint], Awaitable[T]], *, grace_ms: int) -> list[T]:
        """What the nodes say that answer no later than so long after the first answer, in the
        order of the nodes; there is at least one. Those that failed a moment ago are asked only
        where no other is left."""
        asked = [node for node in self.all if not node.is_resting()] or list(self.all)
        if len(asked) == 1:
            return [await self.read(ask)]
        tasks = [asyncio.ensure_future(ask(node)) for node in asked]
        try:
            waiting = set(tasks)
            while waiting and not any(is_answered(task) for task in tasks):
                _, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if waiting:
                await asyncio.wait(waiting, timeout=grace_ms / 1000)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        found = [task.result() for task in tasks if is_answered(task)]
        if found:
            return found
        if len(asked) < len(self.all):
            return [await self.read(ask)]
        errors = [task.exception() for task in tasks]
        raise worst_of([error for error in errors if isinstance(error, ChainError)])

    async def read(self, ask: Callable[[Endpoint], Awaitable[T]], *, first: str = "") -> T:
        """The first answer of a node that is not behind; `ask` notes the node's head.

        The only node is believed whatever its head is. The one that is named is asked first.
        """
        floor = self.highest()
        troubles: list[ChainError] = []
        for node in self._order(floor, first):
            try:
                seen = await ask(node)
            except ChainError as error:
                troubles.append(error)
                continue
            if len(self.all) == 1 or node.head_number >= floor:
                return seen
            troubles.append(Behind(node.name, node.head_number, floor))
        raise worst_of(troubles)

    def _order(self, floor: int, first: str) -> list[Endpoint]:
        """Those that are well and not known to be behind first, else as they were configured."""
        return sorted(
            self.all,
            key=lambda node: (node.is_resting(), node.head_number < floor, node.name != first),
        )

    async def close(self) -> None:
        for node in self.all:
            await node.client.close()


def worst_of(troubles: Sequence[ChainError]) -> ChainError:
    """What all of them agree on; otherwise the one that says most of the trouble."""
    worst = next((error for error in troubles if not isinstance(error, ChainUnreachable)), None)
    return worst or troubles[0]


def is_answered(task: asyncio.Future[T]) -> bool:
    """Whether the node answered. An error of a node is no answer; any other one is a bug."""
    if not task.done() or task.cancelled():
        return False
    trouble = task.exception()
    if trouble is not None and not isinstance(trouble, ChainError):
        raise trouble
    return trouble is None


class Behind(ChainUnreadable):
    """A node that has not seen a block which is known to exist."""

    code = "chain_behind"

    def __init__(self, node: str, head: int, needed: int) -> None:
        self.head = head
        self.needed = needed
        super().__init__(node, f"its newest block is {head}, and block {needed} is known")
