"""`laneway bench evm`: full EVM transactions on one core, by laneway and by its peers, in one run.

What is measured and why it is fair stands in docs/benchmarks.md.
"""

from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from laneway_bench import contest
from laneway_bench.child import Child, module
from laneway_bench.contest import Contest
from laneway_bench.evm.contracts import creation_codes
from laneway_bench.evm.mining import mining_rate
from laneway_bench.evm.workload import WORKLOADS, workload
from laneway_bench.frame import Goal, Sample, rounded
from laneway_bench.guests import Need
from laneway_bench.limits import WARM_TRANSACTIONS

PACKAGES = ("ethereum-execution", "py-evm", "safe-pysha3")
OURS = {"laneway": True, "fast": True, "interpreted": False}
"""Whether code is compiled. A transfer runs none, so it is measured once."""
PEERS = {
    "eels": "evm_eels.py",
    "pyevm": "evm_pyevm.py",
    "ethereumjs": "evm_ethereumjs.cjs",
}

GOALS = (
    Goal("erc20_interpreted_vs_eels", 40),
    Goal("erc20_fast_vs_eels", 90),
    Goal("erc20_interpreted_vs_pyevm", 8),
    Goal("erc20_fast_vs_pyevm", 18),
    Goal("erc20_fast_vs_ethereumjs", 20),
    Goal("transfers_vs_eels", 10),
    Goal("swap_fast_vs_pyevm", 10),
    Goal("hash_loop_fast_vs_pyevm", 5),
)

JOBS = {
    "transfers": {"laneway": 10_000, "eels": 1_000, "pyevm": 1_500, "ethereumjs": 1_500},
    "erc20": {
        "fast": 5_000, "interpreted": 3_000, "eels": 150, "pyevm": 600, "ethereumjs": 1_000,
    },
    "swap": {"fast": 2_000, "interpreted": 800, "eels": 30, "pyevm": 150, "ethereumjs": 300},
    "storage": {"fast": 1_500, "interpreted": 400, "eels": 30, "pyevm": 100, "ethereumjs": 150},
    "hash": {"fast": 600, "interpreted": 200, "eels": 12, "pyevm": 50, "ethereumjs": 100},
}  # fmt: skip
"""Transactions of each round: about half a second of CPU each."""

SHOWN = {
    f"{name}_{ours}_vs_{peer}": (f"{name}_{ours}", f"{name}_{peer}")
    for name in WORKLOADS[1:]
    for ours in ("interpreted", "fast")
    for peer in PEERS
}
RATIOS = {
    **SHOWN,
    **{f"transfers_vs_{peer}": ("transfers_laneway", f"transfers_{peer}") for peer in PEERS},
    "hash_loop_fast_vs_pyevm": ("hash_fast", "hash_pyevm"),
}


class EvmBenchPlan(contest.ContestPlan, frozen=True, kw_only=True):
    warm: dict[str, int]
    """Transactions that come before the clock starts."""
    mined: int


def jobs_of(divided_by: int) -> dict[str, int]:
    return {
        f"{name}_{who}": max(5, count // divided_by)
        for name, counts in JOBS.items()
        for who, count in counts.items()
    }


FULL = EvmBenchPlan(rounds=5, jobs=jobs_of(1), warm=WARM_TRANSACTIONS, mined=3_000)
QUICK = EvmBenchPlan(
    rounds=1, jobs=jobs_of(50), warm=dict.fromkeys(WARM_TRANSACTIONS, 6), mined=100
)


def needs() -> dict[str, tuple[Need, ...]]:
    found: dict[str, tuple[Need, ...]] = {"mining": ("anvil", "node")}
    for name in FULL.jobs:
        found[name] = ("node", "peers") if name.endswith(("eels", "pyevm")) else ("node",)
    return found


class EvmBench(Contest[EvmBenchPlan]):
    """One run. Rates are transactions a second of CPU, of all threads of a process."""

    name = "evm"
    full, quick = FULL, QUICK
    goals, needs = GOALS, needs()
    packages = PACKAGES
    ratios = RATIOS
    seconds = {"mining": 10.0}

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.recovery: dict[str, list[float]] = {}
        self._codes: dict[str, bytes] = {}
        self._workloads: dict[str, dict[str, Any]] = {}

    @classmethod
    def is_meant(cls, name: str, word: str) -> bool:
        """A workload, a contestant, or one on the other."""
        return name == word or word in name.split("_")

    def question(self, name: str, count: int) -> dict[str, Any]:
        """The first transactions of a workload, which is made once, for everyone."""
        assert self.guests.modules is not None
        if not self._codes:
            self._codes = creation_codes(self.guests.modules)
        if name not in self._workloads:
            most = max(
                jobs + self.plan.warm[who if who in PEERS else "laneway"]
                for (which, who), jobs in divided(self.plan.jobs).items()
                if which == name
            )
            self._workloads[name] = workload(name, self._codes, max(most, count))
        found = self._workloads[name]
        cut = {key: found[key][:count] for key in ("transactions", "gas")}
        return found | cut

    def measure(self, name: str, place: Path) -> Sample:
        del place
        which, _, who = name.partition("_")
        warm = self.plan.warm[who if who in PEERS else "laneway"]
        question = self.question(which, warm + self.plan.jobs[name]) | {"warm": warm}
        if who in OURS:
            question["fast"] = OURS[who]
            child = module("evm.engine")
        else:
            child = Child(self.guests.script(PEERS[who]))
        with child:
            answer = child.ask(question, self.tick)
        self.recovery.setdefault(who if who in PEERS else "laneway", []).append(
            answer["recovery_us"]
        )
        return Sample(answer["jobs"], answer["cpu_s"], answer["cpu_s"])

    def run_mining(self) -> dict[str, float]:
        """For orientation: how many transactions a second anvil puts into one block."""
        self.step("anvil", "mining")
        found = {}
        for name in ("transfers", "erc20", "swap"):
            assert self.guests.anvil is not None
            with self.place() as place:
                question = self.question(name, self.plan.mined)
                found[name] = rounded(mining_rate(self.guests.anvil, place, question))
        return found

    parts = {"mining": run_mining}

    def results_of(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        recovery = {who: rounded(median(found)) for who, found in self.recovery.items()}
        return {"recovery_us": recovery, "anvil_mined_per_s": parts.get("mining", {})}

    def values_of(self, parts: Mapping[str, Any]) -> dict[str, float | None]:  # noqa: ARG002
        """Every goal is a ratio."""
        return {}

    def ratios_of(self, parts: Mapping[str, Any]) -> dict[str, float | None]:
        """What it comes to with decoding and recovery stands beside it."""
        found = super().ratios_of(parts)
        return found | {
            f"erc20_fast_with_recovery_vs_{peer}": self.ratio_with_recovery("fast", peer)
            for peer in PEERS
        }

    def ratio_with_recovery(self, ours: str, peer: str) -> float | None:
        mine, other = self.rounds.get(f"erc20_{ours}"), self.rounds.get(f"erc20_{peer}")
        if not mine or not other:
            return None

        def spent_us(samples: list[Sample], who: str) -> float:
            return median(1e6 / one.rate() for one in samples) + median(self.recovery[who])

        return spent_us(other, peer) / spent_us(mine, "laneway")


def divided(jobs: Mapping[str, int]) -> dict[tuple[str, str], int]:
    """Of each workload and contestant."""
    return {tuple(name.split("_")): count for name, count in jobs.items()}  # type: ignore[misc]


main = EvmBench.main
