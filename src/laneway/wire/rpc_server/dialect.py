"""How a family of nodes speaks JSON-RPC: what it takes for a call, and the phrases it refuses with.

`Dialect` is the specification's own; a chain overrides what its nodes do differently.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from msgspec import UNSET, DecodeError, Struct, UnsetType, ValidationError, convert, json

from laneway.core.nesting import bounded
from laneway.wire.rpc_codes import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR
from laneway.wire.rpc_server.limits import RpcLimits
from laneway.wire.rpc_server.methods import Json, Method, RpcRefused


class RpcRequest(Struct, frozen=True, kw_only=True):
    method: str
    params: object = None
    id: int | float | str | UnsetType | None = UNSET
    """Without one nobody waits for an answer."""


class VersionedRequest(RpcRequest, frozen=True, kw_only=True):
    jsonrpc: Literal["2.0"]


class Dialect:
    call_type: ClassVar[type[RpcRequest]] = VersionedRequest
    takes_batches: ClassVar[bool] = True
    refuses_whole: ClassVar[bool] = False
    """Whether a batch in which one element is no call is refused whole."""
    takes_any_content: ClassVar[bool] = False
    """Whether a body may be posted as something else than JSON: a page in a browser may post text
    to any address without asking."""
    usage: ClassVar[str] = "JSON-RPC is posted"
    """For those who ask for a page."""

    def read(
        self, body: bytes, limits: RpcLimits
    ) -> RpcRequest | RpcRefused | list[RpcRequest | RpcRefused]:
        """The call or the batch in a body, with a refusal for each of its elements that is no call;
        RpcRefused that is raised refuses the whole of it."""
        try:
            content = json.decode(bounded(body, limits.brackets_count))
        except (DecodeError, UnicodeDecodeError) as error:
            raise self.unreadable(error) from None
        is_batch = self.takes_batches and isinstance(content, list) and self.is_batch(content)
        calls = content if is_batch else [content]
        if len(calls) > limits.batch_count:
            raise self.batch_too_large(len(calls), limits.batch_count)
        found = [self._call(call) for call in calls]
        refusals = [one for one in found if isinstance(one, RpcRefused)]
        if refusals and (self.refuses_whole or not is_batch):
            raise refusals[0]
        return found if is_batch else found[0]

    def _call(self, content: object) -> RpcRequest | RpcRefused:
        try:
            return convert(content, self.call_type)
        except ValidationError as error:
            return self.malformed(error)

    def is_batch(self, content: Sequence[object]) -> bool:
        """An empty list is no batch."""
        return len(content) > 0

    def is_done(self, _call: RpcRequest) -> bool:
        """Whether a call is carried out at all; one without an id is, and is not answered."""
        return True

    def parameters(self, method: Method, params: object) -> list[Any]:
        """The parameters as the method's kinds return them, without those that were left out."""
        values = [] if params is None else params
        if not isinstance(values, list):
            raise self.wrong("parameters are given by position")
        most = len(method.kinds)
        if not most - method.optional <= len(values) <= most:
            raise self.wrong(f"expected {most} and got {len(values)}")
        return [kind(value) for kind, value in zip(method.kinds, values, strict=False)]

    # Refusals.

    def unreadable(self, _problem: Exception) -> RpcRefused:
        """Of a body that is not JSON, or beyond the bounds."""
        return RpcRefused(PARSE_ERROR, "Parse error")

    def malformed(self, _problem: Exception) -> RpcRefused:
        """Of JSON that is no call."""
        return self.invalid()

    def batch_too_large(self, _count: int, most: int) -> RpcRefused:
        return RpcRefused(INVALID_REQUEST, f"batch too large: at most {most} calls")

    def invalid(self) -> RpcRefused:
        return RpcRefused(INVALID_REQUEST, "Invalid request")

    def unknown(self, _method: str) -> RpcRefused:
        return RpcRefused(METHOD_NOT_FOUND, "Method not found")

    def unconnected(self, method: str) -> RpcRefused:
        """Of a method that needs a WebSocket, and was posted."""
        return self.unknown(method)

    def wrong(self, problem: str) -> RpcRefused:
        return RpcRefused(INVALID_PARAMS, f"Invalid params: {problem}")

    # Answers.

    def answered(self, call: RpcRequest, result: object) -> Json:
        return {"jsonrpc": "2.0", "id": call.id, "result": result}

    def refused(self, call: RpcRequest | None, refusal: RpcRefused) -> Json:
        """The answer to a call; None: to a body in which no call was found."""
        error: Json = {"code": refusal.code, "message": refusal.message}
        if refusal.data not in (None, ""):
            error["data"] = refusal.data
        return {"jsonrpc": "2.0", "id": None if call is None else call.id, "error": error}

    def status(self, _answer: Json | list[Json]) -> int:
        """HTTP's, of an answer to what was posted."""
        return 200
