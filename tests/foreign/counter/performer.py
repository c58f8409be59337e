"""Carries out what a counter lane orders, and turns the counters' answers into its events."""

import asyncio
from collections.abc import Coroutine
from typing import assert_never

from tests.foreign.counter.chain import Answer, CounterChain, Entry
from tests.foreign.counter.values import Add, AddReturned, CounterRead, Effect, ReadCounter

from laneway.core.errors import ChainError
from laneway.core.ids import LaneId, lane_key
from laneway.core.outcome import Outcome
from laneway.ports import Clock

LATE = "no answer in time"


class CounterPerformer:
    """Every effect is answered, in the end by the time that an answer may take; none is repeated
    here, and nothing is raised."""

    prompt = False

    def __init__(self, chain: CounterChain, clock: Clock, answer_ms: int) -> None:
        self._chain = chain
        self._clock = clock
        self._answer_s = answer_ms / 1000

    def perform(
        self, lane: LaneId, effect: Effect
    ) -> Coroutine[None, None, CounterRead | AddReturned]:
        match effect:
            case ReadCounter():
                return self._read(lane, effect)
            case Add():
                return self._add(lane, effect)
            case _:
                assert_never(effect)

    def perform_now(self, _lane: LaneId, _effect: Effect) -> None:
        return None

    def decline(self, _lane: LaneId, effect: Effect, reason: str) -> CounterRead | AddReturned:
        """Nothing was sent, and nothing will be."""
        match effect:
            case ReadCounter():
                return self._unread(effect, reason)
            case Add():
                return self._returned(effect, Answer(Outcome.REFUSED, reason=reason))
            case _:
                assert_never(effect)

    async def _read(self, lane: LaneId, effect: ReadCounter) -> CounterRead:
        try:
            async with asyncio.timeout(self._answer_s):
                found = await self._chain.entries(lane_key(lane))
        except (ChainError, TimeoutError) as error:
            return self._unread(effect, str(error) or LATE)
        place, count = effect.place, len(found)
        mark = "" if place is None or place >= count else found[place].mark
        return CounterRead(self._clock.now_ms(), effect.intent, place, count, mark)

    async def _add(self, lane: LaneId, effect: Add) -> AddReturned:
        entry = Entry(effect.intent, effect.amount)
        try:
            async with asyncio.timeout(self._answer_s):
                answer = await self._chain.add(lane_key(lane), effect.place, entry)
        except (ChainError, TimeoutError) as error:
            answer = Answer(Outcome.UNKNOWN, reason=str(error) or LATE)
        return self._returned(effect, answer)

    def _unread(self, effect: ReadCounter, reason: str) -> CounterRead:
        now_ms = self._clock.now_ms()
        return CounterRead(now_ms, effect.intent, effect.place, None, reason=reason)

    def _returned(self, effect: Add, answer: Answer) -> AddReturned:
        now_ms, outcome = self._clock.now_ms(), answer.outcome
        return AddReturned(
            now_ms, effect.intent, effect.attempt, outcome, answer.final, answer.reason
        )
