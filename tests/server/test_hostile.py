"""Laws of hostile input: a clear problem for whoever sends it, and no harm to anybody else."""

import asyncio
import json
from collections.abc import Iterator
from io import BytesIO

import pytest
import uvloop
from tests.server.stage import CALL, Client, running, serving

from laneway.server import call as call_module
from laneway.server import connection as connection_module
from laneway.server.access import LOOPBACK_NAMES

HEAD = b"POST /v1/transactions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(params=["uvloop", "asyncio"], autouse=True)
def loop(request: pytest.FixtureRequest) -> Iterator[None]:
    """Both loops that a server may run on: their transports differ where input is hostile."""
    if request.param == "uvloop":
        asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    yield
    asyncio.set_event_loop_policy(None)


async def raw(client: Client, request: bytes, *, wait_s: float = 5) -> bytes:
    """Send bytes; all that comes back until the server closes."""
    host, _, port = client.url.removeprefix("http://").partition(":")
    assert host in LOOPBACK_NAMES
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(request)
        async with asyncio.timeout(wait_s):
            return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


def told(answer: bytes) -> tuple[int, str]:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"application/problem+json" in head, answer
    return int(head.split()[1]), str(json.loads(body)["code"])


def test_the_largest_payload_is_taken_and_a_larger_body_is_refused() -> None:
    async def main() -> None:
        async with serving() as client:
            headers = {"Content-Type": "application/json"}
            sent = await client.send("x" * 1_000_000)
            assert sent["status"] == "queued"
            for size, status, code in (
                (1_100_000, 422, "bad_request"),
                (3_000_000, 413, "body_too_large"),
            ):
                body = json.dumps(CALL | {"payload": {"data": "x" * size}}).encode()
                heard = await client.ask(
                    "POST", "/v1/transactions", data=BytesIO(body), headers=headers
                )
                assert (heard.status, heard.code) == (status, code)

            async def endless() -> object:
                for _ in range(50):
                    yield b"x" * 100_000

            heard = await client.ask("POST", "/v1/transactions", data=endless(), headers=headers)
            assert (heard.status, heard.code) == (413, "body_too_large")
            assert (await client.get("/livez")).status == 200

    asyncio.run(main())


BAD_HTTP = [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /livez HTTP/1.1\r\nHost: localhost\r\nbad header\r\n\r\n",
    b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 9_000 + b"\r\n\r\n",
    b"GET /" + b"a" * 9_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /livez HTTP/1.1\r\nHost: localhost\r\n" + b"X: a\r\n" * 200 + b"\r\n",
    HEAD + b"Content-Length: -5\r\n\r\n",
    HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
]


@pytest.mark.parametrize("request_bytes", BAD_HTTP, ids=lambda value: str(value)[:50])
def test_bad_http_is_a_problem_and_the_end_of_its_connection(request_bytes: bytes) -> None:
    async def main() -> None:
        async with serving() as client:
            answer = await raw(client, request_bytes)
            status, _ = told(answer)
            assert status in (400, 403, 431), answer
            assert (await client.get("/livez")).status == 200

    asyncio.run(main())


def test_a_request_without_a_host_is_refused() -> None:
    async def main() -> None:
        async with serving() as client:
            answer = await raw(client, b"GET /livez HTTP/1.0\r\n\r\n")
            assert told(answer) == (403, "host_not_allowed")

    asyncio.run(main())


def test_a_client_that_sends_its_headers_slowly_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "HEADER_READ_S", 0.2)

    async def main() -> None:
        async with running() as (up, client):
            begun = asyncio.get_running_loop().time()
            await raw(client, b"GET /livez HTTP/1.1\r\nHost: loc")
            await raw(client, b"")
            # A second request that goes slowly, behind the first one's answer.
            host, _, port = client.url.removeprefix("http://").partition(":")
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await reader.readuntil(b"}")
            writer.write(b"GET /li")
            assert await reader.read() == b""
            writer.close()
            assert asyncio.get_running_loop().time() - begun < 4
            assert up.server._gate is not None
            assert up.server._gate.count == 0

    asyncio.run(main())


def test_an_idle_connection_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "KEEP_ALIVE_S", 0.2)

    async def main() -> None:
        async with serving() as client:
            for rest in (b"", b"GET /li"):
                answer = await raw(client, b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n" + rest)
                assert answer.startswith(b"HTTP/1.1 200")

    asyncio.run(main())


def test_a_client_that_sends_its_body_slowly_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_module, "BODY_READ_S", 0.1)
    monkeypatch.setattr(connection_module, "LINGER_S", 0.1)

    async def main() -> None:
        async with serving() as client:
            slow = asyncio.create_task(raw(client, HEAD + b'Content-Length: 99\r\n\r\n{"lane"'))
            sent = await client.send()  # Nobody waits for it.
            assert sent["status"] == "queued"
            assert told(await slow) == (408, "slow_body")

    asyncio.run(main())


