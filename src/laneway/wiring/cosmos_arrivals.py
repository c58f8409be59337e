"""A Cosmos account's request → an arrival that every store can keep."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from laneway.core.errors import BadRequest
from laneway.core.ids import ENTROPY_BYTES, LaneId, idempotency_key, intent_id
from laneway.core.intent import Arrival
from laneway.core.limits import TX_PAYLOAD_BYTES_MAX
from laneway.cosmos.blobs import Blob, check
from laneway.cosmos.errors import InvalidCosmos
from laneway.cosmos.gas import fee_for
from laneway.cosmos.limits import FEE_MAX
from laneway.ports import Clock, CosmosRequest, Entropy
from laneway.wiring.arrivals import check_text, digest, is_count
from laneway.wiring.limits import TX_OVERHEAD_BYTES
from laneway.wiring.room import held_bytes

encode = msgspec.msgpack.Encoder().encode
SIGNER = bytes(20)
"""Stands for an account's address, whatever it is."""


class CosmosArrivals:
    """Makes arrivals of accounts' requests. They have one class: a sequence is an order."""

    def __init__(self, clock: Clock, entropy: Entropy, account_bytes_max: int) -> None:
        self._clock = clock
        self._entropy = entropy
        self._bytes_max = account_bytes_max

    def make(
        self,
        lane: LaneId,
        request: CosmosRequest,
        key: str | None,
        scope: str = "",
        valid_until_ms: int | None = None,
    ) -> Arrival:
        if key is not None:
            check_text("key", key)
            key = idempotency_key(key)
        if valid_until_ms is not None and not is_count(valid_until_ms):
            raise BadRequest("valid_until_ms", "milliseconds since 1970, a whole number")
        now_ms = self._clock.now_ms()
        payload = checked(request)
        # The store counts payloads; each stands for the bytes that are signed of it as well.
        unsigned_max = max(1, (self._bytes_max - held_bytes(0)) // 2)
        return Arrival(
            id=intent_id(now_ms, self._entropy.token(ENTROPY_BYTES)),
            lane=lane,
            payload=payload,
            digest=b"" if key is None else digest(said(request, payload), 0, valid_until_ms),
            accepted_ms=now_ms,
            key=key,
            scope=scope,
            valid_until_ms=valid_until_ms,
            bytes_max=unsigned_max,
            fresh=True,
        )

    def make_many(
        self, lane: LaneId, requests: Sequence[CosmosRequest], keys: Sequence[str | None]
    ) -> list[Arrival]:
        """A batch in its order. A smaller one has no room that a larger one before it lacked, so
        that none of them is taken behind one that was not."""
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


def checked(request: CosmosRequest) -> bytes:
    """Its bytes; what can be judged without the chain is judged before anything is accepted."""
    if not request.messages and not request.blobs:
        raise BadRequest("payload", "it has neither messages nor blobs")
    for place, one in enumerate(request.blobs):
        signer = SIGNER if one.share_version else b""
        try:
            check(Blob(one.namespace, one.data, one.share_version, signer))
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


def said(request: CosmosRequest, payload: bytes) -> bytes:
    """What the caller wants done: the same request in another trace is the same request."""
    return encode(replace(request, trace="")) if request.trace else payload
