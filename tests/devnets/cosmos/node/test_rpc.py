"""JSON-RPC as a node reads it: single calls, batches, notifications, and URIs."""

import base64
import json
from typing import Any

import pytest
from msgspec.structs import replace
from tests.devnets.calls import answer, answer_uri
from tests.devnets.cosmos.stage import accepted, pay, world

from laneway.devnets.cosmos.model.chain import CosmosModel
from laneway.devnets.cosmos.node import rpc
from laneway.devnets.cosmos.node.parameters import CometRefused
from laneway.devnets.cosmos.node.rpc import CometCaller, CometDialect, CometRpc, uri_parameters
from laneway.wire.rpc_codes import METHOD_NOT_FOUND

NOT_FOUND = {"code": -32601, "message": "Method not found"}
HASH = bytes(range(32))


def ask(chain: CosmosModel, node: int, method: str, params: object = None) -> Any:
    return CometRpc().invoke(CometCaller(chain, node), method, params)


def call(method: str, params: object = None, **fields: object) -> dict[str, object]:
    made: dict[str, object] = {"jsonrpc": "2.0", "method": method, "id": 1}
    if params is not None:
        made["params"] = params
    return made | fields


def posted(said: object, chain: CosmosModel | None = None) -> Any:
    return answer(chain or world(), 0, json.dumps(said).encode())


def notified(method: str) -> dict[str, object]:
    return {"jsonrpc": "2.0", "method": method}


def test_a_result_is_given_by_name_by_place_and_without_parameters() -> None:
    chain = world()
    asked = base64.b64encode(HASH).decode()
    by_name = ask(chain, 0, "tx_status", {"hash": asked})
    by_place = ask(chain, 0, "tx_status", [asked])
    assert by_name == by_place
    assert by_name["status"] == "UNKNOWN"
    assert ask(chain, 0, "health") == {}


def test_an_unknown_method_is_not_found() -> None:
    with pytest.raises(CometRefused) as no:
        ask(world(), 0, "subscribe")
    assert (no.value.code, no.value.data) == (METHOD_NOT_FOUND, "")
    assert posted(call("subscribe")) == {"jsonrpc": "2.0", "id": 1, "error": NOT_FOUND}


@pytest.mark.parametrize("number", [0, 7, -3, "seven", ""])
def test_an_answer_has_the_number_of_its_call(number: object) -> None:
    assert posted(call("health", id=number)) == {"jsonrpc": "2.0", "id": number, "result": {}}


def test_a_node_answers_for_itself() -> None:
    chain = world()
    made = pay(0)
    accepted(chain, made)
    said = posted(call("broadcast_tx_sync", {"tx": base64.b64encode(made.raw).decode()}), chain)
    error = {"code": -32603, "message": "Internal error", "data": "tx already exists in mempool"}
    assert said == {"jsonrpc": "2.0", "id": 1, "error": error}


def test_bad_parameters_are_told_as_they_were_recorded() -> None:
    said = posted(call("tx_status_batch", {"hashes": [f"0x{HASH.hex()}"]}))
    begin = "error converting json params to arguments"
    assert said["error"] == {
        "code": -32602,
        "message": "Invalid params",
        "data": f"{begin}: illegal base64 data at input byte 64",
    }
    assert posted(call("tx_status", []))["error"]["code"] == -32602


def test_a_batch_is_answered_in_its_order() -> None:
    said = posted([call("health", id=2), call("subscribe", id=1), call("health", id=2)])
    assert [one["id"] for one in said] == [2, 1, 2]
    assert [one.get("error") for one in said] == [None, NOT_FOUND, None]


def test_a_batch_of_one_is_answered_as_a_batch() -> None:
    assert posted([call("health")]) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


def test_nobody_answers_a_notification() -> None:
    assert posted(notified("health")) is None
    assert posted(notified("subscribe")) is None
    assert posted([notified("health"), notified("subscribe")]) is None
    assert posted([]) is None
    mixed = posted([notified("health"), call("health", id=5)])
    assert [one["id"] for one in mixed] == [5]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff",
        b"5",
        b"{}",
        b'{"method": 5, "id": 1}',
        b'{"method": "health", "params": 5, "id": 1}',
        b'{"method": "health", "id": {}}',
        b'[{"method": "health", "id": 1}, 5]',
        pytest.param(b"[" * 100_000, id="deep"),
    ],
)
def test_what_is_no_call_is_an_error_and_not_a_crash(body: bytes) -> None:
    said = answer(world(), 0, body)
    assert isinstance(said, dict)
    assert said["error"]["code"] < 0
    assert said["error"]["data"].startswith("error unmarshal")


