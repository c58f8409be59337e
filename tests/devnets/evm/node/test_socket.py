"""Laws of the EVM devnet's wire: what is no call, what is too much, and what a connection holds."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from io import BytesIO
from typing import Any

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType, WSServerHandshakeError
from msgspec import json
from msgspec.structs import replace
from tests.anvil import signed

from laneway.devnets.evm.devnet import EvmDevnet
from laneway.devnets.evm.limits import (
    BATCH_COUNT_MAX,
    BODY_BYTES_MAX,
    SUBSCRIPTIONS_COUNT_MAX,
)
from laneway.devnets.evm.model.rules import ANVIL, GETH
from laneway.devnets.evm.node import rpc

CHAIN_ID = hex(31_337)
WAIT_S = 30.0
INVALID = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Invalid request"}}


class Client:
    """It knows nothing but where the node is."""

    def __init__(self, devnet: EvmDevnet, session: ClientSession) -> None:
        self.devnet = devnet
        self.session = session

    async def post(self, body: bytes, kind: str = "application/json") -> tuple[int, Any]:
        headers = {"Content-Type": kind}
        async with self.session.post(
            self.devnet.url, data=BytesIO(body), headers=headers
        ) as response:
            content = await response.read()
            return response.status, json.decode(content) if content else None

    async def ask(self, method: str, *params: object) -> Any:
        status, said = await self.post(json.encode(call(method, *params)))
        assert status == 200
        return said

    @asynccontextmanager
    async def socket(self) -> AsyncIterator[ClientWebSocketResponse]:
        async with self.session.ws_connect(self.devnet.ws_url) as socket:
            yield socket


def call(method: str, *params: object, number: object = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


@asynccontextmanager
async def client(**options: Any) -> AsyncIterator[Client]:
    async with (
        EvmDevnet(**{"block_ms": None, **options}) as devnet,
        ClientSession() as session,
    ):
        yield Client(devnet, session)


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(story(), 30))


async def heard(socket: ClientWebSocketResponse) -> Any:
    return await socket.receive_json(timeout=WAIT_S)


async def asked(socket: ClientWebSocketResponse, method: str, *params: object) -> Any:
    await socket.send_json(call(method, *params))
    return await heard(socket)


# What is a call, and what is none.


def test_a_call_is_answered_with_its_own_id() -> None:
    async def story() -> None:
        async with client() as node:
            for number in (1, "a", None, 1.5):
                _, said = await node.post(json.encode(call("eth_chainId", number=number)))
                assert said == {"jsonrpc": "2.0", "id": number, "result": CHAIN_ID}

    run(story)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{bad",
        b"5",
        b"null",
        b"[]",
        b"[1,2]",
        b'{"id":1}',
        b'{"jsonrpc":"1.0","id":1,"method":"eth_chainId"}',
        b'{"jsonrpc":"2.0","id":1,"method":5}',
        b'{"jsonrpc":"2.0","id":[],"method":"eth_chainId"}',
        b'[{"jsonrpc":"2.0","id":1,"method":"eth_chainId"},3]',
        b"\xff\xfe",
        b'"\xff"',
        b"[" * 100_000,
    ],
)
def test_what_is_no_call_is_an_invalid_request(body: bytes) -> None:
    async def story() -> None:
        async with client() as node:
            assert await node.post(body) == (200, INVALID)
            assert (await node.ask("eth_chainId"))["result"] == CHAIN_ID, "it still serves"

    run(story)


def test_deep_nesting_is_refused_whatever_the_recursion_limit_is() -> None:
    """Libraries of this trade raise it to 100,000, where the decoder would overflow the stack."""

    async def story() -> None:
        async with client() as node:
            assert await node.post(b"[" * 100_000) == (200, INVALID)
            assert await node.post(b'{"a":' * 100_000) == (200, INVALID)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        run(story)
    finally:
        sys.setrecursionlimit(limit)


def test_text_that_a_page_may_post_unasked_is_no_call() -> None:
    async def story() -> None:
        async with client() as node:
            body = json.encode(call("eth_chainId"))
            assert await node.post(body, "text/plain") == (200, INVALID)

    run(story)


def test_a_method_that_nobody_knows_is_said_to_be_unknown() -> None:
    async def story() -> None:
        async with client() as node:
            error = {"code": -32601, "message": "Method not found"}
            assert (await node.ask("eth_mineGold"))["error"] == error
            # Only a connection that stays can be told anything.
            assert (await node.ask("eth_subscribe", "newHeads"))["error"] == error

    run(story)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("eth_getBalance", []),
        ("eth_getBalance", ["0x12", "latest"]),
        ("eth_getBalance", [5, "latest"]),
        ("eth_getBalance", ["0x" + "00" * 20, "nonsense"]),
        ("eth_getBalance", ["0x" + "00" * 20, "0x1_0"]),
        ("eth_getBalance", ["0x" + "00" * 20, "0x-1"]),
        ("eth_getBalance", ["0x" + "00" * 20, {}]),
        ("eth_getBalance", ["0x" + "00" * 20, None]),
        ("eth_getBalance", ["0x" + "00" * 20, True]),
        ("eth_getBalance", ["0x" + "00" * 20, "0x99"]),
        ("eth_getBlockByNumber", ["latest"]),
        ("eth_getBlockByNumber", ["latest", "yes"]),
        ("eth_sendRawTransaction", ["zz"]),
        ("eth_sendRawTransaction", ["0x"]),
        ("eth_sendRawTransaction", ["0x0"]),
        ("eth_estimateGas", ["0x"]),
        ("eth_feeHistory", ["0x1", "latest", 5]),
        ("anvil_mine", [10**9]),
        ("evm_mine", [10**9]),
        ("evm_setIntervalMining", [0.5]),
        ("evm_setAutomine", [1]),
        ("anvil_setCode", ["0x" + "00" * 20, "0x0"]),
        ("anvil_reorg", [1, []]),
        ("anvil_rollback", [1]),
        ("eth_chainId", {}),
    ],
)
def test_wrong_parameters_are_refused_and_change_nothing(method: str, params: object) -> None:
    async def story() -> None:
        async with client() as node:
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            status, said = await node.post(json.encode(body))
            assert (status, said["error"]["code"]) == (200, -32602)
            assert (await node.ask("eth_blockNumber"))["result"] == "0x0"

    run(story)


# Batches and bounds.


def test_a_batch_is_answered_in_its_order_and_one_no_spoils_nothing() -> None:
    async def story() -> None:
        async with client() as node:
            names = ["eth_chainId", "eth_nothing", "eth_blockNumber"]
            batch = [call(name, number=place) for place, name in enumerate(names)]
            _, said = await node.post(json.encode(batch))
            assert [one["id"] for one in said] == [0, 1, 2]
            assert ["error" in one for one in said] == [False, True, False]

    run(story)


def test_what_has_no_id_is_done_and_not_answered() -> None:
    async def story() -> None:
        async with client() as node:
            silent = {"jsonrpc": "2.0", "method": "evm_mine"}
            assert await node.post(json.encode(silent)) == (204, None)
            assert await node.post(json.encode([silent, silent])) == (204, None)
            assert await node.post(json.encode({**silent, "method": "no"})) == (204, None)
            _, said = await node.post(json.encode([silent, call("eth_blockNumber")]))
            assert [one["result"] for one in said] == ["0x4"]

    run(story)


@pytest.mark.slow
def test_a_batch_that_is_too_long_is_refused_whole() -> None:
    async def story() -> None:
        async with client() as node:
            most = [call("eth_chainId")] * BATCH_COUNT_MAX
            _, said = await node.post(json.encode(most))
            assert len(said) == BATCH_COUNT_MAX
            _, said = await node.post(json.encode([*most, call("evm_mine")]))
            assert said["error"]["code"] == -32600
            assert (await node.ask("eth_blockNumber"))["result"] == "0x0"

    run(story)


def test_a_body_that_is_too_large_is_an_invalid_request() -> None:
    async def story() -> None:
        async with client() as node:
            assert await node.post(b" " * (BODY_BYTES_MAX + 1)) == (200, INVALID)
            assert (await node.ask("eth_chainId"))["result"] == CHAIN_ID

    run(story)


def test_a_page_that_is_got_is_told_to_post() -> None:
    async def story() -> None:
        async with client() as node, node.session.get(node.devnet.url) as response:
            assert (response.status, response.headers["Allow"]) == (405, "POST")

    run(story)


# Connections that stay.


def test_calls_and_batches_are_answered_over_a_websocket() -> None:
    async def story() -> None:
        async with client() as node, node.socket() as socket:
            assert (await asked(socket, "eth_chainId"))["result"] == CHAIN_ID
            await socket.send_json([call("eth_chainId"), call("eth_blockNumber")])
            assert [one["result"] for one in await heard(socket)] == [CHAIN_ID, "0x0"]
            await socket.send_bytes(json.encode(call("eth_chainId")))
            assert (await heard(socket))["result"] == CHAIN_ID
            await socket.send_str("{bad")
            assert await heard(socket) == INVALID
            await socket.send_json({"jsonrpc": "2.0", "method": "evm_mine"})
            assert (await asked(socket, "eth_blockNumber"))["result"] == "0x1"

    run(story)


def test_a_subscriber_is_told_every_new_head_once() -> None:
    async def story() -> None:
        async with client() as node, node.socket() as socket:
            name = (await asked(socket, "eth_subscribe", "newHeads"))["result"]
            await node.ask("anvil_mine", 2)
            await node.ask("anvil_reorg", 1, [])
            await node.ask("anvil_rollback", 1)
            await node.ask("evm_mine")
            told = [(await heard(socket))["params"] for _ in range(4)]
            assert [one["subscription"] for one in told] == [name] * 4
            assert [one["result"]["number"] for one in told] == ["0x1", "0x2", "0x2", "0x2"]
            assert len({one["result"]["hash"] for one in told}) == 4
            newest = (await node.ask("eth_getBlockByNumber", "latest", False))["result"]
            assert told[-1]["result"].items() <= newest.items()

    run(story)


def test_a_subscription_ends_when_it_is_told_to() -> None:
    async def story() -> None:
        async with client() as node, node.socket() as socket:
            name = (await asked(socket, "eth_subscribe", "newHeads"))["result"]
            other = (await asked(socket, "eth_subscribe", "newHeads"))["result"]
            assert (await asked(socket, "eth_unsubscribe", name))["result"] is True
            assert (await asked(socket, "eth_unsubscribe", name))["result"] is False
            node.devnet.mine()
            assert (await heard(socket))["params"]["subscription"] == other
            assert (await asked(socket, "eth_blockNumber"))["result"] == "0x1"

    run(story)


def test_what_is_not_told_is_refused_and_so_is_too_much() -> None:
    async def story() -> None:
        async with client() as node, node.socket() as socket:
            for params in (["nonsense"], ["logs", {"topics": 5}], ["newPendingTransactions", {}]):
                assert (await asked(socket, "eth_subscribe", *params))["error"]["code"] == -32602
            assert (await asked(socket, "eth_subscribe", "syncing"))["error"]["code"] == -32603
            for _ in range(SUBSCRIPTIONS_COUNT_MAX):
                assert "result" in await asked(socket, "eth_subscribe", "newHeads")
            assert (await asked(socket, "eth_subscribe", "newHeads"))["error"]["code"] == -32602

    run(story)


def test_logs_are_shown_again_as_removed_to_those_who_read_as_geth() -> None:
    logs = "0x" + "33" * 20

    async def story() -> None:
        for rules, count in ((ANVIL, 0), (GETH, 1)):
            async with client(rules=rules) as node, node.socket() as socket:
                node.devnet.chain.set_code(b"\x33" * 20, bytes.fromhex("5f5fa0"))
                name = (await asked(socket, "eth_subscribe", "logs", {"address": logs}))["result"]
                raw, _ = signed(0, to=logs, gas=100_000)
                node.devnet.say("eth_sendRawTransaction", "0x" + raw.hex())
                node.devnet.mine()
                shown = (await heard(socket))["params"]
                assert (shown["subscription"], shown["result"]["removed"]) == (name, False)
                node.devnet.chain.reorg(1, 5_000)
                node.devnet.settle()
                again = [(await heard(socket))["params"]["result"] for _ in range(count)]
                assert again == [{**shown["result"], "removed": True}] * count
                assert (await asked(socket, "eth_blockNumber"))["result"] == "0x1", "no more came"

    run(story)


async def until(fits: Callable[[], bool]) -> None:
    """The server learns of an end by the loop's turns, not by a clock."""
    async with asyncio.timeout(WAIT_S):
        while not fits():
            await asyncio.sleep(0)


