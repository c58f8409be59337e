"""Layers S1 and S2: reactors, machines, a Book and a chain model, stepped from one seed.

Time is virtual and everything that takes time is a message with a delay, so that messages are
reordered, lost and doubled. A process dies between any two steps; what it had under way is gone.
A frozen process wakes up after others have taken its lanes. Observers see every step and check the
laws; the world itself judges nothing. The world of a kind adds its machine, performer, chain and
callers.
"""

import asyncio
import heapq
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Protocol

from laneway.core.ids import IntentId, LaneId, Owner
from laneway.core.rows import Lease
from laneway.sim.bugs import Bugs
from laneway.sim.limits import FAULTS_MS, JUMPING_FROM_MS, QUIET_MS_MAX, STEPS_MAX
from laneway.sim.link import Ground
from laneway.sim.loops import ProcessLoop, Timer
from laneway.sim.plan import WorldPlan
from laneway.sim.process import Process
from laneway.stores.book import Book, flush

if TYPE_CHECKING:
    from laneway.sim.clients import Callers
    from laneway.sim.operator import Crew


class Observer(Protocol):
    """Checks laws as the world goes on; raises `LawBroken`."""

    def leaving(self, process: Process, lane: LaneId, effect: Any) -> None:
        """A performer begins with this effect, and no node has received it yet."""

    def recorded(self, lane: LaneId, records: Sequence[Any]) -> None:
        """A process knows that these are durable."""

    def committed(self, process: Process, lane: LaneId) -> None: ...
    def stepped(self) -> None: ...


class Disk(Protocol):
    """Where a book is kept, and what a crash leaves of it."""

    def open(self) -> Book: ...
    def crash(self) -> None: ...
    def close(self) -> None: ...


class LawBroken(AssertionError):
    """A promise was not kept; the message says which, and its seed repeats the story."""


