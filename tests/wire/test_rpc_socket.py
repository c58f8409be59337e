"""Laws of calls and subscriptions over one WebSocket: answers find their calls, nothing is left."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest
from msgspec import json
from tests.jip2_stub import Jip2Stub, Json, Raw, Silence
from tests.rpc_stub import Drop, No

from laneway.core.errors import ChainUnreachable, ChainUnreadable
from laneway.wire import rpc_connection, rpc_socket
from laneway.wire.jsonrpc import CallWithheld, RpcAnswer, RpcAnswerLost, RpcCall, RpcError
from laneway.wire.rpc_connection import NodeSubscription
from laneway.wire.rpc_socket import RpcSocket

MS = 5_000
HEADS = RpcCall("subscribeBestBlock")
LEAVE = "unsubscribeBestBlock"


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(20):
            await story()
            # Whatever a client does, nothing of it goes on behind it.
            others = asyncio.all_tasks() - {asyncio.current_task()}
            assert not [one for one in others if "stub" not in repr(one)]

    asyncio.run(bounded())


def client(stub: Jip2Stub, **settings: Any) -> RpcSocket:
    return RpcSocket(stub.url, name="node", **settings)


async def until(question: Callable[[], bool]) -> None:
    while not question():
        await asyncio.sleep(0.002)


async def one(socket: RpcSocket, method: str, timeout_ms: int = MS) -> RpcAnswer:
    (answer,) = await socket.ask([RpcCall(method)], timeout_ms)
    return answer


async def opened(socket: RpcSocket) -> NodeSubscription:
    subscription = await socket.subscribe(HEADS, LEAVE, MS)
    assert isinstance(subscription, NodeSubscription)
    return subscription


def echo(method: str, params: list[Any]) -> Any:
    return None if "subscribe" in method else [method, *params]


def test_answers_are_in_the_order_of_the_calls_whatever_order_they_came_in() -> None:
    gates = {"a": asyncio.Event(), "b": asyncio.Event()}

    async def answer(method: str) -> str:
        await gates[method].wait()
        gates["a"].set()
        return method

    async def story() -> None:
        async with Jip2Stub(lambda method, _: answer(method)) as stub:
            socket = client(stub)
            gates["b"].set()
            answers = await socket.ask([RpcCall("a"), RpcCall("b")], MS)
            assert [
                json.decode(bytes(one)) for one in answers if not isinstance(one, RpcError)
            ] == [
                "a",
                "b",
            ]
            assert socket.connections_count == 1
            await socket.close()
            with pytest.raises(ChainUnreachable):
                await one(socket, "a")

    run(story)


@pytest.mark.parametrize(
    ("error", "read"),
    [
        ({"code": 1, "message": "no", "data": "x"}, RpcError(1, "no")),
        ({"code": 1, "message": "no", "data": {"0": 7}}, RpcError(1, "no")),
        ({"code": 0}, RpcError(0, "")),
        ({"message": "no"}, RpcError(0, "no")),
        ({"code": "x", "message": 7}, RpcError(0, "")),
        ({}, RpcError(0, "")),
        ("words alone", RpcError(0, "words alone")),
        ({"message": "n" * 200_000}, RpcError(0, "n" * 500)),
        ([1], RpcError(0, "[1]")),
    ],
)
def test_a_no_is_read_in_whatever_form_it_comes(error: object, read: RpcError) -> None:
    async def story() -> None:
        def write(message: Json) -> Json:
            return {**message, "error": error} if "error" in message else message

        def refuse(method: str, params: list[Any]) -> Any:
            raise No(1, "no")

        async with Jip2Stub(refuse, write=write) as stub:
            socket = client(stub)
            answer = await one(socket, "a")
            assert isinstance(answer, RpcError)
            assert (answer.code, answer.message) == (read.code, read.message)
            await socket.close()

    run(story)


def test_a_call_that_is_not_answered_in_time_may_have_arrived() -> None:
    async def story() -> None:
        def silent(method: str, params: list[Any]) -> Any:
            if method == "hello":
                return 1
            raise Silence

        async with Jip2Stub(silent) as stub:
            socket = client(stub)
            await one(socket, "hello")  # It is connected: the short time is for the call alone.
            with pytest.raises(RpcAnswerLost):
                await one(socket, "a", 30)
            await until(lambda: stub.methods() == ["hello", "a"])
            await socket.close()

    run(story)


def test_a_node_that_cannot_be_reached_was_told_nothing() -> None:
    async def story() -> None:
        async with Jip2Stub(echo) as stub:
            socket = client(stub)
            url = stub.url
        with pytest.raises(ChainUnreachable):
            await one(socket, "a")
        wrong = RpcSocket(url.replace("ws:", "nonsense:"), name="node")
        with pytest.raises(ChainUnreachable):
            await one(wrong, "a")
        for each in (socket, wrong):
            await each.close()

    run(story)


def test_a_connection_that_is_cut_is_made_again() -> None:
    async def story() -> None:
        def dropping(method: str, params: list[Any]) -> Any:
            if method == "drop":
                raise Drop
            return method

        async with Jip2Stub(dropping) as stub:
            socket = client(stub)
            with pytest.raises(RpcAnswerLost):
                await one(socket, "drop")
            assert not isinstance(await one(socket, "a"), RpcError)
            assert socket.connections_count == 2
            await socket.close()

    run(story)


@pytest.mark.parametrize("text", ["{", "[]", "7", "\x00", "[" * 100_000, '{"a":' * 20_000])
def test_nonsense_ends_the_connection_and_proves_nothing(text: str) -> None:
    """A nesting that would overflow the decoder's stack is nonsense too."""

    async def story() -> None:
        def nonsense(method: str, params: list[Any]) -> Any:
            raise Raw(text)

        async with Jip2Stub(nonsense) as stub:
            socket = client(stub)
            with pytest.raises(ChainUnreadable):
                await one(socket, "a")
            await socket.close()

    run(story)


