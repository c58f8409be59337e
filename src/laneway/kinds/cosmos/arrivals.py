"""The way in for Cosmos accounts' transactions: requests → arrivals that every store can keep, and
the queue before the door."""

from collections.abc import Awaitable, Sequence

import msgspec
from msgspec.structs import replace

from laneway.core.errors import BadRequest
from laneway.core.ids import LaneId
from laneway.core.intent import Answer, Arrival
from laneway.core.limits import TX_PAYLOAD_BYTES_MAX
from laneway.cosmos.blobs import CelestiaBlob, check, fee_for
from laneway.cosmos.errors import InvalidCosmos
from laneway.cosmos.limits import FEE_MAX
from laneway.engine.system import SystemEntropy
from laneway.kinds.arrivals import ArrivalMaker, is_count
from laneway.kinds.cosmos.capacity import Accept, ByteCapacity, held_bytes
from laneway.kinds.cosmos.section import SequenceSection
from laneway.kinds.limits import (
    CAPACITY_CROWDED_S,
    CAPACITY_INSIDE_BYTES_MAX,
    CAPACITY_WAIT_S,
    TX_OVERHEAD_BYTES,
)
from laneway.ports import Clock, CosmosRequest, Entropy

encode = msgspec.msgpack.Encoder().encode
SIGNER = bytes(20)
"""Stands for an account's address, whatever it is."""


class CosmosArrivals:
    """Makes arrivals of accounts' requests. They have one class: a sequence is an order."""

    def __init__(self, clock: Clock, entropy: Entropy, account_bytes_max: int) -> None:
        self._maker = ArrivalMaker(clock, entropy)
        self._bytes_max = account_bytes_max

    def make(
        self,
        lane: LaneId,
        request: CosmosRequest,
        key: str | None,
        scope: str = "",
        valid_until_ms: int | None = None,
    ) -> Arrival:
        # The store counts payloads; each stands for the bytes that are signed of it as well.
        unsigned_max = max(1, (self._bytes_max - held_bytes(0)) // 2)
        return self._maker.of_request(
            lane, request, checked, key, scope, valid_until_ms, bytes_max=unsigned_max
        )

    def make_many(
        self, lane: LaneId, requests: Sequence[CosmosRequest], keys: Sequence[str | None]
    ) -> list[Arrival]:
        """A batch in its order. A smaller one has no capacity that a larger one before it lacked,
        so that none of them is taken after one that was not."""
        made: list[Arrival] = []
        largest = 0
        for request, key in zip(requests, keys, strict=True):
            arrival = self.make(lane, request, key)
            assert arrival.bytes_max is not None
            size = len(arrival.payload)
            largest = max(largest, size)
            if size < largest:
                arrival = replace(arrival, bytes_max=arrival.bytes_max - (largest - size))
            made.append(arrival)
        return made


class CosmosDoor:
    """Of all Cosmos accounts of this process."""

    def __init__(self, section: SequenceSection, clock: Clock) -> None:
        bytes_max = section.account_bytes_max
        self.arrivals = CosmosArrivals(clock, SystemEntropy(), bytes_max)
        self.capacity = ByteCapacity(section.process_bytes_max, bytes_max, section.submit_wait_ms)
        self._inside = 0
        """Bytes of requests' payloads that are not answered yet."""

    def slim(
        self, lane: LaneId, request: CosmosRequest, key: str | None, valid_until_ms: int | None
    ) -> tuple[Arrival, int]:
        """A request's arrival and the size of its payload. Where it must wait it comes without it:
        who waits holds the request, and a blob stands in memory once and not twice."""
        arrival = self.arrivals.make(lane, request, key, "", valid_until_ms)
        size = len(arrival.payload)
        if self.capacity.must_wait(arrival):
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
        """For the library: accepted once there is capacity; a payload that was left out is made."""
        if arrival.payload:
            return await self.capacity.submit(arrival, accept, timeout_s)

        def whole(one: Arrival) -> Awaitable[Answer]:
            return accept(replace(one, payload=encode(request)))

        return await self.capacity.submit(arrival, whole, timeout_s, size)

    async def take(self, arrival: Arrival, accept: Accept) -> Answer:
        """For a request: accepted once there is capacity, and NoRoom soon, for a caller holds a
        connection and all of its bytes, and may ask again."""
        size = len(arrival.payload)
        crowded = self._inside + size > CAPACITY_INSIDE_BYTES_MAX
        wait_s = min(CAPACITY_CROWDED_S if crowded else CAPACITY_WAIT_S, self.capacity.wait_s)
        self._inside += size
        try:
            return await self.capacity.submit(arrival, accept, wait_s)
        finally:
            self._inside -= size


def checked(request: CosmosRequest) -> bytes:
    """Its bytes; what can be judged without the chain is judged before anything is accepted."""
    if not request.messages and not request.blobs:
        raise BadRequest("payload", "it has neither messages nor blobs")
    for place, one in enumerate(request.blobs):
        signer = SIGNER if one.share_version else b""
        try:
            check(CelestiaBlob(one.namespace, one.data, one.share_version, signer))
        except InvalidCosmos as error:
            raise BadRequest(f"payload.blobs[{place}]", str(error)) from error
    for name in ("gas", "fee", "price_micro", "timeout_height"):
        value = getattr(request, name)
        if value is not None and not is_count(value):
            raise BadRequest(f"payload.{name}", "a whole number, not below zero")
    check_fee(request)
    payload = encode(request)
    if len(payload) > TX_PAYLOAD_BYTES_MAX - TX_OVERHEAD_BYTES:
        problem = f"{len(payload)} bytes are more than one transaction can hold"
        raise BadRequest("payload", problem)
    return payload


def check_fee(request: CosmosRequest) -> None:
    """Gas times its price is a number of a row too. Where the chain says one of the two, it is
    judged when it is signed."""
    gas, price = request.gas, request.price_micro
    if request.fee is None and gas is not None and price is not None:
        fee = fee_for(gas, price)
        if fee > FEE_MAX:
            problem = f"{gas} gas at this price cost {fee}, which is more than {FEE_MAX}"
            raise BadRequest("payload.gas_price", problem)
