"""The way in for Cosmos accounts' transactions: their arrivals, and the line before the door."""

from laneway.core.intent import Answer, Arrival
from laneway.ports import Clock
from laneway.wiring.cosmos_arrivals import CosmosArrivals
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