@pytest.mark.parametrize(
    "text",
    [
        '{"jsonrpc":"2.0","id":"other","result":1}',
        '{"jsonrpc":"2.0","id":99,"result":1}',
        '{"jsonrpc":"2.0","id":null,"result":1}',
        '{"jsonrpc":"2.0","id":2}',
        '{"jsonrpc":"2.0","method":"subscribeBestBlock"}',
        '{"jsonrpc":"2.0","method":"subscribeBestBlock","params":[1,2]}',
        '{"jsonrpc":"2.0","method":"subscribeBestBlock","params":{"subscription":9,"result":1}}',
    ],
)
def test_what_belongs_to_nobody_is_passed_over(text: str) -> None:
    async def story() -> None:
        def answer(method: str, params: list[Any]) -> Any:
            if method == "hello":
                return 1
            raise Raw(text)

        async with Jip2Stub(answer) as stub:
            socket = client(stub)
            await one(socket, "hello")  # It is connected: the short time is for the call alone.
            with pytest.raises(RpcAnswerLost):
                await one(socket, "a", 30)
            await socket.close()

    run(story)


def test_an_error_without_an_id_is_believed_of_the_only_call_under_way() -> None:
    """JavaJAM 0.4.3."""

    async def story() -> None:
        def write(message: Json) -> Json:
            if "error" in message:
                del message["id"]
            return message

        hung = asyncio.Event()

        def answer(method: str, params: list[Any]) -> Any:
            if method == "hang":
                return hung.wait()
            raise No(0, "no")

        async with Jip2Stub(answer, write=write) as stub:
            socket = client(stub)
            refused = await one(socket, "a")
            assert isinstance(refused, RpcError)
            assert refused.message == "no"
            # From here on one call goes out at a time, so that the next is believed as well.
            hanging = asyncio.create_task(one(socket, "hang"))
            await until(lambda: "hang" in stub.methods())
            other = asyncio.create_task(one(socket, "b"))
            await asyncio.sleep(0.02)
            assert "b" not in stub.methods()
            hung.set()
            assert not isinstance(await hanging, RpcError)
            assert isinstance(await other, RpcError)
            await socket.close()

    run(story)


