"""`laneway bench contract`: durable no-op executions against the peers, in one run.

What is measured and why it is fair stands in docs/benchmarks.md.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from msgspec import Struct

from laneway.bench.child import BenchFailed, Child
from laneway.bench.contest import STEP_S, Contest, disk, ended_by_signals, present
from laneway.bench.frame import (
    Goal,
    Progress,
    Sample,
    interleaved,
    judged,
    progress,
    ratio,
    rounded,
    summary,
)
from laneway.bench.guests import Guests, Need, invited
from laneway.bench.limits import BATCH, PROCRASTINATE_CONCURRENCY
from laneway.bench.machine import machine_facts

PACKAGES = ("huey", "procrastinate", "psycopg", "psycopg-pool", "uvloop")
"""Of the peers' environment."""

NEEDS: dict[str, tuple[Need, ...]] = {
    "huey": ("peers",),
    "procrastinate": ("peers", "postgres"),
}

GOALS = (
    Goal("contracts_100_vs_huey", 5),
    Goal("contracts_100_vs_procrastinate", 20),
    Goal("contracts_100_vs_raw", 0.45),
    Goal("contracts_10000_vs_100", 0.7),
    Goal("contract_1_vs_huey", 1),
    Goal("contract_1_vs_bare_commits", 0.5),
    Goal("cost_growth_1k_to_1m_backlog", 1.5, at_least=False),
    Goal("rss_growth_mb_1m_backlog", 100, at_least=False),
    Goal("rss_mb_100k_idle_contracts", 100, at_least=False),
)

RATIOS = {
    "contracts_100_vs_huey": ("laneway_100", "huey"),
    "contracts_100_vs_procrastinate": ("laneway_100", "procrastinate"),
    "contracts_100_vs_raw": ("laneway_100", "raw"),
    "contracts_100_vs_raw_merged": ("laneway_100", "raw_merged"),
    "contracts_100_coroutine_vs_raw": ("laneway_100_coroutine", "raw"),
    "contracts_10000_vs_100": ("laneway_10000", "laneway_100"),
    "contract_1_vs_huey": ("laneway_1", "huey"),
    "contract_1_vs_bare_commits": ("laneway_1", "bare_commits"),
}
"""Which contestant is divided by which. What is no goal is there for honesty."""

CONTRACTS = {
    "laneway_1": 1,
    "laneway_100": 100,
    "laneway_100_coroutine": 100,
    "laneway_10000": 10_000,
}

HOSTS = {"laneway_100_coroutine": "coroutine"}
"""How the no-op is run, where it is not called inline as in the raw loop."""


class Plan(Struct, frozen=True):
    """How much of everything: enough to mean something, or only enough to try it."""

    rounds: int
    jobs: dict[str, int]
    """Of each contestant in each round, in the order they run: those compared are neighbours."""
    backlogs: tuple[int, int]
    backlog_jobs: int
    idle_contracts: int


FULL = Plan(
    rounds=7,
    jobs={
        "bare_commits": 2_000,
        "laneway_1": 3_000,
        "huey": 3_000,
        "laneway_100": 20_000,
        "raw": 30_000,
        "raw_merged": 30_000,
        "laneway_100_coroutine": 20_000,
        "procrastinate": 1_000,
        "laneway_10000": 100_000,
    },
    backlogs=(1_000, 1_000_000),
    backlog_jobs=10_000,
    idle_contracts=100_000,
)

QUICK = Plan(
    rounds=3,
    jobs={
        "bare_commits": 100,
        "laneway_1": 100,
        "huey": 100,
        "laneway_100": 500,
        "raw": 500,
        "raw_merged": 500,
        "laneway_100_coroutine": 500,
        "procrastinate": 100,
        "laneway_10000": 2_000,
    },
    backlogs=(1_000, 10_000),
    backlog_jobs=500,
    idle_contracts=2_000,
)

SECONDS = {"laneway_10000": 15.0, "procrastinate": 4.0, "fill": 60.0, "idle": 15.0}
"""About how long a step takes in a full run, where it is not three seconds; for the bar alone."""


