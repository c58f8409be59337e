"""Lanes that a bug stopped in another process: what the trail says of them.

The process that stopped a lane gives it back, and keeps it shut until it is revived. The others
hold nothing of it; without its entry in the trail they would call it healthy, and leave words in
its mailbox that nobody reads.
"""

import asyncio
import logging
from itertools import islice

import msgspec

from laneway.core.errors import LanewayError
from laneway.core.ids import IntentId, LaneId
from laneway.engine.faults import LaneFault
from laneway.engine.heart import HeartPace
from laneway.engine.shell import Engine
from laneway.kinds.audit.trail import LANE, decode
from laneway.kinds.limits import LISTING_SCAN_PAGE
from laneway.wiring.limits import STOPS_ASKED_MAX

log = logging.getLogger("laneway.engine")


class Stops:
    """Keeps `engine.faults_elsewhere` as the trail and the lanes themselves have it."""

    def __init__(self, engine: Engine, pace: HeartPace | None) -> None:
        self._engine = engine
        self._store = engine.store
        self._known: dict[LaneId, LaneFault] = {}
        """The last that was said of each lane, until it got beyond that; the one asked longest ago
        comes first."""
        self._after: IntentId | None = None
        self._every_s = (pace or HeartPace()).heartbeat_ms / 1000
        self._looking = asyncio.Lock()
        self._following: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._following = asyncio.create_task(self._follow())

    async def stop(self) -> None:
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)

    async def _follow(self) -> None:
        while True:
            try:
                await self.look()
            except LanewayError as error:
                # What is known stays; the engine itself says more of its store.
                log.warning("lanes that bugs stopped elsewhere could not be read: %s", error)
            await asyncio.sleep(self._every_s)

    async def look(self) -> None:
        """Read what is new, and ask some of the lanes whether they still stand."""
        async with self._looking:
            fresh = await self._read()
            others = (lane for lane in self._known if lane not in fresh)
            for lane in [*fresh, *islice(others, STOPS_ASKED_MAX)]:
                await self._ask(lane)

    async def _read(self) -> set[LaneId]:
        fresh: set[LaneId] = set()
        while True:
            views = await self._store.history(LANE, self._after, LISTING_SCAN_PAGE)
            for view in views:
                self._after = view.intent.id
                fault = fault_in(view.intent.payload)
                if fault is not None:
                    self._known[fault.lane] = fault
                    fresh.add(fault.lane)
            if len(views) < LISTING_SCAN_PAGE:
                return fresh

    async def _ask(self, lane: LaneId) -> None:
        """It stands while it got no further, and no other process took it up: that one goes on
        with it, or records a stop of its own."""
        view = await self._store.lane(lane)
        fault = self._known.pop(lane)
        elsewhere = self._engine.faults_elsewhere
        elsewhere.pop(lane, None)
        if view is None or view.head.version > fault.version:
            return
        self._known[lane] = fault
        is_taken = view.head.owner not in (None, fault.owner)
        if not is_taken and lane not in self._engine.faults_here:
            elsewhere[lane] = fault


def fault_in(payload: bytes) -> LaneFault | None:
    """None of any other entry, and of one that another release wrote in its own way."""
    try:
        entry = decode(payload)
        if entry.action != "lane.stopped" or not entry.mark:
            return None
        return msgspec.json.decode(entry.mark, type=LaneFault)
    except msgspec.DecodeError:
        return None
