"""A message is one call of JSON-RPC 2.0, and everything else has its own no."""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from msgspec import json
from tests.devnets.calls import now

from laneway.devnets.jam.node.rpc import LIMITS, JamRpc
from laneway.wire.rpc_server.methods import RpcRefused

PARSE_ERROR, INVALID_REQUEST = -32700, -32600


class Nobody:
    """A client of no node."""

    is_connected = False

    def close(self) -> None:
        pass


class Asking(JamRpc):
    """It asks somebody else."""

    def __init__(self, ask: Callable[[str, object], object]) -> None:
        super().__init__()
        self._ask = ask

    def invoke(self, _context: object, name: str, params: object) -> object:
        return self._ask(name, params)


def answer(ask: Callable[[str, object], object], body: bytes) -> Any:
    return now(Asking(ask).answer(Nobody(), body))  # type: ignore[arg-type]


def echo(method: str, params: object) -> object:
    if method == "no":
        raise RpcRefused(1, "none", params)
    return [method, params]


def said(body: bytes) -> Any:
    return answer(echo, body)


def call(**members: object) -> bytes:
    return json.encode({"jsonrpc": "2.0", "method": "m", **members})


@pytest.mark.parametrize("number", [0, 7, "seven", 1.5, None])
def test_an_answer_has_the_number_of_its_call(number: object) -> None:
    params = ["a", 1]
    expected = {"jsonrpc": "2.0", "result": ["m", params], "id": number}
    assert said(call(params=params, id=number)) == expected


def test_a_no_has_a_code_and_words_and_what_it_is_about() -> None:
    told = {"code": 1, "message": "none", "data": ["x"]}
    assert said(call(method="no", params=["x"], id=1))["error"] == told
    assert said(call(method="no", id=1))["error"] == {"code": 1, "message": "none"}


def test_a_call_without_a_number_is_done_and_not_answered() -> None:
    seen: list[str] = []

    def ask(method: str, _params: object) -> object:
        seen.append(method)
        raise RpcRefused(0, "whatever it says")

    assert answer(ask, call()) is None
    assert said(call()) is None
    assert seen == ["m"]


@pytest.mark.parametrize(
    "body", [b"", b"not json", b"{", b'{"a":}', b"\xff\xfe", b'"\xed\xa0\x80"', b"\0", b"{}{}"]
)
def test_what_is_not_json_is_told_so(body: bytes) -> None:
    expected = {"code": PARSE_ERROR, "message": "Parse error"}
    assert said(body) == {"jsonrpc": "2.0", "error": expected, "id": None}


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"null",
        b"1",
        b'"m"',
        b"{}",
        b'{"method":"m","id":1}',
        b'{"jsonrpc":"1.0","method":"m","id":1}',
        b'{"jsonrpc":2,"method":"m","id":1}',
        b'{"jsonrpc":"2.0","id":1}',
        b'{"jsonrpc":"2.0","method":5,"id":1}',
        b'{"jsonrpc":"2.0","method":"m","id":{}}',
        b'{"jsonrpc":"2.0","method":"m","id":true}',
        b'[{"jsonrpc":"2.0","method":"m","id":1}]',
    ],
)
def test_what_is_no_call_is_told_so(body: bytes) -> None:
    expected = {"code": INVALID_REQUEST, "message": "Invalid request"}
    assert said(body) == {"jsonrpc": "2.0", "error": expected, "id": None}


@pytest.fixture
def usual_recursion() -> Iterator[None]:
    """Some libraries raise the limit for the whole process."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000)
    yield
    sys.setrecursionlimit(before)


def test_a_nesting_that_is_too_deep_is_refused(usual_recursion: None) -> None:
    for depth, code in ((5_000, PARSE_ERROR), (LIMITS.brackets_count + 1, INVALID_REQUEST)):
        body = (
            b'{"jsonrpc":"2.0","method":"m","id":1,"params":' + b"[" * depth + b"]" * depth + b"}"
        )
        assert said(body)["error"]["code"] in (code, INVALID_REQUEST)


def test_members_that_nobody_knows_are_passed_over() -> None:
    assert said(call(id=1, extra={"a": [1]}))["result"] == ["m", None]
