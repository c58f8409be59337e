"""`laneway bench rollup`: what a rollup's lane costs, and how much of a chain it can use.

What is measured, on which chain, and what each word means stands in docs/benchmarks.md.
"""

import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

from msgspec import Struct

from laneway.bench.child import BenchFailed, Child
from laneway.bench.contest import STEP_S, disk, ended_by_signals, present
from laneway.bench.frame import Goal, Progress, judged, progress, rounded
from laneway.bench.machine import machine_facts

GOALS = (
    Goal("tick_cost_100k_vs_8_retained", 1.5, at_least=False),
    Goal("slots_to_finality_no_faults", 5, at_least=False),
    Goal("core_slots_busy_341_cores_stub_service", 0.95),
    Goal("blocks_per_s_fast_clock", None),
    Goal("rss_growth_mb_100k_blocks", 100, at_least=False),
)

SECONDS = {"turns": 20.0, "finality": 10.0, "cores": 70.0, "engine": 30.0, "memory": 150.0}
"""The parts in the order they run, and about how long each takes."""

RETAINED = (8, 100_000)
SLOTS_MS = (100, 50, 25)
"""Slots that the engine is tried with: it goes as fast as the best of them lets it."""


class Plan(Struct, frozen=True):
    """How much of everything: enough to mean something, or only enough to try it."""

    turn_rounds: int
    turn_slots: int
    finality_slots: int
    core_first: int
    core_slots: int
    """From the first slot that is counted; each has 341 cores."""
    engine_blocks: int
    memory_blocks: int


FULL = Plan(
    turn_rounds=15,
    turn_slots=20,
    finality_slots=120,
    core_first=20,
    core_slots=100,
    engine_blocks=200,
    memory_blocks=100_000,
)
QUICK = Plan(
    turn_rounds=1,
    turn_slots=3,
    finality_slots=12,
    core_first=4,
    core_slots=1,
    engine_blocks=4,
    memory_blocks=200,
)


def module(name: str) -> Child:
    return Child([sys.executable, "-m", f"laneway.bench.{name}"])


class Bench:
    """One run."""

    def __init__(self, plan: Plan, folder: Path, bar: Progress) -> None:
        self.plan = plan
        self._folder = folder
        self._bar = bar

    def run(self, name: str) -> dict[str, Any]:
        parts: dict[str, Callable[[], dict[str, Any]]] = {
            "turns": self.run_turns,
            "finality": self.run_finality,
            "cores": self.run_cores,
            "engine": self.run_engine,
            "memory": self.run_memory,
        }
        self._bar.step(name, SECONDS.get(name, STEP_S))
        return parts[name]()

    def _ask(self, name: str, **question: object) -> dict[str, Any]:
        with module(name) as child:
            return child.ask(question, self._bar.tick)

    def run_turns(self) -> dict[str, Any]:
        rounds, slots = self.plan.turn_rounds, self.plan.turn_slots
        return self._ask("rollup_cost", do="retained", counts=RETAINED, rounds=rounds, slots=slots)

    def run_finality(self) -> dict[str, Any]:
        return self._ask("rollup_finality", slots=self.plan.finality_slots)

    def run_cores(self) -> dict[str, Any]:
        return self._ask("rollup_cores", first=self.plan.core_first, slots=self.plan.core_slots)

    def run_engine(self) -> dict[str, Any]:
        found = []
        for slot_ms in SLOTS_MS:
            with tempfile.TemporaryDirectory(dir=self._folder) as place:
                question = {"store": f"{place}/bench.db", "slot_ms": slot_ms}
                blocks = self.plan.engine_blocks
                found.append(self._ask("rollup_engine", **question, blocks=blocks))
        best = max(found, key=lambda one: float(one["blocks_per_s"]))
        return {"clocks": found, "blocks_per_s_fast_clock": best["blocks_per_s"]}

    def run_memory(self) -> dict[str, Any]:
        return self._ask("rollup_cost", do="grow", blocks=self.plan.memory_blocks)


def chosen(only: str) -> list[str]:
    """Parts by name."""
    if not only:
        return list(SECONDS)
    words = only.split(",")
    for word in words:
        if word not in SECONDS:
            raise BenchFailed(f"there is no part {word}; there are {', '.join(SECONDS)}")
    return [name for name in SECONDS if name in words]


def assembled(machine: dict[str, Any], found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The one JSON object."""
    values: dict[str, float | None] = {goal.name: None for goal in GOALS}
    for part in found.values():
        values |= {goal: value for goal, value in part.items() if goal in values}
    return {
        "bench": "rollup",
        "machine": machine,
        "results": {part: shown(part, result) for part, result in found.items()},
        "ratios": {},
        "goals": judged(GOALS, values),
    }


def shown(part: str, result: dict[str, Any]) -> dict[str, Any]:
    """What stands in the report: middles where there were rounds."""
    if part != "turns":
        return result
    spent = result["us_per_block"]
    return {"us_per_block": {count: rounded(median(one)) for count, one in spent.items()}}


def execute(plan: Plan, only: str, *, quick: bool) -> dict[str, Any]:
    names = chosen(only)
    with ExitStack() as stack:
        stack.enter_context(ended_by_signals())
        folder = stack.enter_context(disk())
        bar = stack.enter_context(progress(sum(SECONDS[name] for name in names)))
        bench = Bench(plan, folder, bar)
        machine: dict[str, Any] = {**machine_facts(folder), "peers": {}}
        found = assembled(machine, {name: bench.run(name) for name in names})
    if quick:
        found["quick"] = True
    if only:
        found["only"] = names
    return found


def main(json: bool, quick: bool, out: Path, only: str = "") -> int:
    plan = QUICK if quick else FULL
    return present(lambda: execute(plan, only, quick=quick), "rollup", out, json=json)
