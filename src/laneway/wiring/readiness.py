"""Whether this process may be sent traffic, and what is wrong if not."""

import asyncio
from collections.abc import Collection

from laneway.core.errors import ChainError, ChainUnreachable
from laneway.core.ids import LaneId, lane_key
from laneway.lanes.contract.show import read_head
from laneway.ports import Cautious, Durability, Store
from laneway.ports.nodes import NodesKnown
from laneway.wire.values import Check
from laneway.wiring.embedded import Laneway
from laneway.wiring.limits import PROBE_EVERY_MS, PROBE_S_MAX, STOPPED_NAMED_MAX
from laneway.wiring.shown import contract_lanes
from laneway.wiring.system import SystemClock

WORDS = {
    Durability.FULL: "full: accepted means synced to disk",
    Durability.RELAXED: "relaxed: a power cut may undo what was accepted, and run it twice",
    Durability.MEMORY: "memory: nothing outlives the process",
}
NOBODY = "laneway-probe"
"""Asked for when no contract is known yet: any answer at all proves that the chain is there."""


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


def halted_lanes(laneway: Laneway) -> list[Check]:
    """Cosmos accounts of this process whose nodes took back what was believed, each with why."""
    cosmos = laneway.cosmos
    held = [] if cosmos is None else [laneway.engine.reactor.lane(one) for one in cosmos.settings]
    halted = [lane for lane in held if lane is not None and lane.head.halt]
    named = "; ".join([f"{lane.id}: {lane.head.halt}" for lane in halted[:STOPPED_NAMED_MAX]])
    return [Check("accounts", True, f"{len(halted)} halted: {named}")] if halted else []


class Readiness:
    """Asks the chain at most every few seconds, however often it is asked itself."""

    def __init__(self, laneway: Laneway) -> None:
        self._laneway = laneway
        self._clock = SystemClock()
        self._chain = Check("chain", False, "not asked yet")
        self._rollups: list[Check] = []
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
            *halted_lanes(laneway),
            *await self._chain_checks(),
        ]

    async def _chain_checks(self) -> list[Check]:
        nodes, rollup = self._laneway.nodes, self._laneway.rollup
        async with self._asking:
            now_ms = self._clock.monotonic_ms()
            is_old = self._asked_ms is None or now_ms - self._asked_ms >= PROBE_EVERY_MS
            # One answer that was lost since then is no node that is away: it is asked again.
            if is_old or nodes.is_blocked_since(self._known_ms):
                await nodes.probe()
                ok, what = await self._probe()
                self._chain = Check("chain", ok, what)
                self._rollups = [] if rollup is None else await rollup.checks(self._laneway.store)
                self._asked_ms, self._known_ms = now_ms, self._clock.now_ms()
        # Of nodes it is known at any time how they stand, without asking.
        host = nodes.host()
        chain = host.check("chain", "reachable") if host.count else self._chain
        return [chain, *nodes.checks(self._rollups)]

    async def _probe(self) -> tuple[bool, str]:
        """Ask a chain inside this process."""
        laneway = self._laneway
        if not laneway.host.traits.has_chain:
            return True, "a callable: there is no chain to ask"
        if isinstance(laneway.host, NodesKnown):
            return True, "reachable"  # Its standing says more.
        lanes = await contract_lanes(laneway.store, None, 1)
        contract = lane_key(lanes[0].tail.lane) if lanes else NOBODY
        try:
            async with asyncio.timeout(PROBE_S_MAX):
                latest = await laneway.host.latest_block(contract)
        except TimeoutError:
            return False, f"no answer within {PROBE_S_MAX:g} s"
        except ChainUnreachable as error:
            return False, str(error)
        except ChainError:
            return True, "reachable"  # If only to say that it does not know the contract.
        seen = read_head(lanes[0].head.state).floor if lanes else 0
        if latest < seen:
            words = f"reachable, but {contract} ends at block {latest} and was seen at {seen}"
            return True, f"{words}: the node lags, or it is another chain"
        return True, "reachable"
