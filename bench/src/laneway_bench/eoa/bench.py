"""`laneway bench eoa`: transfers from one account on a real node, against the peers, in one run.

What is measured and why it is fair stands in docs/benchmarks.md.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from laneway_bench import contest
from laneway_bench.anvil import CHAIN_ID, KEY, MINES, STANDS, Anvil, anvil
from laneway_bench.child import BenchFailed, Child, module
from laneway_bench.contest import Contest
from laneway_bench.frame import Goal, Rounds, Sample, rounded
from laneway_bench.guests import Need
from laneway_bench.limits import (
    BATCH,
    ETHERS_WIDTH,
    PEER_POLL_MS,
    STALL_LOOK_S,
    STALL_S_MAX,
    STALLS_MAX,
    VIEM_WIDTH,
    WARM_PART,
    WEB3PY_WIDTH,
)

PACKAGES = ("web3", "eth-account", "coincurve", "uvloop")
"""Of the peers' environment."""

NEEDS: dict[str, tuple[Need, ...]] = {
    "raw": ("anvil",),
    "laneway_sqlite": ("anvil",),
    "laneway_redis": ("anvil", "redis"),
    "raw_1_line": ("anvil",),
    "raw_no_receipts": ("anvil",),
    "viem": ("anvil", "node"),
    "viem_batched": ("anvil", "node"),
    "ethers": ("anvil", "node"),
    "web3py": ("anvil", "peers"),
    "web3py_gather": ("anvil", "peers"),
    "waiting": ("anvil",),
    "decide": (),
}
"""What each contestant and each part needs, in the order they run: those compared are near."""

GOALS = (
    Goal("sqlite_vs_raw_tps", 0.75),
    Goal("redis_vs_raw_tps", 0.55),
    Goal("sqlite_vs_viem_tps", 4),
    Goal("sqlite_vs_ethers_tps", 10),
    Goal("sqlite_cpu_vs_raw", 2.5, at_least=False),
    Goal("redis_cpu_vs_raw", 3, at_least=False),
    Goal("rss_growth_mb_1m_waiting", 100, at_least=False),
    Goal("decide_us_at_4096_inflight_vs_16", 1.5, at_least=False),
)

RATIOS = {
    "sqlite_vs_raw_tps": ("laneway_sqlite", "raw"),
    "redis_vs_raw_tps": ("laneway_redis", "raw"),
    "sqlite_vs_viem_tps": ("laneway_sqlite", "viem"),
    "sqlite_vs_ethers_tps": ("laneway_sqlite", "ethers"),
    "sqlite_vs_viem_batched_tps": ("laneway_sqlite", "viem_batched"),
    "sqlite_vs_web3py_tps": ("laneway_sqlite", "web3py_best"),
    "sqlite_vs_raw_1_line_tps": ("laneway_sqlite", "raw_1_line"),
    "sqlite_vs_raw_no_receipts_tps": ("laneway_sqlite", "raw_no_receipts"),
    "raw_vs_viem_tps": ("raw", "viem"),
    "raw_vs_viem_batched_tps": ("raw", "viem_batched"),
    "raw_vs_ethers_tps": ("raw", "ethers"),
    "raw_vs_web3py_tps": ("raw", "web3py_best"),
}
"""Which contestant is divided by which. What is no goal is there for honesty."""

CPU_RATIOS = {
    "sqlite_cpu_vs_raw": ("laneway_sqlite", "raw"),
    "redis_cpu_vs_raw": ("laneway_redis", "raw"),
    "viem_cpu_vs_raw": ("viem", "raw"),
    "viem_batched_cpu_vs_raw": ("viem_batched", "raw"),
    "ethers_cpu_vs_raw": ("ethers", "raw"),
    "web3py_cpu_vs_raw": ("web3py_best", "raw"),
}

WEB3PY = ("web3py", "web3py_gather")
RAW = {
    "raw": {"lines": 2, "receipts": 1},
    "raw_1_line": {"lines": 1, "receipts": 1},
    "raw_no_receipts": {"lines": 2, "receipts": 0},
}
"""How many connections each sends on, and whether it ends with its receipts in hand as everyone
else does."""
PEERS: dict[str, tuple[str, dict[str, int]]] = {
    "viem": ("viem_transfers.cjs", {"width": VIEM_WIDTH, "batch": 0}),
    "viem_batched": ("viem_transfers.cjs", {"width": VIEM_WIDTH}),
    "ethers": ("ethers_transfers.cjs", {"width": ETHERS_WIDTH}),
    "web3py": ("web3py_transfers.py", {"width": 1}),
    "web3py_gather": ("web3py_transfers.py", {"width": WEB3PY_WIDTH}),
}
"""Their scripts, and how many calls each has under way."""

