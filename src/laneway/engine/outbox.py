"""Carries messages from one lane to another, through the other lane's own door."""

import asyncio

from laneway.core.errors import StoreBusy
from laneway.core.ids import IntentId
from laneway.core.intent import Accepted, Arrival
from laneway.core.records import PassOn
from laneway.engine.door import Entered
from laneway.engine.limits import COMMIT_RETRY_MS_MAX
from laneway.ports import Clock, Store


class Messenger:
    """Hands a message over until it is durable there; twice is once, for its id is fixed."""

    def __init__(self, store: Store, clock: Clock, entered: Entered) -> None:
        self._store = store
        self._clock = clock
        self._entered = entered

    async def pass_on(self, effect: PassOn) -> IntentId:
        outbox = effect.outbox
        arrival = Arrival(
            id=outbox.id,
            lane=outbox.lane,
            payload=outbox.payload,
            digest=b"",
            accepted_ms=self._clock.now_ms(),
        )
        while True:
            try:
                (answer,) = await self._store.accept([arrival])
            except StoreBusy:
                await asyncio.sleep(COMMIT_RETRY_MS_MAX / 1000)
                continue
            if isinstance(answer, Accepted):
                self._entered(arrival, answer)
            return outbox.id
