"""Layers S1 and S2: reactors, machines, a Book and a chain model, stepped from one seed.

Time is virtual and everything that takes time is a message with a delay, so that messages are
reordered, lost and doubled. A process dies between any two steps; what it had under way is gone.
A frozen process wakes up after others have taken its lanes. Every step is told to the observers,
who check the laws; the world itself judges nothing. Which machine and which chain it is, and who
asks and answers, a world of its kind says.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Protocol

from laneway.core.ids import IntentId, LaneId
from laneway.core.rows import Result
from laneway.engine.orders import Prompt
from laneway.lanes.kind import LaneKind
from laneway.sim.bugs import Bugs
from laneway.sim.limits import FAULTS_MS, QUIET_MS_MAX, STEPS_MAX
from laneway.sim.plan import Weather
from laneway.sim.process import Process
from laneway.stores.book import Book, flush

if TYPE_CHECKING:
    from laneway.sim.clients import Wish


class Observer(Protocol):
    """Checks laws as the world goes on; raises `LawBroken`."""

    def leaving(self, process: Process, lane: LaneId, effect: Any) -> None: ...
    def told(self, lane: LaneId, records: Sequence[Any]) -> None: ...
    def committed(self, process: Process, lane: LaneId) -> None: ...
    def stepped(self) -> None: ...


class Shelf(Protocol):
    """Where a book is kept, and what a crash leaves of it."""

    def open(self) -> Book: ...
    def crash(self) -> None: ...
    def close(self) -> None: ...


class Host(Protocol):
    """The chain's side: it performs effects, and posts what they prove."""

    def perform(self, process: Process, lane: LaneId, effect: Any) -> None: ...
    def declined(self, effect: Any, now_ms: int, reason: str) -> Any:
        """What it proves that an effect was not begun and never will be."""


class Client(Protocol):
    by_intent: "dict[IntentId, Wish]"

    def start(self) -> None: ...
    def told(self, results: Sequence[Result]) -> None: ...
    def is_done(self) -> bool:
        """Whether nothing is wished for any more that has no answer."""

    def waiting(self) -> list[str]: ...


class Operator(Protocol):
    def start(self) -> None: ...
    def calm(self) -> None:
        """The faults are over: mend what only people can mend."""


class LawBroken(AssertionError):
    """A promise was not kept; the message says which, and the seed tells the story."""


class World:
    """One seed's world. A world of a kind sets `kinds`, `lanes` and its three actors."""

    exact_timers = False
    """Whether a timer that another took the place of is void. Otherwise it only wakes a process for
    nothing, and every seed of contract worlds was run so; lanes with many deadlines drown in it."""
    kinds: Mapping[str, LaneKind]
    lanes: list[LaneId]
    host: Host
    client: Client
    operator: Operator

    def __init__(
        self, plan: Weather, shelf: Shelf, observers: "list[Observer] | None" = None
    ) -> None:
        self.plan = plan
        self.shelf = shelf
        self.observers = observers or []
        self.now_ms = 1_000_000
        self.begun_ms = self.now_ms
        self.faults = True
        self.seen: Counter[str] = Counter()
        """How often each rare thing happened; over many seeds none may stay at zero."""
        self.story: list[str] = []
        self.steps = 0
        self._hash = blake2b(digest_size=16)
        self._events: list[tuple[int, int, Process | None, str, Callable[[], None]]] = []
        self._order = 0
        self._dice = plan.rng("world")
        self.prompts: Mapping[str, Prompt] = {}
        self.bugs: Bugs | None = None
        """Those that were planted in the machines of this world."""
        self.book: Book = shelf.open()
        self.processes: list[Process] = []
        self.process_next = 1

    # Time and messages.

    def after(
        self,
        delay_ms: int,
        label: str,
        act: Callable[[], None],
        process: Process | None = None,
    ) -> None:
        """Let something happen later; what belongs to a dead process never happens."""
        self._order += 1
        at_ms = self.now_ms + delay_ms
        heapq.heappush(self._events, (at_ms, self._order, process, label, act))

    def delay(self) -> int:
        return self._dice.randint(0, self.plan.delay_ms)

    def chance(self, probability: float) -> bool:
        return self.faults and probability > 0 and self._dice.random() < probability

    def pick(self, choices: "list[Any] | tuple[Any, ...]") -> Any:
        return self._dice.choice(choices)

    def note(self, line: str) -> None:
        at = self.now_ms - self.begun_ms
        self.story.append(f"{at:>7} ms  {line}")

    def trace(self) -> str:
        """A digest of all that happened; two runs of one seed have the same."""
        return self._hash.hexdigest()

    # Processes.

    def boot(self) -> None:
        process = Process(self, f"p{self.process_next}")
        self.process_next += 1
        self.processes.append(process)
        process.start()

    def crash(self, process: Process, why: str) -> None:
        """It is gone, with all that it had under way; another starts a little later."""
        if not process.alive:
            return
        self.seen[f"crash:{why}"] += 1
        self.note(f"{process.owner} dies ({why})")
        process.alive = False
        self.shelf.crash()
        self.book = self.shelf.open()
        self.after(self._dice.randint(1, 400), "boot", self.boot)

    def wake_others(self, door: Process, wake: Callable[[Process], None]) -> None:
        """What a shared store does: it tells the other processes that a lane has work."""
        for process in self.processes:
            if process.alive and process is not door:
                process.later("woken", partial(wake, process))

    def group(self, act: Callable[[Book], Any]) -> Any:
        """One group of the store: done and durable, or the world's process is dead."""
        self.book.begin()
        answer = act(self.book)
        flush(self.book)
        return answer

    def is_wish_cursed(self, intent: IntentId, every: int) -> bool:
        """Whether no decision survives it, where bugs are planted."""
        wish = self.client.by_intent.get(intent)
        return wish is not None and wish.number % every == 0

    # The run.

    def run(self) -> None:
        """Faults first, then quiet: safety is checked all along, liveness at the end."""
        for _ in range(self.plan.processes):
            self.boot()
        self.client.start()
        self.operator.start()
        self._until(lambda: self.now_ms - self.begun_ms > FAULTS_MS)
        self.faults = False
        self.note("the faults stop")
        self.operator.calm()
        quiet_ms = self.now_ms
        self._until(lambda: self.client.is_done() or self.now_ms - quiet_ms > QUIET_MS_MAX)
        if not self.client.is_done():
            raise LawBroken(f"never lost: still waiting for {self.client.waiting()}")
        for process in self.processes:
            process.alive = False

    def _until(self, done: Callable[[], bool]) -> None:
        while not done():
            self._step()

    def _step(self) -> None:
        if not self._events:
            raise LawBroken(f"never lost: nothing happens any more; open {self.client.waiting()}")
        at_ms, _, process, label, act = heapq.heappop(self._events)
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
        self._hash.update(f"{self.now_ms} {label}\n".encode())
        if process is not None and self.chance(self.plan.crash):
            self.crash(process, f"before {label}")
            return
        if process is not None and self.chance(self.plan.freeze):
            process.freeze()
        act()
        for observer in self.observers:
            observer.stepped()
