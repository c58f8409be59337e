"""Calls and their answers, as JSON-RPC 2.0 has them where no dialect says otherwise."""

import asyncio
from typing import Any

import pytest
from msgspec import json

from laneway.core.limits import NESTING_MAX
from laneway.wire.rpc_server.dialect import Dialect
from laneway.wire.rpc_server.limits import RpcLimits
from laneway.wire.rpc_server.methods import Method, RpcRefused
from laneway.wire.rpc_server.rpc import Rpc

LIMITS = RpcLimits(body_bytes=1_000, brackets_count=100, batch_count=3)


class Client:
    """A client that counts."""

    def __init__(self, *, is_connected: bool = False) -> None:
        self.count = 0
        self.is_connected = is_connected

    def close(self) -> None:
        pass


def whole(value: object) -> int:
    if not isinstance(value, int):
        raise RpcRefused(-32602, "not a number")
    return value


async def add(client: Client, number: int, times: int = 1) -> int:
    await asyncio.sleep(0)
    client.count += number * times
    return client.count


def refuse(_client: Client) -> object:
    raise RpcRefused(7, "never", {"why": "so"})


METHODS = {
    "add": Method((whole, whole), add, optional=1),
    "count": Method((), lambda client: client.count),
    "refuse": Method((), refuse),
    "follow": Method((), lambda _: "0x1", needs_connection=True),
}


def asked(body: object, client: Client | None = None) -> Any:
    raw = body if isinstance(body, bytes) else json.encode(body)
    rpc = Rpc[Client](METHODS, Dialect(), LIMITS)
    return asyncio.run(rpc.answer(client or Client(), raw))


def call(method: str, *params: object, **more: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params, **more}


def error_of(answer: Any) -> tuple[int, str]:
    return answer["error"]["code"], answer["error"]["message"]


def test_a_method_may_wait_and_may_answer_at_once() -> None:
    client = Client()
    assert asked(call("add", 2), client) == {"jsonrpc": "2.0", "id": 1, "result": 2}
    assert asked(call("add", 2, 3), client)["result"] == 8
    assert asked(call("count"), client)["result"] == 8


def test_a_batch_is_carried_out_in_its_order() -> None:
    batch = [call("add", 1, id="a"), call("nothing", id="b"), call("count", id="c")]
    answers = asked(batch)
    assert [one["id"] for one in answers] == ["a", "b", "c"]
    assert [one.get("result") for one in answers] == [1, None, 1]
    assert error_of(answers[1]) == (-32601, "Method not found")


def test_an_element_of_a_batch_that_is_no_call_is_refused_alone() -> None:
    first, second, third = asked([call("add", 1), 7, call("count")])
    assert (first["result"], third["result"]) == (1, 1)
    assert (second["id"], error_of(second)) == (None, (-32600, "Invalid request"))


def test_a_call_without_an_id_is_carried_out_and_not_answered() -> None:
    client = Client()
    quiet = {"jsonrpc": "2.0", "method": "add", "params": [5]}
    assert asked(quiet, client) is None
    assert asked([quiet, {**quiet, "method": "nothing"}], client) is None
    assert client.count == 10


def test_a_refusal_has_a_code_a_message_and_its_data() -> None:
    refused = asked(call("refuse"))
    assert refused["error"] == {"code": 7, "message": "never", "data": {"why": "so"}}


@pytest.mark.parametrize("params", [[], ["two"], [1, 2, 3], {"number": 1}, "1"])
def test_parameters_are_read_by_their_kinds(params: object) -> None:
    assert error_of(asked(call("add") | {"params": params}))[0] == -32602


def test_a_method_that_notifies_needs_a_connection() -> None:
    assert error_of(asked(call("follow"))) == (-32601, "Method not found")
    assert asked(call("follow"), Client(is_connected=True))["result"] == "0x1"


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b'"\xed\xa0\x80"', b"[" * (NESTING_MAX + 1), b"[" * 100_000]
)
def test_what_is_not_json_is_a_parse_error(body: bytes) -> None:
    answer = asked(body)
    assert (answer["id"], error_of(answer)) == (None, (-32700, "Parse error"))


@pytest.mark.parametrize("body", [5, None, [], {}, call("add", id=[]), call("a", jsonrpc="1")])
def test_what_is_no_call_is_an_invalid_request(body: object) -> None:
    answer = asked(body)
    assert (answer["id"], error_of(answer)) == (None, (-32600, "Invalid request"))


def test_batches_and_brackets_have_bounds() -> None:
    assert len(asked([call("count")] * 3)) == 3
    assert error_of(asked([call("count")] * 4)) == (-32600, "batch too large: at most 3 calls")
    assert error_of(asked(call("add", [[]] * 200)))[0] == -32700
