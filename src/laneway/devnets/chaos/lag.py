"""Answers of a node that lags: as if its newest block were an older one. Pure."""

from typing import Any

TAGGED = {
    "eth_getTransactionCount": 1,
    "eth_getBalance": 1,
    "eth_getCode": 1,
    "eth_call": 1,
    "eth_estimateGas": 1,
    "eth_getStorageAt": 2,
    "eth_getBlockByNumber": 0,
    "eth_getBlockReceipts": 0,
    "eth_getBlockTransactionCountByNumber": 0,
    "eth_feeHistory": 1,
}
"""Where a method names its block."""

NEWEST_TAGS = ("latest", "pending")

FOUND = (
    "eth_getTransactionReceipt",
    "eth_getTransactionByHash",
    "eth_getTransactionBySenderAndNonce",
    "eth_getBlockByNumber",
    "eth_getBlockByHash",
)
"""What a lagging node does not know yet when it is newer than its newest block."""


def older_call(call: dict[str, Any], newest: int) -> dict[str, Any]:
    """The call with "latest" and "pending" made the older block. A missing tag means "latest"."""
    place = TAGGED.get(call.get("method", ""))
    params = call.get("params") or []
    if place is None or not isinstance(params, list) or place > len(params):
        return call
    tag = params[place] if place < len(params) else "latest"
    if tag not in NEWEST_TAGS:
        return call
    return {**call, "params": [*params[:place], hex(newest), *params[place + 1 :]]}


def older_answer(method: str, answer: dict[str, Any], newest: int) -> dict[str, Any]:
    """The answer without what happened after the older block."""
    if "result" not in answer:
        return answer
    if method == "eth_blockNumber":
        return {**answer, "result": hex(newest)}
    result = answer["result"]
    if method in FOUND and isinstance(result, dict):
        number = result.get("number" if "Block" in method else "blockNumber")
        if number is None or int(number, 16) > newest:
            return {**answer, "result": None}
    return answer
