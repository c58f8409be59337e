"""Several nodes as one source of facts: reads never go back in time while any node could answer.

A read goes to the next node when one cannot be reached, does not answer, answers nonsense or lags,
and where a chain wants it when one is silent for long, or its answer is doubtful; never because of
what it says of a nonce.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from typing import Any, Generic, TypeVar

from msgspec import Struct

from laneway.chains.endpoint import NodeEndpoint, loop_s
from laneway.chains.limits import (
    CONFIRMING_NODES_MIN,
    LATE_MS,
    POLL_MS,
    RESUBSCRIBE_MS,
    SILENCE_MS,
)
from laneway.chains.race import Patience, Race
from laneway.core.errors import BadRequest, ChainError, ChainUnreachable, ChainUnreadable
from laneway.core.majority import reached
from laneway.ports.nodes import NodeStanding

T = TypeVar("T")
N = TypeVar("N", bound=NodeEndpoint)


class NodeLags(ChainUnreadable):
    """A node that has not seen a block which is known to exist."""

    code = "chain_behind"

    def __init__(self, node: str, head: int, needed: int) -> None:
        self.head = head
        self.needed = needed
        super().__init__(node, f"its newest block is {head}, and {needed} is known")


class AnswerUnconfirmed(ChainUnreadable):
    """A node says that something is not there, or gives what cannot be it, and too few others say
    the same. The next try may find another node."""

    code = "answer_unconfirmed"
    retry = "later"
    changed = False

    def __init__(self, node: str, troubles: Sequence[ChainError]) -> None:
        others = "; ".join(str(error) for error in troubles) or "the others say something else"
        super().__init__(node, f"no other node confirms it ({others})")
        self.args = (f"{node} has no such value, and no other node confirms that: {others}",)


class NodeSet(Generic[N]):
    def __init__(self, nodes: Iterable[N], patience: Callable[[], Patience] = Patience) -> None:
        self.all = tuple(nodes)
        self.by_name = {node.name: node for node in self.all}
        if not self.all:
            raise BadRequest("nodes", "a chain needs at least one node")
        if len(self.by_name) < len(self.all):
            names = ", ".join(node.name for node in self.all)
            raise BadRequest("nodes", f"two nodes have one name: {names}")
        self._patience = patience
        self._reads_count = 0
        self._late_until_s: dict[str, float] = {}
        self._probes: dict[str, asyncio.Task[None]] = {}

    def highest(self) -> int:
        """The number of the newest block that any node spoke of lately."""
        return reached([node.binding_head() for node in self.all], 1)

    async def read(
        self,
        ask: Callable[[N], Awaitable[T]],
        *,
        first: str = "",
        at_head: bool = True,
        rotates: bool = False,
        doubts: Callable[[T], bool] | None = None,
        blame: Callable[[Sequence[ChainError]], ChainError] | None = None,
    ) -> T:
        """The first answer of a node that does not lag; `ask` notes the node's head.

        The only node is believed whatever its head is. The one that is named is asked first. Where
        it `rotates` another node begins each time, so that none is believed alone for long.
        Without `at_head` any node's answer is taken: what is read is the same everywhere.

        An answer that `doubts` finds doubtful may be this node's own trouble, so that the others
        are asked. It is taken when no node has a better one and two say it, or the only node does;
        else this raises AnswerUnconfirmed.

        `blame` chooses the trouble that is raised where no node has an answer, else `worst_of`.
        """
        floor = self.highest()
        troubles: list[ChainError] = []
        doubted: list[tuple[N, T]] = []
        race = Race(self._in_order(first, floor, rotates), ask, self._patience())
        self._reads_count += rotates
        try:
            while (done := await self._next(race, doubted)) is not None:
                node, seen = done
                if isinstance(seen, ChainError):
                    troubles.append(seen)
                elif at_head and len(self.all) > 1 and node.head_number < floor:
                    troubles.append(NodeLags(node.name, node.head_number, floor))
                elif doubts is not None and doubts(seen):
                    doubted.append((node, seen))
                else:
                    for late in race.lost():
                        self.look_after(late)
                    self._ask_later([node for node, _ in doubted])
                    return seen
        finally:
            await race.leave()
        if doubted:
            return self._confirmed(doubted, troubles)
        raise (blame or worst_of)(troubles)

    async def _next(
        self, race: Race[N, T], doubted: Sequence[tuple[N, T]]
    ) -> tuple[N, T | ChainError] | None:
        """The next node that is done. Where enough say the same doubtful thing, the others have a
        hedge's time for a better answer, and not their full time."""
        grace_s = None if self._agreed(doubted) is None else self._patience().hedge_s
        try:
            async with asyncio.timeout(grace_s):
                return await race.next()
        except TimeoutError:
            return None

    def is_late(self, node: N) -> bool:
        """Whether it lost a race after a long silence, a while ago."""
        return self._late_until_s.get(node.name, 0.0) > loop_s()

    def _in_order(self, first: str, floor: int, rotates: bool = False) -> list[N]:
        def key(one: N) -> tuple[bool, bool, bool, bool]:
            is_behind = one.head_number < floor and not rotates
            return one.is_resting(), is_behind, self.is_late(one), one.name != first

        begin = self._reads_count % len(self.all) if rotates else 0
        return sorted(self.all[begin:] + self.all[:begin], key=key)

    def _confirmed(self, doubted: Sequence[tuple[N, T]], troubles: Sequence[ChainError]) -> T:
        """A doubtful answer that enough nodes give."""
        agreed = self._agreed(doubted)
        if agreed is None:
            raise AnswerUnconfirmed(doubted[0][0].name, troubles)
        return agreed[1]

    def _agreed(self, doubted: Sequence[tuple[N, T]]) -> tuple[N, T] | None:
        needed = min(CONFIRMING_NODES_MIN, len(self.all))
        answers = [seen for _, seen in doubted]
        return next((one for one in doubted if answers.count(one[1]) >= needed), None)

    def _ask_later(self, nodes: Iterable[N]) -> None:
        """Others are asked before these for a while; that is no judgement of them."""
        for node in nodes:
            self._late_until_s[node.name] = loop_s() + LATE_MS / 1000

    def look_after(self, node: N) -> None:
        """A node lost a race after a long silence. Whether it is slow or says nothing at all is
        seen by a question of its own, for which it has its full time."""
        self._ask_later([node])
        probe = self._probes.get(node.name)
        if probe is None or probe.done():
            probing = node.probe(self._patience().silent_ms, heard_ms=0)
            self._probes[node.name] = asyncio.create_task(probing)

    async def close(self) -> None:
        await cancel_all(self._probes.values())
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


def unreached_of(troubles: Sequence[ChainError]) -> ChainError:
    """The trouble of a node that gave no answer, since it may have what the others lack; else the
    worst: every node was asked, and none has it."""
    unreached = (error for error in troubles if not isinstance(error, ChainUnreadable))
    return next(unreached, None) or worst_of(troubles)


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
