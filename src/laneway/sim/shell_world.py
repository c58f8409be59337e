"""Layer S3: the asyncio shell itself, on the virtual loop, killed after any callback."""

import asyncio
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable
from hashlib import blake2b

import msgspec

from laneway.core.errors import ChainUnreachable, StoreBusy, StoreUnknown
from laneway.core.ids import IntentId, LaneId, Owner, intent_id, lane_id, lane_key
from laneway.core.intent import Accepted, Arrival, Replayed
from laneway.core.outcome import Outcome
from laneway.core.rows import Result
from laneway.devnets.contract.model import ContractChain, Fault
from laneway.engine.contract import ContractPerformer
from laneway.engine.reactor import Reactor
from laneway.engine.shell import Engine
from laneway.lanes.contract import contract_kind
from laneway.ports import ContractCall, Execution, Finding, HostTraits
from laneway.sim.hosts import FAULTS
from laneway.sim.loop import LoopClock, SimLoop
from laneway.sim.plan import Plan, Weather
from laneway.sim.world import LawBroken
from laneway.stores.group import GroupStore
from laneway.stores.memory import MemoryBook

encode = msgspec.msgpack.Encoder().encode

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
        if self._world.chance(self._world.lose / 2):
            self._world.seen["store busy"] += 1
            raise StoreBusy("the simulator says so")

    def sync(self) -> None:
        if self._world.chance(self._world.lose):
            self._world.seen["commit answer lost"] += 1
            raise StoreUnknown("the simulator lost the answer")


class LoopHost:
    """The chain model on the virtual loop; rounds run on while processes die."""

    def __init__(self, world: "ContractShell", loop: SimLoop) -> None:
        self.traits = HostTraits(takes_parent=True)
        self._world = world
        self._loop = loop
        self._ends: dict[int, asyncio.Future[Execution]] = {}

    async def latest_block(self, contract: str) -> int:
        await self._travel()
        return self._world.chain.latest(contract)

    async def execute(self, call: ContractCall, parent: int) -> Execution:
        world = self._world
        await self._travel()
        fault = world.pick(FAULTS) if world.chance(world.plan.fault) else Fault.NONE
        world.seen[f"fault:{fault.value}"] += 1
        answer: asyncio.Future[Execution] = self._loop.create_future()
        for round_ in world.chain.begin(call, parent, self._now_ms(), fault):
            self._ends[round_] = answer
        self._watch()
        done = await answer
        await asyncio.sleep(world.delay_s())
        return done

    async def find(self, call: ContractCall, parent: int) -> Finding:
        await self._travel()
        chain = self._world.chain
        return Finding(chain.latest(call.contract), chain.find(call, parent, exact=True))

    async def close(self) -> None:
        pass

    async def _travel(self) -> None:
        await asyncio.sleep(self._world.delay_s())
        if self._world.chance(self._world.plan.lose):
            raise ChainUnreachable("the simulated host", "lost on the way")
        self.step()

    def _now_ms(self) -> int:
        return int(self._loop.time() * 1000)

    def _watch(self) -> None:
        next_ms = self._world.chain.next_ms()
        if next_ms is not None:
            self._loop.call_at(next_ms / 1000, self._fire)

    def _fire(self) -> None:
        self.step()
        self._watch()

    def step(self) -> None:
        for end in self._world.chain.step(self._now_ms()):
            answer = self._ends.pop(end.round, None)
            if answer is None or answer.done() or not end.told:
                continue
            if end.block is not None:
                answer.set_result(Execution(Outcome.ACCEPTED, end.block))
            elif end.conflict:
                answer.set_result(Execution(Outcome.REFUSED, stale=True, reason="stale"))
            else:
                answer.set_result(Execution(Outcome.REFUSED, reason="consensus failed"))