def test_an_error_without_an_id_is_nobodys_while_several_calls_are_under_way() -> None:
    async def story() -> None:
        def write(message: Json) -> Json:
            if "error" in message:
                del message["id"]
            return message

        def answer(method: str, params: list[Any]) -> Any:
            if method == "submit":
                raise Silence
            raise No(0, "no")

        async with Jip2Stub(answer, write=write) as stub:
            socket = client(stub)
            submitting = asyncio.create_task(one(socket, "submit"))
            await until(lambda: "submit" in stub.methods())
            with pytest.raises(RpcAnswerLost):
                await one(socket, "a")
            with pytest.raises(RpcAnswerLost):
                await submitting
            # A late no is not taken for the next call's: the connection is another.
            with pytest.raises(RpcAnswerLost):
                await one(socket, "submit", 20)
            assert isinstance(await one(socket, "a"), RpcError)
            assert socket.connections_count == 3
            await socket.close()

    run(story)


def test_a_call_that_has_not_left_has_no_answer() -> None:
    """A refusal that is believed of bytes which leave afterwards would be a lie."""

    async def story() -> None:
        async with Jip2Stub(echo) as stub:
            socket = client(stub)
            await one(socket, "a")
            connection = socket._connection
            assert connection is not None
            asked = connection.ask("b", [])
            connection._receive(json.encode({"id": asked.number, "error": {"code": 0}}))
            assert not asked.answered.done()
            connection._receive('{"jsonrpc":"2.0","error":{"code":0}}')
            with pytest.raises(ChainUnreachable):
                await asked.answered
            assert stub.methods() == ["a"]
            with pytest.raises(ChainUnreachable):
                await connection.ask("c", []).answered
            await socket.close()

    run(story)


def test_an_error_without_an_id_is_nobodys_while_an_answer_is_owed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rpc_connection, "SOCKET_LEAVE_S", 0.01)

    async def story() -> None:
        def answer(method: str, params: list[Any]) -> Any:
            if method in (LEAVE, "submit"):
                raise Silence

        async with Jip2Stub(answer) as stub:
            socket = client(stub)
            async with await opened(socket):
                pass
            await until(lambda: socket.held_count == 0)
            submitting = asyncio.create_task(one(socket, "submit"))
            await until(lambda: "submit" in stub.methods())
            await stub.connections[0].socket.send_str('{"jsonrpc":"2.0","error":{"code":0}}')
            with pytest.raises(RpcAnswerLost):
                await submitting
            await socket.close()

    run(story)


def test_calls_under_way_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc_socket, "SOCKET_CALLS_MAX", 2)
    gate = asyncio.Event()

    async def answer(method: str) -> str:
        await gate.wait()
        return method

    async def story() -> None:
        async with Jip2Stub(lambda method, _: answer(method)) as stub:
            socket = client(stub)
            calls = [asyncio.create_task(one(socket, name)) for name in "abcd"]
            await until(lambda: len(stub.heard) == 2)
            with pytest.raises(ChainUnreachable):
                await one(socket, "e", 20)
            assert sorted(stub.methods()) == ["a", "b"]
            gate.set()
            assert len(await asyncio.gather(*calls)) == 4
            await socket.close()

    run(story)


def test_a_node_that_owes_too_many_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc_connection, "SOCKET_ABANDONED_MAX", 2)

    async def story() -> None:
        def silent(method: str, params: list[Any]) -> Any:
            raise Silence

        async with Jip2Stub(silent) as stub:
            socket = client(stub)
            for _ in range(4):
                with pytest.raises(RpcAnswerLost):
                    await one(socket, "a", 20)
            assert socket.connections_count == 2
            await socket.close()

    run(story)