def test_a_client_that_leaves_in_the_middle_of_its_body_queues_nothing() -> None:
    async def main() -> None:
        async with serving() as client:
            host, _, port = client.url.removeprefix("http://").partition(":")
            for _ in range(20):
                _, writer = await asyncio.open_connection(host, int(port))
                writer.write(HEAD + b'Content-Length: 99\r\n\r\n{"lane"')
                await writer.drain()
                writer.transport.abort()
            assert (await client.get("/v1/lanes")).body["items"] == []

    asyncio.run(main())


def test_a_client_that_leaves_before_its_answer_has_queued_what_it_sent() -> None:
    async def main() -> None:
        async with serving(host__round_ms="60000") as client:
            host, _, port = client.url.removeprefix("http://").partition(":")
            body = json.dumps(CALL).encode()
            _, writer = await asyncio.open_connection(host, int(port))
            writer.write(HEAD + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
            await writer.drain()
            writer.close()
            async with asyncio.timeout(5):
                while not (await client.get("/v1/lanes")).body["items"]:
                    await asyncio.sleep(0.01)
            assert len((await client.get("/v1/lanes")).body["items"]) == 1

    asyncio.run(main())


def test_one_connection_too_many_is_told_so_and_the_others_go_on() -> None:
    async def main() -> None:
        async with running(server__connections_max="20") as (up, client):
            await client.send()  # The client's own connection is kept alive.
            host, _, port = client.url.removeprefix("http://").partition(":")
            idle = [await asyncio.open_connection(host, int(port)) for _ in range(19)]
            answer = await raw(client, b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert told(answer) == (503, "too_many_connections")
            assert b"Retry-After" in answer
            assert (await client.send())["status"] == "queued"
            for _, writer in idle:
                writer.close()
            async with asyncio.timeout(5):
                while up.server._gate is None or up.server._gate.count > 1:
                    await asyncio.sleep(0.01)
            answer = await raw(
                client, b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            )
            assert answer.startswith(b"HTTP/1.1 200")

    asyncio.run(main())


def test_a_storm_of_rubbish_leaves_the_queue_as_it_was() -> None:
    async def main() -> None:
        async with serving() as client:
            sent = await client.send()
            rubbish = [b"\x00" * 100, b"{}" * 50_000, b"[" * 100_000, b'"\\ud800"', b"1e999999"]
            headers = {"Content-Type": "application/json"}
            storm = [
                client.ask("POST", path, data=body, headers=headers)
                for body in rubbish
                for path in (
                    "/v1/transactions",
                    f"/v1/transactions/{sent['id']}/cancel",
                    "/v1/lanes/contract:Qm1/drain",
                )
                for _ in range(5)
            ]
            answers = await asyncio.gather(*storm)
            assert {answer.status for answer in answers} <= {400, 422}
            assert (await client.finish(sent["id"]))["status"] == "confirmed"
            assert (await client.get("/v1/lanes/contract:Qm1")).body["queue"]["enqueued"] == 1

    asyncio.run(main())


def test_a_bug_of_ours_is_a_problem_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with running() as (up, client):

            async def broken(intent: str) -> object:
                raise ZeroDivisionError("a secret")

            up.desk.show = broken  # type: ignore[method-assign,assignment]
            heard = await client.get("/v1/transactions/tx_1")
            assert (heard.status, heard.code) == (500, "bug")
            assert "secret" not in str(heard.body)
            assert (await client.get("/livez")).status == 200

    asyncio.run(main())
    assert "a secret" in caplog.text


def test_a_request_that_takes_too_long_is_ended() -> None:
    async def main() -> None:
        async with running(server__request_ms_max="50") as (up, client):

            async def stuck(lane: str) -> object:
                await asyncio.sleep(60)
                return None

            up.desk.lane = stuck  # type: ignore[method-assign,assignment]
            heard = await client.get("/v1/lanes/contract:Qm1")
            assert (heard.status, heard.code) == (503, "too_slow")
            assert heard.body["retryable"] is True
            heard = await client.post("/v1/lanes/contract:Qm1/pause", {"reason": "r"})
            assert (heard.code, heard.body["retryable"]) == ("too_slow", False)

    asyncio.run(main())
