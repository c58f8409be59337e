"""What every kind's arrivals have in common: ids, idempotency keys and digests."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, TypeVar

from msgspec import Struct, ValidationError, convert
from msgspec.structs import replace

from laneway.core.errors import BadRequest
from laneway.core.ids import ENTROPY_BYTES, LaneId, idempotency_key, intent_id
from laneway.core.intent import Arrival
from laneway.kinds.limits import NUMBER_MAX
from laneway.ports import Clock, CosmosRequest, Entropy, EvmRequest

R = TypeVar("R", EvmRequest, CosmosRequest)
P = TypeVar("P", bound=Struct)

RETRY_SCOPE = "~retry"
"""Whose keys are ids of intents: the intent with such a key stands in that one's place. No API key
can be called so, for their ids are small letters and digits."""


def nothing_else(more: Mapping[str, Any]) -> None:
    """TypeError for keywords that a kind's submission does not have, as any call raises it."""
    if more:
        raise TypeError(f"submit() got an unexpected keyword argument {next(iter(more))!r}")


def plain(request: object) -> Mapping[str, Any]:
    """A request as plain values; BadRequest if it is neither that nor the kind's own value."""
    if not isinstance(request, Mapping):
        problem = f"the kind's own value, or its payload as plain values, not {type(request)}"
        raise BadRequest("request", problem)
    return request


def converted(request: Mapping[str, Any], payload: type[P]) -> P:
    """A request of plain values, in the type of the API's payload; BadRequest names what is wrong
    with it."""
    try:
        return convert(request, payload)
    except ValidationError as error:
        raise BadRequest("request", str(error)) from None


def check_fields(request: Mapping[str, Any], payload: type[Struct]) -> None:
    """BadRequest if a request has a field that the API's payload has not."""
    for name in request:
        if name not in payload.__struct_fields__:
            raise BadRequest(str(name), "there is no such field in a request")


def untraced(request: R) -> R:
    """The same request in another trace is the same request."""
    return replace(request, trace="") if request.trace else request


class ArrivalMaker:
    """Makes arrivals of payloads that were judged: ids, keys and digests."""

    def __init__(self, clock: Clock, entropy: Entropy) -> None:
        self._clock = clock
        self._entropy = entropy

    def arrival(
        self,
        lane: LaneId,
        payload: bytes,
        wanted: bytes,
        key: str | None,
        scope: str = "",
        valid_until_ms: int | None = None,
        *,
        asked: int = 0,
        **more: Any,
    ) -> Arrival:
        """`wanted` is what the caller wants done, without what may differ when it asks again under
        one key; `asked` is the priority that was asked for."""
        key = checked_key(key, valid_until_ms)
        now_ms = self._clock.now_ms()
        return Arrival(
            id=intent_id(now_ms, self._entropy.token(ENTROPY_BYTES)),
            lane=lane,
            payload=payload,
            digest=b"" if key is None else digest(wanted, asked, valid_until_ms),
            accepted_ms=now_ms,
            key=key,
            scope=scope,
            valid_until_ms=valid_until_ms,
            fresh=True,
            **more,
        )

    def of_request(
        self,
        lane: LaneId,
        request: R,
        encode: Callable[[R], bytes],
        key: str | None,
        scope: str = "",
        valid_until_ms: int | None = None,
        *,
        bare: Callable[[R], R] = untraced,
        **more: Any,
    ) -> Arrival:
        """Of an account's request. `bare` takes from it what does not make it another one."""
        payload = wanted = encode(request)
        if key is not None and (plain := bare(request)) is not request:
            wanted = encode(plain)
        return self.arrival(lane, payload, wanted, key, scope, valid_until_ms, **more)


def checked_key(key: str | None, valid_until_ms: int | None) -> str | None:
    """The idempotency key of an arrival; BadRequest if that, or its time, cannot be stored."""
    if valid_until_ms is not None and not is_count(valid_until_ms):
        raise BadRequest("valid_until_ms", "milliseconds since 1970, a whole number")
    if key is None:
        return None
    check_text("key", key)
    return idempotency_key(key)


def digest(payload: bytes, priority: int, valid_until_ms: int | None) -> bytes:
    """Of all that a caller may say twice under one key; what it left out counts for nothing."""
    body = blake2b(payload, digest_size=16)
    if priority or valid_until_ms is not None:
        body.update(f"\0{priority}\0{valid_until_ms}".encode())
    return body.digest()


def named_keys(keys: Sequence[str | None] | None, count: int, what: str) -> Sequence[str | None]:
    """A key, or none, for each of a batch."""
    if keys is None:
        return [None] * count
    if len(keys) != count:
        raise BadRequest("keys", f"{len(keys)} keys for {count} {what}")
    return keys


def check_text(field: str, value: object) -> None:
    if type(value) is not str:
        raise BadRequest(field, f"text, not {type(value).__name__}")


def is_count(value: object) -> bool:
    """A whole number that every row and every wire can hold."""
    return type(value) is int and 0 <= value <= NUMBER_MAX