def test_an_answer_that_comes_late_is_the_next_calls_business_in_no_way() -> None:
    async def story() -> None:
        gate = asyncio.Event()

        async def answer(method: str) -> str:
            if method == "slow":
                await gate.wait()
            return method

        async with Jip2Stub(lambda method, _: answer(method)) as stub:
            socket = client(stub)
            with pytest.raises(RpcAnswerLost):
                await one(socket, "slow", 20)
            gate.set()
            answer_b = await one(socket, "b")
            assert not isinstance(answer_b, RpcError)
            assert json.decode(bytes(answer_b)) == "b"
            assert socket.connections_count == 1
            await socket.close()

    run(story)


# Subscriptions.


def typeberrys(message: Json) -> Json:
    """As typeberry's own node writes notices."""
    if "params" in message:
        params = message["params"]
        message["params"] = {"subscriptionId": params["subscription"], "result": params["result"]}
    return message


@pytest.mark.parametrize(
    ("numbers", "write"),
    [
        (lambda count: count, lambda message: message),
        (hex, typeberrys),
        (lambda count: f"s{count}", lambda message: message),
    ],
)
def test_a_subscription_tells_until_it_is_left(numbers: Any, write: Any) -> None:
    async def story() -> None:
        async with Jip2Stub(echo, numbers=numbers, write=write) as stub:
            socket = client(stub)
            async with await opened(socket) as first, await opened(socket) as second:
                assert (stub.open_count(), socket.held_count) == (2, 2)
                await stub.tell("subscribeBestBlock", {"slot": 1})
                for each in (first, second):
                    assert json.decode(await each.next(MS)) == {"slot": 1}
                assert first.number == numbers(1)
            await until(lambda: stub.open_count() == 0)
            await until(lambda: socket.held_count == 0)
            assert (stub.left_count, stub.stray_leaves) == (2, [])
            first.leave()
            await one(socket, "a")
            assert stub.left_count == 2
            await socket.close()

    run(story)


def test_the_nodes_no_is_an_answer_and_takes_no_place() -> None:
    async def story() -> None:
        def full(method: str, params: list[Any]) -> Any:
            raise No(-32006, "Too many subscriptions on the connection")

        async with Jip2Stub(full) as stub:
            socket = client(stub)
            answer = await socket.subscribe(HEADS, LEAVE, MS)
            assert isinstance(answer, RpcError)
            assert "Too many" in answer.message
            assert socket.held_count == 0
            stub.answer = lambda method, params: {"no": "number"}
            answer = await socket.subscribe(HEADS, LEAVE, MS)
            assert isinstance(answer, RpcError)
            assert socket.held_count == 0
            await socket.close()

    run(story)


def test_a_subscription_that_is_answered_too_late_is_left_all_the_same() -> None:
    async def story() -> None:
        gate = asyncio.Event()

        async def answer(method: str) -> None:
            if method == "subscribeBestBlock":
                await gate.wait()

        async with Jip2Stub(lambda method, _: answer(method)) as stub:
            socket = client(stub)
            with pytest.raises(RpcAnswerLost):
                await socket.subscribe(HEADS, LEAVE, 20)
            cancelled = asyncio.create_task(socket.subscribe(HEADS, LEAVE, MS))
            await until(lambda: len(stub.heard) == 2)
            cancelled.cancel()
            await asyncio.wait([cancelled])
            assert socket.held_count == 2
            gate.set()
            await until(lambda: stub.left_count == 2)
            await until(lambda: socket.held_count == 0)
            assert stub.open_count() == 0
            await socket.close()

    run(story)


