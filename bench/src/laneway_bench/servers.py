"""A server for the time of a run: started, waited for until it answers, always ended."""

import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from laneway_bench.child import BenchFailed, end
from laneway_bench.limits import SERVER_POLL_S, SERVER_START_S_MAX

Process = subprocess.Popen[bytes]


@contextmanager
def running(
    name: str,
    command: Sequence[str],
    is_up: Callable[[str], bool],
    *,
    word: signal.Signals = signal.SIGTERM,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Iterator[tuple[Process, str]]:
    """The process and its output until it was up; `is_up` gets the output so far."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=cwd, env=env
        )
        try:
            until_s = time.monotonic() + SERVER_START_S_MAX
            while not is_up(output_of(log)):
                if process.poll() is not None or time.monotonic() > until_s:
                    raise BenchFailed(f"{name} did not start: {output_of(log).strip()[-1_000:]}")
                time.sleep(SERVER_POLL_S)
            yield process, output_of(log)
        finally:
            end(process, word)


def output_of(log: IO[bytes]) -> str:
    return os.pread(log.fileno(), 65_536, 0).decode("utf-8", "replace")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
