"""Calls of JSON-RPC and their answers; it knows no connection and reads no socket."""

from collections.abc import Sequence
from inspect import isawaitable
from typing import Generic, Protocol, TypeVar

from msgspec import UNSET

from laneway.wire.rpc_server.dialect import Dialect, RpcRequest
from laneway.wire.rpc_server.limits import RpcLimits
from laneway.wire.rpc_server.methods import Json, Method, Methods, RpcRefused


class RpcContext(Protocol):
    """The client that asks, which methods are called with. It lives as long as its connection, or
    as one request over HTTP."""

    @property
    def is_connected(self) -> bool:
        """Whether it can be notified, over a WebSocket."""

    def close(self) -> None:
        """The connection or the request has ended."""


C = TypeVar("C", bound=RpcContext)


class Rpc(Generic[C]):
    """Methods in a dialect. A subclass may do something before a call or after a request."""

    def __init__(self, methods: Methods, dialect: Dialect, limits: RpcLimits) -> None:
        self.methods = methods
        self.dialect = dialect
        self.limits = limits

    async def answer(self, context: C, body: bytes) -> Json | list[Json] | None:
        """The answer to a request; None where nobody waits for one."""
        try:
            found = self.dialect.read(body, self.limits)
        except RpcRefused as refusal:
            return self.dialect.refused(None, refusal)
        calls = found if isinstance(found, list) else [found]
        answers = [await self._answer(context, call) for call in calls]
        self.finish(context, [call for call in calls if isinstance(call, RpcRequest)])
        wanted = [answer for answer in answers if answer is not None]
        if isinstance(found, list):
            return wanted or None
        return wanted[0] if wanted else None

    def invoke(self, context: C, name: str, params: object) -> object:
        """The result of one method, or an awaitable of it; RpcRefused is a refusal."""
        method = self.found(context, name)
        return method.call(context, *self.dialect.parameters(method, params))

    def found(self, context: C, name: str) -> Method:
        method = self.methods.get(name)
        if method is None:
            raise self.dialect.unknown(name)
        if method.needs_connection and not context.is_connected:
            raise self.dialect.unconnected(name)
        return method

    def finish(self, context: C, calls: Sequence[RpcRequest]) -> None:
        """All calls of one request were carried out, and their answers have not left yet."""

    async def _answer(self, context: C, call: RpcRequest | RpcRefused) -> Json | None:
        if isinstance(call, RpcRefused):
            return self.dialect.refused(None, call)
        if not self.dialect.is_done(call):
            return None
        try:
            result = self.invoke(context, call.method, call.params)
            if isawaitable(result):
                result = await result
            answer = self.dialect.answered(call, result)
        except RpcRefused as refusal:
            answer = self.dialect.refused(call, refusal)
        return None if call.id is UNSET else answer
