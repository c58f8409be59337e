"""Layer S3: the asyncio shell itself, on the virtual loop, killed after any callback."""

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from hashlib import blake2b
from typing import Any

from laneway.core.errors import StoreBusy, StoreUnknown
from laneway.core.ids import IntentId, LaneId, Owner, intent_id
from laneway.core.intent import Accepted, Arrival, Replayed
from laneway.core.outcome import Status
from laneway.core.rows import Result
from laneway.engine.reactor import Reactor
from laneway.engine.shell import Engine
from laneway.sim.limits import JUMPING_FROM_MS
from laneway.sim.link import Ground, Link
from laneway.sim.loops import SimLoop, VirtualClock
from laneway.sim.plan import WorldPlan
from laneway.sim.process import prompts_of
from laneway.sim.world import LawBroken
from laneway.stores.group import GroupStore
from laneway.stores.memory import MemoryBook

LIVES = 4
"""Processes of one world; the last one is not killed and must finish everything."""

CALLBACKS_MAX = 50_000
"""A healthy life needs a few thousand callbacks; more means that something spins."""


class ShakyBook(MemoryBook):
    """Loses the answer of a write that was made, or is too busy to begin one."""

    def __init__(self, world: "ShellWorld") -> None:
        super().__init__()
        self._world = world

    def begin(self) -> None:
        if self._world.chance(self._world.plan.lose / 2):
            self._world.seen["store busy"] += 1
            raise StoreBusy("the simulator says so")
        super().begin()

    def sync(self) -> None:
        super().sync()
        if self._world.chance(self._world.plan.lose):
            self._world.seen["commit answer lost"] += 1
            raise StoreUnknown("the simulator lost the answer")


