"""The counter as a distribution of its own: a folder with the package and its entry point, which
child processes have on their import path and this one has not."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((Path(__file__).parent / "counter").glob("*.py"))
HERE, THERE = "tests.foreign.counter", "laneway_counter"
"""The package's name in these tests, and in its distribution."""
ENTRY_POINTS = f"[laneway.kinds]\ncounter = {THERE}.kind:CounterKind\n"
METADATA = "Metadata-Version: 2.1\nName: laneway-counter\nVersion: 1.0\n"
START_S_MAX = 60
COMMAND_S_MAX = 100


def install(folder: Path) -> dict[str, str]:
    """Lay the distribution into a folder; the environment in which it is installed."""
    package, about = folder / THERE, folder / f"{THERE}-1.0.dist-info"
    package.mkdir(parents=True)
    about.mkdir()
    for source in SOURCES:
        (package / source.name).write_text(source.read_text().replace(HERE, THERE))
    (about / "METADATA").write_text(METADATA)
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    return {**os.environ, "PYTHONPATH": str(folder), "PYTHONHASHSEED": "0"}


class Installed:
    """A folder in which laneway and the distribution are installed, with a laneway.toml."""

    def __init__(self, folder: Path, toml: str = "") -> None:
        self.folder = folder
        self.environment = install(folder / "site")
        self.url = ""
        self._process: subprocess.Popen[bytes] | None = None
        (folder / "laneway.toml").write_text(toml)

    def python(self, *words: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, *words],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=COMMAND_S_MAX,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def laneway(self, *words: str) -> tuple[int, str]:
        return self.python("-m", "laneway", *words)

    def ask(self, *words: str) -> str:
        """What a command says to the server that runs here; it must succeed."""
        code, said = self.laneway(*words, "--url", self.url)
        assert code == 0, said
        return said

    def start(self) -> None:
        log = self.folder / "up.log"
        with log.open("wb") as file:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "laneway", "up"],
                cwd=self.folder,
                env=self.environment,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        until_s = time.monotonic() + START_S_MAX
        while "\naccess " not in log.read_text():
            assert self._process.poll() is None, log.read_text()
            assert time.monotonic() < until_s, log.read_text()
            time.sleep(0.02)
        rest = next(line for line in log.read_text().splitlines() if line.startswith("REST "))
        self.url = rest.split()[1].removesuffix("/v1/transactions")

    def kill(self) -> None:
        """As a crash would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(START_S_MAX)
            self._process = None

    def __enter__(self) -> "Installed":
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def said(self) -> str:
        """All that the server printed and logged."""
        return (self.folder / "up.log").read_text()
