"""The frame of every benchmark: who takes part, what each of them needs, one run, one JSON object.

A benchmark is a class: its goals and plans stand in it as tables, `measure` is what one contestant
does in one round, and `parts` is what is measured once. All the rest is here.
"""

import json as json_format
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any, Generic, NoReturn, TypeVar

from msgspec import Struct

from laneway_bench.child import BenchFailed, module
from laneway_bench.frame import (
    Goal,
    Lines,
    Rounds,
    Sample,
    cpu_ratio,
    interleaved,
    judged,
    progress,
    ratio,
    rounded,
    summary,
)
from laneway_bench.guests import Guests, Need, invited
from laneway_bench.machine import fdatasync_per_s, machine_facts
from laneway_bench.report import write_report

STEP_S = 3.0
"""About what a step takes that nobody timed; for the bar alone."""


class ContestPlan(Struct, frozen=True, kw_only=True):
    """How much of everything: enough to mean something, or only enough to try it."""

    rounds: int = 1
    jobs: dict[str, int] = {}
    """Of each contestant in each round, in the order they run: those compared are neighbours."""


AnyPlan = TypeVar("AnyPlan", bound=ContestPlan)


class Contest(Generic[AnyPlan]):
    """One run of a benchmark: contestants take turns, each in an empty folder on the disk under
    test; then come the parts that are measured once."""

    name: str
    full: AnyPlan
    quick: AnyPlan
    goals: Sequence[Goal] = ()
    needs: Mapping[str, Sequence[Need]] = {}
    """What contestants and parts need, where they need something."""
    packages: Sequence[str] = ()
    """Of the peers' environment."""
    ratios: Mapping[str, tuple[str, str]] = {}
    """Which contestant is divided by which. What is no goal is there for honesty."""
    cpu_ratios: Mapping[str, tuple[str, str]] = {}
    """The same of the CPU time that a job took."""
    parts: Mapping[str, Callable[[Any], Any]] = {}
    """What is measured once, in this order."""
    seconds: Mapping[str, float] = {}
    """About how long a step takes in a full run, where it is not the usual; for the bar alone."""
    is_divisible = True
    """Whether `--only` may leave some of it out."""

    def __init__(self, plan: AnyPlan, folder: Path, guests: Guests, bar: Lines) -> None:
        self.plan = plan
        self.guests = guests
        self.rounds: Rounds = {name: [] for name in plan.jobs if name not in guests.missing}
        self.syncs: list[float] = []
        self._folder = folder
        self._bar = bar

    def measure(self, name: str, place: Path) -> Sample:
        """What one contestant does in one round."""
        raise NotImplementedError(name, place)

    # What is made of it.

    def compared(self) -> Rounds:
        """The rounds that ratios are made of."""
        return self.rounds

    def results_of(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        """What the report shows beside the rates."""
        return dict(parts)

    def ratios_of(self, parts: Mapping[str, Any]) -> dict[str, float | None]:  # noqa: ARG002
        """Every ratio, also those that are no goal."""
        rounds = self.compared()
        found = {name: ratio(rounds, *pair) for name, pair in self.ratios.items()}
        return found | {name: cpu_ratio(rounds, *pair) for name, pair in self.cpu_ratios.items()}

    def values_of(self, parts: Mapping[str, Any]) -> dict[str, float | None]:
        """What goals ask for that is no ratio: parts name it as the goal does."""
        return {name: value for part in parts.values() for name, value in part.items()}

    def assembled(self, machine: dict[str, Any], parts: Mapping[str, Any]) -> dict[str, Any]:
        """The one JSON object."""
        ratios = self.ratios_of(parts)
        unknown = {goal.name: None for goal in self.goals}
        results: dict[str, Any] = {name: summary(found) for name, found in self.rounds.items()}
        if self.full.jobs:
            results["fdatasync_per_s"] = rounded(median(self.syncs)) if self.syncs else 0.0
        return {
            "bench": self.name,
            "machine": machine,
            "results": results | self.results_of(parts),
            "ratios": {k: None if v is None else rounded(v) for k, v in ratios.items()},
            "goals": judged(self.goals, unknown | ratios | self.values_of(parts)),
        }

    # One run.

    @classmethod
    def chosen(cls, only: str) -> list[str]:
        """Contestants and parts by name, in the order they run."""
        everyone = [*cls.full.jobs, *cls.parts]
        if not only:
            return everyone
        found: list[str] = []
        for word in only.split(","):
            names = [name for name in everyone if cls.is_meant(name, word)]
            if not names:
                there_is_no = "nobody is called" if cls.full.jobs else "there is no part"
                raise BenchFailed(f"{there_is_no} {word}; there are {', '.join(everyone)}")
            found += names
        return [name for name in everyone if name in found]

    @classmethod
    def is_meant(cls, name: str, word: str) -> bool:
        return name == word

    @classmethod
    def seconds_of(cls, plan: ContestPlan, names: Sequence[str]) -> float:
        """About how long the steps of a run take."""
        times = {name: cls.seconds.get(name, STEP_S) for name in names}
        once = sum(spent for name, spent in times.items() if name not in plan.jobs)
        return once + plan.rounds * sum(times[name] for name in names if name in plan.jobs)

    @classmethod
    def execute(cls, environment_folder: Path, only: str, *, quick: bool) -> dict[str, Any]:
        plan, names = cls.quick if quick else cls.full, cls.chosen(only)
        needs = {name: cls.needs[name] for name in names if name in cls.needs}
        with ExitStack() as stack:
            stack.enter_context(ended_by_signals())
            folder = stack.enter_context(disk())
            guests = invited(stack, folder, environment_folder, needs, cls.packages, quick=quick)
            names = [name for name in names if name not in guests.missing]
            bar = stack.enter_context(progress(cls.seconds_of(plan, names)))
            machine: dict[str, Any] = {**machine_facts(folder), "peers": guests.words}
            bench = cls(plan, folder, guests, bar)
            bench.run_rounds(names)
            parts = {name: bench.parts[name](bench) for name in names if name in cls.parts}
            found = bench.assembled(machine, parts)
        if quick:
            found["quick"] = True
        if only:
            found["only"] = names
        return found

    @classmethod
    def main(
        cls,
        json: bool,
        quick: bool,
        out: Path,
        peers: Path = Path(".venv-peers"),
        only: str = "",
    ) -> int:
        """What `laneway bench` calls."""
        return present(lambda: cls.execute(peers, only, quick=quick), cls.name, out, json=json)

    def run_rounds(self, names: Sequence[str] | None = None) -> None:
        """Rounds of all contestants, or of those named."""
        if names is not None:
            self.rounds = {name: found for name, found in self.rounds.items() if name in names}
        for number, name in interleaved(list(self.rounds), self.plan.rounds):
            if name == next(iter(self.rounds)):
                self.syncs.append(fdatasync_per_s(self._folder))
            self.step(f"round {number + 1} of {self.plan.rounds}: {name}", name)
            with self.place() as place:
                self.rounds[name].append(self.measure(name, place))

    def step(self, label: str, kind: str) -> None:
        self._bar.step(label, self.seconds.get(kind, STEP_S))

    def tick(self, part: float | None) -> None:
        self._bar.tick(part)

    def ask(self, name: str, **question: object) -> dict[str, Any]:
        """The answer of one module of this package, which is asked once."""
        with module(name) as child:
            return child.ask(question, self.tick)

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

    signals = (signal.SIGTERM, signal.SIGHUP)
    before = {one: signal.signal(one, leave) for one in signals}
    try:
        yield
    finally:
        for one, found in before.items():
            signal.signal(one, found)


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
