"""One run of a benchmark: its contestants in interleaved rounds, its folder, its way out."""

import json as json_format
import shutil
import signal
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from laneway.bench.child import BenchFailed
from laneway.bench.frame import Progress, Rounds, Sample, interleaved
from laneway.bench.guests import Guests
from laneway.bench.machine import fdatasync_per_s
from laneway.bench.report import write_report

STEP_S = 3.0
"""About what a step takes that nobody timed; for the bar alone."""


class Contest(ABC):
    """Contestants that take turns, each in an empty folder on the disk under test."""

    def __init__(
        self,
        jobs: Mapping[str, int],
        rounds: int,
        folder: Path,
        guests: Guests,
        bar: Progress,
    ) -> None:
        self.jobs = jobs
        self.guests = guests
        self.rounds: Rounds = {name: [] for name in jobs if name not in guests.missing}
        self.syncs: list[float] = []
        self._rounds = rounds
        self._folder = folder
        self._bar = bar

    seconds: Mapping[str, float] = {}
    """About how long a step takes in a full run, where it is not the usual; for the bar alone."""

    @abstractmethod
    def measure(self, name: str, place: Path) -> Sample:
        """What one contestant does in one round."""

    def run_rounds(self) -> None:
        for number, name in interleaved(list(self.rounds), self._rounds):
            if name == next(iter(self.rounds)):
                self.syncs.append(fdatasync_per_s(self._folder))
            self.step(f"round {number + 1} of {self._rounds}: {name}", name)
            with self.place() as place:
                self.rounds[name].append(self.measure(name, place))

    def step(self, words: str, kind: str) -> None:
        self._bar.step(words, self.seconds.get(kind, STEP_S))

    def tick(self, part: float | None) -> None:
        self._bar.tick(part)

    @contextmanager
    def place(self) -> Iterator[Path]:
        """An empty folder, gone afterwards."""
        place = Path(tempfile.mkdtemp(dir=self._folder))
        try:
            yield place
        finally:
            shutil.rmtree(place)


@contextmanager
def disk() -> Iterator[Path]:
    """A folder under the current one, since /tmp is memory on many machines; open to servers."""
    with tempfile.TemporaryDirectory(prefix=".bench-", dir=".") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Turn a polite end into an exception, so that every child is ended on the way out."""

    def leave(number: int, _frame: object) -> NoReturn:
        raise SystemExit(128 + number)

    words = (signal.SIGTERM, signal.SIGHUP)
    before = {word: signal.signal(word, leave) for word in words}
    try:
        yield
    finally:
        for word, found in before.items():
            signal.signal(word, found)


def present(execute: Callable[[], dict[str, Any]], name: str, out: Path, *, json: bool) -> int:
    """Run it, print it, write table and plot under `out`; 2 when it could not be run at all."""
    try:
        found = execute()
    except BenchFailed as failure:
        print(f"laneway bench {name}: {failure}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    # A quick run's numbers are noise, and a part is no whole: neither may replace what the docs
    # show.
    kind = "-quick" if found.get("quick") else "-part" if found.get("only") else ""
    table = write_report(found, out, name + kind)
    print(json_format.dumps(found, indent=2) if json else table)
    return 0