class ShellWorld(ABC):
    """Several lives of one process on one store and one chain."""

    callbacks_life_max = 150
    """A life is killed at one of so many callbacks."""

    def __init__(self, plan: Weather) -> None:
        self._weather = plan
        self.lose = plan.lose
        self.seen: Counter[str] = Counter()
        self.callbacks = 0
        self.faults = True
        self._dice = plan.rng("shell")
        self._hash = blake2b(digest_size=16)
        self._now_s = 1_000.0
        self.book = ShakyBook(self)
        self.wishes: list[tuple[LaneId, str]] = []
        self.acked: dict[str, IntentId] = {}
        self.story: list[str] = []

    def chance(self, probability: float) -> bool:
        return self.faults and probability > 0 and self._dice.random() < probability

    def delay_s(self) -> float:
        return self._dice.randint(0, self._weather.delay_ms) / 1000

    def note(self, line: str) -> None:
        self.story.append(f"{self._now_s:>9.3f} s  {line}")

    def trace(self) -> str:
        return self._hash.hexdigest()

    def run(self) -> None:
        for life in range(LIVES):
            last = life == LIVES - 1
            self.faults = not last
            loop = SimLoop(self._dice, self._now_s)
            loop.on_callback = lambda now_s: self._hash.update(f"{now_s:.3f}\n".encode())
            loop.dies_at = CALLBACKS_MAX if last else self._dice.randint(1, self.callbacks_life_max)
            self.note(f"life {life} begins; it dies at callback {loop.dies_at}")
            ended = self._live(loop, life)
            self._now_s = loop.time() + 0.01
            self.callbacks += loop.callbacks
            if loop.errors:
                raise LawBroken(f"an error escaped: {loop.errors[0]}")
            if last and not ended:
                raise LawBroken(f"no spinning: {CALLBACKS_MAX} callbacks and no end")
            self.seen["lived to the end" if ended else "killed"] += 1
            self.check_chain()
        self.check_results()

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
        clock = LoopClock(loop)
        store = GroupStore(self.book, clock, thread="never")
        engine = self.engine(loop, clock, store, Owner(f"life{life}"))
        # The file lock of a real store proves the earlier lives dead; here we say so.
        for earlier in range(life):
            self.book.pulse.leave(Owner(f"life{earlier}"))
        await self._patiently(engine.start)
        await asyncio.gather(*(self._wish(engine, clock, lane, data) for lane, data in self.wishes))
        await engine.stop()

    @abstractmethod
    def engine(self, loop: SimLoop, clock: LoopClock, store: GroupStore, owner: Owner) -> Engine:
        """The engine of one life, over the chain that outlives it."""

    @abstractmethod
    def payload(self, lane: LaneId, data: str) -> bytes: ...

    @abstractmethod
    def judge(self, data: str, result: Result) -> None:
        """LawBroken unless this is how the wish had to end."""

    @abstractmethod
    def check_chain(self) -> None:
        """After each life: never twice, in order."""

    @abstractmethod
    def check_results(self) -> None:
        """At the end: never lost."""

    async def _patiently(self, start: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await start()
            except (StoreBusy, StoreUnknown):
                await asyncio.sleep(0.05)
            else:
                return

    async def _wish(self, engine: Engine, clock: LoopClock, lane: LaneId, data: str) -> None:
        await asyncio.sleep(self.delay_s())
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


class ContractShell(ShellWorld):
    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.plan = msgspec.structs.replace(
            plan,
            settings=msgspec.structs.replace(
                plan.settings,
                takes_parent=True,
                count_max=None,
                stale_retries_max=1_000,
                breaker_failures=max(3, plan.settings.breaker_failures),
            ),
        )
        self.chain = ContractChain(round_ms=plan.round_ms, slow_factor=4)
        self.wishes = [
            (lane_id("contract", f"T{n % plan.contracts}"), f"d{n}") for n in range(plan.intents)
        ]

    def pick(self, choices: tuple[Fault, ...]) -> Fault:
        return self._dice.choice(choices)

    def engine(self, loop: SimLoop, clock: LoopClock, store: GroupStore, owner: Owner) -> Engine:
        kinds = {"contract": contract_kind(self.plan.settings)}
        reactor = Reactor(kinds, owner, self.plan.windows)
        performer = ContractPerformer(LoopHost(self, loop), clock)
        return Engine(store, reactor, {"contract": performer}, clock)

    def payload(self, lane: LaneId, data: str) -> bytes:
        return encode(ContractCall(lane_key(lane), "did:sim", data))

    def judge(self, data: str, result: Result) -> None:
        if result.status != "confirmed":
            raise LawBroken(f"{data} ended as {result.status}: {result.reason}")

    def check_chain(self) -> None:
        for contract in self.chain.contracts():
            data = [block.data for block in self.chain.history(contract)[1:]]
            if len(set(data)) != len(data):
                raise LawBroken(f"never twice: {contract} has {data}")
            seqs = [self.seq(datum) for datum in data]
            if seqs != sorted(seqs):
                raise LawBroken(f"in order: {contract} ran {data}, in the sequence {seqs}")

    def check_results(self) -> None:
        for lane, data in self.wishes:
            blocks = [b for b in self.chain.history(lane_key(lane)) if b.data == data]
            if len(blocks) != 1:
                raise LawBroken(f"never lost: {data} is on the chain {len(blocks)} times")
