"""A Redis of the benchmark's own, for the time of a run: every write synced before its answer."""

import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from laneway_bench.child import BenchFailed
from laneway_bench.limits import SERVER_START_S_MAX
from laneway_bench.peers import run
from laneway_bench.servers import free_port, running


class Redis(Struct, frozen=True):
    """A running server and how to reach it."""

    port: int
    version: str

    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def clear(self) -> None:
        """Forget everything, so that a round begins as the first one did."""
        if reply_to(self.port, b"FLUSHALL SYNC\r\n") != b"+OK\r\n":
            raise BenchFailed("Redis could not be cleared")


@contextmanager
def redis(folder: Path) -> Iterator[Redis]:
    """A new server with its files under `folder`, on loopback."""
    program = shutil.which("redis-server")
    if program is None:
        raise BenchFailed("Redis is missing: apt-get install -y redis-server")
    port = free_port()
    # Should we be killed, the kernel ends it.
    command = ["setpriv", "--pdeathsig", "KILL", program, "--port", str(port)]
    command += ["--bind", "127.0.0.1", "--save", "", "--appendonly", "yes"]
    command += ["--appendfsync", "always", "--daemonize", "no"]
    with (
        tempfile.TemporaryDirectory(prefix="redis-", dir=folder.resolve()) as data,
        running("Redis", [*command, "--dir", data], lambda _: is_up(port)),
    ):
        words = run([program, "--version"], "ask its version").split()
        version = next(word[2:] for word in words if word.startswith("v="))
        yield Redis(port, version)


def is_up(port: int) -> bool:
    return reply_to(port, b"PING\r\n") == b"+PONG\r\n"


def reply_to(port: int, command: bytes) -> bytes:
    """The answer to one command; nothing where nobody listens."""
    try:
        with socket.create_connection(("127.0.0.1", port), SERVER_START_S_MAX) as line:
            line.sendall(command)
            return line.recv(4_096)
    except ConnectionError:
        return b""
