"""Servers of the tests' own, from Debian's packages: reached by sockets, gone at the end."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg
import pytest

POSTGRES_USER = "postgres"
"""Whom Debian's package makes; PostgreSQL refuses to run as root."""

START_S_MAX = 90
SETTINGS = {
    "listen_addresses": "",
    "fsync": "on",
    "synchronous_commit": "on",
    "shared_buffers": "16MB",
    # It would hold up the feed for a moment now and then, as any running commit does.
    "autovacuum": "off",
}


def programs() -> Path:
    """The newest PostgreSQL here; a test that needs one fails without it."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/postgres")]
    if not found:
        pytest.fail("PostgreSQL is missing: apt-get install -y postgresql", pytrace=False)
    return max(found, key=lambda path: [int(part) for part in path.parent.name.split(".")])


def as_server_user() -> list[str]:
    """What runs a program as the server's user: nothing, unless we are root."""
    if os.geteuid() != 0:
        return []
    user = pwd.getpwnam(POSTGRES_USER)
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]


class PostgresServer:
    """One cluster. Tests may kill it, if they start it again."""

    def __init__(self, folder: Path) -> None:
        self._programs = programs()
        self._data = folder / "data"
        self.folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._schemas = count()
        self.conninfo = f"host={folder} user={POSTGRES_USER} dbname={POSTGRES_USER}"
        if os.geteuid() == 0:
            shutil.chown(folder, POSTGRES_USER, POSTGRES_USER)
        made = subprocess.run(
            [
                *as_server_user(),
                str(self._programs / "initdb"),
                *("-D", str(self._data), "-A", "trust", "-U", POSTGRES_USER, "--no-sync"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert made.returncode == 0, made.stderr

    def follow(self, primary: "PostgresServer") -> None:
        """Become a standby of `primary`, with all that it has; to be started afterwards."""
        shutil.rmtree(self._data)
        copied = subprocess.run(
            [
                *as_server_user(),
                str(self._programs / "pg_basebackup"),
                *("-D", str(self._data), "-d", primary.conninfo, "-R", "-c", "fast", "--no-sync"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert copied.returncode == 0, copied.stderr

    def start(self, **settings: str) -> None:
        # The kernel interrupts it should we be killed; to PostgreSQL that means: shut down.
        command = [*(as_server_user() or ["setpriv"]), "--pdeathsig", "INT"]
        command += [str(self._programs / "postgres"), "-D", str(self._data)]
        command += ["-k", str(self.folder)]
        for name, value in {**SETTINGS, **settings}.items():
            command += ["-c", f"{name}={value}"]
        log = self.folder / "log"
        until_s = time.monotonic() + START_S_MAX
        while True:
            with log.open("ab") as said:
                self._process = subprocess.Popen(command, stdout=said, stderr=said)
            while self._process.poll() is None:
                if self._is_up():
                    return
                assert time.monotonic() < until_s, log.read_text()[-2_000:]
                time.sleep(0.02)
            # One that was killed may leave its shared memory behind for a moment.
            assert time.monotonic() < until_s, log.read_text()[-2_000:]
            time.sleep(0.1)

    def _is_up(self) -> bool:
        try:
            psycopg.connect(self.conninfo, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(START_S_MAX)

    def kill(self) -> None:
        """As a power cut would, but for the disk: every process of it at once."""
        self._signal(signal.SIGKILL)
        assert self._process is not None
        self._process.wait(START_S_MAX)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Every process of it stands still."""
        self._signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        pid = self._process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for one in (pid, *map(int, children)):
            os.kill(one, number)

    def schema(self) -> str:
        """A name that no other test uses."""
        return f"test_{next(self._schemas)}"

    def run(self, query: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.conninfo, autocommit=True) as connection:
            cursor = connection.execute(query.encode())
            return cursor.fetchall() if cursor.description else []


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    # The socket's path may have 107 characters at most, so it lives in a folder of its own.
    with tempfile.TemporaryDirectory(prefix="laneway-") as folder:
        server = PostgresServer(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()
