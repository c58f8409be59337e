"""The callers of a world: they submit, lose answers, and send the same key again."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, assert_never

from laneway.core.ids import IntentId, LaneId, intent_id
from laneway.core.intent import Accepted, Answer, Arrival, Conflict, Full, Replayed
from laneway.core.rows import Result

if TYPE_CHECKING:
    from laneway.sim.world import World


class Wish:
    """One thing a caller wants done once."""

    def __init__(
        self, number: int, lane: LaneId, data: str, payload: bytes, priority: int = 0
    ) -> None:
        self.number = number
        self.lane = lane
        self.data = data
        self.payload = payload
        self.priority = priority
        self.key = f"k{number}"
        self.valid_until_ms: int | None = None
        self.acked: IntentId | None = None
        self.result: Result | None = None


class Callers(ABC):
    """Every wish is sent until it is answered."""

    limited = 0.05
    """Chance that a wish is valid for a while only, and for how long at most."""
    limited_ms_max = 400
    fast_size = 0
    count_max: int | None = None

    def __init__(self, world: "World") -> None:
        self._world = world
        self._dice = world.plan.rng("client")
        self.wishes = [self._wish(number) for number in range(world.plan.intents)]
        self._open = list(self.wishes)
        self.by_intent: dict[IntentId, Wish] = {}
        self.results: dict[IntentId, Result] = {}

    @abstractmethod
    def _wish(self, number: int) -> Wish: ...

    def _way(self, ways: Sequence[tuple[str, float]]) -> str:
        """One of these ways by its chance, or "send"."""
        chosen, way = self._dice.random(), "send"
        for name, chance in ways:
            if 0 <= chosen < chance:
                way = name
            chosen -= chance
        return way

    def start(self) -> None:
        for wish in self.wishes:
            self._world.after(self._dice.randint(0, 3_000), "submit", partial(self._submit, wish))

    def _submit(self, wish: Wish) -> None:
        world = self._world
        if wish.acked is not None:
            return
        living = world.living()
        if not living:
            world.after(50, "submit", lambda: self._submit(wish))
            return
        process = living[wish.number % len(living)]
        if wish.valid_until_ms is None and world.chance(self.limited):
            wish.valid_until_ms = world.now_ms + self._dice.randint(1, self.limited_ms_max)
        payload, now_ms = wish.payload, process.clock.now_ms()
        arrival = Arrival(
            id=intent_id(now_ms, self._dice.randbytes(10)),
            lane=wish.lane,
            payload=payload,
            digest=blake2b(payload, digest_size=16).digest(),
            accepted_ms=now_ms,
            key=wish.key,
            priority=wish.priority,
            valid_until_ms=wish.valid_until_ms,
            fast_size=self.fast_size,
            count_max=self.count_max,
            fresh=True,
        )
        answers: list[Answer] = world.group(lambda book: book.accept([arrival]))
        answer = answers[0]
        if isinstance(answer, Accepted):
            world.note(f"{wish.lane}: {wish.data} accepted as {answer.id[-6:]}, seq {answer.seq}")
            self.by_intent[answer.id] = wish
            if not process.reactor.handed(arrival, answer.seq):
                process.reactor.woken(wish.lane, wish.priority)
            process.pump_soon()
            world.wake_others(process, lambda p: p.reactor.woken(wish.lane, wish.priority))
        if world.chance(world.plan.lose):
            world.seen["submit answer lost"] += 1
            world.after(self._dice.randint(10, 500), "submit", lambda: self._submit(wish))
            return
        match answer:
            case Full():
                world.seen["lane full"] += 1
                world.after(200, "submit", lambda: self._submit(wish))
            case Conflict():
                raise AssertionError(f"{wish.key} was never sent with another body")
            case Replayed(id=intent):
                world.seen["replayed"] += 1
                wish.acked = intent
            case Accepted(id=intent):
                wish.acked = intent
            case _:
                assert_never(answer)

    def forgotten(self) -> None:
        """The store was put back from a copy: what it does not know is sent again."""
        world = self._world
        self.results = {}
        self._open = list(self.wishes)
        for wish in self.wishes:
            wish.result = None
            if wish.acked is not None and world.book.intent(wish.acked) is None:
                wish.acked = None
                world.seen["sent again after a copy"] += 1
                delay_ms = self._dice.randint(10, 2_000)
                world.after(delay_ms, "submit", partial(self._submit, wish))

    def answered(self, results: Sequence[Result]) -> None:
        for result in results:
            self.results[result.intent] = result

    # Questions.

    def is_done(self) -> bool:
        """Whether every wish has its final answer in the store, and no lane has work left."""
        # It is asked at every step: what was answered once needs no second look.
        while self._open and not self._why_open(self._open[-1]):
            self._open.pop()
        return not self._open and all(map(self._world.is_at_rest, self._world.lanes))

    def waiting(self) -> list[str]:
        open_ = [why for why in map(self._why_open, self.wishes) if why]
        return open_ or [lane for lane in self._world.lanes if not self._world.is_at_rest(lane)]

    def _why_open(self, wish: Wish) -> str:
        """Empty when the wish has its final answer, which is written once."""
        if wish.result is not None:
            return ""
        if wish.acked is None:
            return f"{wish.data} (unanswered)"
        view = self._world.book.intent(wish.acked)
        if view is None:
            return f"{wish.data} (vanished!)"
        wish.result = view.result
        return wish.data if view.result is None else ""
