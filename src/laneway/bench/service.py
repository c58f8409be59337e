"""laneway as its users run it: `laneway up` in a process of its own, and what that costs."""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from laneway.bench.child import BenchFailed, cpu_of, end
from laneway.bench.limits import SERVER_POLL_S, SERVER_START_S_MAX
from laneway.ports import ContractCall

NEVER_ENDS = f"{__name__}:never_ends"
ENDS_AT_ONCE = f"{__name__}:ends_at_once"


async def never_ends(_call: ContractCall, _parent: int) -> None:
    """An execution that stands still, so that only the door works."""
    await asyncio.Event().wait()


async def ends_at_once(_call: ContractCall, parent: int) -> int:
    """The work itself."""
    return parent + 1


class Service:
    """A running server."""

    def __init__(self, process: "subprocess.Popen[bytes]", port: int) -> None:
        self._process = process
        self.port = port

    def cpu_s(self) -> float:
        return cpu_of(self._process.pid)


@contextmanager
def laneway_up(place: Path, work: str) -> Iterator[Service]:
    """A server with its database in `place`, whose contracts are the function `work`."""
    settings = {
        "LANEWAY_STORE__PATH": "laneway.db",
        "LANEWAY_HOST__KIND": "callable",
        "LANEWAY_HOST__CALLABLE": work,
        "LANEWAY_SERVER__PORT": "0",
        "LANEWAY_LOG__LEVEL": "warning",
    }
    command = [sys.executable, "-m", "laneway", "up"]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            command, env={**os.environ, **settings}, stdout=said, stderr=said, cwd=place
        )
        try:
            yield Service(process, port_told(process, said))
        finally:
            end(process)


def port_told(process: "subprocess.Popen[bytes]", said: IO[bytes]) -> int:
    until_s = time.monotonic() + SERVER_START_S_MAX
    while True:
        words = os.pread(said.fileno(), 65_536, 0).decode("utf-8", "replace")
        found = re.search(r"^REST +http://[^/:]+:([0-9]+)/", words, re.MULTILINE)
        if found and "access" in words:
            return int(found[1])
        if process.poll() is not None or time.monotonic() > until_s:
            raise BenchFailed(f"laneway up did not start: {words[-1_000:]}")
        time.sleep(SERVER_POLL_S)
