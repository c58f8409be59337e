"""One POST: signed, bounded in time and size, and never to a private address by mistake."""

import asyncio
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult
from tests.feeds.receiver import SECRET, Receiver, receiving, verified

from laneway.engine.system import SystemClock
from laneway.feeds import sender as module
from laneway.feeds.guard import guarded_socket
from laneway.feeds.sender import HttpSender, WebhookEndpoint, retry_after_ms
from laneway.feeds.signature import read_secret
from laneway.ports import DeliveryMessage, Posted

MESSAGE = DeliveryMessage("msg_1", "transaction.confirmed", b'{"type":"transaction.confirmed"}')


class Names(AbstractResolver):
    """Answers for any name, the next of these addresses each time."""

    def __init__(self, port: int, *addresses: str) -> None:
        self.port = port
        self.addresses = list(addresses)
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[ResolveResult]:
        self.asked.append(host)
        address = self.addresses.pop(0) if len(self.addresses) > 1 else self.addresses[0]
        return [
            {
                "hostname": host,
                "host": address,
                "port": port or self.port,
                "family": socket.AF_INET6 if ":" in address else socket.AF_INET,
                "proto": 0,
                "flags": 0,
            }
        ]

    async def close(self) -> None: ...


def endpoint(url: str, **fields: Any) -> WebhookEndpoint:
    secrets = (read_secret(SECRET),)
    return WebhookEndpoint(**{"id": "hook", "url": url, "secrets": secrets, **fields})


async def posted(url: str, *, names: Names | None = None, **fields: Any) -> Posted:
    sender = HttpSender([endpoint(url, **fields)], SystemClock(), names)
    try:
        return await sender.post("hook", MESSAGE)
    finally:
        await sender.close()


def test_a_message_arrives_signed_and_as_it_was_kept() -> None:
    async def main() -> None:
        async with receiving() as receiver:
            answer = await posted(receiver.url, allow_private=True)
            assert (answer.code, answer.reason, answer.preview) == (200, "", b"status 200")
            ((headers, body),) = receiver.heard
            assert body == MESSAGE.body
            assert headers["content-type"] == "application/json"
            assert headers["webhook-id"] == "msg_1"
            assert headers["user-agent"].startswith("laneway/")
            assert verified(headers, body)
            assert not verified(headers, body + b" ")

    asyncio.run(main())


@pytest.mark.parametrize("code", [204, 400, 410, 429, 500, 503])
def test_an_answer_is_told_as_it_is(code: int) -> None:
    async def main() -> None:
        async with receiving() as receiver:
            receiver.answers = [code]
            answer = await posted(receiver.url, allow_private=True)
            assert answer.code == code
            assert answer.reason == ("" if code == 204 else f"HTTP {code}")

    asyncio.run(main())


def test_a_redirection_is_not_followed() -> None:
    async def main() -> None:
        async with receiving() as receiver:

            async def elsewhere(_request: web.Request) -> web.StreamResponse:
                return web.Response(status=307, headers={"Location": receiver.url + "/other"})

            receiver.answers = [elsewhere]
            assert (await posted(receiver.url, allow_private=True)).code == 307
            assert len(receiver.heard) == 1

    asyncio.run(main())


def test_a_huge_answer_is_read_no_further_than_its_preview() -> None:
    sent = 0

    async def main() -> None:
        async with receiving() as receiver:

            async def huge(request: web.Request) -> web.StreamResponse:
                nonlocal sent
                response = web.StreamResponse()
                await response.prepare(request)
                try:
                    for _ in range(1_000):
                        await response.write(b"x" * 65_536)
                        sent += 65_536
                except ConnectionError:
                    pass
                return response

            receiver.answers = [huge]
            answer = await posted(receiver.url, allow_private=True)
            assert (answer.code, answer.preview) == (200, b"x" * 512)
        assert sent < 32 << 20

    asyncio.run(main())


def test_a_receiver_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "POST_S", 0.05)

    async def main() -> None:
        async with receiving() as receiver:

            async def hang(_request: web.Request) -> web.StreamResponse:
                await asyncio.sleep(60)
                raise AssertionError

            receiver.answers = [hang]
            answer = await posted(receiver.url, allow_private=True)
            assert answer.code is None
            assert "no answer" in answer.reason

    asyncio.run(main())


def test_a_receiver_that_breaks_off_or_is_not_there_proves_nothing() -> None:
    async def main() -> None:
        async with receiving() as receiver:

            async def cut(request: web.Request) -> web.StreamResponse:
                assert request.transport is not None
                request.transport.close()
                return web.Response()

            receiver.answers = [cut, cut]
            answer = await posted(receiver.url, allow_private=True)
            assert (answer.code, answer.reason[:23]) == (None, "the connection failed: ")
            url = receiver.url
        answer = await posted(url, allow_private=True)
        assert answer.code is None
        assert answer.reason.startswith("cannot connect")

    asyncio.run(main())


