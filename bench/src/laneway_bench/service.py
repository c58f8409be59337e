"""laneway as its users run it: `laneway up` in a process of its own, and what that costs."""

import asyncio
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from laneway.ports import ContractCall
from laneway_bench.child import cpu_of
from laneway_bench.servers import Process, running

NEVER_ENDS = f"{__name__}:never_ends"
ENDS_AT_ONCE = f"{__name__}:ends_at_once"
ADDRESS = re.compile(r"^REST +http://[^/:]+:([0-9]+)/", re.MULTILINE)


async def never_ends(_call: ContractCall, _parent: int) -> None:
    """An execution that stands still, so that only the door works."""
    await asyncio.Event().wait()


async def ends_at_once(_call: ContractCall, parent: int) -> int:
    """The work itself."""
    return parent + 1


class ServerProcess:
    """A running server."""

    def __init__(self, process: Process, port: int) -> None:
        self._process = process
        self.port = port

    def cpu_s(self) -> float:
        return cpu_of(self._process.pid)


@contextmanager
def laneway_up(place: Path, work: str) -> Iterator[ServerProcess]:
    """A server with its database in `place`, whose contracts are the function `work`."""
    settings = {
        "LANEWAY_STORE__PATH": "laneway.db",
        "LANEWAY_HOST__KIND": "callable",
        "LANEWAY_HOST__CALLABLE": work,
        "LANEWAY_SERVER__PORT": "0",
        "LANEWAY_LOG__LEVEL": "warning",
    }
    command, env = [sys.executable, "-m", "laneway", "up"], {**os.environ, **settings}
    with running("laneway up", command, is_up, cwd=place, env=env) as (process, output):
        found = ADDRESS.search(output)
        assert found is not None
        yield ServerProcess(process, int(found[1]))


def is_up(output: str) -> bool:
    return "access" in output and ADDRESS.search(output) is not None
