"""The quick client says of a request that failed what is known, and nothing more."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec import json
from tests.free_ports import free_port

from laneway.chains.endpoint import NodePlace
from laneway.core.errors import ChainUnreachable, ChainUnreadable
from laneway.wire import plain_client as module
from laneway.wire.jsonrpc import NodeBusy, RpcAnswerLost, RpcCall, RpcClient
from laneway.wire.plain_client import PlainClient, client_of

ANSWER_MS = 5_000
CALL = (RpcCall("status"),)


class Server:
    """Answers each request by what `say` returns: bytes, or None to hang up."""

    def __init__(self, say: Callable[[int, bytes], bytes | None]) -> None:
        self._say = say
        self.connections = 0
        self.heads: list[bytes] = []
        self.bodies: list[Any] = []
        self.url = ""
        self.hold: asyncio.Event | None = None
        self._writers: list[asyncio.StreamWriter] = []

    async def __aenter__(self) -> "Server":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/rpc?key=1"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self.hang_up()
        await self._server.wait_closed()

    def hang_up(self) -> None:
        for writer in self._writers:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0])
                body = await reader.readexactly(length)
                self.heads.append(head)
                self.bodies.append(json.decode(body))
                if self.hold is not None:
                    await self.hold.wait()
                said = self._say(len(self.bodies), body)
                if said is None:
                    break
                writer.write(said)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def ok(number: int, _body: bytes) -> bytes:
    return whole(json.encode({"jsonrpc": "2.0", "id": number, "result": number * 10}))


def whole(content: bytes, status: str = "200 OK", more: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(content)}\r\n{more}\r\n"
    return head.encode() + content


def play(
    say: Callable[[int, bytes], bytes | None],
    story: Callable[[PlainClient, Server], Awaitable[Any]],
) -> Any:
    async def played() -> Any:
        async with Server(say) as server:
            client = client_of(server.url, name="node", headers={})
            assert isinstance(client, PlainClient)
            try:
                return await story(client, server)
            finally:
                await client.close()

    return asyncio.run(played())


async def asked(client: RpcClient, timeout_ms: int = ANSWER_MS) -> int:
    (answer,) = await client.ask(CALL, timeout_ms)
    return int(json.decode(answer))  # type: ignore[arg-type]


def test_calls_one_behind_the_other_share_a_connection() -> None:
    async def story(client: PlainClient, server: Server) -> None:
        assert [await asked(client) for _ in range(3)] == [10, 20, 30]
        assert server.connections == 1
        assert [body["method"] for body in server.bodies] == ["status"] * 3
        head = server.heads[0].decode()
        assert head.startswith("POST /rpc?key=1 HTTP/1.1\r\nHost: 127.0.0.1:")
        assert "Content-Type: application/json\r\n" in head

    play(ok, story)


def test_calls_at_once_have_a_connection_each_up_to_a_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "RPC_CONNECTIONS_MAX", 3)

    def said(_: int, body: bytes) -> bytes:
        return whole(json.encode({"id": json.decode(body)["id"], "result": 1}))

    async def story(client: PlainClient, server: Server) -> None:
        server.hold = asyncio.Event()
        tasks = [asyncio.create_task(asked(client)) for _ in range(5)]
        while len(server.bodies) < 3:
            await asyncio.sleep(0.001)
        assert server.connections == 3
        server.hold.set()
        assert await asyncio.gather(*tasks) == [1] * 5
        assert server.connections == 3

    play(said, story)


def test_who_finds_no_connection_in_time_has_sent_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RPC_CONNECTIONS_MAX", 1)

    async def story(client: PlainClient, server: Server) -> None:
        server.hold = asyncio.Event()
        client._connect_s = 0.02
        task = asyncio.create_task(asked(client))
        while not server.bodies:
            await asyncio.sleep(0.001)
        with pytest.raises(ChainUnreachable, match="all its connections are in use"):
            await asked(client)
        server.hold.set()
        assert await task == 10

    play(ok, story)


def test_a_node_that_is_not_there_was_sent_nothing() -> None:
    async def story() -> None:
        client = client_of(f"http://127.0.0.1:{free_port()}", name="node", headers={})
        with pytest.raises(ChainUnreachable):
            await client.ask(CALL, ANSWER_MS)
        await client.close()

    asyncio.run(story())


def test_a_connection_that_takes_too_long_is_none() -> None:
    async def story(client: PlainClient, _server: Server) -> None:
        async def never(*_: object) -> Any:
            await asyncio.sleep(60)

        setattr(asyncio.get_running_loop(), "create_connection", never)  # noqa: B010
        client._connect_s = 0.01
        with pytest.raises(ChainUnreachable, match="no connection within"):
            await asked(client)

    play(ok, story)


def test_silence_is_an_answer_lost_and_what_comes_late_is_never_heard() -> None:
    async def story(client: PlainClient, server: Server) -> None:
        server.hold = asyncio.Event()
        with pytest.raises(RpcAnswerLost, match=r"no answer within 0\.02 s"):
            await asked(client, 20)
        server.hold.set()
        client._id_next = 2
        assert await asked(client) == 20, "on a connection of its own"
        assert server.connections == 2

    play(lambda number, _: ok(2 if number > 1 else 1, b""), story)


def test_a_caller_that_gives_up_leaves_no_connection_behind() -> None:
    async def story(client: PlainClient, server: Server) -> None:
        server.hold = asyncio.Event()
        task = asyncio.create_task(asked(client))
        while not server.bodies:
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        server.hold.set()
        assert await asked(client) == 20
        assert server.connections == 2

    play(ok, story)


@pytest.mark.parametrize(
    "part", [b"", b"HTTP/1.1 200", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"]
)
def test_a_connection_that_breaks_off_may_have_carried_the_request(part: bytes) -> None:
    async def story(client: PlainClient, server: Server) -> None:
        server.hold = asyncio.Event()
        task = asyncio.create_task(asked(client))
        while not server.bodies:
            await asyncio.sleep(0.001)
        for writer in server._writers:
            writer.write(part)
        server.hang_up()
        server.hold.set()
        with pytest.raises(RpcAnswerLost, match="cut off"):
            await task

    play(lambda *_: None, story)


def test_an_answer_without_a_length_ends_with_the_connection() -> None:
    async def story(client: PlainClient, server: Server) -> None:
        server.hold = asyncio.Event()
        task = asyncio.create_task(asked(client))
        while not server.bodies:
            await asyncio.sleep(0.001)
        server._writers[0].write(b'HTTP/1.1 200 OK\r\n\r\n{"id":1,"result":7}')
        server.hang_up()
        server.hold.set()
        assert await task == 7

    play(lambda *_: None, story)


def test_a_connection_that_was_closed_or_rested_for_long_is_not_used_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story(client: PlainClient, server: Server) -> None:
        assert await asked(client) == 10
        server.hang_up()
        await asyncio.sleep(0.02)
        assert await asked(client) == 20
        assert server.connections == 2
        monkeypatch.setattr(module, "RPC_KEEPALIVE_S", -1)
        assert await asked(client) == 30
        assert server.connections == 3

    play(ok, story)


def test_a_server_that_closes_is_connected_to_anew() -> None:
    def closing(number: int, _: bytes) -> bytes:
        content = json.encode({"id": number, "result": number})
        return whole(content, more="Connection: close\r\n")

    async def story(client: PlainClient, server: Server) -> None:
        assert [await asked(client), await asked(client)] == [1, 2]
        assert server.connections == 2

    play(closing, story)


def test_words_that_nobody_asked_for_end_a_connection() -> None:
    async def story(client: PlainClient, server: Server) -> None:
        assert await asked(client) == 10
        server._writers[0].write(b"by the way")
        await asyncio.sleep(0.02)
        assert await asked(client) == 20
        assert server.connections == 2

    play(ok, story)


def test_an_answer_and_its_end_may_come_at_once() -> None:
    async def story(client: PlainClient, server: Server) -> None:
        connection = await client._connected()
        server.hold = asyncio.Event()
        task = asyncio.create_task(connection.post(client._head + b"2\r\n\r\n{}", 5.0))
        await asyncio.sleep(0)
        connection.data_received(whole(b"one"))
        connection.data_received(b"two")
        connection.connection_lost(None)
        answer = await task
        assert answer.content == b"one"
        assert not connection.is_open
        client._give_back(connection)
        server.hold.set()

    play(ok, story)


def test_what_is_no_http_says_nothing() -> None:
    async def story(client: PlainClient, _: Server) -> None:
        with pytest.raises(ChainUnreadable, match="no status"):
            await asked(client)

    play(lambda *_: b"SSH-2.0\r\n\r\n", story)


def test_a_busy_node_asks_for_patience() -> None:
    async def story(client: PlainClient, _: Server) -> None:
        with pytest.raises(NodeBusy) as told:
            await asked(client)
        assert told.value.retry_after_s == 7

    play(lambda *_: whole(b"", "429 Too Many", "Retry-After: 7\r\n"), story)


def test_a_closed_client_asks_nobody() -> None:
    async def story(client: PlainClient, server: Server) -> None:
        server.hold = asyncio.Event()
        task = asyncio.create_task(asked(client))
        while not server.bodies:
            await asyncio.sleep(0.001)
        await client.close()
        server.hold.set()
        assert await task == 10, "what is under way ends by itself"
        assert client._idle == []
        with pytest.raises(ChainUnreachable, match="closed"):
            await asked(client)

    play(ok, story)


@pytest.mark.parametrize(
    "place",
    [
        NodePlace("https://127.0.0.1:1"),
        NodePlace("http://user:secret@127.0.0.1:1"),
        NodePlace("http://user@127.0.0.1:1"),
        NodePlace("http://127.0.0.1:1", headers={"X-Key": "secret"}),
    ],
)
def test_secrets_and_certificates_are_left_to_the_general_client(place: NodePlace) -> None:
    async def story() -> None:
        client = client_of(place.url, name="node", headers=place.headers)
        assert type(client) is RpcClient
        await client.close()

    asyncio.run(story())
