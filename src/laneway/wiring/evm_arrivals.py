"""An account's request → an arrival that every store can keep."""

from msgspec.structs import replace

from laneway.core.errors import BadRequest
from laneway.core.ids import ENTROPY_BYTES, LaneId, idempotency_key, intent_id
from laneway.core.intent import Arrival
from laneway.ports import Clock, Entropy, EvmRequest
from laneway.wiring.arrivals import check_text, digest, is_count
from laneway.wiring.evm_request import encoded


class EvmArrivals:
    """Makes arrivals of accounts' requests. They have one class: a nonce is an order."""

    def __init__(self, clock: Clock, entropy: Entropy) -> None:
        self._clock = clock
        self._entropy = entropy

    def make(
        self,
        lane: LaneId,
        request: EvmRequest,
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
        return Arrival(
            id=intent_id(now_ms, self._entropy.token(ENTROPY_BYTES)),
            lane=lane,
            payload=encoded(request),
            digest=b"" if key is None else digest(said(request), 0, valid_until_ms),
            accepted_ms=now_ms,
            key=key,
            scope=scope,
            valid_until_ms=valid_until_ms,
            fresh=True,
        )


def said(request: EvmRequest) -> bytes:
    """What the caller wants done: the same request in another trace is the same request."""
    return encoded(replace(request, trace="") if request.trace else request)
