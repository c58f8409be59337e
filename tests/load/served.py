"""A real `laneway up`, and what the kernel and its own /metrics say of it."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from time import monotonic

from aiohttp import ClientSession
from msgspec import Struct

from laneway.demo.worker import is_ours

READY_S_MAX = 90.0
STOP_S_MAX = 60.0
"""A server starts in a second and stops in a tenth of it; the rest is a busy machine."""


class Sample(Struct, frozen=True, kw_only=True):
    """The server at one moment."""

    at_s: float
    rss_mb: float
    tasks: float
    fds: float
    threads: float
    store_mb: float
    depth: float


class ServerGone(Exception):
    pass


class Served:
    """One life of the server, on a port that it chose itself."""

    def __init__(
        self,
        config: Path,
        store: Path,
        log: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """`environment` is added to that of this process."""
        self.url = ""
        self._environment = self.clean(environment or {})
        self._config = config
        self._store = store
        self._log = log
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._begun_s = monotonic()

    @staticmethod
    def clean(more: Mapping[str, str]) -> dict[str, str]:
        """The environment of this process without laneway's own settings, and what is added."""
        own = {name: value for name, value in os.environ.items() if not is_ours(name)}
        return {**own, **more}

    async def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "laneway", "up", "--config", str(self._config)),
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                start_new_session=True,
                env=self._environment,
            )
        assert self._process.stdout is not None
        try:
            async with asyncio.timeout(READY_S_MAX):
                while not self.url:
                    self._greeted(await self._process.stdout.readline())
        except TimeoutError:
            raise ServerGone(f"the server was not ready in {READY_S_MAX:g} s") from None
        # A pipe that nobody reads would stop the server some day.
        self._reading = asyncio.create_task(self._read(self._process.stdout))
        self._begun_s = monotonic()

    def _greeted(self, line: bytes) -> None:
        if not line:
            raise ServerGone(f"the server did not start; its log is {self._log}")
        word, _, said = line.decode().partition(" ")
        if word == "REST":
            self.url = said.strip().removesuffix("/v1/transactions")

    async def _read(self, stdout: asyncio.StreamReader) -> None:
        while await stdout.read(4_096):
            pass

    def check(self) -> None:
        assert self._process is not None
        if self._process.returncode is not None:
            code = self._process.returncode
            raise ServerGone(f"the server ended with code {code}; its log is {self._log}")

    async def stop(self) -> int:
        """SIGTERM; killed if it does not follow. The number is its exit code."""
        process = self._process
        if process is None:
            return 0
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(STOP_S_MAX):
                await process.wait()
        except TimeoutError:
            process.kill()
        code = await process.wait()
        if self._reading is not None:
            await self._reading
        self._process = None
        return code

    async def kill(self) -> None:
        """SIGKILL, at whatever point it is."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            process.kill()
        await process.wait()
        if self._reading is not None:
            await self._reading

    def rss_mb(self) -> float:
        assert self._process is not None
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        (line,) = [one for one in status.splitlines() if one.startswith("VmRSS:")]
        return round(int(line.split()[1]) / 1024, 2)

    async def sample(self, session: ClientSession) -> Sample:
        self.check()
        assert self._process is not None
        async with session.get(self.url + "/metrics") as answer:
            series = numbers(await answer.text())
        place = Path(f"/proc/{self._process.pid}")
        status = dict(
            line.split(":", 1)
            for line in (place / "status").read_text().splitlines()
            if ":" in line
        )
        return Sample(
            at_s=round(monotonic() - self._begun_s, 2),
            rss_mb=round(int(status["VmRSS"].split()[0]) / 1024, 2),
            tasks=series["laneway_asyncio_tasks"],
            fds=len(os.listdir(place / "fd")),
            threads=int(status["Threads"]),
            store_mb=round(self._store_bytes() / 1e6, 1),
            depth=series["laneway_contract_fast_depth"] + series["laneway_contract_slow_depth"],
        )

    def _store_bytes(self) -> int:
        return sum(path.stat().st_size for path in self._store.parent.glob(self._store.name + "*"))


def numbers(text: str) -> dict[str, float]:
    """Series without labels, by name."""
    lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in lines if "{" not in name}
