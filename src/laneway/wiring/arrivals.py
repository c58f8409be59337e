"""A caller's words → an arrival that every store can keep and every host can read back.

What is accepted is durable, so it is judged here: a value that could not be read again would
stop its lane for ever.
"""

from collections.abc import Sequence
from hashlib import blake2b

from laneway.core.errors import BadRequest
from laneway.core.ids import ENTROPY_BYTES, LaneId, idempotency_key, intent_id, lane_id
from laneway.core.intent import Arrival
from laneway.core.limits import PAYLOAD_BYTES_MAX, PRIORITY_CLASSES
from laneway.engine.contract import encode_call
from laneway.lanes.contract import ContractSettings
from laneway.ports import Clock, ContractCall, Entropy, TracedCall
from laneway.wiring.limits import NUMBER_MAX

RETRY_SCOPE = "~retry"
"""Whose keys are ids of intents: the intent with such a key stands in that one's place. No API key
can be called so, for their ids are small letters and digits."""


class Arrivals:
    """Makes arrivals of contract executions, under one configuration."""

    def __init__(self, settings: ContractSettings, clock: Clock, entropy: Entropy) -> None:
        self._clock = clock
        self._entropy = entropy
        self._priorities = settings.priorities
        self._fast_size = settings.fast_size
        limited = settings.limit_policy == "reject"
        self._count_max = settings.count_max if limited else None
        self._bytes_max = settings.bytes_max if limited else None

    def make(
        self,
        call: ContractCall,
        key: str | None,
        priority: int,
        valid_until_ms: int | None,
        scope: str = "",
    ) -> Arrival:
        lane = contract_lane(call.contract)
        payload = encoded(call)
        if key is not None:
            check_text("key", key)
            key = idempotency_key(key)
        if type(priority) is not int or not 0 <= priority < PRIORITY_CLASSES:
            raise BadRequest("priority", f"a class from 0 (urgent) to {PRIORITY_CLASSES - 1}")
        if valid_until_ms is not None and not is_count(valid_until_ms):
            raise BadRequest("valid_until_ms", "milliseconds since 1970, a whole number")
        now_ms = self._clock.now_ms()
        return Arrival(
            id=intent_id(now_ms, self._entropy.token(ENTROPY_BYTES)),
            lane=lane,
            payload=payload,
            digest=b"" if key is None else digest(said(call, payload), priority, valid_until_ms),
            accepted_ms=now_ms,
            key=key,
            scope=scope,
            priority=priority if self._priorities else 0,
            valid_until_ms=valid_until_ms,
            fast_size=self._fast_size,
            fresh=True,
            count_max=self._count_max,
            bytes_max=self._bytes_max,
        )


def said(call: ContractCall, payload: bytes) -> bytes:
    """What the caller wants done: the same request in another trace is the same request."""
    if not isinstance(call, TracedCall):
        return payload
    return encode_call(
        ContractCall(call.contract, call.executor, call.data, call.quorum_type, call.comment)
    )


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


def contract_lane(contract: str) -> LaneId:
    if type(contract) is not str:
        check_text("contract", contract)
    try:
        return lane_id("contract", contract)
    except BadRequest as error:
        raise BadRequest("contract", error.problem) from None


def encoded(call: ContractCall) -> bytes:
    if not type(call.executor) is type(call.data) is type(call.comment) is str:
        check_text("executor", call.executor)
        check_text("data", call.data)
        check_text("comment", call.comment)
    if not is_count(call.quorum_type):
        raise BadRequest("quorum_type", "a whole number")
    try:
        payload = encode_call(call)
    except UnicodeEncodeError as error:
        raise BadRequest("data", f"not text: {error.reason}") from error
    if len(payload) > PAYLOAD_BYTES_MAX:
        problem = f"{len(payload)} bytes are more than the {PAYLOAD_BYTES_MAX} allowed"
        raise BadRequest("data", problem)
    return payload


def check_text(field: str, value: object) -> None:
    if type(value) is not str:
        raise BadRequest(field, f"text, not {type(value).__name__}")


def is_count(value: object) -> bool:
    """A whole number that every row and every wire can hold."""
    return type(value) is int and 0 <= value <= NUMBER_MAX