@pytest.mark.parametrize("politely", [True, False])
def test_a_subscription_ends_with_its_connection(politely: bool) -> None:
    async def story() -> None:
        async with client() as node, node.session.ws_connect(node.devnet.ws_url) as socket:
            await asked(socket, "eth_subscribe", "newHeads")
            await asked(socket, "eth_subscribe", "newHeads")
            assert node.devnet.listeners_count() == 2
            if politely:
                await socket.close()
            else:
                socket._response.connection.transport.abort()  # type: ignore[union-attr]
            await until(lambda: node.devnet.listeners_count() == 0)
            node.devnet.mine()

    run(story)


def test_one_who_does_not_read_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc, "LIMITS", replace(rpc.LIMITS, outgoing_count=8))

    async def story() -> None:
        async with client() as node, node.socket() as slow, node.socket() as quick:
            await asked(slow, "eth_subscribe", "newHeads")
            await asked(quick, "eth_subscribe", "newHeads")
            # They come in one turn of the loop, so nothing can leave between them.
            node.devnet.mine(7)
            for number in range(1, 8):
                assert (await heard(quick))["params"]["result"]["number"] == hex(number)
            node.devnet.mine(9)
            while (message := await slow.receive(WAIT_S)).type is WSMsgType.TEXT:
                pass
            assert message.type is WSMsgType.CLOSE
            await until(lambda: node.devnet.listeners_count() == 0)

    run(story)


