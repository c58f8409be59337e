"""A PostgreSQL of the benchmark's own, for the time of a run."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct

from laneway_bench.child import BenchFailed
from laneway_bench.peers import run
from laneway_bench.servers import running

POSTGRES_USER = "postgres"
"""Whom Debian's package makes; PostgreSQL refuses to run as root."""


class Postgres(Struct, frozen=True):
    """A running server and how to reach it."""

    conninfo: str
    version: str

    def url(self) -> str:
        """The same for laneway's own store."""
        words = dict(word.split("=", 1) for word in self.conninfo.split())
        return f"postgresql://{words['user']}@/{words['dbname']}?host={quote(words['host'])}"

    def clear(self) -> None:
        """Forget everything that laneway wrote, so that a round begins as the first one did."""
        import psycopg

        with psycopg.connect(self.conninfo, autocommit=True) as connection:
            connection.execute("DROP SCHEMA IF EXISTS laneway CASCADE")


def programs(root: Path = Path("/usr/lib/postgresql")) -> Path:
    """The newest PostgreSQL that Debian's packages put here."""
    found = [path.parent for path in root.glob("*/bin/postgres")]
    if not found:
        raise BenchFailed("PostgreSQL is missing: apt-get install -y postgresql")
    return max(found, key=lambda path: [int(part) for part in path.parent.name.split(".")])


def server_user() -> str | None:
    """Who runs the server: we ourselves, unless we are root."""
    if os.geteuid() != 0:
        return None
    try:
        pwd.getpwnam(POSTGRES_USER)
    except KeyError:
        raise BenchFailed(
            f"the user {POSTGRES_USER} is missing: apt-get install -y postgresql"
        ) from None
    return POSTGRES_USER


def is_open_to_all(folder: Path) -> bool:
    """Whether another user may walk down to it."""
    return all(path.stat().st_mode & 0o001 for path in (folder, *folder.parents))


@contextmanager
def postgres(folder: Path) -> Iterator[Postgres]:
    """A new server with its files under `folder`, every commit synced, on a socket of its own."""
    programs_folder, user = programs(), server_user()
    folder = folder.resolve()
    if user is not None and not is_open_to_all(folder):
        # The server's user cannot enter our folder; this one is on the same disk on most machines.
        folder = Path("/var/tmp")
    # The socket's path may have 107 characters at most, so it does not live beside the data.
    with (
        tempfile.TemporaryDirectory(prefix="laneway-bench-", dir=folder) as data,
        tempfile.TemporaryDirectory(prefix="laneway-bench-") as socket,
    ):
        for path in (data, socket):
            if user is not None:
                shutil.chown(path, user, user)
        run(
            [str(programs_folder / "initdb"), "-D", data, "-A", "trust", "-U", POSTGRES_USER],
            "make a database cluster",
            user,
        )
        with server(programs_folder, data, socket, user):
            reach = ["-h", socket, "-U", POSTGRES_USER]
            run([str(programs_folder / "createdb"), *reach, "bench"], "make a database", user)
            version = run([str(programs_folder / "postgres"), "--version"], "ask its version")
            conninfo = f"host={socket} user={POSTGRES_USER} dbname=bench"
            yield Postgres(conninfo, version.split()[2])


@contextmanager
def server(programs_folder: Path, data: str, socket: str, user: str | None) -> Iterator[None]:
    # To PostgreSQL an interrupt means: end all sessions and shut down. The kernel sends it one
    # should we be killed; `setpriv` is part of every Debian and becomes what it starts.
    command = ["setpriv", "--pdeathsig", "INT"]
    if user is not None:
        command += [f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    command += [str(programs_folder / "postgres"), "-D", data, "-k", socket]
    for setting in ("listen_addresses=", "fsync=on", "synchronous_commit=on"):
        command += ["-c", setting]
    ask = [str(programs_folder / "pg_isready"), "-q", "-h", socket, "-U", POSTGRES_USER]
    with running(
        "PostgreSQL",
        command,
        lambda _: subprocess.run(ask, check=False).returncode == 0,
        word=signal.SIGINT,
    ):
        yield
