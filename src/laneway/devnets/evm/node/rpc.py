"""JSON-RPC as anvil speaks it: whatever is not exactly a call or a batch of calls is one "Invalid
request" for the whole of it."""

from collections.abc import Sequence
from typing import Any, Final

from laneway.devnets.evm.limits import BATCH_COUNT_MAX, BODY_BYTES_MAX, OUTGOING_COUNT_MAX
from laneway.devnets.evm.node.control import CONTROLS
from laneway.devnets.evm.node.methods import METHODS
from laneway.devnets.evm.node.parameters import wrong
from laneway.devnets.evm.node.subscriptions import SUBSCRIPTIONS, EvmCaller
from laneway.wire.rpc_server.dialect import Dialect, RpcRequest
from laneway.wire.rpc_server.limits import RpcLimits
from laneway.wire.rpc_server.methods import Method, RpcRefused
from laneway.wire.rpc_server.rpc import Rpc

LIMITS: Final = RpcLimits(
    body_bytes=BODY_BYTES_MAX, batch_count=BATCH_COUNT_MAX, outgoing_count=OUTGOING_COUNT_MAX
)
CHANGING: Final = frozenset(("eth_sendRawTransaction", "eth_sendRawTransactionSync", *CONTROLS))
"""Methods after which the host is to be settled."""


class AnvilDialect(Dialect):
    refuses_whole = True

    def unreadable(self, _problem: Exception) -> RpcRefused:
        return self.invalid()

    def parameters(self, method: Method, params: object) -> list[Any]:
        """More than a method takes are passed over."""
        values = [] if params is None else params
        if not isinstance(values, list):
            raise wrong("invalid type: map, expected a sequence")
        if len(values) < len(method.kinds) - method.optional:
            count = len(values)
            raise wrong(f"invalid length {count}, expected at least {count + 1} elements")
        return [kind(value) for kind, value in zip(method.kinds, values, strict=False)]


class EvmRpc(Rpc[EvmCaller]):
    def __init__(self) -> None:
        super().__init__({**METHODS, **CONTROLS, **SUBSCRIPTIONS}, AnvilDialect(), LIMITS)

    def finish(self, context: EvmCaller, calls: Sequence[RpcRequest]) -> None:
        if any(call.method in CHANGING for call in calls):
            # Once for a batch: anvil too mines after its answer, what came together together.
            context.host.settle()
