"""The frame every benchmark shares: interleaved rounds, medians, ratios, goals, one JSON object.

Rounds are interleaved with the peers' because a machine drifts: what two contestants measured a
minute apart can be compared, what they measured an hour apart cannot. A ratio is the median of
the rounds' own ratios, never the ratio of two medians.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from statistics import median
from typing import Any, Self

from msgspec import Struct


class Sample(Struct, frozen=True):
    """What one contestant did in one round."""

    jobs: int
    seconds: float
    cpu_s: float

    def rate(self) -> float:
        return self.jobs / self.seconds


class Goal(Struct, frozen=True):
    """A threshold that was fixed before anything was measured."""

    name: str
    bound: float | None
    """None: the value is shown, and nothing is asked of it."""
    at_least: bool = True

    def words(self) -> str:
        if self.bound is None:
            return "shown"
        return f"{'>=' if self.at_least else '<='} {self.bound:g}"

    def is_met(self, value: float | None) -> bool:
        if value is None or self.bound is None:
            return value is not None
        return value >= self.bound if self.at_least else value <= self.bound


Rounds = dict[str, list[Sample]]
"""The samples of each contestant, one a round; all lists are equally long."""


def interleaved(names: Sequence[str], rounds: int) -> Iterator[tuple[int, str]]:
    """Every contestant once a round; odd rounds backwards, so that a steady drift cancels."""
    for number in range(rounds):
        for name in names if number % 2 == 0 else reversed(names):
            yield number, name


def ratio(rounds: Mapping[str, Sequence[Sample]], ours: str, theirs: str) -> float | None:
    """How many times quicker `ours` was, as the median over the rounds; None if one is missing."""
    if not rounds.get(ours) or not rounds.get(theirs):
        return None
    pairs = zip(rounds[ours], rounds[theirs], strict=True)
    return median(mine.rate() / other.rate() for mine, other in pairs)


def cpu_ratio(rounds: Mapping[str, Sequence[Sample]], ours: str, theirs: str) -> float | None:
    """How many times the CPU time `ours` needed for a job, as the median over the rounds."""
    if not rounds.get(ours) or not rounds.get(theirs):
        return None
    pairs = zip(rounds[ours], rounds[theirs], strict=True)
    return median((mine.cpu_s / mine.jobs) / (other.cpu_s / other.jobs) for mine, other in pairs)


def summary(samples: Sequence[Sample]) -> dict[str, Any]:
    rates = [sample.rate() for sample in samples]
    return {
        "jobs_per_s": rounded(median(rates)),
        "cpu_us_per_job": rounded(median(1e6 * s.cpu_s / s.jobs for s in samples)),
        "jobs": samples[0].jobs,
        "rounds_jobs_per_s": [rounded(rate) for rate in rates],
    }


def judged(goals: Sequence[Goal], values: Mapping[str, float | None]) -> dict[str, Any]:
    """Every goal with its value; one that could not be measured is not met."""
    found = {}
    for goal in goals:
        value = values[goal.name]
        found[goal.name] = {
            "value": None if value is None else rounded(value),
            "goal": goal.words(),
            "met": goal.is_met(value),
        }
    return found


def rounded(number: float) -> float:
    """Four digits: more would only be noise."""
    return float(f"{number:.4g}")


class Lines(AbstractContextManager["Lines"]):
    """Says how far a benchmark is: a line for each step, for logs. It goes to stderr, so that
    stdout holds the result alone."""

    def __init__(self, total_s: float) -> None:
        self._total_s = total_s
        self._past_s = 0.0

    def __exit__(self, *_: object) -> None:
        pass

    def step(self, label: str, weight_s: float) -> None:
        """The next step begins, and takes about `weight_s` of the whole."""
        print(f"[{self._past_s / self._total_s:4.0%}] {label}", file=sys.stderr, flush=True)
        self._past_s += weight_s

    def tick(self, part: float | None) -> None:
        """The step goes on; `part` of it is done, where that is known."""


class Bar(Lines):
    """A bar on a terminal, drawn by the one thread that also waits for the contestants."""

    def __init__(self, total_s: float) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        super().__init__(total_s)
        self._bar = Progress(
            BarColumn(),
            TextColumn("{task.percentage:3.0f}%"),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=Console(stderr=True),
            auto_refresh=False,
        )
        self._task = self._bar.add_task("", total=total_s)
        self._weight_s = 0.0

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def step(self, label: str, weight_s: float) -> None:
        self._past_s += self._weight_s
        self._weight_s = weight_s
        self._bar.update(self._task, description=label, completed=self._past_s, refresh=True)

    def tick(self, part: float | None) -> None:
        done_s = None if part is None else self._past_s + part * self._weight_s
        self._bar.update(self._task, completed=done_s, refresh=True)


def progress(total_s: float) -> Lines:
    return Bar(total_s) if sys.stderr.isatty() else Lines(total_s)
