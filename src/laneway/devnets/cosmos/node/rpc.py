"""JSON-RPC as CometBFT speaks it: posted, one call or a batch, or as the query of a URI."""

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import parse_qsl

from msgspec import UNSET, DecodeError, Struct, UnsetType, json

from laneway.core.nesting import bounded
from laneway.devnets.cosmos.limits import BATCH_COUNT_MAX, BODY_BYTES_MAX
from laneway.devnets.cosmos.model.chain import CosmosModel
from laneway.devnets.cosmos.node.comet import METHODS
from laneway.devnets.cosmos.node.parameters import CometParameters, CometRefused, by_name
from laneway.wire.rpc_codes import INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR
from laneway.wire.rpc_server.connection import ServedConnection
from laneway.wire.rpc_server.dialect import Dialect, RpcRequest
from laneway.wire.rpc_server.limits import RpcLimits
from laneway.wire.rpc_server.methods import Json, RpcRefused
from laneway.wire.rpc_server.rpc import Rpc

LIMITS: Final = RpcLimits(body_bytes=BODY_BYTES_MAX, batch_count=BATCH_COUNT_MAX)

URI_ID: Final = -1
"""The id in the answer to a call that came without one."""


class CometCaller(Struct, frozen=True):
    """A client of one node; CometBFT's WebSocket is not served."""

    chain: CosmosModel
    node: int
    connection: ServedConnection | None = None

    @property
    def is_connected(self) -> bool:
        return False

    def close(self) -> None:
        """Nothing is kept for it."""


class CometRequest(RpcRequest, frozen=True, kw_only=True):
    params: dict[str, object] | list[object] | None = None


class CometDialect(Dialect):
    call_type = CometRequest
    refuses_whole = True
    takes_any_content = True

    def is_batch(self, _content: Sequence[object]) -> bool:
        return True

    def is_done(self, call: RpcRequest) -> bool:
        """A call that nobody waits for is not carried out."""
        return call.id is not UNSET and call.id is not None

    def unreadable(self, problem: Exception) -> RpcRefused:
        return CometRefused(PARSE_ERROR, f"error unmarshaling request: {problem}")

    def malformed(self, problem: Exception) -> RpcRefused:
        return self.unreadable(problem)

    def batch_too_large(self, count: int, most: int) -> RpcRefused:
        return CometRefused(INVALID_REQUEST, f"batch of {count} calls is larger than {most}")

    def unknown(self, _method: str) -> RpcRefused:
        return CometRefused(METHOD_NOT_FOUND)

    def answered(self, call: RpcRequest, result: object) -> Json:
        return {"jsonrpc": "2.0", "id": id_of(call.id), "result": result}

    def refused(self, call: RpcRequest | None, no: RpcRefused) -> Json:
        answer = super().refused(call, no)
        answer["id"] = URI_ID if call is None else id_of(call.id)
        if no.code == PARSE_ERROR:
            del answer["id"]  # Nobody knows which one it had.
        return answer

    def status(self, answer: Json | list[Json]) -> int:
        return 200 if "id" in answer or isinstance(answer, list) else 500


def id_of(number: int | float | str | UnsetType | None) -> object:
    return int(number) if isinstance(number, float) else number


class CometRpc(Rpc[CometCaller]):
    """It reads its table when it is asked: what a parameter may be depends on how it came."""

    def __init__(self) -> None:
        super().__init__({}, CometDialect(), LIMITS)

    def invoke(self, context: CometCaller, name: str, params: object) -> Json:
        if name not in METHODS:
            raise self.dialect.unknown(name)
        method, names = METHODS[name]
        return method(context.chain, context.node, CometParameters(by_name(params, names)))

    def answer_uri(self, context: CometCaller, name: str, query: str) -> tuple[int, Json]:
        """The answer to `name?query`, with the status of HTTP."""
        if name not in METHODS:
            return 404, self.dialect.refused(None, self.dialect.unknown(name))
        method, _ = METHODS[name]
        try:
            parameters = CometParameters(uri_parameters(query), "http")
            result = method(context.chain, context.node, parameters)
            return 200, {"jsonrpc": "2.0", "id": URI_ID, "result": result}
        except RpcRefused as no:
            return 500, self.dialect.refused(None, no)


def uri_parameters(query: str) -> Mapping[str, object]:
    """Quoted texts, numbers, lists in JSON, and bytes as 0x."""
    found: dict[str, object] = {}
    for name, value in parse_qsl(query):
        try:
            is_hex = value[:2] in ("0x", "0X")
            found[name] = value if is_hex else json.decode(bounded(value.encode()))
        except DecodeError:
            problem = f"invalid character {value[:1]!r} looking for beginning of value"
            raise CometParameters({}, "http").bad(problem) from None
    return found
