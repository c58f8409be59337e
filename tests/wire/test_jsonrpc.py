"""Laws of the JSON-RPC client: what is known of a request that failed, and nothing more."""

import asyncio
from collections.abc import Awaitable, Callable
from email.utils import formatdate
from time import time
from typing import Any

import pytest
from msgspec import Raw, json
from tests.free_ports import free_port
from tests.rpc_stub import Answering, Drop, No, Stub, Whole

from laneway.core.errors import ChainUnreachable, ChainUnreadable
from laneway.wire import jsonrpc
from laneway.wire.jsonrpc import (
    NodeBusy,
    RpcAnswerLost,
    RpcCall,
    RpcClient,
    RpcError,
    cut,
    wait_of,
)
from laneway.wire.limits import (
    RETRY_AFTER_S_DEFAULT,
    RETRY_AFTER_S_MAX,
    RPC_BATCH_BYTES_MAX,
    RPC_BATCH_COUNT_MAX,
)

ANSWER_MS = 5_000


def ask(answer: Answering, count: int = 1, timeout_ms: int = ANSWER_MS) -> list[Any]:
    """Ask a node that answers so, `count` calls at once."""

    async def asked() -> list[Any]:
        async with Stub(answer) as stub:
            client = RpcClient(stub.url, name="node")
            try:
                calls = [RpcCall("m", (number,)) for number in range(count)]
                return list(await client.ask(calls, timeout_ms))
            finally:
                await client.close()

    return asyncio.run(asked())


def test_answers_are_matched_by_their_ids() -> None:
    def backwards(_: str, params: list[Any]) -> Any:
        raise Whole(200, json.encode(list(reversed(replies))))

    replies = [{"id": number, "result": number * 10} for number in (1, 2, 3)]
    assert [json.decode(answer) for answer in ask(backwards, 3)] == [10, 20, 30]


def test_a_single_call_is_no_batch() -> None:
    async def story() -> list[Any]:
        async with Stub(lambda method, params: method) as stub:
            client = RpcClient(stub.url, name="node")
            await client.ask([RpcCall("one")], ANSWER_MS)
            await client.ask([RpcCall("two"), RpcCall("three")], ANSWER_MS)
            await client.close()
            return stub.bodies

    one, two = asyncio.run(story())
    assert isinstance(one, dict)
    assert [call["method"] for call in two] == ["two", "three"]


def test_a_no_is_an_answer() -> None:
    def refuse(_: str, params: list[Any]) -> Any:
        raise No(-32000, "nonce too low")

    (answer,) = ask(refuse)
    assert isinstance(answer, RpcError)
    assert (answer.code, answer.message) == (-32000, "nonce too low")


def test_a_no_is_read_whatever_its_http_status() -> None:
    """As Besu and gateways have it."""

    def refuse(_: str, params: list[Any]) -> Any:
        raise Whole(400, b'{"id":1,"error":{"code":-32001,"message":"Nonce too low"}}')

    (answer,) = ask(refuse)
    assert isinstance(answer, RpcError)


def test_one_error_for_a_batch_is_everyones() -> None:
    def refuse(_: str, params: list[Any]) -> Any:
        raise Whole(200, b'{"id":null,"error":{"code":-32600,"message":"batch too large"}}')

    assert [type(answer) for answer in ask(refuse, 2)] == [RpcError, RpcError]


def test_a_null_result_is_a_result() -> None:
    (answer,) = ask(lambda method, params: None)
    assert isinstance(answer, Raw)
    assert json.decode(answer) is None


def test_a_batch_with_a_missing_answer_says_nothing() -> None:
    def half(_: str, params: list[Any]) -> Any:
        raise Whole(200, b'[{"id":1,"result":1},{"id":7,"result":1},{"id":2}]')

    with pytest.raises(ChainUnreadable, match="1 of 2"):
        ask(half, 2)


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b'{"id":1,"result":', b"[[[[", b'{"id":1,"result":' + b"[" * 100_000],
)
def test_nonsense_is_unreadable(body: bytes) -> None:
    def nonsense(_: str, params: list[Any]) -> Any:
        raise Whole(200, body)

    with pytest.raises(ChainUnreadable):
        ask(nonsense)


