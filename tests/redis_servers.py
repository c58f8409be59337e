"""Private Redis servers for tests: one, or a Cluster of three, or a master with its replica.

They need the program `redis-server` (Debian's package of that name). Without it tests fail: a
store that was not tried is not known to work.
"""

import atexit
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from redis import Redis
from redis.exceptions import RedisError
from tests.free_ports import free_port

START_S_MAX = 90.0
SLOTS = 16_384

DURABLE = ("--appendonly", "yes", "--appendfsync", "always")


def program() -> str:
    found = shutil.which("redis-server")
    assert found, "the tests need 'redis-server': install Debian's package redis-server"
    return found


class Server:
    """One redis-server in a folder of its own; it can be killed, stopped and started again."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}"
        self.client = Redis(port=self.port, protocol=2)
        self._raw = Redis(port=self.port, protocol=2)
        self._raw.response_callbacks.clear()
        self._options = options
        self._child: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        command = [program(), "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
        command += ["--dir", str(self.folder), "--daemonize", "no", "--protected-mode", "no"]
        command += ["--repl-diskless-sync-delay", "0"]
        with (self.folder / "log").open("ab") as log:
            self._child = subprocess.Popen(
                [*command, *self._options], stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
        try:
            self.await_ready()
        except BaseException:
            self.kill()
            raise

    def await_ready(self) -> None:
        deadline = time.monotonic() + START_S_MAX
        while True:
            try:
                if self.client.ping():
                    return
            except (RedisError, OSError):
                pass
            assert self._child is not None
            assert self._child.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < deadline, (self.folder / "log").read_text()
            time.sleep(0.01)

    def say(self, *words: str | int | bytes) -> Any:
        """One command, and the reply as it came."""
        return self._raw.execute_command(*words)  # type: ignore[no-untyped-call]

    def kill(self) -> None:
        """As a crash would: nothing more is written."""
        assert self._child is not None
        self._child.kill()
        self._child.wait()
        self.client.close()
        self._raw.close()

    def signal(self, number: int) -> None:
        assert self._child is not None
        self._child.send_signal(number)

    def rewrite(self) -> None:
        """Have the log written anew, as the store does after another start."""
        self.say("BGREWRITEAOF")
        deadline = time.monotonic() + START_S_MAX
        while b"aof_rewrite_in_progress:1" in self.say("INFO", "persistence") or self.is_clearing():
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def is_clearing(self) -> bool:
        return len(list((self.folder / "appendonlydir").glob("*.incr.aof"))) > 1

    def log_path(self) -> Path:
        """The part of the append-only file that grows."""
        (path,) = (self.folder / "appendonlydir").glob("*.incr.aof")
        return path


@contextmanager
def server(*options: str) -> Iterator[Server]:
    """One server; durable unless other options are given."""
    with TemporaryDirectory(prefix="laneway-redis-") as folder:
        made = Server(Path(folder), *(options or DURABLE))
        try:
            yield made
        finally:
            made.kill()


@contextmanager
def three_servers() -> Iterator[list[Server]]:
    """A Cluster of three, each with a third of the slots."""
    options = [*DURABLE, "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf"]
    options += ["--cluster-node-timeout", "2000"]
    with server(*options) as one, server(*options) as two, server(*options) as three:
        made = [one, two, three]
        for number, node in enumerate(made):
            first, last = SLOTS * number // 3, SLOTS * (number + 1) // 3 - 1
            node.say("CLUSTER", "ADDSLOTSRANGE", first, last)
            node.say("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        for node in made[1:]:
            one.say("CLUSTER", "MEET", "127.0.0.1", node.port)
        deadline = time.monotonic() + START_S_MAX
        while not all(is_whole(node) for node in made):
            assert time.monotonic() < deadline, "the Cluster did not come together"
            time.sleep(0.02)
        yield made


def is_whole(node: Server) -> bool:
    told = node.say("CLUSTER", "INFO").decode()
    return "cluster_state:ok" in told and "cluster_known_nodes:3" in told


KEPT: dict[int, list[Server]] = {}
"""Servers that all tests of this process share, by how many they are."""
ENDINGS = ExitStack()
atexit.register(ENDINGS.close)


def shared(count: int) -> list[Server]:
    """One server, or a Cluster of three, started once and ended with the process."""
    if count not in KEPT:
        if count == 1:
            KEPT[count] = [ENDINGS.enter_context(server())]
        else:
            KEPT[count] = ENDINGS.enter_context(three_servers())
    return KEPT[count]


def empty(servers: list[Server]) -> None:
    for node in servers:
        node.client.flushall()