TRANSFER = {"to": f"0x{'11' * 20}", "fee_wei_max": 100 * 10**9, "tip_wei_max": 10**9}
"""The same for everyone."""


class EoaBenchPlan(contest.ContestPlan, frozen=True, kw_only=True):
    waiting: tuple[int, int]
    inflight: tuple[int, int]
    decide_rounds: int
    decide_cycles: int


FULL = EoaBenchPlan(
    rounds=5,
    jobs={
        "raw": 12_000,
        "laneway_sqlite": 12_000,
        "laneway_redis": 12_000,
        "raw_1_line": 12_000,
        "raw_no_receipts": 12_000,
        "viem": 1_500,
        "viem_batched": 3_000,
        "ethers": 1_500,
        "web3py": 1_500,
        "web3py_gather": 1_500,
    },
    waiting=(1_000, 1_000_000),
    inflight=(16, 4_096),
    decide_rounds=9,
    decide_cycles=200,
)

QUICK = EoaBenchPlan(
    rounds=1,
    jobs={name: 400 if jobs == 12_000 else 100 for name, jobs in FULL.jobs.items()},
    waiting=(1_000, 5_000),
    inflight=(16, 4_096),
    decide_rounds=1,
    decide_cycles=20,
)


def warm(jobs: int) -> int:
    """Sent before the clock starts: connections are made, and what is compiled late is compiled."""
    return max(1, jobs // WARM_PART)


class Stalled(BenchFailed):
    """The node keeps a contestant's next nonce in its queue for ever."""


class EoaBench(Contest[EoaBenchPlan]):
    """One run."""

    name = "eoa"
    full, quick = FULL, QUICK
    goals, needs, packages = GOALS, NEEDS, PACKAGES
    ratios, cpu_ratios = RATIOS, CPU_RATIOS
    seconds = {
        "raw": 5.0,
        "laneway_sqlite": 6.0,
        "laneway_redis": 8.0,
        "raw_1_line": 6.0,
        "raw_no_receipts": 5.0,
        "viem": 7.0,
        "viem_batched": 7.0,
        "ethers": 10.0,
        "web3py": 9.0,
        "web3py_gather": 9.0,
        "waiting": 120.0,
        "decide": 6.0,
    }

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.stalls: dict[str, int] = {}
        self.node_cpu_s: dict[str, list[float]] = {}
        """What anvil spent on one transfer, in each round."""

    @classmethod
    def is_meant(cls, name: str, word: str) -> bool:
        """`web3py` means both of its kind, as `laneway` does."""
        return name == word or name.startswith(f"{word}_")

    def measure(self, name: str, place: Path) -> Sample:
        for _ in range(STALLS_MAX):
            try:
                with self.place() as empty, self._anvil(place, *MINES) as node:
                    return self._measured(name, empty, node)
            except Stalled:
                self.stalls[name] = self.stalls.get(name, 0) + 1
        raise BenchFailed(f"{name} got stuck {STALLS_MAX} times")

    def _measured(self, name: str, place: Path, node: Anvil) -> Sample:
        jobs = self.plan.jobs[name]
        sent = jobs + warm(jobs)
        before, node_s = node.count(), node.cpu_s()
        spent = self._transfer(name, place, node)
        rose = node.count() - before
        if rose != sent:
            raise BenchFailed(f"{name}: {rose} of {sent} transfers are on the chain")
        self.node_cpu_s.setdefault(name, []).append((node.cpu_s() - node_s) / sent)
        return Sample(jobs, spent["seconds"], spent["cpu_s"])

    def _transfer(self, name: str, place: Path, node: Anvil) -> dict[str, float]:
        """Wall and CPU time from the first signature until the last receipt is in hand."""
        jobs = self.plan.jobs[name]
        watched = Watchman(node, jobs + warm(jobs), self)
        question = {**TRANSFER, "warm": warm(jobs), "jobs": jobs, "key": KEY}
        question |= {"url": node.url(), "port": node.port}
        if name.startswith("laneway"):
            with self._engine(self._address(name, place), node) as engine:
                return engine.ask({"do": "run", **question}, watched)
        if name in RAW:
            with module("eoa.raw") as child:
                return child.ask({**question, **RAW[name]}, watched)
        script, more = PEERS[name]
        question |= {"chain_id": CHAIN_ID, "batch": BATCH, "poll_ms": PEER_POLL_MS, **more}
        with Child(self.guests.script(script)) as child:
            return child.ask(question, watched)

    def _address(self, name: str, place: Path) -> str:
        """An empty store."""
        if name == "laneway_redis":
            assert self.guests.redis is not None
            self.guests.redis.clear()
            return self.guests.redis.url()
        return str(place / "laneway.db")

    @contextmanager
    def _engine(self, store: str, node: Anvil) -> Iterator[Child]:
        with module("eoa.driver") as engine:
            engine.ask({"store": store, "url": node.url(), "key": KEY})
            yield engine

    @contextmanager
    def _anvil(self, place: Path, *options: str) -> Iterator[Anvil]:
        assert self.guests.anvil is not None
        with anvil(self.guests.anvil, place, *options) as node:
            yield node

    # The rest.

    def run_waiting(self) -> dict[str, Any]:
        """Memory with few and with many waiting while the window is full; nothing is ever mined."""
        few, many = self.plan.waiting
        self.step(f"{many:,} waiting", "waiting")
        with self.place() as place, self._anvil(place, *STANDS) as node:
            store = self._address("laneway_sqlite", place)
            with self._engine(store, node) as engine:
                engine.ask({"do": "fill", "waiting": few, **TRANSFER}, self.tick)
                few_mb = engine.ask({"do": "rss"})["rss_mb"]
                engine.ask({"do": "fill", "waiting": many, **TRANSFER}, self.tick)
                full_mb = engine.ask({"do": "rss"})["rss_mb"]
            with self._engine(store, node) as engine:
                fresh_mb = engine.ask({"do": "rss"})["rss_mb"]
        found = {"few": few_mb, "same_process": full_mb, "fresh_process": fresh_mb}
        return {
            "waiting": [few, many],
            "rss_mb": {name: rounded(value) for name, value in found.items()},
            # The worse of the two: a process that took them, and one that found them.
            "rss_growth_mb": rounded(max(full_mb, fresh_mb) - few_mb),
        }

    def run_decide(self) -> dict[str, Any]:
        """The machine alone, without a node."""
        plan = self.plan
        self.step(f"{plan.inflight[1]:,} in flight", "decide")
        question = {"inflight": plan.inflight, "rounds": plan.decide_rounds}
        with module("eoa.decide") as child:
            found = child.ask({**question, "cycles": plan.decide_cycles}, self.tick)
        return grown(plan.inflight, found["us_per_transfer"])

    parts = {"waiting": run_waiting, "decide": run_decide}

    def compared(self) -> Rounds:
        return with_best(self.rounds)

    def results_of(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "anvil_cpu_us_per_transfer": {
                name: rounded(1e6 * median(found)) for name, found in self.node_cpu_s.items()
            },
            "stalls": self.stalls,
            **{name: parts.get(name) for name in self.parts},
        }

    def values_of(self, parts: Mapping[str, Any]) -> dict[str, float | None]:
        return {
            "rss_growth_mb_1m_waiting": parts.get("waiting", {}).get("rss_growth_mb"),
            "decide_us_at_4096_inflight_vs_16": parts.get("decide", {}).get("growth"),
        }


class Watchman:
    """Receives the progress of a contestant, and looks at the chain when it is silent for long."""

    def __init__(self, node: Anvil, jobs: int, bench: Contest[EoaBenchPlan]) -> None:
        self._node = node
        self._jobs = jobs
        self._bench = bench
        self._count = -1
        self._moved_s = self._looked_s = time.monotonic()

    def __call__(self, part: float | None) -> None:
        self._bench.tick(part)
        now_s = time.monotonic()
        if now_s - self._looked_s < STALL_LOOK_S:
            return
        self._looked_s = now_s
        count = self._node.count()
        if count != self._count:
            self._count, self._moved_s = count, now_s
        elif 0 < count < self._jobs and now_s - self._moved_s > STALL_S_MAX:
            raise Stalled(f"{count} of {self._jobs} transfers are on the chain, and no more come")


def grown(inflight: Sequence[int], found: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    """Microseconds a transfer with few and with many in flight, and the median of their ratios."""
    few, many = map(str, inflight)
    totals = {name: [sum(one.values()) for one in rounds] for name, rounds in found.items()}
    pairs = zip(totals[few], totals[many], strict=True)
    return {
        "us_per_transfer": {
            name: {
                "all": rounded(median(totals[name])),
                "events": {
                    event: rounded(median(one[event] for one in rounds)) for event in rounds[0]
                },
            }
            for name, rounds in found.items()
        },
        "growth": rounded(median(other / one for one, other in pairs)),
    }


def with_best(rounds: Rounds) -> Rounds:
    """web3.py is measured twice, and the quicker of each round is what others are compared to."""
    if not all(rounds.get(name) for name in WEB3PY):
        return rounds
    pairs = zip(*(rounds[name] for name in WEB3PY), strict=True)
    return {**rounds, "web3py_best": [max(pair, key=Sample.rate) for pair in pairs]}


main = EoaBench.main