def test_there_are_no_more_connections_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc, "LIMITS", replace(rpc.LIMITS, connections_count=1))

    async def story() -> None:
        async with client() as node:
            async with node.socket() as socket:
                assert (await asked(socket, "eth_chainId"))["result"] == CHAIN_ID
                with pytest.raises(WSServerHandshakeError) as error:
                    await node.session.ws_connect(node.devnet.ws_url)
                assert error.value.status == 503
            async with asyncio.timeout(WAIT_S):
                while True:
                    try:
                        async with node.socket() as again:
                            assert (await asked(again, "eth_chainId"))["result"] == CHAIN_ID
                            return
                    except WSServerHandshakeError:
                        await asyncio.sleep(0)

    run(story)


def timers() -> list[Any]:
    loop: Any = asyncio.get_running_loop()
    return [timer for timer in loop._scheduled if not timer.cancelled()]


def test_nothing_is_left_when_it_is_closed() -> None:
    async def story() -> None:
        before = asyncio.all_tasks(), timers()
        devnet = EvmDevnet(block_ms=50, nodes=2)
        await devnet.start()
        async with ClientSession() as session:
            socket = await session.ws_connect(devnet.ws_url)
            await asked(socket, "eth_subscribe", "newHeads")
            _, said = await asyncio.gather(devnet.close(), socket.receive(WAIT_S))
            assert devnet.listeners_count() == 0
            assert said.type is WSMsgType.CLOSE
            await socket.close()
        height = devnet.chain.newest().number
        assert (asyncio.all_tasks(), timers()) == before
        assert devnet.chain.newest().number == height
        await devnet.close()

    run(story)