def test_a_subscription_whose_caller_is_cancelled_as_its_number_arrives_is_left() -> None:
    async def story() -> None:
        async with Jip2Stub(echo) as stub:
            socket = client(stub)
            await one(socket, "a")
            for _ in range(20):
                asking = asyncio.create_task(socket.subscribe(HEADS, LEAVE, MS))
                connection = socket._connection
                assert connection is not None
                heard = connection._receive

                def cancelling(data: Any, task: Any = asking, hear: Any = heard) -> None:
                    hear(data)
                    task.cancel()

                connection._receive = cancelling  # type: ignore[method-assign]
                await asyncio.wait([asking])
                assert asking.cancelled()
                connection._receive = heard  # type: ignore[method-assign]
                await until(lambda: stub.left_count == stub.opened_count)
                await until(lambda: socket.held_count == 0)
            assert stub.opened_count == 20
            await socket.close()

    run(story)


def test_a_call_that_has_not_left_yet_is_taken_back() -> None:
    async def story() -> None:
        async with Jip2Stub(echo) as stub:
            socket = client(stub)
            await one(socket, "a")
            connection = socket._connection
            assert connection is not None
            for asked in (
                connection.ask("b", []),
                connection.ask("c", [], NodeSubscription(connection, LEAVE)),
            ):
                connection.let_go(asked)
            await one(socket, "d")
            assert stub.methods() == ["a", "d"]
            assert socket.held_count == 0
            await socket.close()

    run(story)


def test_a_call_that_may_not_leave_when_its_turn_comes_stays_here() -> None:
    async def story() -> None:
        async with Jip2Stub(echo) as stub:
            socket = client(stub)
            await one(socket, "a")
            connection = socket._connection
            assert connection is not None
            gate, reasons = asyncio.Event(), [""]
            write = connection._socket.send_str

            async def slowly(text: str) -> None:
                await write(text)
                await gate.wait()

            connection._socket.send_str = slowly  # type: ignore[method-assign, assignment]
            long = asyncio.create_task(one(socket, "long"))
            await until(lambda: "long" in stub.methods())
            late = asyncio.create_task(socket.ask([RpcCall("late")], MS, lambda: reasons[0]))
            await until(lambda: connection.under_way_count == 1 and len(connection._outbox) == 1)
            reasons[0] = "it is too late"
            gate.set()
            with pytest.raises(CallWithheld) as caught:
                await late
            assert (caught.value.reason, caught.value.retry) == ("it is too late", "later")
            reasons[0] = ""
            await socket.ask([RpcCall("again")], MS, lambda: reasons[0])
            await long
            assert stub.methods() == ["a", "long", "again"]
            assert connection.under_way_count == 0
            await socket.close()

    run(story)


def test_a_call_that_stays_here_and_that_nobody_waits_for_is_owed_nothing() -> None:
    async def story() -> None:
        async with Jip2Stub(echo) as stub:
            socket = client(stub)
            await one(socket, "a")
            connection = socket._connection
            assert connection is not None
            asked = connection.ask("b", [], permit=lambda: "no")
            asked.answered.cancel()
            await one(socket, "c")
            connection.let_go(asked)
            assert connection.under_way_count == connection._abandoned_count == 0
            assert stub.methods() == ["a", "c"]
            await socket.close()

    run(story)


@pytest.mark.parametrize("error", ["the chain is gone", {"code": 1}])
def test_a_subscription_that_the_node_ends_is_left_too(error: object) -> None:
    async def story() -> None:
        async with Jip2Stub(echo) as stub:
            socket = client(stub)
            async with await opened(socket) as subscription:
                await stub.notify(stub.connections[0], 1, {"result": 1})
                await stub.notify(stub.connections[0], 1, {"error": error})
                assert json.decode(await subscription.next(MS)) == 1
                for _ in range(2):
                    with pytest.raises(ChainUnreadable):
                        await subscription.next(MS)
            await until(lambda: stub.left_count == 1)
            await socket.close()

    run(story)


def test_a_silent_subscription_is_told_from_one_with_nothing_to_say_by_its_silence() -> None:
    async def story() -> None:
        async with Jip2Stub(echo) as stub:
            socket = client(stub)
            async with await opened(socket) as subscription:
                with pytest.raises(RpcAnswerLost):
                    await subscription.next(20)
            await until(lambda: stub.left_count == 1)
            await socket.close()

    run(story)


