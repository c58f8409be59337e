"""Carries messages from one lane to another, through the other lane's own door."""

import asyncio
from collections.abc import Callable

from laneway.core.errors import Bug, StoreError
from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import Accepted, Answer, Arrival, Replayed
from laneway.core.records import PassOn
from laneway.engine.door import Entered
from laneway.engine.limits import COMMIT_RETRY_MS_MAX, COMMIT_RETRY_MS_MIN
from laneway.engine.passing import is_passing
from laneway.ports import Clock, Store


class Messenger:
    """Hands a message over until it is durable there; twice is once, for its id is fixed."""

    def __init__(
        self, store: Store, clock: Clock, entered: Entered, wake: Callable[[LaneId], None]
    ) -> None:
        self._store = store
        self._clock = clock
        self._entered = entered
        self._wake = wake

    async def pass_on(self, effect: PassOn) -> IntentId:
        outbox = effect.outbox
        arrival = Arrival(
            id=outbox.id,
            lane=outbox.lane,
            payload=outbox.payload,
            digest=b"",
            accepted_ms=self._clock.now_ms(),
        )
        answer = await self._accept(arrival)
        if isinstance(answer, Accepted):
            self._entered(arrival, answer)
        elif isinstance(answer, Replayed):
            self._wake(outbox.lane)  # It was handed over before, and perhaps nobody was told.
        else:
            raise Bug(f"{outbox.lane} answered {answer} to a message, which is never refused")
        return outbox.id

    async def _accept(self, arrival: Arrival) -> Answer:
        wait_ms = COMMIT_RETRY_MS_MIN
        while True:
            try:
                (answer,) = await self._store.accept([arrival])
            except StoreError as error:
                if not is_passing(error):
                    raise
                await asyncio.sleep(wait_ms / 1000)
                wait_ms = min(2 * wait_ms, COMMIT_RETRY_MS_MAX)
            else:
                return answer
