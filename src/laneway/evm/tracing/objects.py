"""Call trees and touched accounts as go-ethereum's tracers name their fields: objects for JSON."""

from typing import Any

from laneway.evm.tracing.call_tree import CallNode
from laneway.evm.tracing.lines import hexed
from laneway.evm.tracing.prestate import StateDifference, TracedAccount


def call_object(root: CallNode) -> dict[str, Any]:
    """What callTracer answers. Calls nest as deep as 1,024, without a call of Python for each."""
    made = own_object(root)
    waiting = [(root, made)]
    while waiting:
        node, shown = waiting.pop()
        if node.calls:
            inner = [own_object(one) for one in node.calls]
            shown["calls"] = inner
            waiting += zip(node.calls, inner, strict=True)
    return made


def own_object(node: CallNode) -> dict[str, Any]:
    """Without the calls that it made."""
    made: dict[str, Any] = {
        "type": node.kind,
        "from": hexed(node.sender),
        "gas": hex(node.gas),
        "gasUsed": hex(node.gas_used),
        "input": hexed(node.data),
    }
    if node.to is not None:
        made["to"] = hexed(node.to)
    if node.value_wei is not None:
        made["value"] = hex(node.value_wei)
    if node.output:
        made["output"] = hexed(node.output)
    if node.error:
        made["error"] = node.error
    if node.revert_reason is not None:
        made["revertReason"] = node.revert_reason
    if node.logs:
        made["logs"] = [
            {
                "address": hexed(log.address),
                "topics": [hexed(topic) for topic in log.topics],
                "data": hexed(log.data),
                "position": hex(position),
            }
            for position, log in node.logs
        ]
    return made


def prestate_object(accounts: dict[bytes, TracedAccount]) -> dict[str, Any]:
    """What prestateTracer answers."""
    return {hexed(address): account_object(one) for address, one in accounts.items()}


def difference_object(made: StateDifference) -> dict[str, Any]:
    """What prestateTracer answers with `diffMode`."""
    return {"pre": prestate_object(made.before), "post": prestate_object(made.after)}


def account_object(account: TracedAccount) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if account.balance_wei is not None:
        made["balance"] = hex(account.balance_wei)
    if account.nonce:
        made["nonce"] = account.nonce
    if account.code:
        made["code"] = hexed(account.code)
    if account.storage:
        made["storage"] = {
            f"0x{key:064x}": f"0x{value:064x}" for key, value in account.storage.items()
        }
    return made
