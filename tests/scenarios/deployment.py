"""One installation of laneway with a rollup: its folder, its database, its process."""

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from aiohttp import ClientError, ClientSession, ClientTimeout
from msgspec import json
from tests.free_ports import free_port
from tests.load.served import Served

from laneway.wiring.config import toml_value

CALL_S_MAX = 30.0
COMMAND_S_MAX = 60.0
BACK_S = 0.05

CONFIG = """\
[server]
port = {port}
[store]
path = {store}
[engine]
heartbeat_ms = 300
lease_ms = 1500
[bundle]
block_txs_max = 10
block_interval_ms = {interval_ms}
# What a caller hands in again after a restart may come late on a busy machine.
deferred_ms_max = 36000000
{bundle}
[[rollup]]
name = "pay"
kind = {kind}
service = {service}
nodes = {nodes}
genesis = {genesis}
slot_ms = {slot_ms}
builder = {builder}
[log]
level = {level}
format = "json"
"""
DEFAULTS = {"bundle": "", "kind": "ledger", "level": "info", "interval_ms": 1_000}


def with_limits(folder: Path, **limits: float) -> dict[str, str]:
    """An environment in which bounds of the builder are others, from the start of the process."""
    folder.mkdir(exist_ok=True)
    lines = [f"limits.{name} = {value}" for name, value in limits.items()]
    text = "\n".join(["from laneway.builder import limits", *lines, ""])
    (folder / "sitecustomize.py").write_text(text)
    return {"PYTHONPATH": os.pathsep.join([str(folder), *import_path()])}


def import_path() -> list[str]:
    return [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]


class Answer(NamedTuple):
    status: int
    body: Any


class Away(Exception):
    """The process does not answer; it may be dead, or about to be."""


class Deployment:
    """The process lives, dies and lives again; its files can be copied and put back meanwhile."""

    def __init__(self, folder: Path, name: str, environment: Mapping[str, str] | None = None):
        self.name = name
        self.folder = folder / name
        self.folder.mkdir()
        self.config = self.folder / "laneway.toml"
        self.store = self.folder / "laneway.db"
        self.builder = self.folder / "builder.db"
        self.log = self.folder / "up.log"
        self.lives = 0
        self.environment = dict(environment or {})
        self._served: Served | None = None
        self._session = ClientSession(timeout=ClientTimeout(total=CALL_S_MAX))

    def configure(self, nodes: Sequence[str], store: str = "", **more: Any) -> None:
        listed = ", ".join(toml_value(url) for url in nodes)
        filled: dict[str, Any] = {
            "bundle": "",
            "kind": "ledger",
            "level": "info",
            "interval_ms": 1_000,
        } | more
        texts = {
            name: toml_value(value) if name in ("kind", "genesis", "level") else value
            for name, value in filled.items()
        }
        self.config.write_text(
            CONFIG.format(
                store=toml_value(store or str(self.store)),
                nodes=f"[{listed}]",
                builder=toml_value(str(self.builder)),
                port=free_port(),  # `doctor` asks the server, and finds it by this.
                **texts,
            )
        )

    # Its process.

    async def start(self) -> None:
        assert self._served is None
        served = Served(self.config, self.store, self.log, self.environment)
        try:
            await served.start()
        except BaseException:
            await served.kill()
            raise
        self._served = served
        self.lives += 1

    async def kill(self) -> None:
        served, self._served = self._served, None
        if served is not None:
            await served.kill()

    async def stop(self) -> int:
        served, self._served = self._served, None
        return 0 if served is None else await served.stop()

    async def close(self) -> None:
        await self.kill()
        await self._session.close()

    def check(self) -> None:
        """ServerGone if it ended by itself."""
        if self._served is not None:
            self._served.check()

    def rss_mb(self) -> float:
        assert self._served is not None
        return self._served.rss_mb()

    # Its files.

    def copy(self, to: Path, *, with_builder: bool) -> None:
        """Copies of its files as they are, for a process that does not run."""
        to.mkdir()
        for path in self._files(self.store, *([self.builder] if with_builder else [])):
            shutil.copy2(path, to / path.name)

    def restore(self, source: Path, *, with_builder: bool) -> None:
        """Put the copies in the place of its files."""
        assert self._served is None
        bases = [self.store, *([self.builder] if with_builder else [])]
        for path in self._files(*bases):
            path.unlink()
        for path in sorted(source.iterdir()):
            shutil.copy2(path, self.folder / path.name)

    def lose_log(self) -> int:
        """Remove what is in the write-ahead log of its database alone; how many bytes it had."""
        assert self._served is None
        log = self.store.with_name(self.store.name + "-wal")
        size = log.stat().st_size if log.exists() else 0
        for path in self._files(self.store):
            if path != self.store:
                path.unlink()
        return size

    def lose_builder(self) -> None:
        """Remove its builder's file with its log, and nothing else that stands beside it."""
        assert self._served is None
        for path in self._files(self.builder):
            path.unlink()

    def lose_all(self, to: Path) -> list[str]:
        """Move its builder's file away with all that stands beside it; the names of its states, the
        oldest first."""
        assert self._served is None
        to.mkdir()
        for path in list(self.folder.glob(self.builder.name + "*")):
            path.rename(to / path.name)
        states = [path.name for path in to.glob("*-state-*")]
        return sorted(states, key=lambda name: int(name.rpartition("-")[2]))

    def _files(self, *bases: Path) -> list[Path]:
        named = [base.with_name(base.name + end) for base in bases for end in ("", "-wal", "-shm")]
        return [path for path in named if path.exists()]

    # Its callers.

    async def ask(self, method: str, path: str, body: object = None) -> Answer:
        served = self._served
        if served is None:
            await asyncio.sleep(BACK_S)
            raise Away
        try:
            async with self._session.request(method, served.url + path, json=body) as answer:
                raw = await answer.read()
                return Answer(answer.status, json.decode(raw) if raw else None)
        except (ClientError, OSError, TimeoutError):
            await asyncio.sleep(BACK_S)
            raise Away from None

    async def command(self, *words: str) -> tuple[int, str]:
        """A command of laneway in its folder."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "laneway", *words),
            cwd=self.folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=Served.clean(self.environment),
        )
        try:
            async with asyncio.timeout(COMMAND_S_MAX):
                out, _ = await process.communicate()
        except TimeoutError:
            process.kill()
            return 1, f"laneway {' '.join(words)} did not end in {COMMAND_S_MAX:g} s"
        return process.returncode or 0, out.decode()

    @property
    def url(self) -> str:
        assert self._served is not None
        return self._served.url

    def last_words(self, count: int = 4) -> list[str]:
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [f"{self.name}: {line[:400]}" for line in lines[-count:]]

    def warnings(self) -> list[str]:
        """Lines of its log that are no mere news, each message once."""
        found: dict[str, str] = {}
        for line in self.log.read_text().splitlines() if self.log.exists() else []:
            if '"info"' not in line[:200] and '"level":"info"' not in line:
                found.setdefault(line[-160:], line[:400])
        return list(found.values())
