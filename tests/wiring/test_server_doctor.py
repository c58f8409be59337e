"""A running server's own checks are among the doctor's findings."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import msgspec
import pytest

from laneway.kinds.findings import Finding
from laneway.wire.values import Check, Readiness
from laneway.wiring import server_doctor
from laneway.wiring.config import Configuration, load
from laneway.wiring.server import Up
from laneway.wiring.server_doctor import examine_server


def at(port: int, listen: str = "127.0.0.1") -> Configuration:
    keys = {} if listen == "127.0.0.1" else {"server.keys_file": "keys.toml"}
    kept = keys | {"store.path": ":memory:", "store.durability": "memory"}
    return load(flags={"server.port": str(port), "server.listen": listen, **kept})


@contextmanager
def answering(status: int, body: bytes) -> Iterator[int]:
    """The port of a server with one answer."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Not on the terminal."""

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def test_a_server_that_is_ready_is_one_finding() -> None:
    async def story() -> list[Finding]:
        async with Up(at(0)) as up:
            port = int(up.server.urls[0].rpartition(":")[2])
            return await asyncio.to_thread(examine_server, at(port))

    (found,) = asyncio.run(story())
    assert (found.name, found.ok) == ("server", True)


def test_each_check_that_fails_is_a_finding() -> None:
    checks = [Check("store", True, "writable"), Check("chain", False, "node http://x is away")]
    with answering(503, msgspec.json.encode(Readiness(False, checks))) as port:
        (found,) = examine_server(at(port, "0.0.0.0"))
    assert (found.name, found.ok) == ("server, chain", False)
    assert found.what == "node http://x is away"
    assert f"http://127.0.0.1:{port}/readyz" in found.advice


def test_a_server_of_another_kind_is_named() -> None:
    with answering(200, b"<html>") as port:
        (found,) = examine_server(at(port))
    assert not found.ok
    assert f"127.0.0.1:{port} is not a laneway" in found.what


def test_nothing_is_said_where_no_server_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert examine_server(at(0)) == []
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        assert examine_server(at(taken.getsockname()[1])) == []
        taken.listen()
        monkeypatch.setattr(server_doctor, "READINESS_S_MAX", 0.05)
        assert examine_server(at(taken.getsockname()[1])) == []
