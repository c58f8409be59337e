"""A Redis of the benchmark's own, for the time of a run: every write synced before its answer."""

import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from laneway.bench.child import BenchFailed, end
from laneway.bench.limits import SERVER_POLL_S, SERVER_START_S_MAX
from laneway.bench.peers import run


class Redis(Struct, frozen=True):
    """A running server and how to reach it."""

    port: int
    version: str

    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def clear(self) -> None:
        """Forget everything, so that a round begins as the first one did."""
        if said(self.port, b"FLUSHALL SYNC\r\n") != b"+OK\r\n":
            raise BenchFailed("Redis could not be cleared")


@contextmanager
def redis(folder: Path) -> Iterator[Redis]:
    """A new server with its files under `folder`, on loopback."""
    program = shutil.which("redis-server")
    if program is None:
        raise BenchFailed("Redis is missing: apt-get install -y redis-server")
    port = free_port()
    with (
        tempfile.TemporaryDirectory(prefix="redis-", dir=folder.resolve()) as data,
        server(program, data, port),
    ):
        words = run([program, "--version"], "ask its version").split()
        version = next(word[2:] for word in words if word.startswith("v="))
        yield Redis(port, version)


@contextmanager
def server(program: str, data: str, port: int) -> Iterator[None]:
    # Should we be killed, the kernel ends it.
    command = ["setpriv", "--pdeathsig", "KILL", program, "--port", str(port), "--dir", data]
    command += ["--bind", "127.0.0.1", "--save", "", "--appendonly", "yes"]
    command += ["--appendfsync", "always", "--daemonize", "no"]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        try:
            until_s = time.monotonic() + SERVER_START_S_MAX
            while said(port, b"PING\r\n") != b"+PONG\r\n":
                if process.poll() is not None or time.monotonic() > until_s:
                    log.seek(0)
                    why = log.read().decode("utf-8", "replace").strip()[-1_000:]
                    raise BenchFailed(f"Redis did not start: {why}")
                time.sleep(SERVER_POLL_S)
            yield
        finally:
            end(process, signal.SIGTERM)


def said(port: int, command: bytes) -> bytes:
    """The answer to one command; nothing where nobody listens."""
    try:
        with socket.create_connection(("127.0.0.1", port), SERVER_START_S_MAX) as line:
            line.sendall(command)
            return line.recv(4_096)
    except ConnectionError:
        return b""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
