"""A node on its socket: hostile messages, bounds, and single calls over HTTP."""

import asyncio
from typing import Any

import pytest
from aiohttp import ClientSession, WSMsgType, WSServerHandshakeError
from msgspec import json
from msgspec.structs import replace
from tests.devnets.jam.wire_stage import NUMBER, UNKNOWN, Client, client, tell, text

from laneway.devnets.jam.devnet import JamDevnet
from laneway.devnets.jam.node import rpc
from laneway.wire.rpc_server.connection import ServedConnection

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602

HOSTILE: list[tuple[str | bytes, int]] = [
    ("", PARSE_ERROR),
    ("not json", PARSE_ERROR),
    ("{", PARSE_ERROR),
    (b"\xff\xfe\x00", PARSE_ERROR),
    (b"", PARSE_ERROR),
    ("[" * 9_000, PARSE_ERROR),
    ("[" * 100_000, INVALID_REQUEST),
    ("[]", INVALID_REQUEST),
    ("null", INVALID_REQUEST),
    ("5", INVALID_REQUEST),
    ('"bestBlock"', INVALID_REQUEST),
    ('{"method":"bestBlock","id":1}', INVALID_REQUEST),
    ('{"jsonrpc":"2.0","method":["bestBlock"],"id":1}', INVALID_REQUEST),
    ('{"jsonrpc":"2.0","method":"bestBlock","id":[1]}', INVALID_REQUEST),
    ('[{"jsonrpc":"2.0","method":"bestBlock","id":1}]', INVALID_REQUEST),
    ('{"jsonrpc":"2.0","method":"bestBlock","params":{},"id":1}', INVALID_PARAMS),
    ('{"jsonrpc":"2.0","method":"parent","params":{"header_hash":""},"id":1}', INVALID_PARAMS),
    ('{"jsonrpc":"2.0","method":"parent","params":"AA==","id":1}', INVALID_PARAMS),
    ('{"jsonrpc":"2.0","method":"serviceData","params":["", 1e400],"id":1}', PARSE_ERROR),
    ('{"jsonrpc":"2.0","method":"dev_produce","params":[{"slot":1e3}],"id":1}', INVALID_PARAMS),
    ('{"jsonrpc":"2.0","method":"\\ud800","id":1}', PARSE_ERROR),
]


@pytest.mark.parametrize("place", range(len(HOSTILE)))
def test_a_hostile_message_has_an_answer_and_loses_nothing(place: int) -> None:
    message, code = HOSTILE[place]

    async def story(_net: JamDevnet, say: Client) -> None:
        followed = await say.say("subscribeBestBlock")
        before = await say.say("bestBlock")
        answer = await say.send_raw(message)
        assert answer["error"]["code"] == code
        assert await say.say("bestBlock") == before
        await say.say("dev_produce")
        assert [one["slot"] for one in say.updates(followed)] == [0, 1]

    tell(story)


def test_a_call_may_come_in_bytes() -> None:
    async def story(_net: JamDevnet, say: Client) -> None:
        call = {"jsonrpc": "2.0", "id": NUMBER, "method": "bestBlock"}
        assert (await say.send_raw(json.encode(call)))["result"] == await say.say("bestBlock")

    tell(story)


def test_calls_of_one_connection_are_answered_in_their_order() -> None:
    async def story(_net: JamDevnet, say: Client) -> None:
        for number in range(50):
            call = {"jsonrpc": "2.0", "id": number, "method": "dev_produce"}
            await say.socket.send_str(json.encode(call).decode())
        answers = [json.decode(await say.socket.receive_str()) for _ in range(50)]
        assert [one["id"] for one in answers] == list(range(50))
        assert [one["result"]["slot"] for one in answers] == list(range(1, 51))

    tell(story)


def test_a_message_that_is_too_large_ends_its_connection_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rpc, "LIMITS", replace(rpc.LIMITS, body_bytes=10_000))

    async def story(net: JamDevnet, say: Client) -> None:
        async with ClientSession() as session, client(session, net.url) as rude:
            await rude.say("subscribeBestBlock")
            await rude.socket.send_str("x" * 20_000)
            message = await rude.socket.receive()
            while message.type is WSMsgType.TEXT:
                message = await rude.socket.receive()
            assert message.type is WSMsgType.CLOSE
            assert message.data == 1009
        await until(lambda: net.subscriptions()["connections"] == 1)
        assert net.subscriptions()["open"] == 0
        assert (await say.say("bestBlock"))["slot"] == 0
        big = text(bytes(9_000))
        assert (await say.refusal("submitWorkPackageBundle", 0, big[:8_000])).code == 0

    tell(story)


async def until(is_so: Any) -> None:
    while not is_so():
        await asyncio.sleep(0.005)


@pytest.mark.slow
def test_a_bundle_of_any_size_that_is_allowed_gets_through() -> None:
    async def story(_net: JamDevnet, say: Client) -> None:
        bundle = text(bytes(13_791_360))
        no = await say.refusal("submitWorkPackageBundle", 0, bundle)
        assert no.code == 0

    tell(story)


def test_connections_of_a_node_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc, "LIMITS", replace(rpc.LIMITS, connections_count=1))

    async def story(net: JamDevnet, say: Client) -> None:
        async with ClientSession() as session:
            with pytest.raises(WSServerHandshakeError) as refused:
                await session.ws_connect(net.url)
            assert refused.value.status == 503
            await say.socket.close()
            await until(lambda: net.subscriptions()["connections"] == 0)
            async with client(session, net.url) as other:
                assert (await other.say("bestBlock"))["slot"] == 0

    tell(story)


