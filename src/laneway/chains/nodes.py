"""Several nodes as one source of facts: reads never go back in time while any node could answer.

A read goes to the next node when one cannot be reached, does not answer, answers nonsense or lags;
never because of what it says of a nonce.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from typing import Any, Generic, TypeVar

from msgspec import Struct

from laneway.chains.endpoint import NodeEndpoint, loop_s
from laneway.chains.limits import POLL_MS, RESUBSCRIBE_MS, SILENCE_MS
from laneway.core.errors import BadRequest, ChainError, ChainUnreachable, ChainUnreadable
from laneway.core.majority import reached
from laneway.ports.nodes import NodeStanding
from laneway.wire.jsonrpc import RpcAnswerLost

T = TypeVar("T")
N = TypeVar("N", bound=NodeEndpoint)


class NodeLags(ChainUnreadable):
    """A node that has not seen a block which is known to exist."""

    code = "chain_behind"

    def __init__(self, node: str, head: int, needed: int) -> None:
        self.head = head
        self.needed = needed
        super().__init__(node, f"its newest block is {head}, and {needed} is known")


class NodeSet(Generic[N]):
    def __init__(self, nodes: Iterable[N], turn_s: float | None = None) -> None:
        """`turn_s` is the time of one node with one read; None if every call has its own bound."""
        self.all = tuple(nodes)
        self.by_name = {node.name: node for node in self.all}
        if not self.all:
            raise BadRequest("nodes", "a chain needs at least one node")
        if len(self.by_name) < len(self.all):
            names = ", ".join(node.name for node in self.all)
            raise BadRequest("nodes", f"two nodes have one name: {names}")
        self._turn_s = turn_s

    def highest(self) -> int:
        """The number of the newest block that any node spoke of lately."""
        return reached([node.binding_head() for node in self.all], 1)

    async def read(
        self, ask: Callable[[N], Awaitable[T]], *, first: str = "", at_head: bool = True
    ) -> T:
        """The first answer of a node that does not lag; `ask` notes the node's head.

        The only node is believed whatever its head is. The one that is named is asked first.
        Without `at_head` any node's answer is taken: what is read is the same everywhere.
        """
        floor = self.highest()
        troubles: list[ChainError] = []
        for node in sorted(
            self.all,
            key=lambda one: (one.is_resting(), one.head_number < floor, one.name != first),
        ):
            try:
                async with asyncio.timeout(self._turn_s):
                    seen = await ask(node)
            except ChainError as error:
                troubles.append(error)
                continue
            except TimeoutError:
                troubles.append(RpcAnswerLost(node.name, f"not done in {self._turn_s} s"))
                continue
            if not at_head or len(self.all) == 1 or node.head_number >= floor:
                return seen
            troubles.append(NodeLags(node.name, node.head_number, floor))
        raise worst_of(troubles)

    async def close(self) -> None:
        for node in self.all:
            await node.client.close()


class KnownNodes:
    """The part of a chain's adapter that keeps how each of its nodes stands."""

    endpoints: Sequence[NodeEndpoint] = ()

    def standings(self) -> list[NodeStanding]:
        return [node.standing.now for node in self.endpoints]

    async def probe(self, timeout_ms: int, heard_ms: int) -> None:
        await asyncio.gather(*(node.probe(timeout_ms, heard_ms) for node in self.endpoints))


def worst_of(troubles: Sequence[ChainError]) -> ChainError:
    """The trouble that all nodes have in common; else the one that says most."""
    worst = next((error for error in troubles if not isinstance(error, ChainUnreachable)), None)
    return worst or troubles[0]


class PollPace(Struct, frozen=True):
    """How often nodes are asked, and how long they may be silent; settings."""

    poll_ms: int = POLL_MS
    silence_ms: int = SILENCE_MS
    resubscribe_ms: int = RESUBSCRIBE_MS


async def follow_node(
    listen: Callable[[], Awaitable[None]], poll: Callable[[], Awaitable[None]], pace: PollPace
) -> None:
    """Listen to a node, and poll it between two tries of that, for ever."""
    while True:
        with suppress(ChainError):
            await listen()
        until_s = loop_s() + pace.resubscribe_ms / 1000
        while loop_s() < until_s:
            with suppress(ChainError):
                await poll()
            await asyncio.sleep(pace.poll_ms / 1000)


async def cancel_all(tasks: Iterable[asyncio.Future[Any]]) -> None:
    """Cancel tasks, and wait until each has ended."""
    tasks = tuple(tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def offered(
    nodes: Sequence[N],
    raws: Sequence[bytes],
    offer: Callable[[N, list[T]], Coroutine[Any, Any, None]],
    grace_s: float,
) -> list[list[T]]:
    """For each of the bytes, each node's answer in the order of the nodes. `offer` appends one
    node's answers, one for each of the bytes."""
    if not raws:
        return []
    answered: list[list[T]] = [[] for _ in nodes]
    await gathered(map(offer, nodes, answered), grace_s)
    return [list(answers) for answers in zip(*answered, strict=True)]


async def gathered(
    asks: Iterable[Awaitable[T]], grace_s: float, *, enough: int = 0, enough_grace_s: float = 0.0
) -> list[T | ChainError]:
    """The answers and the troubles of all who end in time, in their order. The time of the others
    begins with the first answer, since a node that cannot be reached says so at once; it is
    `enough_grace_s` when `enough` have answered. One that is not done then is cancelled, and has
    noted what that proves before this returns."""
    tasks = [asyncio.ensure_future(ask) for ask in asks]
    try:
        waiting, until_s = set(tasks), float("inf")
        while waiting and loop_s() < until_s:
            wait_s = None if until_s == float("inf") else until_s - loop_s()
            _, waiting = await asyncio.wait(
                waiting, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED
            )
            finished = [one for one in tasks if one.done() and not one.cancelled()]
            count = sum(not isinstance(one.exception(), ChainError) for one in finished)
            if count:
                until_s = min(until_s, loop_s() + grace_s)
            if count and count >= enough > 0:
                until_s = min(until_s, loop_s() + enough_grace_s)
    finally:
        await cancel_all(tasks)
    ended: list[T | ChainError] = []
    for task in tasks:
        trouble = None if task.cancelled() else task.exception()
        if isinstance(trouble, ChainError):
            ended.append(trouble)
        elif trouble is not None:
            raise trouble  # A bug.
        elif not task.cancelled():
            ended.append(task.result())
    return ended
