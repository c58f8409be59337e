"""Calls of a devnet's JSON-RPC without a socket."""

from collections.abc import Coroutine
from typing import Any

from laneway.devnets.cosmos.model.chain import CosmosModel
from laneway.devnets.cosmos.node.rpc import CometCaller, CometRpc


def now(answer: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that waits for nothing."""
    try:
        answer.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits for something")


def answer(chain: CosmosModel, node: int, body: bytes) -> Any:
    """What a CometBFT node answers to a body that is posted."""
    return now(CometRpc().answer(CometCaller(chain, node), body))


def answer_uri(chain: CosmosModel, node: int, method: str, query: str) -> tuple[int, Any]:
    return CometRpc().answer_uri(CometCaller(chain, node), method, query)