def test_a_batch_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc, "LIMITS", replace(rpc.LIMITS, batch_count=2))
    assert len(posted([call("health")] * 2)) == 2
    error = posted([call("health")] * 3)["error"]
    assert (error["code"], error["data"]) == (-32600, "batch of 3 calls is larger than 2")


def test_a_uri_is_answered_without_a_number() -> None:
    assert answer_uri(world(), 0, "health", "") == (200, {"jsonrpc": "2.0", "id": -1, "result": {}})


def test_a_uri_takes_bytes_in_hex_and_lists_in_json() -> None:
    chain = world()
    made = pay(0)
    status, said = answer_uri(chain, 0, "broadcast_tx_sync", f"tx=0x{made.raw.hex()}")
    assert (status, said["result"]["code"]) == (200, 0)
    status, said = answer_uri(chain, 0, "tx_status", f"hash=0x{made.hash.hex()}")
    assert (status, said["result"]["status"]) == (200, "PENDING")
    listed = f'hashes=["{base64.b64encode(made.hash).decode().replace("+", "%2B")}"]'
    status, said = answer_uri(chain, 0, "tx_status_batch", listed)
    assert said["result"]["statuses"][0]["hash"] == made.hash.hex().upper()


def test_a_uri_takes_texts_in_quotes_and_numbers_with_or_without() -> None:
    chain = world()
    chain.produce()
    for height in ("1", '"1"'):
        status, said = answer_uri(chain, 0, "block", f"height={height}")
        assert (status, said["result"]["block"]["header"]["height"]) == (200, "1")
    status, said = answer_uri(chain, 0, "abci_query", 'path="/none"&data=0x00')
    assert (status, said["result"]["response"]["code"]) == (200, 6)


def test_a_uri_that_is_refused_has_the_status_of_an_error() -> None:
    status, said = answer_uri(world(), 0, "tx_status", "hash=0xab")
    assert (status, said["id"], said["error"]["code"]) == (500, -1, -32603)
    status, said = answer_uri(world(), 0, "tx_status", "hash=abc")
    begin = "error converting http params to arguments"
    assert (status, said["error"]) == (
        500,
        {
            "code": -32602,
            "message": "Invalid params",
            "data": f"{begin}: invalid character 'a' looking for beginning of value",
        },
    )
    status, said = answer_uri(world(), 0, "nothing", "")
    assert (status, said["error"]) == (404, NOT_FOUND)


def test_parameters_of_a_uri_that_are_empty_are_missing() -> None:
    assert uri_parameters("height=&hash=0xAB&limit=5") == {"hash": "0xAB", "limit": 5}


def test_what_nobody_waits_for_is_not_done() -> None:
    chain = world()
    raw = base64.b64encode(pay(0).raw).decode()
    for number in ({}, {"id": None}):
        said = {"jsonrpc": "2.0", "method": "broadcast_tx_sync", "params": {"tx": raw}, **number}
        assert answer(chain, 0, json.dumps(said).encode()) is None
    assert len(chain.nodes[0].mempool) == 0


def test_a_body_that_cannot_be_read_has_no_number_and_is_an_error_of_http() -> None:
    said = answer(world(), 0, b"{")
    assert isinstance(said, dict)
    assert (said["error"]["code"], "id" in said, CometDialect().status(said)) == (
        -32700,
        False,
        500,
    )
    assert said["error"]["message"] == "Parse error. Invalid JSON"
    good = answer(world(), 0, json.dumps(call("health", id=1.0)).encode())
    assert isinstance(good, dict)
    assert (good["id"], CometDialect().status(good), CometDialect().status([good])) == (1, 200, 200)


def test_a_uri_that_is_nested_too_deep_is_refused() -> None:
    status, said = answer_uri(world(), 0, "block", "height=" + "[" * 20_000)
    assert (status, said["error"]["code"]) == (500, -32602)
