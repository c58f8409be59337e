"""JSON-RPC 2.0 as JIP-2 uses it: one call in a message, parameters by position.

There are no batches: a list is refused whole. Whatever arrives, there is an answer to it.
"""

from typing import Final

from laneway.core.nesting import TooManyBrackets
from laneway.devnets.jam.limits import (
    MESSAGE_BYTES_MAX,
    NAME_CHARS_MAX,
    OUTGOING_BYTES_MAX,
    OUTGOING_COUNT_MAX,
)
from laneway.devnets.jam.model.values import (
    BlockUnavailable,
    Impossible,
    NotHeld,
    ReportUnavailable,
    SegmentUnavailable,
)
from laneway.devnets.jam.node.caller import JamCaller
from laneway.devnets.jam.node.control import CONTROLS
from laneway.devnets.jam.node.host import JamHost
from laneway.devnets.jam.node.methods import METHODS
from laneway.devnets.jam.node.subscriptions import SUBSCRIBING
from laneway.jam.errors import InvalidJam
from laneway.wire.jip2 import BLOCK_UNAVAILABLE, OTHER, REPORT_UNAVAILABLE, SEGMENT_UNAVAILABLE
from laneway.wire.jip2 import blob as text
from laneway.wire.rpc_codes import METHOD_NOT_FOUND
from laneway.wire.rpc_server.dialect import Dialect
from laneway.wire.rpc_server.limits import RpcLimits
from laneway.wire.rpc_server.methods import RpcRefused
from laneway.wire.rpc_server.rpc import Rpc

LIMITS: Final = RpcLimits(
    body_bytes=MESSAGE_BYTES_MAX,
    outgoing_count=OUTGOING_COUNT_MAX,
    outgoing_bytes=OUTGOING_BYTES_MAX,
)

CHANGING: Final = frozenset(
    (
        *("submitWorkPackage", "submitWorkPackageBundle", "submitPreimage"),
        *("dev_produce", "dev_finality", "dev_reset", "dev_fault", "dev_partition", "dev_heal"),
    )
)
"""Methods that may change the chain; all others only read it."""


class Jip2Dialect(Dialect):
    takes_batches = False
    usage = "JIP-2 is spoken over WebSocket, or posted"

    def unreadable(self, problem: Exception) -> RpcRefused:
        is_wide = isinstance(problem, TooManyBrackets)
        return self.invalid() if is_wide else super().unreadable(problem)

    def unknown(self, method: str) -> RpcRefused:
        return RpcRefused(METHOD_NOT_FOUND, f"Method not found: {method[:NAME_CHARS_MAX]}")

    def unconnected(self, _method: str) -> RpcRefused:
        return RpcRefused(OTHER, "a subscription needs a WebSocket")


class JamRpc(Rpc[JamCaller]):
    def __init__(self) -> None:
        super().__init__({**METHODS, **CONTROLS, **SUBSCRIBING}, Jip2Dialect(), LIMITS)

    def invoke(self, context: JamCaller, name: str, params: object) -> object:
        method = self.found(context, name)
        values = self.dialect.parameters(method, params)
        if name in CHANGING:
            context.host.keep(context.node, name, params)
        try:
            return method.call(context, *values)
        except (NotHeld, Impossible, InvalidJam) as problem:
            raise refusal_of(problem) from problem


def refusal_of(problem: NotHeld | Impossible | InvalidJam) -> RpcRefused:
    """What the model says, with the code that JIP-2 has for it."""
    if isinstance(problem, BlockUnavailable):
        about = text(problem.about)
        return RpcRefused(BLOCK_UNAVAILABLE, f"Block unavailable: {about}", about)
    if isinstance(problem, ReportUnavailable):
        return RpcRefused(REPORT_UNAVAILABLE, "Work-report unavailable", text(problem.about))
    if isinstance(problem, SegmentUnavailable):
        return RpcRefused(SEGMENT_UNAVAILABLE, "DA segment unavailable")
    return RpcRefused(OTHER, str(problem))


def ask(host: JamHost, node: int, method: str, params: object) -> object:
    """The answer of a node to one call, without a socket; RpcRefused is its refusal."""
    return JamRpc().invoke(JamCaller(host, node), method, params)