class ShellWorld(Ground):
    """Several lives of one process on one store and one chain."""

    callbacks_life_max = 150
    """A life is killed at one of its first N callbacks."""
    endings: Mapping[str, Status] = {}
    """By the first letter of a wish, how it ends if it is not confirmed."""
    keeps_order = True
    """Whether a lane's wishes land in the order in which they were accepted."""

    def __init__(self, plan: WorldPlan) -> None:
        super().__init__(plan, "shell")
        self._hash = blake2b(digest_size=16)
        self._now_s = 1_000.0 + (JUMPING_FROM_MS / 1000 if plan.jump else 0)
        self._loop: SimLoop | None = None
        self._order = 0
        self._pending: dict[int, tuple[int, Callable[[], object]]] = {}
        """What will happen outside of any process, and when."""
        self.book = ShakyBook(self)
        self.wishes: list[tuple[LaneId, str]] = []
        self.acked: dict[str, IntentId] = {}

    @property
    def now_ms(self) -> int:
        return int((self._now_s if self._loop is None else self._loop.time()) * 1000)

    def after(
        self, delay_ms: int, _label: str, act: Callable[[], object], process: Any = None
    ) -> None:
        assert self._loop is not None
        if process is None:
            self._order += 1
            self._pending[self._order] = (self.now_ms + delay_ms, act)
            self._loop.call_later(delay_ms / 1000, self._happen, self._order)
        elif process is self._loop:
            self._loop.call_later(delay_ms / 1000, act)

    def _happen(self, number: int) -> None:
        _, act = self._pending.pop(number)
        act()

    def note(self, line: str) -> None:
        self.story.append(f"{self._now_s:>9.3f} s  {line}")

    def trace(self) -> str:
        return self._hash.hexdigest()

    def ask_law(self, law: Callable[..., None], *facts: Any) -> None:
        """The engine would take a broken law for its lane's own trouble: the world ends there."""
        try:
            law(*facts)
        except LawBroken as error:
            assert self._loop is not None
            self._loop.errors.append({"law": str(error)})
            self._loop.dies_at = 0
            raise

    def run(self) -> None:
        for life in range(LIVES):
            last = life == LIVES - 1
            self.is_faulty = not last
            loop = SimLoop(self._dice, self._now_s)
            loop.on_callback = self._called
            loop.dies_at = CALLBACKS_MAX if last else self._dice.randint(1, self.callbacks_life_max)
            self.note(f"life {life} begins; it dies at callback {loop.dies_at}")
            self._loop = loop
            for number, (at_ms, _) in self._pending.items():
                loop.call_at(at_ms / 1000, self._happen, number)
            if life == 0:
                self.start()
            if last:
                self.calm()
            ended = self._live(loop, life)
            self._now_s, self._loop = loop.time() + 0.01, None
            self.steps += loop.callbacks
            if loop.errors:
                context = loop.errors[0]
                raise LawBroken(f"an error escaped: {context}") from context.get("exception")
            if last and not ended:
                raise LawBroken(f"no spinning: {CALLBACKS_MAX} callbacks and no end")
            self.seen["lived to the end" if ended else "killed"] += 1
            self.check_chain()
        self.check_results()

    def _called(self, now_s: float) -> None:
        """Something happened in the life that is going on."""
        self._hash.update(f"{now_s:.3f}\n".encode())
        if self.jumps is not None:
            self.jumps.step()

    def _live(self, loop: SimLoop, life: int) -> bool:
        """One life, to its end or its death."""
        main = loop.create_task(self._main(loop, life))
        main.add_done_callback(lambda _: loop.stop())
        loop.run_forever()
        if not loop.is_dead():
            main.result()
            loop.close()
            return True
        loop.bury()
        return False

    async def _main(self, loop: SimLoop, life: int) -> None:
        clock, owner = self.clock, Owner(f"life{life}")
        store = GroupStore(self.book, clock, thread="never")
        performers = self.performers(Link(self, loop))
        prompts = prompts_of(performers)
        reactor = Reactor(self.kinds, owner, self.plan.windows, prompts)
        engine = Engine(store, reactor, performers, clock)
        # The file lock of a real store proves the earlier lives dead; here we say so.
        for earlier in range(life):
            self.book.leave(Owner(f"life{earlier}"))
        await self._patiently(engine.start)
        await asyncio.gather(*(self._wish(engine, clock, lane, data) for lane, data in self.wishes))
        await engine.stop()

    @abstractmethod
    def payload(self, lane: LaneId, data: str) -> bytes: ...

    @abstractmethod
    def landed(self, lane: LaneId) -> list[str]:
        """The wishes of a lane that are on the chain, in its order."""

    def judge(self, data: str, result: Result) -> None:
        """LawBroken unless this is how the wish had to end."""
        if result.status != self.endings.get(data[0], Status.CONFIRMED).value:
            raise LawBroken(f"{data} ended as {result.status}: {result.reason}")

    def check_chain(self) -> None:
        """After each life: never twice, in order."""
        for lane in self.lanes:
            data = self.landed(lane)
            if len(set(data)) != len(data):
                raise LawBroken(f"never twice: {lane} has {data}")
            seqs = [self.seq(datum) for datum in data]
            if seqs != sorted(seqs) and self.keeps_order:
                raise LawBroken(f"in order: {lane} has {data}, in the sequence {seqs}")

    def check_results(self) -> None:
        """At the end: never lost."""
        for lane, data in self.wishes:
            is_refused = self.endings.get(data[0]) is Status.REFUSED
            if (data in self.landed(lane)) == is_refused:
                raise LawBroken(f"never lost: {data}, and on the chain is {self.landed(lane)}")

    async def _patiently(self, start: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await start()
            except (StoreBusy, StoreUnknown):
                await asyncio.sleep(0.05)
            else:
                return

    async def _wish(self, engine: Engine, clock: VirtualClock, lane: LaneId, data: str) -> None:
        await asyncio.sleep(self.delay() / 1000)
        payload = self.payload(lane, data)
        while True:
            arrival = Arrival(
                id=intent_id(clock.now_ms(), self._dice.randbytes(10)),
                lane=lane,
                payload=payload,
                digest=blake2b(payload, digest_size=16).digest(),
                accepted_ms=clock.now_ms(),
                key=data,
                fresh=True,
            )
            try:
                answer = await engine.submit(arrival)
                break
            except (StoreBusy, StoreUnknown):
                self.seen["submit answer lost"] += 1
                await asyncio.sleep(0.02)
        assert isinstance(answer, (Accepted, Replayed))
        self.note(f"{lane}: {data} is {answer.id[-6:]} ({type(answer).__name__.lower()})")
        known = self.acked.setdefault(data, answer.id)
        if known != answer.id:
            raise LawBroken(f"never twice: {data} is {known} and {answer.id}")
        result = await engine.result(answer.id)
        self.note(f"{lane}: {data} is {result.status}, number {result.number}")
        self.judge(data, result)

    def seq(self, datum: str) -> int:
        """The place in its lane of what ran."""
        index = self.book.find("key", f"\x1f{datum}")
        if index is None:
            raise LawBroken(f"never lost: {datum} ran, and the store does not know it")
        return self.book.intents[index.intent].seq