def test_a_client_that_is_told_and_does_not_read_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rpc, "LIMITS", replace(rpc.LIMITS, outgoing_count=3))

    async def stuck(_self: ServedConnection) -> None:
        await asyncio.Event().wait()

    async def story(net: JamDevnet, _say: Client) -> None:
        monkeypatch.setattr(ServedConnection, "_write", stuck)
        async with ClientSession() as session, session.ws_connect(net.url) as silent:
            call = {"jsonrpc": "2.0", "id": 1, "method": "subscribeBestBlock"}
            await silent.send_str(json.encode(call).decode())
            await until(lambda: net.subscriptions()["open"] == 1)
            net.step(4)
            assert (await silent.receive()).type is WSMsgType.CLOSE
        await until(lambda: net.subscriptions()["connections"] == 1)
        assert net.subscriptions()["open"] == 0

    tell(story)


def test_a_client_that_asks_and_does_not_read_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc, "LIMITS", replace(rpc.LIMITS, outgoing_count=4))

    async def story(net: JamDevnet, say: Client) -> None:
        for number in range(40):
            call = {"jsonrpc": "2.0", "id": number, "method": "parameters"}
            await say.socket.send_str(json.encode(call).decode())
        answers = [json.decode(await say.socket.receive_str())["id"] for _ in range(40)]
        assert answers == list(range(40))
        assert net.subscriptions()["connections"] == 1

    tell(story)


def test_a_bug_ends_the_connection_that_found_it_alone(caplog: pytest.LogCaptureFixture) -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        async with ClientSession() as session, client(session, net.url) as other:
            # A node that the model has not is a mistake that nothing on the wire can make.
            net._sockets[0]._node = 7
            async with client(session, net.url) as broken:
                await broken.socket.send_str('{"jsonrpc":"2.0","id":1,"method":"bestBlock"}')
                assert (await broken.socket.receive()).type is WSMsgType.CLOSE
            net._sockets[0]._node = 0
            assert (await other.say("bestBlock")) == (await say.say("bestBlock"))
        assert "IndexError" in caplog.text

    tell(story)


async def post(net: JamDevnet, body: bytes, kind: str = "application/json") -> tuple[int, Any]:
    async with (
        ClientSession() as session,
        session.post(net.http_url, data=body, headers={"Content-Type": kind}) as response,
    ):
        raw = await response.read()
        return response.status, json.decode(raw) if raw else None


def call(method: str, *params: object) -> bytes:
    return json.encode({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


def test_single_calls_may_be_posted() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        status, said = await post(net, call("dev_produce"))
        assert (status, said["result"]["slot"]) == (200, 1)
        assert (await post(net, call("bestBlock")))[1]["result"] == await say.say("bestBlock")
        counted = {"connections": 1, "open": 0, "opened": 0}
        assert (await post(net, call("dev_subscriptions")))[1]["result"] == counted
        _, said = await post(net, call("stateRoot", UNKNOWN))
        assert (said["error"]["code"], said["error"]["data"]) == (1, UNKNOWN)
        quiet = b'{"jsonrpc":"2.0","method":"dev_produce"}'
        assert await post(net, quiet) == (204, None)
        assert (await say.say("bestBlock"))["slot"] == 2

    tell(story)


def test_what_is_posted_is_no_subscription() -> None:
    async def story(net: JamDevnet, _say: Client) -> None:
        for method in ("subscribeBestBlock", "unsubscribeBestBlock"):
            _, said = await post(net, call(method))
            assert said["error"] == {"code": 0, "message": "a subscription needs a WebSocket"}

    tell(story)


def test_a_page_in_a_browser_cannot_post(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc, "LIMITS", replace(rpc.LIMITS, body_bytes=1_000))

    async def story(net: JamDevnet, say: Client) -> None:
        _, said = await post(net, call("dev_produce"), "text/plain")
        assert said["error"]["code"] == INVALID_REQUEST
        assert (await say.say("bestBlock"))["slot"] == 0
        _, said = await post(net, call("dev_produce", "x" * 2_000))
        assert said["error"]["code"] == INVALID_REQUEST
        async with ClientSession() as session, session.get(net.http_url) as response:
            assert (response.status, response.headers["Allow"]) == (405, "POST")

    tell(story)


def test_whoever_is_connected_is_cut_off_when_the_chain_begins_anew() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        await say.say("subscribeBestBlock")
        first = await say.say("dev_produce")
        _, said = await post(net, call("dev_reset", 5))
        assert said["result"] is None
        message = await say.socket.receive()
        while message.type is WSMsgType.TEXT:
            message = await say.socket.receive()
        assert message.type is WSMsgType.CLOSE
        async with ClientSession() as session, client(session, net.url) as again:
            counted = {"connections": 1, "open": 0, "opened": 0}
            assert await again.say("dev_subscriptions") == counted
            assert await again.say("dev_produce") == first
            assert await again.say("subscribeBestBlock") == 1
            for _ in range(5):
                await again.say("dev_produce")
            assert (await again.say("finalizedBlock"))["slot"] == 1

    tell(story)