def test_an_empty_object_with_a_status_is_unreadable() -> None:
    def nothing(_: str, params: list[Any]) -> Any:
        raise Whole(403, b"{}")

    with pytest.raises(ChainUnreadable, match="403"):
        ask(nothing)


def test_more_than_the_bound_is_unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonrpc, "RPC_ANSWER_BYTES_MAX", 1_000)
    with pytest.raises(ChainUnreadable, match="1000 bytes"):
        ask(lambda method, params: "x" * 2_000)


def test_a_gateways_failure_is_a_lost_answer() -> None:
    def fail(_: str, params: list[Any]) -> Any:
        raise Whole(502, b"<html>Bad Gateway</html>")

    with pytest.raises(RpcAnswerLost, match="502"):
        ask(fail)


def test_a_cut_connection_is_a_lost_answer() -> None:
    def drop(_: str, params: list[Any]) -> Any:
        raise Drop

    with pytest.raises(RpcAnswerLost):
        ask(drop)


def test_silence_is_a_lost_answer() -> None:
    def hang(_: str, params: list[Any]) -> Awaitable[None]:
        return asyncio.sleep(5)

    with pytest.raises(RpcAnswerLost, match=r"within 0\.05 s"):
        ask(hang, timeout_ms=50)


def test_a_refused_connection_proves_that_nothing_was_sent() -> None:
    async def story() -> None:
        client = RpcClient(f"http://127.0.0.1:{free_port()}", name="node")
        with pytest.raises(ChainUnreachable) as raised:
            await client.ask([RpcCall("m")], ANSWER_MS)
        assert raised.value.endpoint == "node"
        await client.close()
        with pytest.raises(ChainUnreachable, match="closed"):
            await client.ask([RpcCall("m")], ANSWER_MS)

    asyncio.run(story())


@pytest.mark.parametrize(
    ("status", "headers", "wait_s"),
    [
        (429, {}, RETRY_AFTER_S_DEFAULT),
        (429, {"Retry_After": "7"}, 7),
        (503, {"Retry_After": "100000"}, RETRY_AFTER_S_MAX),
    ],
)
def test_a_busy_node_says_until_when(status: int, headers: dict[str, str], wait_s: float) -> None:
    def busy(_: str, params: list[Any]) -> Any:
        raise Whole(status, b"{}", **headers)

    with pytest.raises(NodeBusy) as raised:
        ask(busy)
    assert (raised.value.status, raised.value.retry_after_s) == (status, wait_s)


def test_an_address_with_a_key_is_not_told() -> None:
    def busy(_: str, params: list[Any]) -> Any:
        raise Whole(500, b"")

    async def story(url_of: Callable[[Stub], str]) -> str:
        async with Stub(busy) as stub:
            client = RpcClient(url_of(stub), name="node")
            with pytest.raises(RpcAnswerLost) as raised:
                await client.ask([RpcCall("m")], ANSWER_MS)
            await client.close()
            return str(raised.value)

    assert "secret" not in asyncio.run(story(lambda stub: f"{stub.url}/?key=secret"))


def test_a_busy_node_is_left_alone_as_long_as_it_asks_and_no_longer_than_our_bound() -> None:
    assert 50 < wait_of(formatdate(time() + 60, usegmt=True)) <= 60
    assert wait_of(formatdate(time() - 60, usegmt=True)) == 0
    assert wait_of("1000000000") == RETRY_AFTER_S_MAX
    assert wait_of("soon") == RETRY_AFTER_S_DEFAULT
    assert wait_of(None) == RETRY_AFTER_S_DEFAULT


def test_batches_keep_both_bounds_and_the_order() -> None:
    many = list(range(2 * RPC_BATCH_COUNT_MAX + 1))
    batches = list(cut(many, lambda _: 1))
    assert [len(batch) for batch in batches] == [RPC_BATCH_COUNT_MAX, RPC_BATCH_COUNT_MAX, 1]
    assert [item for batch in batches for item in batch] == many
    half = RPC_BATCH_BYTES_MAX // 2
    sizes = [half, half, half + 1, 3 * half, 1]
    assert [list(batch) for batch in cut(sizes, lambda size: size)] == [
        [half, half],
        [half + 1],
        [3 * half],
        [1],
    ]
    assert list(cut([], lambda _: 1)) == []