class Bench(Contest):
    """One run."""

    seconds = SECONDS

    def __init__(self, plan: Plan, folder: Path, guests: Guests, bar: Progress) -> None:
        super().__init__(plan.jobs, plan.rounds, folder, guests, bar)
        self._plan = plan

    def measure(self, name: str, place: Path) -> Sample:
        jobs = self._plan.jobs[name]
        if name in CONTRACTS:
            with self._engine(place, HOSTS.get(name, "inline")) as engine:
                question = {"do": "run", "jobs": jobs, "contracts": CONTRACTS[name]}
                spent = engine.ask(question, self.tick)
                executed = engine.ask({"do": "close"})["executed"]
                if executed != jobs:
                    raise BenchFailed(f"{name}: the store holds {executed} of {jobs} executions")
        else:
            command, question = self._question(name, place)
            with Child(command) as child:
                spent = child.ask({**question, "jobs": jobs}, self.tick)
        return Sample(jobs, spent["seconds"], spent["cpu_s"])

    def _question(self, name: str, place: Path) -> tuple[list[str], dict[str, object]]:
        match name:
            case "huey":
                return self.guests.script("huey_noop.py"), {"folder": str(place)}
            case "procrastinate":
                assert self.guests.postgres is not None
                return self.guests.script("procrastinate_noop.py"), {
                    "conninfo": self.guests.postgres.conninfo,
                    "keys": 100,
                    "batch": BATCH,
                    "concurrency": PROCRASTINATE_CONCURRENCY,
                }
            case _:
                loop = {"raw": "raw", "raw_merged": "merged", "bare_commits": "bare"}[name]
                command = [sys.executable, "-m", "laneway.bench.raw"]
                return command, {"folder": str(place), "loop": loop, "contracts": 100}

    @contextmanager
    def _engine(self, place: Path, host: str) -> Iterator[Child]:
        with Child([sys.executable, "-m", "laneway.bench.driver"]) as engine:
            engine.ask({"store": str(place / "laneway.db"), "host": host})
            yield engine

    # Backlogs.

    def run_backlogs(self) -> dict[str, Any]:
        """Cost and memory with few and with many waiting, both engines in turn."""
        few, many = self._plan.backlogs
        run = {"do": "run", "jobs": self._plan.backlog_jobs, "contracts": 100}
        costs: dict[int, list[Sample]] = {few: [], many: []}
        with self.place() as small, self.place() as large:
            with (
                self._engine(small, "gated") as small_engine,
                self._engine(large, "gated") as large_engine,
            ):
                engines = {few: small_engine, many: large_engine}
                empty_mb = {}
                for waiting, engine in engines.items():
                    engine.ask(run)
                    empty_mb[waiting] = engine.ask({"do": "rss"})["rss_mb"]
                    self.step(f"fill a backlog of {waiting:,}", "fill" if waiting == many else "")
                    fill = {"do": "fill", "jobs": waiting, "contracts": 100}
                    engine.ask(fill, self.tick)
                for number, name in interleaved([str(few), str(many)], self._plan.rounds):
                    waiting = int(name)
                    self.step(f"round {number + 1}: {waiting:,} waiting", "backlog")
                    spent = engines[waiting].ask(run, self.tick)
                    costs[waiting].append(
                        Sample(self._plan.backlog_jobs, spent["seconds"], spent["cpu_s"])
                    )
                full_mb = large_engine.ask({"do": "rss"})["rss_mb"]
                for engine in engines.values():
                    engine.ask({"do": "close"})
            fresh_mb = self._fresh_mb(large, run)
        pairs = list(zip(costs[few], costs[many], strict=True))
        return {
            "waiting": [few, many],
            "us_per_job": {
                str(waiting): [rounded(1e6 / sample.rate()) for sample in found]
                for waiting, found in costs.items()
            },
            "cpu_us_per_job": {
                str(waiting): [rounded(1e6 * sample.cpu_s / sample.jobs) for sample in found]
                for waiting, found in costs.items()
            },
            # The process's own time, in the kernel too: waiting for neighbours is not its cost.
            "cost_growth": rounded(median(other.cpu_s / one.cpu_s for one, other in pairs)),
            "wall_growth": rounded(median(one.rate() / other.rate() for one, other in pairs)),
            "rss_mb": {
                "empty": rounded(empty_mb[many]),
                "same_process": rounded(full_mb),
                "fresh_process": rounded(fresh_mb),
            },
            # The worse of the two: a process that filled it, and one that found it.
            "rss_growth_mb": rounded(max(full_mb, fresh_mb) - empty_mb[many]),
        }

    def _fresh_mb(self, place: Path, run: Mapping[str, object]) -> float:
        """Memory of a new process that finds the backlog in its file and executes from it."""
        self.step("a fresh process on the same backlog", "")
        with self._engine(place, "gated") as engine:
            engine.ask(run)
            found: float = engine.ask({"do": "rss"})["rss_mb"]
            engine.ask({"do": "close"})
        return found

    def run_idle(self) -> dict[str, Any]:
        """Memory of contracts that ran once and idle now, over an engine that ran one alone."""
        contracts = self._plan.idle_contracts
        self.step(f"{contracts:,} idle contracts", "idle")
        with self.place() as place, self._engine(place, "inline") as engine:
            engine.ask({"do": "run", "jobs": 10 * BATCH, "contracts": 1})
            empty_mb = engine.ask({"do": "rss"})["rss_mb"]
            engine.ask({"do": "once", "jobs": contracts}, self.tick)
            idle_mb = engine.ask({"do": "rss"})["rss_mb"]
            engine.ask({"do": "close"})
        return {
            "contracts": contracts,
            "rss_mb": {"empty": rounded(empty_mb), "idle": rounded(idle_mb)},
            "rss_growth_mb": rounded(idle_mb - empty_mb),
        }


