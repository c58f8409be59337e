"""What a mined transaction of ours did: its logs, and why it failed.

For people alone: one node's word is enough, nothing that decides asks, and nothing here is held
against a node. A trace is exact; where no node has one, the call is run again on the states around
its block, which may differ from the one that it met.
"""

from collections.abc import Sequence

from msgspec import Struct, json

from laneway.chains.evm.endpoint import EvmEndpoint
from laneway.chains.evm.estimate import is_revert, output_of, shape_of
from laneway.chains.evm.limits import LOG_BYTES_MAX, LOGS_COUNT_MAX, OUTPUT_BYTES_MAX
from laneway.chains.evm.nodes import EvmNodes
from laneway.chains.evm.shapes import read, translated
from laneway.core.errors import ChainUnreachable, ChainUnreadable
from laneway.core.facts import LogSeen, LogsSeen, RevertSeen
from laneway.core.limits import REASON_CHARS_MAX
from laneway.ports import MinedCall
from laneway.wire.hex import octets, quantity, read_octets
from laneway.wire.jsonrpc import RpcAnswer, RpcCall, RpcError
from laneway.wire.rpc_codes import METHOD_NOT_FOUND

TRACE = "debug_traceTransaction"
QUESTIONS = 3
"""What a reason may take: a trace, and two calls without one."""
TRACER = {"tracer": "callTracer", "tracerConfig": {"onlyTopCall": True}, "timeout": "1s"}


class LogShape(Struct):
    address: str
    topics: list[str]
    data: str


class LoggedReceipt(Struct, rename="camel"):
    block_hash: str | None
    logs: list[LogShape]


class TraceShape(Struct):
    output: str | None = None
    error: str | None = None


RECEIPT: json.Decoder[LoggedReceipt | None] = json.Decoder(LoggedReceipt | None)
TRACED = json.Decoder(TraceShape)


async def logs_of(nodes: EvmNodes, mined: MinedCall) -> LogsSeen:
    async def ask(node: EvmEndpoint) -> LogsSeen:
        check_spared(node, 1)
        (answer,) = await node.ask([RpcCall("eth_getTransactionReceipt", (octets(mined.hash),))])
        receipt = read(node, answer, RECEIPT)
        if receipt is None or receipt.block_hash != octets(mined.block.hash):
            raise ChainUnreadable(node.name, "it shows the transaction in no or another block")
        return translated(node, lambda: logs_in(receipt.logs))

    return await nodes.read(ask, at_head=False)


def check_spared(node: EvmEndpoint, calls_count: int) -> None:
    """ChainUnreachable where a lane may need the node more."""
    if not node.spares(calls_count):
        raise ChainUnreachable(node.name, "it rests, or its allowance is left to the lanes")


def logs_in(shapes: Sequence[LogShape]) -> LogsSeen:
    """The first ones, as many as are kept."""
    logs: list[LogSeen] = []
    left = LOG_BYTES_MAX
    for shape in shapes[:LOGS_COUNT_MAX]:
        left -= len(shape.data) // 2
        if left < 0:
            break
        topics = tuple(map(read_octets, shape.topics[:4]))
        logs.append(LogSeen(read_octets(shape.address), topics, read_octets(shape.data)))
    return LogsSeen(tuple(logs), len(shapes) - len(logs))


async def revert_of(nodes: EvmNodes, mined: MinedCall) -> RevertSeen:
    """ChainError says why no node knows."""

    async def ask(node: EvmEndpoint) -> RevertSeen:
        check_spared(node, QUESTIONS)
        traced = await ask_trace(node, mined) if node.has_traces else None
        return await ask_calls(node, mined) if traced is None else traced

    return await nodes.read(ask, at_head=False)


async def ask_trace(node: EvmEndpoint, mined: MinedCall) -> RevertSeen | None:
    """None where the node has no trace, or one of a transaction that did not fail."""
    try:
        (answer,) = await node.ask([RpcCall(TRACE, (octets(mined.hash), TRACER))])
        if isinstance(answer, RpcError):
            node.has_traces = answer.code != METHOD_NOT_FOUND
            return None
        trace = read(node, answer, TRACED)
        output = translated(node, lambda: read_octets(trace.output or "0x"))
    except ChainUnreadable:
        # A gateway may forbid it with a page of its own; asked again it would make the node rest.
        node.has_traces = False
        return None
    return seen(output, trace.error, f"a trace by {node.name}") if trace.error else None


async def ask_calls(node: EvmEndpoint, mined: MinedCall) -> RevertSeen:
    """The call on the state before its block, else on the state after it; ChainUnreadable if it
    fails on neither."""
    shape = shape_of(mined.call) | {"gas": quantity(mined.gas)}
    number = mined.block.number
    blocks = {"before": number - 1, "after": number}
    calls = [RpcCall("eth_call", (shape, quantity(block))) for block in blocks.values()]
    answers: list[RpcAnswer] = await node.ask(calls)
    troubles: list[str] = []
    for where, answer in zip(blocks, answers, strict=True):
        if not isinstance(answer, RpcError):
            troubles.append(f"the call does not fail on the state {where} block {number}")
        elif is_failure(answer):
            source = f"a call on the state {where} block {number} by {node.name}"
            return seen(output_of(answer), answer.message, source)
        else:
            troubles.append(f"{answer.code} {answer.message}"[:REASON_CHARS_MAX])
    raise ChainUnreadable(node.name, "; ".join(dict.fromkeys(troubles)))


def is_failure(error: RpcError) -> bool:
    """Whether the call itself failed, and not the node."""
    return is_revert(error) or any(word in error.message.lower() for word in HALTS)


HALTS = ("out of gas", "outofgas", "invalid opcode", "stack underflow", "invalid jump")
"""What nodes call a call that was stopped without returning anything."""


def seen(output: bytes, message: str, source: str) -> RevertSeen:
    return RevertSeen(output[:OUTPUT_BYTES_MAX], message[:REASON_CHARS_MAX], source)
