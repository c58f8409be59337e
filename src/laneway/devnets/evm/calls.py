"""JSON-RPC as anvil reads it: one call or a batch of them, in bytes; and what is answered.

Whatever is not exactly that is one "Invalid request" for the whole of it.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import UNSET, DecodeError, Struct, UnsetType, ValidationError, convert, json

from laneway.devnets.evm.control import CONTROLS
from laneway.devnets.evm.given import INVALID_PARAMS, METHOD_NOT_FOUND, Given, RpcRefused
from laneway.devnets.evm.host import EvmHost
from laneway.devnets.evm.limits import BATCH_COUNT_MAX, OPENINGS_COUNT_MAX
from laneway.devnets.evm.methods import METHODS, Method
from laneway.devnets.evm.shown import Json, answered, refused

INVALID_REQUEST = -32600
SEND = "eth_sendRawTransaction"


class Call(Struct, frozen=True):
    jsonrpc: Literal["2.0"]
    method: str
    params: object = None
    id: int | float | str | UnsetType | None = UNSET
    """Without one nobody waits for an answer."""


NO_METHODS: Mapping[str, Method] = {}


def ask(
    host: EvmHost, node: int, method: str, params: object, more: Mapping[str, Method] = NO_METHODS
) -> object:
    """The result of one call; RpcRefused is the node's no. The host is not settled yet."""
    found = METHODS.get(method) or CONTROLS.get(method) or more.get(method)
    if found is None:
        raise RpcRefused(METHOD_NOT_FOUND, "Method not found")
    if params is None:
        params = []
    if not isinstance(params, list):
        raise RpcRefused(INVALID_PARAMS, "invalid type: map, expected a sequence")
    return found(host, node, Given(params))


def answer(
    host: EvmHost, node: int, body: bytes, more: Mapping[str, Method] = NO_METHODS
) -> Json | list[Json] | None:
    """What is said to a request; None where nobody waits for an answer."""
    calls = read_calls(body)
    if isinstance(calls, dict):
        return calls
    many = calls if isinstance(calls, list) else [calls]
    answers = [answer_one(host, node, call, more) for call in many]
    if any(changes(call.method) for call in many):
        # Once for a whole batch: anvil too mines after its answer, what came together together.
        host.settle()
    said = [one for one in answers if one is not None]
    if isinstance(calls, list):
        return said or None
    return said[0] if said else None


def changes(method: str) -> bool:
    """Whether the host is to be settled after it."""
    return method == SEND or method in CONTROLS


def answer_one(host: EvmHost, node: int, call: Call, more: Mapping[str, Method]) -> Json | None:
    try:
        result = ask(host, node, call.method, call.params, more)
    except RpcRefused as no:
        error: Json = {"code": no.code, "message": no.message}
        if no.data is not None:
            error["data"] = no.data
        return None if call.id is UNSET else refused(call.id, error)
    return None if call.id is UNSET else answered(call.id, result)


def read_calls(body: bytes) -> list[Call] | Call | Json:
    """The calls of a request, or the answer to what is none."""
    if body.count(b"[") + body.count(b"{") > OPENINGS_COUNT_MAX:
        return invalid()
    try:
        said = json.decode(body)
        if isinstance(said, list) and len(said) > BATCH_COUNT_MAX:
            return invalid(f"batch too large: at most {BATCH_COUNT_MAX} calls")
        if isinstance(said, list) and said:
            return convert(said, list[Call])
        return convert(said, Call)
    except (ValidationError, DecodeError, UnicodeDecodeError, RecursionError):
        return invalid()


def invalid(message: str = "Invalid request") -> Json:
    return refused(None, {"code": INVALID_REQUEST, "message": message})
