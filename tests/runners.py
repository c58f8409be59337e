"""What the runners of real processes share: how they are called, the chain's faults, progress.

A runner is called by path, tries one plan and prints one report; its folder is kept only when a
promise was broken.
"""

import shutil
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any, TypeVar

import apsw
from msgspec import Struct, json

from laneway.devnets.contract.model import RequestFault
from laneway.ports import ContractCall
from laneway.wiring.config import toml_value
from laneway.wiring.process import run as run_loop

SAY_EVERY_S = 1.0
PROBLEMS_MAX = 20
"""One broken promise shows in hundreds of places; the first few say which one it is."""

CONFIG = """\
[store]
path = {path}
[contract]
execution_ms_max = {execution_ms_max}
search_ms = 50
retry_ms_min = 20
retry_ms_max = 200
breaker_open_ms = 200
[host]
kind = "rest"
url = {url}
takes_parent = true
[log]
level = "warning"
format = "json"
"""


def config(store: str, url: str, *, execution_ms_max: int, more: str = "") -> str:
    """The configuration of a process under trial: pauses as short as a devnet's rounds."""
    filled = CONFIG.format(
        path=toml_value(store), url=toml_value(url), execution_ms_max=execution_ms_max
    )
    return filled + more


class Report(Struct, kw_only=True):
    ok: bool = False
    seed: int = 0
    seconds: float = 0.0
    problems: list[str] = []

    def close(self, begun_s: float) -> "Report":
        self.seconds = round(monotonic() - begun_s, 2)
        self.ok = not self.problems
        del self.problems[PROBLEMS_MAX:]
        return self

    def text(self) -> str:
        """For people."""
        return "\n".join(f"{name:>14}  {getattr(self, name)}" for name in self.__struct_fields__)


class Losses:
    """Chooses the executions whose answer never comes."""

    def __init__(self, share: float, seed: int) -> None:
        self.count = 0
        self._share = share
        self._random = Random(seed)

    def __call__(self, call: ContractCall) -> RequestFault:
        if self._random.random() >= self._share:
            return RequestFault.NONE
        self.count += 1
        return RequestFault.LOST


def quotas(contracts: Sequence[str], executions: int) -> dict[str, int]:
    """How many executions each contract gets, as even as can be."""
    return {name: len(range(n, executions, len(contracts))) for n, name in enumerate(contracts)}


class Stalled(Exception):
    pass


class Pulse:
    """Says how far a run is, and that it stands still when nothing landed for too long."""

    def __init__(self, stall_s_max: float) -> None:
        self._stall_s_max = stall_s_max
        self._said_s = self._moved_s = monotonic()
        self._landed = 0

    def beat(self, landed: int, words: Callable[[], str]) -> None:
        now_s = monotonic()
        if landed > self._landed:
            self._landed, self._moved_s = landed, now_s
        if now_s - self._moved_s > self._stall_s_max:
            raise Stalled(f"nothing landed for {self._stall_s_max:g} s at {landed}")
        if now_s - self._said_s > SAY_EVERY_S:
            self._said_s = now_s
            say(words(), end="\r")


def check_integrity(path: Path) -> str:
    """SQLite's own word on a file that nobody holds any more."""
    if not path.exists():
        return "there is no database"
    connection = apsw.Connection(str(path))
    try:
        return str(connection.pragma("integrity_check"))
    finally:
        connection.close()


def say(line: str, end: str = "\n") -> None:
    """Progress is for people: one line that changes on a terminal, lines elsewhere."""
    print(line, end=end if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)


P = TypeVar("P", bound=Struct)
Run = Callable[[P, Path], Coroutine[Any, Any, Report]]


def command(plan: P, run: Run[P], words: str | None) -> int:
    """Read a plan from the command line, run it, print its report; the number is the exit code."""
    parser = ArgumentParser(description=words)
    for name in plan.__struct_fields__:
        value = getattr(plan, name)
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    parser.add_argument("--json", action="store_true", help="print the report for a script")
    chosen = vars(parser.parse_args())
    as_json = chosen.pop("json")
    folder = tempfile.mkdtemp(prefix="laneway-run-")
    report = run_loop(run(type(plan)(**chosen), Path(folder)))
    if report.ok:
        shutil.rmtree(folder)
    else:
        say(f"everything is kept in {folder}; repeat with --seed {report.seed}")
    print(json.encode(report).decode() if as_json else report.text())
    return 0 if report.ok else 1