def seconds(plan: Plan, names: list[str]) -> float:
    """About how long the steps of a run take."""
    rounds = plan.rounds * sum(SECONDS.get(name, STEP_S) for name in names)
    backlogs = SECONDS["fill"] + (2 * plan.rounds + 2) * STEP_S
    return rounds + backlogs + SECONDS["idle"]


def assembled(
    bench: Bench, machine: dict[str, Any], backlog: dict[str, Any], idle: dict[str, Any]
) -> dict[str, Any]:
    """The one JSON object."""
    ratios = {name: ratio(bench.rounds, *pair) for name, pair in RATIOS.items()}
    values: dict[str, float | None] = {
        **ratios,
        "cost_growth_1k_to_1m_backlog": backlog["cost_growth"],
        "rss_growth_mb_1m_backlog": backlog["rss_growth_mb"],
        "rss_mb_100k_idle_contracts": idle["rss_growth_mb"],
    }
    results: dict[str, Any] = {name: summary(found) for name, found in bench.rounds.items()}
    results["fdatasync_per_s"] = rounded(median(bench.syncs))
    results["backlog"] = backlog
    results["idle"] = idle
    return {
        "bench": "contract",
        "machine": machine,
        "results": results,
        "ratios": {k: None if v is None else rounded(v) for k, v in ratios.items()},
        "goals": judged(GOALS, values),
    }


def execute(plan: Plan, environment_folder: Path, *, quick: bool) -> dict[str, Any]:
    with ExitStack() as stack:
        stack.enter_context(ended_by_signals())
        folder = stack.enter_context(disk())
        guests = invited(stack, folder, environment_folder, NEEDS, PACKAGES, quick=quick)
        names = [name for name in plan.jobs if name not in guests.missing]
        bar = stack.enter_context(progress(seconds(plan, names)))
        machine: dict[str, Any] = {**machine_facts(folder), "peers": guests.words}
        bench = Bench(plan, folder, guests, bar)
        bench.run_rounds()
        found = assembled(bench, machine, bench.run_backlogs(), bench.run_idle())
    if quick:
        found["quick"] = True
    return found


def main(json: bool, quick: bool, out: Path, peers: Path = Path(".venv-peers")) -> int:
    plan = QUICK if quick else FULL
    return present(lambda: execute(plan, peers, quick=quick), "contract", out, json=json)
