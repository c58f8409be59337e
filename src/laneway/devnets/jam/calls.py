"""JSON-RPC 2.0 as JIP-2 uses it: one call in a message, parameters by position; and its answer.

There are no batches: a list is refused whole. Whatever arrives, there is an answer to it.
"""

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from msgspec import UNSET, DecodeError, Struct, UnsetType, ValidationError, convert, json

from laneway.devnets.jam.control import CONTROLS
from laneway.devnets.jam.given import INVALID_REQUEST, PARSE_ERROR, RpcRefused, read
from laneway.devnets.jam.host import JamHost
from laneway.devnets.jam.limits import NAME_CHARS_MAX, OPENINGS_COUNT_MAX
from laneway.devnets.jam.methods import METHODS
from laneway.devnets.jam.shown import Json
from laneway.devnets.jam.subscriptions import SUBSCRIPTIONS, left_by
from laneway.devnets.jam.values import (
    BlockUnavailable,
    Impossible,
    ReportUnavailable,
    SegmentUnavailable,
    Unavailable,
)
from laneway.jam.errors import InvalidJam
from laneway.wire.jip2 import (
    BLOCK_UNAVAILABLE,
    OTHER,
    REPORT_UNAVAILABLE,
    SEGMENT_UNAVAILABLE,
)
from laneway.wire.jip2 import blob as text
from laneway.wire.jsonrpc import METHOD_NOT_FOUND

Ask: TypeAlias = Callable[[str, object], object]
"""The result of a method with its parameters; RpcRefused is the node's no."""


CHANGING: Final = frozenset(
    (
        *("submitWorkPackage", "submitWorkPackageBundle", "submitPreimage"),
        *("dev_produce", "dev_finality", "dev_reset", "dev_fault", "dev_partition", "dev_heal"),
    )
)
"""Methods that may change the chain; all others only tell."""


class Call(Struct, frozen=True):
    jsonrpc: Literal["2.0"]
    method: str
    params: object = None
    id: int | float | str | UnsetType | None = UNSET
    """Without one nobody waits for an answer."""


def answer(ask: Ask, body: bytes) -> Json | None:
    """What is said to a message; None where nobody waits for an answer."""
    try:
        call = read_call(body)
    except RpcRefused as no:
        return refused(None, no)
    try:
        result = ask(call.method, call.params)
    except RpcRefused as no:
        return None if call.id is UNSET else refused(call.id, no)
    return None if call.id is UNSET else {"jsonrpc": "2.0", "result": result, "id": call.id}


def read_call(body: bytes) -> Call:
    if body.count(b"[") + body.count(b"{") > OPENINGS_COUNT_MAX:
        raise RpcRefused(INVALID_REQUEST, "Invalid request")
    try:
        said = json.decode(body)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        raise RpcRefused(PARSE_ERROR, "Parse error") from None
    try:
        return convert(said, Call)
    except ValidationError:
        raise RpcRefused(INVALID_REQUEST, "Invalid request") from None


def ask(host: JamHost, node: int, method: str, params: object) -> object:
    """What a node says to a call, wherever that comes from."""
    found = METHODS.get(method) or CONTROLS.get(method)
    if found is None:
        if method in SUBSCRIPTIONS or left_by(method) is not None:
            raise RpcRefused(OTHER, "a subscription needs a WebSocket")
        raise RpcRefused(METHOD_NOT_FOUND, f"Method not found: {method[:NAME_CHARS_MAX]}")
    given = read(found, params)
    if host.kept is not None and method in CHANGING:
        host.kept(node, method, params)
    try:
        return found.call(host, node, *given)
    except (Unavailable, Impossible, InvalidJam) as problem:
        raise told(problem) from problem


def told(problem: Unavailable | Impossible | InvalidJam) -> RpcRefused:
    """What the model says, with the code that JIP-2 has for it."""
    if isinstance(problem, BlockUnavailable):
        about = text(problem.about)
        return RpcRefused(BLOCK_UNAVAILABLE, f"Block unavailable: {about}", about)
    if isinstance(problem, ReportUnavailable):
        return RpcRefused(REPORT_UNAVAILABLE, "Work-report unavailable", text(problem.about))
    if isinstance(problem, SegmentUnavailable):
        return RpcRefused(SEGMENT_UNAVAILABLE, "DA segment unavailable")
    return RpcRefused(OTHER, str(problem))


def refused(number: int | float | str | None, no: RpcRefused) -> Json:
    error: Json = {"code": no.code, "message": no.message}
    if no.about is not None:
        error["data"] = no.about
    return {"jsonrpc": "2.0", "error": error, "id": number}
