"""A contract's execution → an arrival that every store can keep and every host can read back.

What is accepted is durable, so it is judged here: a value that could not be read again would
stop its lane for ever.
"""

from laneway.core.errors import BadRequest
from laneway.core.ids import LaneId, lane_id
from laneway.core.intent import Arrival
from laneway.core.limits import PAYLOAD_BYTES_MAX, PRIORITY_CLASSES
from laneway.engine.contract import encode_call
from laneway.kinds.arrivals import ArrivalMaker, check_text, is_count
from laneway.lanes.contract import ContractSettings
from laneway.ports import Clock, ContractCall, Entropy, TracedCall


class ContractArrivals:
    """Makes arrivals of contract executions, under one configuration."""

    def __init__(self, settings: ContractSettings, clock: Clock, entropy: Entropy) -> None:
        self._maker = ArrivalMaker(clock, entropy)
        self._priorities = settings.priorities
        limited = settings.limit_policy == "reject"
        self._bounds = {
            "fast_size": settings.fast_size,
            "count_max": settings.count_max if limited else None,
            "bytes_max": settings.bytes_max if limited else None,
        }

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
        if type(priority) is not int or not 0 <= priority < PRIORITY_CLASSES:
            raise BadRequest("priority", f"a class from 0 (urgent) to {PRIORITY_CLASSES - 1}")
        return self._maker.arrival(
            lane,
            payload,
            wanted_of(call, payload),
            key,
            scope,
            valid_until_ms,
            asked=priority,
            priority=priority if self._priorities else 0,
            **self._bounds,
        )


def wanted_of(call: ContractCall, payload: bytes) -> bytes:
    """What the caller wants done: the same request in another trace is the same request."""
    if not isinstance(call, TracedCall):
        return payload
    return encode_call(
        ContractCall(call.contract, call.executor, call.data, call.quorum_type, call.comment)
    )


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
