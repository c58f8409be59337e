"""An engine with one rollup, on a chain that is told when a timeslot passes.

    async with House(chain, builder, path, service=1, best=best) as house:
        jobs = await house.submit(raws)
        await house.pass_slots(devnet.step, lambda: house.is_done(jobs))

Slots are short and real time passes in them; whatever comes late is only later by some slots.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from laneway.core.ids import IntentId, LaneId, intent_id
from laneway.core.intent import Accepted, Arrival
from laneway.core.jam import JamBlockRef
from laneway.core.rows import Result
from laneway.engine.bundle import BundlePerformer, Rollup, rollup_lane
from laneway.engine.listeners import Listener
from laneway.engine.reactor import Reactor
from laneway.engine.shell import Engine
from laneway.engine.system import SystemClock, SystemEntropy, fresh_owner
from laneway.lanes.bundle import BundleSettings, bundle_kind
from laneway.lanes.bundle.lane import BundleLane
from laneway.lanes.bundle.records import StatusChanged, VersionSealed
from laneway.lanes.bundle.rows import Tell
from laneway.lanes.bundle.show import Picture, picture
from laneway.ports import JamChain, RollupBuilder
from laneway.wiring.store import open_store

R = TypeVar("R")
SLOT_MS = 200
SEEN_S_MAX = 60.0
QUICK = BundleSettings(
    slot_ms=SLOT_MS,
    block_interval_ms=10,
    submit_retry_ms=SLOT_MS,
    max_submit_retries=40,
    accumulate_timeout_ms=10 * SLOT_MS,
    # Windows as wide as a slot allows: what is late by a little is not late by a slot.
    build_from_ms=SLOT_MS,
    build_until_ms=SLOT_MS // 10,
    submit_from_ms=SLOT_MS,
    submit_until_ms=0,
    poll_ms=20,
    build_retry_ms=20,
    tell_retry_ms=20,
)


class Ear(Listener):
    """All that became true, in order."""

    def __init__(self) -> None:
        self.records: list[Any] = []
        self.results: dict[IntentId, Result] = {}

    def notified(self, _lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        self.records += records
        self.results |= {result.intent: result for result in results}

    def of(self, kind: type[R]) -> list[R]:
        return [record for record in self.records if isinstance(record, kind)]


class House:
    def __init__(
        self,
        chain: JamChain,
        builder: RollupBuilder,
        store: str,
        *,
        service: int,
        best: Callable[[], JamBlockRef],
        **settings: Any,
    ) -> None:
        """`best` is the newest block of the node that it speaks to."""
        self.chain = chain
        self._best = best
        self.builder = builder
        self.lane = rollup_lane(service)
        chosen = {name: getattr(QUICK, name) for name in QUICK.__struct_fields__}
        chosen |= {"service": service, "nodes": chain.nodes, **settings}
        self.settings = BundleSettings(**chosen)
        self.ear = Ear()
        self.heard: list[Tell] = []
        """What the rollup's owner was told, in order."""
        self._clock = SystemClock()
        self._entropy = SystemEntropy()
        self._store = store
        self._slot_s = 0.0
        self.engine: Engine

    async def __aenter__(self) -> "House":
        rollups = {self.lane: Rollup(self.chain, self.builder)}
        performer = BundlePerformer(rollups, self._clock, on_block=self._hear)
        reactor = Reactor({"rollup": bundle_kind(self.settings)}, fresh_owner())
        store = open_store(self._store, self._clock)
        self.engine = Engine(store, reactor, {"rollup": performer}, self._clock, (self.ear,))
        await self.engine.start()
        self._slot_s = asyncio.get_running_loop().time()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.engine.stop()
        await self.engine.store.close()

    def _hear(self, _lane: LaneId, tell: Tell) -> None:
        self.heard.append(tell)

    # Its callers.

    async def submit(self, payloads: Sequence[bytes]) -> list[IntentId]:
        now_ms = self._clock.now_ms()
        arrivals = [
            Arrival(
                id=intent_id(now_ms, self._entropy.token(10)),
                lane=self.lane,
                payload=payload,
                digest=b"",
                accepted_ms=now_ms,
                fresh=True,
            )
            for payload in payloads
        ]
        answers = await self.engine.submit_many(arrivals)
        assert all(isinstance(answer, Accepted) for answer in answers)
        return [arrival.id for arrival in arrivals]

    # Time.

    async def pass_slot(self, turn: Callable[[], object]) -> None:
        """Wait for the next timeslot; what happens then is the caller's. The lane has seen the one
        before it, so that no word of a block is passed over."""
        loop = asyncio.get_running_loop()
        # A slot that took too long moves the ones behind it, as on a chain that is overloaded.
        self._slot_s = max(self._slot_s + SLOT_MS / 1000, loop.time())
        await asyncio.sleep(self._slot_s - loop.time())
        self._sane()
        async with asyncio.timeout(SEEN_S_MAX):
            while not self._has_seen():
                await asyncio.sleep(0.005)
        turn()

    async def pass_slots(
        self, turn: Callable[[], object], is_so: Callable[[], bool], slots_max: int = 300
    ) -> None:
        """Timeslots until something is so."""
        for _ in range(slots_max):
            if is_so():
                return
            await self.pass_slot(turn)
        raise AssertionError(f"not in {slots_max} slots: {self.picture()}")

    async def until(self, is_so: Callable[[], bool], slots_max: int = 300) -> None:
        """The same while no slot has a block."""
        await self.pass_slots(lambda: None, is_so, slots_max)

    async def until_notified(self) -> None:
        """Until the builder and the rollup's owner know all that became true: they are notified
        after the record of it."""

        def is_so() -> bool:
            lane = self.held()
            return lane is None or not lane.tells

        await self.until(is_so)

    def _has_seen(self) -> bool:
        """Without an open block it looks at nothing."""
        lane = self.held()
        return lane is None or not lane.slots or lane.head.best == self._best()

    def _sane(self) -> None:
        assert self.engine.failure is None, self.engine.failure
        assert not self.engine.faults, self.engine.faults

    # What is seen.

    def held(self) -> BundleLane | None:
        found: BundleLane | None = self.engine.reactor.lane(self.lane)
        return found

    def picture(self) -> Picture | None:
        lane = self.held()
        return None if lane is None else picture(lane)

    def inflight(self) -> int:
        """Blocks that are submitted, and not guaranteed."""
        shown = self.picture()
        return 0 if shown is None else len(shown.submitted)

    def words(self, number: int) -> list[str]:
        """All that a block was told to be, in order."""
        return [one.word for one in self.ear.of(StatusChanged) if one.number == number]

    def versions(self, number: int) -> list[bytes]:
        """The packages of a block that were ever sealed."""
        sealed = self.ear.of(VersionSealed)
        return [one.version.package_hash for one in sealed if one.slot.number == number]

    def anchor(self, number: int, version: int) -> bytes:
        """The header of the block that a version leans on."""
        sealed = [one.version for one in self.ear.of(VersionSealed) if one.slot.number == number]
        (found,) = [one.anchor for one in sealed if one.version == version]
        return found.header_hash

    def is_done(self, jobs: Sequence[IntentId]) -> bool:
        return all(job in self.ear.results for job in jobs)

    def statuses(self, jobs: Sequence[IntentId]) -> list[str]:
        return [self.ear.results[job].status for job in jobs]