def test_an_endpoint_that_is_not_configured_is_no_place() -> None:
    async def main() -> None:
        sender = HttpSender([], SystemClock())
        assert (await sender.post("hook", MESSAGE)).code is None
        await sender.close()

    asyncio.run(main())


async def refused(receiver: Receiver, url: str, names: Names | None = None) -> None:
    answer = await posted(url, names=names)
    assert answer.code is None
    assert "allow_private" in answer.reason, answer
    assert receiver.heard == []


@pytest.mark.parametrize("host", ["127.0.0.1", "[::ffff:127.0.0.1]", "localhost"])
def test_a_private_address_is_refused_however_it_is_spelled(host: str) -> None:
    async def main() -> None:
        async with receiving() as receiver:
            port = urlsplit(receiver.url).port
            await refused(receiver, f"http://{host}:{port}/hook")

    asyncio.run(main())


@pytest.mark.parametrize("host", ["127.1", "0x7f000001", "2130706433", "0177.0.0.1"])
def test_an_old_spelling_of_loopback_reaches_nobody(host: str) -> None:
    async def main() -> None:
        async with receiving() as receiver:
            port = urlsplit(receiver.url).port
            assert (await posted(f"http://{host}:{port}/hook")).code is None
            assert receiver.heard == []

    asyncio.run(main())


def test_a_name_that_means_a_private_address_is_refused_after_it_was_resolved() -> None:
    async def main() -> None:
        async with receiving() as receiver:
            port = urlsplit(receiver.url).port or 0
            names = Names(port, "127.0.0.1")
            await refused(receiver, f"http://hooks.example.org:{port}/", names)
            assert names.asked == ["hooks.example.org"]

    asyncio.run(main())


def test_a_name_that_changes_its_mind_gains_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """DNS rebinding: public when it is checked, private when it is used."""
    connected: list[str] = []

    def watched(found: Any) -> socket.socket:
        guarded_socket(found).close()
        connected.append(found[4][0])
        raise OSError(101, "no network in this test")

    async def main() -> None:
        async with receiving() as receiver:
            port = urlsplit(receiver.url).port or 0
            names = Names(port, "93.184.216.34", "127.0.0.1")
            sender = HttpSender(
                [endpoint(f"http://evil.example.org:{port}/")], SystemClock(), names
            )
            with monkeypatch.context() as patch:
                patch.setattr(module, "guarded_socket", watched)
                first = await sender.post("hook", MESSAGE)
                # One resolution for one connection: what was judged is what is connected to.
                assert (first.code, connected) == (None, ["93.184.216.34"])
            await sender.close()
            again = HttpSender([endpoint(f"http://evil.example.org:{port}/")], SystemClock(), names)
            second = await again.post("hook", MESSAGE)
            assert "127.0.0.1" in second.reason
            assert receiver.heard == []
            assert names.asked == ["evil.example.org"] * 2
            await again.close()

    asyncio.run(main())


def test_a_guarded_endpoint_uses_no_connection_of_one_that_allows_more() -> None:
    async def main() -> None:
        async with receiving() as receiver:
            both = [
                endpoint(receiver.url, id="open", allow_private=True),
                endpoint(receiver.url, id="guarded"),
            ]
            sender = HttpSender(both, SystemClock())
            assert (await sender.post("open", MESSAGE)).code == 200
            assert (await sender.post("guarded", MESSAGE)).code is None
            assert len(receiver.heard) == 1
            await sender.close()

    asyncio.run(main())


def test_an_endpoint_does_not_tell_its_secret_or_address() -> None:
    shown = repr(endpoint("https://user:word@example.org/token"))
    assert shown == "Endpoint('hook')"


@pytest.mark.parametrize(
    ("text", "expected_ms"),
    [
        (None, None),
        ("7", 7_000),
        ("0", 0),
        ("9" * 40, 86_400_000),
        ("-5", None),
        ("soon", None),
        ("Thu, 01 Jan 1970 00:02:00 GMT", 60_000),
        ("Thu, 01 Jan 1970 00:02:00 -0000", 60_000),
        ("Thu, 01 Jan 1970 00:00:01 GMT", 0),
        ("Thu, 01 Jan 2970 00:00:00 GMT", 86_400_000),
    ],
)
def test_retry_after_is_seconds_or_a_date(text: str | None, expected_ms: int | None) -> None:
    assert retry_after_ms(text, 60_000) == expected_ms
