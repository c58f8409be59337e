"""Laws of a node that lags: it knows nothing that happened behind its newest block."""

from typing import Any

import pytest

from laneway.devnets.chaos.lag import older_answer, older_call


@pytest.mark.parametrize(
    ("method", "params", "expected"),
    [
        ("eth_getTransactionCount", ["0x1", "latest"], ["0x1", "0x7"]),
        ("eth_getTransactionCount", ["0x1", "pending"], ["0x1", "0x7"]),
        ("eth_getTransactionCount", ["0x1"], ["0x1", "0x7"]),
        ("eth_getTransactionCount", ["0x1", "0x3"], ["0x1", "0x3"]),
        ("eth_getBlockByNumber", ["latest", False], ["0x7", False]),
        ("eth_sendRawTransaction", ["0x1"], ["0x1"]),
        ("eth_getStorageAt", ["0x1"], ["0x1"]),
    ],
)
def test_the_newest_block_is_an_older_one(
    method: str, params: list[Any], expected: list[Any]
) -> None:
    assert older_call({"method": method, "params": params}, 7)["params"] == expected


def test_what_is_newer_is_not_known() -> None:
    receipt = {"result": {"blockNumber": "0x8"}}
    assert older_answer("eth_getTransactionReceipt", receipt, 7) == {"result": None}
    assert older_answer("eth_getTransactionReceipt", receipt, 8) == receipt
    waiting = {"result": {"blockNumber": None}}
    assert older_answer("eth_getTransactionByHash", waiting, 7) == {"result": None}
    block = {"result": {"number": "0x8"}}
    assert older_answer("eth_getBlockByNumber", block, 7) == {"result": None}
    assert older_answer("eth_blockNumber", {"result": "0x9"}, 7) == {"result": "0x7"}
    assert older_answer("eth_chainId", {"result": "0x9"}, 7) == {"result": "0x9"}
    refused = {"error": {"code": 1}}
    assert older_answer("eth_blockNumber", refused, 7) == refused
