"""Laws of the fault proxy: each fault does what it says, and the node hears what it should."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from aiohttp import ClientError, ClientSession, ClientTimeout, WSMsgType, web
from msgspec import json
from tests.chains.evm.stage import Node
from tests.free_ports import free_port
from tests.rpc_stub import Stub

from laneway.devnets.chaos.proxy import RULES, ChaosProxy
from laneway.devnets.chaos.rules import ProxyFault, Rule

SEND = "eth_sendRawTransaction"

Story = Callable[[ClientSession, ChaosProxy, Stub, Node], Coroutine[Any, Any, None]]


def run(story: Story) -> None:
    async def told() -> None:
        node = Node(10)
        async with Stub(node) as stub, ChaosProxy(stub.url) as proxy, ClientSession() as session:
            await story(session, proxy, stub, node)

    asyncio.run(told())


def call(method: str, *params: object, number: int = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": list(params)}


async def post(
    session: ClientSession, proxy: ChaosProxy, body: Any, timeout_s: float = 10
) -> tuple[int, Any]:
    timeout = ClientTimeout(total=timeout_s)
    async with session.post(proxy.url, json=body, timeout=timeout) as response:
        content = await response.read()
        return response.status, json.decode(content) if response.status == 200 else content


def heard(stub: Stub) -> list[str]:
    return [method for method, _ in stub.heard]


def test_what_no_rule_strikes_passes_through() -> None:
    async def story(session: ClientSession, proxy: ChaosProxy, stub: Stub, node: Node) -> None:
        proxy.rule(Rule(ProxyFault.HANG, method="other"))
        status, said = await post(session, proxy, call("eth_blockNumber"))
        assert (status, said["result"]) == (200, "0xa")
        batch = [call("eth_chainId", number=5), call("queer", number=6)]
        status, said = await post(session, proxy, batch)
        assert [answer["id"] for answer in said] == [5, 6]
        assert said[1]["error"]["code"] == -32601

    run(story)


def test_a_lost_answer_was_heard_and_a_lost_request_was_not() -> None:
    async def story(session: ClientSession, proxy: ChaosProxy, stub: Stub, node: Node) -> None:
        proxy.rule(Rule(ProxyFault.LOSE_ANSWER, method=SEND))
        with pytest.raises(ClientError):
            await post(session, proxy, call(SEND, "0x1"))
        assert heard(stub) == [SEND]
        proxy.rule(Rule(ProxyFault.LOSE_REQUEST, method=SEND))
        with pytest.raises(ClientError):
            await post(session, proxy, [call("eth_chainId"), call(SEND, "0x1", number=2)])
        assert heard(stub) == [SEND]

    run(story)


def test_what_hangs_is_heard_or_not_as_the_rule_says() -> None:
    async def story(session: ClientSession, proxy: ChaosProxy, stub: Stub, node: Node) -> None:
        proxy.rule(Rule(ProxyFault.HANG, count=1), Rule(ProxyFault.HANG_ANSWER))
        with pytest.raises(TimeoutError):
            await post(session, proxy, call("first"), timeout_s=0.1)
        with pytest.raises(TimeoutError):
            await post(session, proxy, call("second"), timeout_s=0.1)
        assert heard(stub) == ["second"]

    run(story)


def test_a_delayed_request_arrives_although_the_caller_has_left() -> None:
    async def story(session: ClientSession, proxy: ChaosProxy, stub: Stub, node: Node) -> None:
        proxy.rule(Rule(ProxyFault.DELAY, ms=100))
        with pytest.raises(TimeoutError):
            await post(session, proxy, call("late"), timeout_s=0.02)
        assert heard(stub) == []
        while not stub.heard:
            await asyncio.sleep(0.01)
        assert heard(stub) == ["late"]

    run(story)


def test_a_duplicate_is_heard_twice() -> None:
    async def story(session: ClientSession, proxy: ChaosProxy, stub: Stub, node: Node) -> None:
        proxy.rule(Rule(ProxyFault.DUPLICATE))
        await post(session, proxy, call(SEND, "0x1"))
        assert heard(stub) == [SEND, SEND]

    run(story)


def test_a_status_comes_with_its_retry_after() -> None:
    async def story(session: ClientSession, proxy: ChaosProxy, stub: Stub, node: Node) -> None:
        proxy.rule(
            Rule(ProxyFault.STATUS, retry_after_s=7, count=1), Rule(ProxyFault.STATUS, status=502)
        )
        async with session.post(proxy.url, json=call("m")) as response:
            assert (response.status, response.headers["Retry-After"]) == (429, "7")
        async with session.post(proxy.url, json=call("m")) as response:
            assert response.status == 502
            assert "Retry-After" not in response.headers
        assert stub.heard == []

    run(story)


def test_an_invented_error_strikes_one_call_of_a_batch() -> None:
    async def story(session: ClientSession, proxy: ChaosProxy, stub: Stub, node: Node) -> None:
        proxy.rule(Rule(ProxyFault.ERROR, method=SEND, code=-32000, message="txpool is full"))
        batch = [
            call("eth_chainId", number=1),
            call(SEND, "0x1", number=2),
            call("eth_blockNumber", number=3),
        ]
        _, said = await post(session, proxy, batch)
        assert [answer.get("result") for answer in said] == ["0x7", None, "0xa"]
        assert said[1]["error"] == {"code": -32000, "message": "txpool is full"}
        assert SEND not in heard(stub)
        proxy.rule(Rule(ProxyFault.LIE, method="eth_chainId", result='["a lie"]'))
        _, said = await post(session, proxy, batch[::2])
        assert [answer.get("result") for answer in said] == [["a lie"], "0xa"]
        proxy.rule(Rule(ProxyFault.ERROR, method=SEND, forward=True))
        _, said = await post(session, proxy, call(SEND, "0x1"))
        assert "error" in said
        assert SEND in heard(stub)

    run(story)


def test_a_node_that_lags_answers_from_an_older_block() -> None:
    async def story(session: ClientSession, proxy: ChaosProxy, stub: Stub, node: Node) -> None:
        proxy.rule(Rule(ProxyFault.LAG, blocks=3))
        _, said = await post(session, proxy, call("eth_blockNumber"))
        assert said["result"] == "0x7"
        _, said = await post(session, proxy, call("eth_getBlockByNumber", "latest", False))
        assert said["result"]["number"] == "0x7"
        _, said = await post(session, proxy, call("eth_getBlockByNumber", "0x8", False))
        assert said["result"] is None
        await post(session, proxy, call("eth_getTransactionCount", "0x1", "latest"))
        assert stub.heard[-1] == ("eth_getTransactionCount", ["0x1", "0x7"])
        proxy.rule(Rule(ProxyFault.LAG, at=2))
        _, said = await post(session, proxy, call("eth_blockNumber"))
        assert said["result"] == "0x2"

    run(story)


def test_rules_are_shown_and_replaced_while_it_runs() -> None:
    async def story(session: ClientSession, proxy: ChaosProxy, stub: Stub, node: Node) -> None:
        new = [{"fault": "error", "method": "eth_chainId"}]
        async with session.put(proxy.url + RULES, json=new) as response:
            assert response.status == 204
        await post(session, proxy, call("eth_chainId"))
        async with session.get(proxy.url + RULES) as response:
            (shown,) = json.decode(await response.read())
        assert (shown["fault"], shown["struck"]) == ("error", 1)
        async with session.put(proxy.url + RULES, json=[{"fault": "explode"}]) as response:
            assert response.status == 400
        async with session.get(proxy.url) as response:
            assert response.status == 405

    run(story)


def test_a_node_that_is_away_is_a_bad_gateway() -> None:
    async def story() -> None:
        upstream = f"http://127.0.0.1:{free_port()}"
        async with ChaosProxy(upstream) as proxy, ClientSession() as session:
            status, _ = await post(session, proxy, call("m"))
            assert status == 502
            async with session.ws_connect(proxy.ws_url) as socket:
                assert (await socket.receive(timeout=10)).type is not WSMsgType.TEXT

    asyncio.run(story())


async def echo(request: web.Request) -> web.WebSocketResponse:
    """Answers every call with its method, and then tells three notices."""
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    async for message in socket:
        said = json.decode(message.data)
        await socket.send_str(json.encode({"id": said["id"], "result": said["method"]}).decode())
        for number in range(3 if said["method"] == "eth_subscribe" else 0):
            notice = {"method": "eth_subscription", "params": {"result": number}}
            await socket.send_str(json.encode(notice).decode())
    return socket


def over_socket(*rules: Rule, methods: tuple[str, ...]) -> tuple[list[Any], list[str]]:
    """What comes back over a WebSocket until it is silent or ends, and what the node heard."""

    async def story() -> tuple[list[Any], list[str]]:
        app = web.Application()
        app.router.add_get("/", echo)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        upstream = f"http://127.0.0.1:{runner.addresses[0][1]}"
        came: list[Any] = []
        async with ChaosProxy(upstream, rules) as proxy, ClientSession() as session:
            async with session.ws_connect(proxy.ws_url) as socket:
                for number, method in enumerate(methods):
                    await socket.send_str(json.encode(call(method, number=number)).decode())
                while True:
                    try:
                        message = await socket.receive(timeout=0.15)
                    except TimeoutError:
                        break
                    if message.type is not WSMsgType.TEXT:
                        came.append("closed")
                        break
                    said = json.decode(message.data)
                    came.append(said.get("result", said.get("error", said.get("params"))))
            heard = list(proxy.passed)
        await runner.cleanup()
        return came, heard

    return asyncio.run(story())


def test_a_socket_passes_calls_and_notices() -> None:
    notices = [{"result": 0}, {"result": 1}, {"result": 2}]
    came, heard = over_socket(methods=("a", "eth_subscribe"))
    assert came == ["a", "eth_subscribe", *notices]
    assert heard == ["a", "eth_subscribe"]


@pytest.mark.parametrize(
    ("rule", "came", "heard"),
    [
        (
            Rule(ProxyFault.ERROR, method="b", code=7, message="x"),
            ["a", {"code": 7, "message": "x"}],
            1,
        ),
        (Rule(ProxyFault.LIE, method="b", result="7"), ["a", 7], 1),
        (Rule(ProxyFault.HANG, method="b"), ["a"], 1),
        (Rule(ProxyFault.LOSE_REQUEST, method="b"), ["closed"], 1),
        (Rule(ProxyFault.DUPLICATE, method="b"), ["a", "b", "b"], 2),
        (Rule(ProxyFault.DELAY, method="b", ms=10), ["a", "b"], 2),
        (Rule(ProxyFault.LOSE_ANSWER, method="b"), ["closed"], 2),
    ],
)
def test_a_socket_misbehaves_by_the_same_rules(rule: Rule, came: list[Any], heard: int) -> None:
    said, passed = over_socket(rule, methods=("a", "b"))
    # A connection that ends may end before the first answer came through.
    expected = [one for one in said if one != "a" or "a" in came]
    assert sorted(expected, key=str) == sorted(came, key=str)
    assert len(passed) == heard


@pytest.mark.parametrize(
    ("rule", "came"),
    [
        (Rule(ProxyFault.LAG, blocks=2), [0]),
        (Rule(ProxyFault.HANG), []),
        (Rule(ProxyFault.DUPLICATE, count=1), [0, 0, 1, 2]),
        (Rule(ProxyFault.DELAY, ms=1), [0, 1, 2]),
        (Rule(ProxyFault.LOSE_ANSWER, nth=2), [0]),
    ],
)
def test_notices_are_struck_too(rule: Rule, came: list[int]) -> None:
    from msgspec.structs import replace

    said, _ = over_socket(replace(rule, method="eth_subscription"), methods=("eth_subscribe",))
    assert [one["result"] for one in said if isinstance(one, dict)] == came