def test_subscriptions_end_with_their_connection() -> None:
    async def story() -> None:
        async with Jip2Stub(echo) as stub:
            socket = client(stub)
            async with await opened(socket) as subscription:
                stub.cut()
                with pytest.raises(RpcAnswerLost):
                    await subscription.next(MS)
                assert socket.held_count == 0
            assert stub.left_count == 0
            await socket.close()

    run(story)


def test_notices_that_come_before_the_number_are_told() -> None:
    async def story() -> None:
        async with Jip2Stub(echo) as stub:
            told: list[Awaitable[None]] = []

            def early(method: str, params: list[Any]) -> Any:
                async def say() -> None:
                    for number in (1, 7):
                        await stub.notify(stub.connections[0], number, {"result": number})

                return say() if method == "subscribeBestBlock" else None

            stub.answer = early
            socket = client(stub)
            async with await opened(socket) as subscription:
                assert json.decode(await subscription.next(MS)) == 1
            assert not told
            await socket.close()

    run(story)


def test_of_too_many_notices_the_oldest_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc_connection, "SOCKET_NOTICES_MAX", 2)

    async def story() -> None:
        async with Jip2Stub(echo) as stub:
            socket = client(stub)
            async with await opened(socket) as subscription:
                for slot in range(5):
                    await stub.tell("subscribeBestBlock", slot)
                await one(socket, "a")
                assert [json.decode(await subscription.next(MS)) for _ in range(2)] == [3, 4]
                assert subscription.passed_over_count == 3
            await socket.close()

    run(story)


def test_a_notice_without_a_result_is_null() -> None:
    async def story() -> None:
        async with Jip2Stub(echo) as stub:
            socket = client(stub)
            async with await opened(socket) as subscription:
                await stub.notify(stub.connections[0], 1, {})
                assert bytes(await subscription.next(MS)) == b"null"
            await socket.close()

    run(story)


def test_the_place_of_a_subscription_that_the_node_never_ends_is_given_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rpc_connection, "SOCKET_LEAVE_S", 0.02)

    async def story() -> None:
        def answer(method: str, params: list[Any]) -> Any:
            if method == LEAVE:
                raise Silence

        async with Jip2Stub(answer) as stub:
            socket = client(stub)
            socket.subscriptions_max = 1
            async with await opened(socket):
                assert not socket.has_capacity()
            assert not socket.has_capacity()
            await until(socket.has_capacity)
            await socket.close()

    run(story)


def test_closing_leaves_every_subscription_and_ends_every_call() -> None:
    async def story() -> None:
        def answer(method: str, params: list[Any]) -> Any:
            if method == "hang":
                raise Silence

        async with Jip2Stub(answer) as stub:
            socket = client(stub)
            subscriptions = [await opened(socket) for _ in range(5)]
            hanging = asyncio.create_task(one(socket, "hang"))
            await until(lambda: "hang" in stub.methods())
            await socket.close()
            await until(lambda: not stub.connections)
            assert stub.left_count == 5
            with pytest.raises(RpcAnswerLost):
                await hanging
            for subscription in subscriptions:
                subscription.leave()

    run(story)


def test_a_client_that_is_closed_while_it_connects_leaves_nothing() -> None:
    async def story() -> None:
        async with Jip2Stub(echo) as stub:
            socket = client(stub)
            connecting = asyncio.create_task(one(socket, "a"))
            await asyncio.sleep(0)
            socket._closed = True
            with pytest.raises(ChainUnreachable):
                await connecting
            await socket.close()
            await until(lambda: not stub.connections)

    run(story)


def test_one_connection_serves_all_who_ask_at_once() -> None:
    async def story() -> None:
        async with Jip2Stub(echo) as stub:
            socket = client(stub)
            await asyncio.gather(*(one(socket, name) for name in "abcdefgh"))
            assert stub.connections_count == socket.connections_count == 1
            await socket.close()

    run(story)