class World(Ground):
    """One seed's world. A world of a kind sets `kinds`, `lanes`, its callers and its operators, and
    gives each process its performers."""

    now_ms = 1_000_000

    performers_break = False
    """Whether bugs are planted in performers too."""
    client: "Callers"
    operator: "Crew"

    def __init__(self, plan: WorldPlan, disk: Disk) -> None:
        super().__init__(plan, "world")
        self.disk = disk
        self.observers: list[Observer] = []
        self.now_ms += JUMPING_FROM_MS if plan.jump else 0
        self.begun_ms = self.now_ms
        self.is_written = False
        """Whether the store may hold something that the laws have not read."""
        self._trace: list[str] = []
        self._events: list[tuple[int, int, Process | None, str, Callable[[], object]]] = []
        self._order = 0
        self.running: ProcessLoop | None = None
        """The loop of the process that acted last."""
        self.broken: LawBroken | None = None
        """The law that a performer broke: the world ends, whatever the engine makes of it."""
        self.bugs: Bugs | None = None
        """Those that were planted in the machines of this world."""
        self.book: Book = disk.open()
        self.processes: list[Process] = []
        self.process_next = 1

    def executed(self, _effect: Any) -> bytes | None:
        """The payload of the intent that this effect executes; None where it does something else.
        It is asked for where performers break."""
        return None

    # Time and messages.

    def after(
        self, delay_ms: int, label: str, act: Callable[[], object], process: Any = None
    ) -> None:
        self._order += 1
        at_ms = self.now_ms + delay_ms
        heapq.heappush(self._events, (at_ms, self._order, process, label, act))

    def note(self, line: str) -> None:
        at = self.now_ms - self.begun_ms
        self.story.append(f"{at:>7} ms  {line}")

    def trace(self) -> str:
        """A digest of all that happened; two runs of one seed have the same."""
        return blake2b("".join(self._trace).encode(), digest_size=16).hexdigest()

    # Processes.

    def boot(self) -> None:
        process = Process(self, f"p{self.process_next}")
        self.process_next += 1
        self.processes.append(process)
        process.loop.run(process.start)

    def crash(self, process: Process, why: str) -> None:
        """It is gone, with all that it had under way; another starts a little later."""
        if not process.alive:
            return
        self.seen[f"crash:{why}"] += 1
        self.note(f"{process.owner} dies ({why})")
        process.end()
        self.disk.crash()
        self.book = self.disk.open()
        self.after(self._dice.randint(1, 400), "boot", self.boot)

    def living(self) -> list[Process]:
        """The processes that are neither dead nor frozen."""
        return [p for p in self.processes if p.alive and p.frozen_until_ms <= self.now_ms]

    def wake_others(self, door: Process, wake: Callable[[Process], None]) -> None:
        """What a shared store does: it notifies the other processes that a lane has work."""
        for process in self.processes:
            if process.alive and process is not door:
                process.later("woken", partial(wake, process))

    def group(self, act: Callable[[Book], Any]) -> Any:
        """One group of the store: done and durable, or the world's process is dead."""
        self.is_written = True
        self.book.begin()
        answer = act(self.book)
        flush(self.book)
        return answer

    def is_wish_cursed(self, intent: IntentId, every: int) -> bool:
        """Whether no decision survives it, where bugs are planted."""
        wish = self.client.by_intent.get(intent)
        return wish is not None and wish.number % every == 0

    def is_at_rest(self, lane: LaneId) -> bool:
        """Whether nothing of a lane is left open."""
        view = self.book.lane(lane)
        if view is None:
            return True
        if view.head.wake_ms is not None:
            return False
        return not self.book.load(Lease(lane, view.head.owner or Owner(""), view.head.fence)).open

    # The run.

    def run(self) -> None:
        """Faults first, then quiet: safety is checked all along, liveness at the end."""
        try:
            self._run()
        finally:
            for process in self.processes:
                process.end()
            asyncio._set_running_loop(None)

    def _run(self) -> None:
        for _ in range(self.plan.processes):
            self.boot()
        self.client.start()
        self.start()
        self.operator.start()
        self._until(lambda: self.now_ms - self.begun_ms > FAULTS_MS)
        self.is_faulty = False
        self.note("the faults stop")
        self.calm()
        self.operator.calm()
        quiet_ms = self.now_ms
        self._until(lambda: self.client.is_done() or self.now_ms - quiet_ms > QUIET_MS_MAX)
        if not self.client.is_done():
            raise LawBroken(f"never lost: still waiting for {self.client.waiting()}")

    def leaving(self, process: Process, lane: LaneId, effect: Any) -> None:
        for observer in self.observers:
            self.ask_law(observer.leaving, process, lane, effect)

    def ask_law(self, law: Callable[..., None], *facts: Any) -> None:
        try:
            law(*facts)
        except LawBroken as error:
            self.broken = error
            raise

    def _until(self, done: Callable[[], bool]) -> None:
        while not done():
            self._step()

    def _step(self) -> None:
        if not self._events:
            raise LawBroken(f"never lost: nothing happens any more; open {self.client.waiting()}")
        at_ms, _, process, label, act = heapq.heappop(self._events)
        if isinstance(act, Timer) and act.cancelled():
            return
        self.now_ms = max(self.now_ms, at_ms)
        if process is not None and not process.alive:
            return
        if process is not None and process.frozen_until_ms > self.now_ms:
            self._order += 1
            heapq.heappush(
                self._events, (process.frozen_until_ms, self._order, process, label, act)
            )
            return
        self.steps += 1
        if self.steps > STEPS_MAX:
            raise LawBroken(f"no spinning: {STEPS_MAX} steps and no end")
        self._trace.append(f"{self.now_ms} {label}\n")
        if process is None:
            act()
        elif self.chance(self.plan.crash):
            self.crash(process, f"before {label}")
            return
        else:
            if self.chance(self.plan.freeze):
                process.freeze()
            if self.jumps is not None:
                self.jumps.step()
            process.loop.run(act)
        if self.broken is not None:
            raise self.broken
        for observer in self.observers:
            observer.stepped()
