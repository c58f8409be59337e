"""`laneway bench contract`: durable no-op executions against the peers, in one run.

What is measured and why it is fair stands in docs/benchmarks.md.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from laneway_bench import contest
from laneway_bench.child import BenchFailed, Child, module
from laneway_bench.contest import Contest
from laneway_bench.frame import Goal, Sample, interleaved, rounded
from laneway_bench.guests import Need
from laneway_bench.limits import BATCH, PROCRASTINATE_CONCURRENCY

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


class ContractBenchPlan(contest.ContestPlan, frozen=True, kw_only=True):
    backlogs: tuple[int, int]
    backlog_jobs: int
    idle_contracts: int


FULL = ContractBenchPlan(
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

QUICK = ContractBenchPlan(
    rounds=3,
    jobs={
        name: 100 if jobs <= 3_000 else 500 if jobs < 100_000 else 2_000
        for name, jobs in FULL.jobs.items()
    },
    backlogs=(1_000, 10_000),
    backlog_jobs=500,
    idle_contracts=2_000,
)


class ContractBench(Contest[ContractBenchPlan]):
    """One run."""

    name = "contract"
    full, quick = FULL, QUICK
    goals, needs, packages, ratios = GOALS, NEEDS, PACKAGES, RATIOS
    seconds = {
        "laneway_10000": 15.0,
        "procrastinate": 4.0,
        "backlog": 108.0,
        "fill": 60.0,
        "idle": 15.0,
    }
    is_divisible = False

    def measure(self, name: str, place: Path) -> Sample:
        jobs = self.plan.jobs[name]
        if name in CONTRACTS:
            with self._engine(place, HOSTS.get(name, "inline")) as engine:
                question = {"do": "run", "jobs": jobs, "contracts": CONTRACTS[name]}
                spent = engine.ask(question, self.tick)
                executed = engine.ask({"do": "close"})["executed"]
                if executed != jobs:
                    raise BenchFailed(f"{name}: the store holds {executed} of {jobs} executions")
        else:
            child, question = self._question(name, place)
            with child:
                spent = child.ask({**question, "jobs": jobs}, self.tick)
        return Sample(jobs, spent["seconds"], spent["cpu_s"])

    def _question(self, name: str, place: Path) -> tuple[Child, dict[str, object]]:
        match name:
            case "huey":
                return Child(self.guests.script("huey_noop.py")), {"folder": str(place)}
            case "procrastinate":
                assert self.guests.postgres is not None
                return Child(self.guests.script("procrastinate_noop.py")), {
                    "conninfo": self.guests.postgres.conninfo,
                    "keys": 100,
                    "batch": BATCH,
                    "concurrency": PROCRASTINATE_CONCURRENCY,
                }
            case _:
                loop = {"raw": "raw", "raw_merged": "merged", "bare_commits": "bare"}[name]
                return module("contract.raw"), {
                    "folder": str(place),
                    "loop": loop,
                    "contracts": 100,
                }

    @contextmanager
    def _engine(self, place: Path, host: str) -> Iterator[Child]:
        with module("contract.driver") as engine:
            engine.ask({"store": str(place / "laneway.db"), "host": host})
            yield engine

    # Backlogs.

    def run_backlogs(self) -> dict[str, Any]:
        """Cost and memory with few and with many waiting, both engines in turn."""
        few, many = self.plan.backlogs
        run = {"do": "run", "jobs": self.plan.backlog_jobs, "contracts": 100}
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
                    self.step(
                        f"fill a backlog of {waiting:,}", "fill" if waiting == many else "round"
                    )
                    fill = {"do": "fill", "jobs": waiting, "contracts": 100}
                    engine.ask(fill, self.tick)
                for number, name in interleaved([str(few), str(many)], self.plan.rounds):
                    waiting = int(name)
                    self.step(f"round {number + 1}: {waiting:,} waiting", "round")
                    spent = engines[waiting].ask(run, self.tick)
                    costs[waiting].append(
                        Sample(self.plan.backlog_jobs, spent["seconds"], spent["cpu_s"])
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
        self.step("a fresh process on the same backlog", "round")
        with self._engine(place, "gated") as engine:
            engine.ask(run)
            found: float = engine.ask({"do": "rss"})["rss_mb"]
            engine.ask({"do": "close"})
        return found

    def run_idle(self) -> dict[str, Any]:
        """Memory of contracts that ran once and idle now, over an engine that ran one alone."""
        contracts = self.plan.idle_contracts
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

    parts = {"backlog": run_backlogs, "idle": run_idle}

    def values_of(self, parts: Mapping[str, Any]) -> dict[str, float | None]:
        return {
            "cost_growth_1k_to_1m_backlog": parts["backlog"]["cost_growth"],
            "rss_growth_mb_1m_backlog": parts["backlog"]["rss_growth_mb"],
            "rss_mb_100k_idle_contracts": parts["idle"]["rss_growth_mb"],
        }


main = ContractBench.main
