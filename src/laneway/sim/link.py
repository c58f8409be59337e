"""What every simulated world is made of, and the link between a process and its chain's nodes.

The ports of every kind's worlds use a link: a question takes its time, is lost or arrives twice,
and what has left a process reaches its node even if the process dies.
"""

import asyncio
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

from laneway.core.ids import LaneId
from laneway.engine.performers import Performer
from laneway.lanes.kind import LaneKind
from laneway.sim.jumps import ClockJumps
from laneway.sim.loops import VirtualClock
from laneway.sim.plan import WorldPlan

Reply = Callable[..., None]
"""Called at the node with the answer, and with its travel time where that is not left to chance."""


class SimNetwork(Protocol):
    """A simulated chain that makes blocks by itself."""

    def start(self) -> None:
        """Begin to make blocks."""

    def calm(self) -> None:
        """End all faults of the chain and its nodes."""


class Ground(ABC):
    """A world as its ports and its chain see it, in every layer."""

    plan: WorldPlan
    kinds: Mapping[str, LaneKind]
    lanes: list[LaneId]
    network: SimNetwork | None = None

    def __init__(self, plan: WorldPlan, actor: str) -> None:
        self.plan = plan
        self.seen: Counter[str] = Counter()
        """How often each rare thing happened; over many seeds none may stay at zero."""
        self.is_faulty = True
        self.steps = 0
        self.story: list[str] = []
        self.clocks = [VirtualClock(lambda: self.now_ms) for _ in range(plan.clocks)]
        """Of the machines."""
        self.clock = self.clocks[0]
        self.jumps = ClockJumps(self) if plan.jump else None
        self._dice = plan.rng(actor)

    @property
    @abstractmethod
    def now_ms(self) -> int: ...

    @abstractmethod
    def note(self, line: str) -> None:
        """Add a line to the story."""

    @abstractmethod
    def after(
        self, delay_ms: int, label: str, act: Callable[[], object], process: Any = None
    ) -> None:
        """Let something happen later; what belongs to a dead process never happens."""

    @abstractmethod
    def performers(self, link: "Link") -> Mapping[str, Performer]:
        """The engine's own performers, over ports between one process and this world's chain."""

    @abstractmethod
    def ask_law(self, law: Callable[..., None], *facts: Any) -> None:
        """Ask a law inside a performer: the world ends if it is broken."""

    def is_offering(self) -> bool:
        """Whether something is on its way to the chain now."""
        return False

    def start(self) -> None:
        if self.network is not None:
            self.network.start()

    def calm(self) -> None:
        """The faults are over."""
        if self.jumps is not None:
            self.jumps.end()
        if self.network is not None:
            self.network.calm()

    def chance(self, probability: float) -> bool:
        return self.is_faulty and probability > 0 and self._dice.random() < probability

    def delay(self) -> int:
        return self._dice.randint(0, self.plan.delay_ms)

    def pick(self, choices: "list[Any] | tuple[Any, ...]") -> Any:
        return self._dice.choice(choices)

    def account(self, lane: LaneId) -> int:
        """The number of a lane's account: its place among the lanes."""
        return self.lanes.index(lane)


class Link:
    """The connection of one process to the nodes it uses."""

    def __init__(
        self, world: Ground, process: object = None, clock: VirtualClock | None = None
    ) -> None:
        self._world = world
        self._process = process
        self.clock = world.clock if clock is None else clock
        """Of the machine that the process runs on."""

    def begin(self, label: str, act: Callable[[Reply], object]) -> "asyncio.Future[Any]":
        """There, and back with what `act` replies. It waits for ever where there is no reply; a
        kill does not call back what is on its way."""
        reply, done = self._reply()
        self._world.after(self._world.delay(), label, lambda: act(reply))
        return done

    def listen(self, act: Callable[[Reply], object]) -> "asyncio.Future[Any]":
        """The next reply to a listener that the other side knows already."""
        reply, done = self._reply()
        act(reply)
        return done

    def answer(self, answer: Any, delay_ms: int | None = None) -> "asyncio.Future[Any]":
        """An answer without a way there; chance says how long it takes, unless the caller does."""
        reply, done = self._reply()
        reply(answer, delay_ms)
        return done

    async def pause(self) -> None:
        """Wait as long as an answer takes."""
        await self.answer(None)

    def _reply(self) -> "tuple[Reply, asyncio.Future[Any]]":
        world = self._world
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def reply(answer: Any, delay_ms: int | None = None) -> None:
            wait_ms = world.delay() if delay_ms is None else delay_ms
            world.after(wait_ms, "answer", partial(settle, done, answer), self._process)

        return reply, done


def settle(done: "asyncio.Future[Any]", answer: Any) -> None:
    if not done.done():  # Nobody waits any more: its time was over.
        done.set_result(answer)
