"""`laneway bench rollup`: what a rollup's lane costs, and how much of a chain it can use.

What is measured, on which chain, and what each word means stands in docs/benchmarks.md.
"""

from collections.abc import Mapping
from statistics import median
from typing import Any

from laneway_bench import contest
from laneway_bench.contest import Contest
from laneway_bench.frame import Goal, rounded

GOALS = (
    Goal("tick_cost_100k_vs_8_retained", 1.5, at_least=False),
    Goal("slots_to_finality_no_faults", 5, at_least=False),
    Goal("core_slots_busy_341_cores_stub_service", 0.95),
    Goal("blocks_per_s_fast_clock", None),
    Goal("rss_growth_mb_100k_blocks", 100, at_least=False),
)

RETAINED = (8, 100_000)
SLOTS_MS = (100, 50, 25)
"""Slots that the engine is tried with: it goes as fast as the best of them lets it."""


class RollupBenchPlan(contest.ContestPlan, frozen=True, kw_only=True):
    turn_rounds: int
    turn_slots: int
    finality_slots: int
    core_first: int
    core_slots: int
    """From the first slot that is counted; each has 341 cores."""
    engine_blocks: int
    memory_blocks: int


FULL = RollupBenchPlan(
    turn_rounds=15,
    turn_slots=20,
    finality_slots=120,
    core_first=20,
    core_slots=100,
    engine_blocks=200,
    memory_blocks=100_000,
)
QUICK = RollupBenchPlan(
    turn_rounds=1,
    turn_slots=3,
    finality_slots=12,
    core_first=4,
    core_slots=1,
    engine_blocks=4,
    memory_blocks=200,
)


class RollupBench(Contest[RollupBenchPlan]):
    """One run."""

    name = "rollup"
    full, quick = FULL, QUICK
    goals = GOALS
    seconds = {"turns": 20.0, "finality": 10.0, "cores": 70.0, "engine": 30.0, "memory": 150.0}

    def run_turns(self) -> dict[str, Any]:
        self.step("turns", "turns")
        rounds, slots = self.plan.turn_rounds, self.plan.turn_slots
        question = {"counts": RETAINED, "rounds": rounds, "slots": slots}
        return self.ask("rollup.cost", do="retained", **question)

    def run_finality(self) -> dict[str, Any]:
        self.step("finality", "finality")
        return self.ask("rollup.finality", slots=self.plan.finality_slots)

    def run_cores(self) -> dict[str, Any]:
        self.step("cores", "cores")
        first, slots = self.plan.core_first, self.plan.core_slots
        return self.ask("rollup.cores", first=first, slots=slots)

    def run_engine(self) -> dict[str, Any]:
        self.step("engine", "engine")
        found = []
        for slot_ms in SLOTS_MS:
            with self.place() as place:
                question = {"store": f"{place}/bench.db", "slot_ms": slot_ms}
                blocks = self.plan.engine_blocks
                found.append(self.ask("rollup.engine", **question, blocks=blocks))
        best = max(found, key=lambda one: float(one["blocks_per_s"]))
        return {"clocks": found, "blocks_per_s_fast_clock": best["blocks_per_s"]}

    def run_memory(self) -> dict[str, Any]:
        self.step("memory", "memory")
        return self.ask("rollup.cost", do="grow", blocks=self.plan.memory_blocks)

    parts = {
        "turns": run_turns,
        "finality": run_finality,
        "cores": run_cores,
        "engine": run_engine,
        "memory": run_memory,
    }

    def results_of(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        return {part: shown(part, result) for part, result in parts.items()}


def shown(part: str, result: dict[str, Any]) -> dict[str, Any]:
    """What stands in the report: middles where there were rounds."""
    if part != "turns":
        return result
    spent = result["us_per_block"]
    return {"us_per_block": {count: rounded(median(one)) for count, one in spent.items()}}


main = RollupBench.main
