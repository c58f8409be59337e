"""JSON-RPC as CometBFT reads it: posted, one call or a batch, or in the words of a URI."""

from collections.abc import Mapping
from urllib.parse import parse_qsl

from msgspec import DecodeError, Struct, ValidationError, convert, json

from laneway.devnets.cosmos.comet import METHODS, Json
from laneway.devnets.cosmos.given import (
    INVALID_REQUEST,
    MESSAGES,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Given,
    RpcRefused,
    by_name,
)
from laneway.devnets.cosmos.limits import BATCH_COUNT_MAX, OPENINGS_COUNT_MAX
from laneway.devnets.cosmos.model import CosmosChain

URI_ID = -1
"""What a call has for a number that came without one."""


class Call(Struct, frozen=True):
    method: str
    jsonrpc: str = "2.0"
    params: dict[str, object] | list[object] | None = None
    id: int | float | str | None = None
    """Without one nobody waits for an answer, and nothing is done."""


def ask(chain: CosmosChain, node: int, method: str, params: object = None) -> Json:
    """The result of one call; RpcRefused is the node's no."""
    found = METHODS.get(method)
    if found is None:
        raise RpcRefused(METHOD_NOT_FOUND)
    call, names = found
    return call(chain, node, Given(by_name(params, names)))


def answer(chain: CosmosChain, node: int, body: bytes) -> Json | list[Json] | None:
    """What is said to a request that was posted; None where nobody waits for an answer."""
    if is_too_deep(body):
        return unreadable("it is nested too deep")
    try:
        said = json.decode(body)
        calls = convert(said, list[Call]) if isinstance(said, list) else convert(said, Call)
    except (ValidationError, DecodeError, UnicodeDecodeError, RecursionError) as error:
        return unreadable(str(error))
    if isinstance(calls, Call):
        return answer_one(chain, node, calls)
    if len(calls) > BATCH_COUNT_MAX:
        problem = f"batch of {len(calls)} calls is larger than {BATCH_COUNT_MAX}"
        return refused(URI_ID, RpcRefused(INVALID_REQUEST, problem))
    answers = [answer_one(chain, node, call) for call in calls]
    return [one for one in answers if one is not None] or None


def answer_one(chain: CosmosChain, node: int, call: Call) -> Json | None:
    if call.id is None:
        return None
    number = int(call.id) if isinstance(call.id, float) else call.id
    try:
        result = ask(chain, node, call.method, call.params)
    except RpcRefused as no:
        return refused(number, no)
    return {"jsonrpc": "2.0", "id": number, "result": result}


def is_too_deep(body: bytes) -> bool:
    return body.count(b"[") + body.count(b"{") > OPENINGS_COUNT_MAX


def unreadable(problem: str) -> Json:
    """It has no number, for nobody knows which one it had."""
    said = refused(URI_ID, RpcRefused(PARSE_ERROR, f"error unmarshaling request: {problem}"))
    del said["id"]
    return said


def status_of(answers: Json | list[Json]) -> int:
    """What HTTP says of it."""
    is_unread = isinstance(answers, dict) and "id" not in answers
    return 500 if is_unread else 200


def answer_uri(chain: CosmosChain, node: int, method: str, words: str) -> tuple[int, Json]:
    """What is said to `method?words`, with the status of HTTP."""
    found = METHODS.get(method)
    if found is None:
        return 404, refused(URI_ID, RpcRefused(METHOD_NOT_FOUND))
    try:
        return 200, {
            "jsonrpc": "2.0",
            "id": URI_ID,
            "result": found[0](chain, node, Given(uri_params(words), "http")),
        }
    except RpcRefused as no:
        return 500, refused(URI_ID, no)


def uri_params(words: str) -> Mapping[str, object]:
    """Quoted texts, numbers, lists in JSON, and bytes as 0x."""
    found: dict[str, object] = {}
    for name, value in parse_qsl(words):
        try:
            if is_too_deep(value.encode()):
                raise DecodeError
            found[name] = value if value[:2] in ("0x", "0X") else json.decode(value)
        except (DecodeError, RecursionError):
            problem = f"invalid character {value[:1]!r} looking for beginning of value"
            raise Given({}, "http").bad(problem) from None
    return found


def refused(number: int | str, no: RpcRefused) -> Json:
    error: Json = {"code": no.code, "message": MESSAGES[no.code]}
    if no.data:
        error["data"] = no.data
    return {"jsonrpc": "2.0", "id": number, "error": error}
