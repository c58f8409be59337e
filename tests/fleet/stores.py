"""The shared stores that a fleet can be tried on, each with a server of its own."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from tests import redis_servers
from tests.servers import PostgresServer


class Server(Protocol):
    url: str

    def kill(self) -> None: ...
    def start(self) -> None: ...


class Postgres:
    """One PostgreSQL that can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self._server = PostgresServer(folder)
        self.url = f"postgresql:///postgres?host={folder}&user=postgres"

    def start(self) -> None:
        self._server.start()

    def kill(self) -> None:
        self._server.kill()

    def stop(self) -> None:
        self._server.stop()


class Redis:
    """One Redis server, or a Cluster of three of which the first can be killed."""

    def __init__(self, servers: list[redis_servers.Server], scheme: str) -> None:
        self._server = servers[0]
        self.url = self._server.url.replace("redis://", f"{scheme}://")

    def start(self) -> None:
        self._server.start()

    def kill(self) -> None:
        self._server.kill()


def emptied(count: int) -> list[redis_servers.Server]:
    """Owners of other tests must not be taken for living ones: lanes would be at home with them."""
    servers = redis_servers.shared(count)
    redis_servers.empty(servers)
    return servers


@contextmanager
def started(kind: str) -> Iterator[Server]:
    match kind:
        case "postgres":
            # A socket's path is at most 107 characters, so it lives in a folder of its own.
            with tempfile.TemporaryDirectory(prefix="laneway-") as place:
                server = Postgres(Path(place))
                server.start()
                try:
                    yield server
                finally:
                    server.stop()
        case "redis":
            yield Redis(emptied(1), "redis")
        case "redis-cluster":
            yield Redis(emptied(3), "redis+cluster")
        case _:
            raise SystemExit(f"there is no store {kind!r} to try a fleet on")
