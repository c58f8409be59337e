"""The way in for Cosmos accounts' transactions: their arrivals, and the line before the door."""

from collections.abc import Awaitable

from msgspec.structs import replace

from laneway.core.ids import LaneId
from laneway.core.intent import Answer, Arrival
from laneway.ports import Clock, CosmosRequest
from laneway.wiring.cosmos_arrivals import CosmosArrivals, encode
from laneway.wiring.limits import ROOM_CROWDED_S, ROOM_INSIDE_BYTES_MAX, ROOM_WAIT_S
from laneway.wiring.room import Accept, Room
from laneway.wiring.schema_cosmos import SequenceSection
from laneway.wiring.system import SystemEntropy


class CosmosDoor:
    """Of all Cosmos accounts of this process."""

    def __init__(self, section: SequenceSection, clock: Clock) -> None:
        bytes_max = section.account_bytes_max
        self.arrivals = CosmosArrivals(clock, SystemEntropy(), bytes_max)
        self.room = Room(section.process_bytes_max, bytes_max, section.submit_wait_ms)
        self._inside = 0
        """Bytes of requests' payloads that are not answered yet."""

    def slim(
        self, lane: LaneId, request: CosmosRequest, key: str | None, valid_until_ms: int | None
    ) -> tuple[Arrival, int]:
        """A request's arrival and the size of its payload. Where it must wait it comes without it:
        who waits holds the request, and a blob stands in memory once and not twice."""
        arrival = self.arrivals.make(lane, request, key, "", valid_until_ms)
        size = len(arrival.payload)
        if self.room.must_wait(arrival):
            arrival = replace(arrival, payload=b"")
        return arrival, size

    async def enter(
        self,
        arrival: Arrival,
        request: CosmosRequest,
        accept: Accept,
        timeout_s: float | None,
        size: int,
    ) -> Answer:
        """For the library: accepted once there is room, its payload made again if it has none."""
        if arrival.payload:
            return await self.room.submit(arrival, accept, timeout_s)

        def whole(one: Arrival) -> Awaitable[Answer]:
            return accept(replace(one, payload=encode(request)))

        return await self.room.submit(arrival, whole, timeout_s, size)

    async def take(self, arrival: Arrival, accept: Accept) -> Answer:
        """For a request: accepted once there is room, and NoRoom soon, for whoever asks holds a
        connection and all of its bytes, and may ask again."""
        size = len(arrival.payload)
        crowded = self._inside + size > ROOM_INSIDE_BYTES_MAX
        wait_s = min(ROOM_CROWDED_S if crowded else ROOM_WAIT_S, self.room.wait_s)
        self._inside += size
        try:
            return await self.room.submit(arrival, accept, wait_s)
        finally:
            self._inside -= size
