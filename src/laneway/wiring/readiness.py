"""Whether this process may be sent traffic, and what is wrong if not."""

import asyncio
from collections.abc import Collection

from laneway.core.ids import LaneId
from laneway.engine.system import SystemClock
from laneway.kinds.limits import PROBE_EVERY_MS, STOPPED_NAMED_MAX
from laneway.ports import Cautious, Durability, Store
from laneway.wire.values import Check
from laneway.wiring.embedded import Laneway

WORDS = {
    Durability.FULL: "full: accepted means synced to disk",
    Durability.RELAXED: "relaxed: a power cut may undo what was accepted, and run it twice",
    Durability.MEMORY: "memory: nothing outlives the process",
}


def durability_words(store: Store) -> list[str]:
    """What survives, and what is not safe about it."""
    cautions = store.cautions() if isinstance(store, Cautious) else ()
    return [WORDS[store.durability], *cautions]


def stopped_lanes(faults: Collection[LaneId]) -> list[Check]:
    """Lanes that a bug stopped. The others go on, so that traffic may come all the same."""
    if not faults:
        return []
    named = ", ".join(sorted(faults)[:STOPPED_NAMED_MAX])
    more = f" and {len(faults) - STOPPED_NAMED_MAX} more" * (len(faults) > STOPPED_NAMED_MAX)
    words = f"{len(faults)} stopped by a bug: {named}{more}; `laneway lane revive` shows why"
    return [Check("lanes", True, words)]


class ReadinessProbe:
    """Asks the chain at most every few seconds, however often it is asked itself."""

    def __init__(self, laneway: Laneway) -> None:
        self._laneway = laneway
        self._clock = SystemClock()
        self._known: list[Check] = []
        self._asked_ms: int | None = None
        self._known_ms = 0
        """When the last question was answered, by the wall clock."""
        self._asking = asyncio.Lock()

    async def checks(self) -> list[Check]:
        laneway = self._laneway
        failure = laneway.engine.failure
        if failure is not None:
            return [Check("store", False, f"the engine stopped: {failure}")]
        beating = laneway.engine.is_beating()
        store = "writable" if beating else "the last heartbeat could not be written in time"
        durable = "; ".join(durability_words(laneway.store))
        return [
            Check("store", beating, store),
            Check("durability", True, durable),
            *stopped_lanes(laneway.engine.faults),
            *(note for kind in laneway.kinds.values() for note in kind.notices()),
            *await self._chain_checks(),
        ]

    async def _chain_checks(self) -> list[Check]:
        nodes, kinds = self._laneway.nodes, self._laneway.kinds.values()
        async with self._asking:
            now_ms = self._clock.monotonic_ms()
            is_old = self._asked_ms is None or now_ms - self._asked_ms >= PROBE_EVERY_MS
            # One answer that was lost since then is no node that is away: it is asked again.
            if is_old or nodes.is_blocked_since(self._known_ms):
                await nodes.probe()
                self._known = [check for kind in kinds for check in await kind.checks()]
                self._asked_ms, self._known_ms = now_ms, self._clock.now_ms()
        # Of nodes it is known at any time how they stand, without asking.
        return nodes.checks(self._known)
