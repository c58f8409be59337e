"""`laneway bench jam`: erasure code, votes, state proofs and the chain model, in one run.

What is measured and why it is fair stands in docs/benchmarks.md.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

from msgspec import Struct

from laneway.bench.child import BenchFailed, Child
from laneway.bench.contest import STEP_S, disk, ended_by_signals, present
from laneway.bench.frame import Goal, Progress, judged, progress, rounded
from laneway.bench.guests import Guests, Need, invited
from laneway.bench.machine import machine_facts

NEEDS: dict[str, tuple[Need, ...]] = {
    "erasure": ("node",),
    "votes": (),
    "proofs": (),
    "model": (),
}
"""What each part needs, in the order they run."""

GOALS = (
    Goal("erasure_encode_256k_vs_npm_wasm", 1.6),
    Goal("erasure_decode_256k_vs_npm_wasm", 0.9),
    Goal("erasure_encode_4m_vs_npm_wasm", 2),
    Goal("erasure_decode_4m_vs_npm_wasm", 2),
    Goal("verify_683_votes_vs_bare_pynacl", 1.3, at_least=False),
    Goal("state_proof_us_growth_100_to_100k_keys", 3, at_least=False),
    Goal("model_slots_per_s_6_validators", None),
)

SECONDS = {"erasure": 60.0, "votes": 10.0, "proofs": 15.0, "model": 20.0}
SIZES = {"256k": 256 << 10, "4m": 4 << 20}
"""Payloads of the erasure code; the larger is a third of the largest bundle."""
STATES = (100, 100_000)
"""Keys of the two states that proofs are made in."""


class Plan(Struct, frozen=True):
    """How much of everything: enough to mean something, or only enough to try it."""

    erasure_rounds: int
    vote_rounds: int
    proof_rounds: int
    model_slots: int


FULL = Plan(erasure_rounds=7, vote_rounds=15, proof_rounds=50, model_slots=600)
QUICK = Plan(erasure_rounds=1, vote_rounds=1, proof_rounds=2, model_slots=24)


def module(name: str) -> Child:
    return Child([sys.executable, "-m", f"laneway.bench.{name}"])


class Bench:
    """One run."""

    def __init__(self, plan: Plan, guests: Guests, bar: Progress) -> None:
        self.plan = plan
        self.guests = guests
        self._bar = bar

    def run(self, name: str) -> dict[str, Any]:
        parts: dict[str, Callable[[], dict[str, Any]]] = {
            "erasure": self.run_erasure,
            "votes": self.run_votes,
            "proofs": self.run_proofs,
            "model": self.run_model,
        }
        self._bar.step(name, SECONDS.get(name, STEP_S))
        return parts[name]()

    def run_erasure(self) -> dict[str, Any]:
        """Both in turn, on the same bytes and from the same shards; they must agree."""
        ours: dict[str, list[dict[str, Any]]] = {name: [] for name in SIZES}
        theirs: dict[str, list[dict[str, Any]]] = {name: [] for name in SIZES}
        with (
            module("jam_erasure") as laneway,
            Child(self.guests.script("jam_erasure.cjs")) as wasm,
        ):
            for number in range(self.plan.erasure_rounds):
                for name, size in SIZES.items():
                    question = {"bytes": size, "seed": number}
                    ours[name].append(laneway.ask(question, self._bar.tick))
                    theirs[name].append(wasm.ask(question, self._bar.tick))
        return {name: compared(SIZES[name], ours[name], theirs[name]) for name in SIZES}

    def run_votes(self) -> dict[str, Any]:
        with module("jam_votes") as child:
            return child.ask({"rounds": self.plan.vote_rounds}, self._bar.tick)

    def run_proofs(self) -> dict[str, Any]:
        question = {"counts": STATES, "rounds": self.plan.proof_rounds}
        with module("jam_state") as child:
            return child.ask(question, self._bar.tick)

    def run_model(self) -> dict[str, Any]:
        with module("jam_model") as child:
            return child.ask({"slots": self.plan.model_slots}, self._bar.tick)


def compared(
    size: int, ours: Sequence[dict[str, Any]], theirs: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """MB a second of both, and the median of the rounds' own ratios."""
    for mine, other in zip(ours, theirs, strict=True):
        if mine["digest"] != other["digest"]:
            raise BenchFailed(f"the shards of {size} bytes differ")
    found: dict[str, Any] = {"bytes": size}
    for work in ("encode", "decode"):
        key = f"{work}_s"
        found[work] = {
            "laneway_mb_per_s": rounded(size / median(one[key] for one in ours) / 1e6),
            "npm_wasm_mb_per_s": rounded(size / median(one[key] for one in theirs) / 1e6),
            "ratio": times_as_quick(ours, theirs, key, key),
            # Without the peer's own order of bytes, which nobody else wants.
            "ratio_to_its_call_alone": times_as_quick(ours, theirs, key, f"{work}_call_s"),
        }
    return found


def times_as_quick(
    ours: Sequence[dict[str, Any]], theirs: Sequence[dict[str, Any]], mine: str, other: str
) -> float:
    pairs = zip(ours, theirs, strict=True)
    return rounded(median(their[other] / our[mine] for our, their in pairs))


def chosen(only: str) -> list[str]:
    """Parts by name."""
    if not only:
        return list(NEEDS)
    words = only.split(",")
    for word in words:
        if word not in NEEDS:
            raise BenchFailed(f"there is no part {word}; there are {', '.join(NEEDS)}")
    return [name for name in NEEDS if name in words]


def assembled(machine: dict[str, Any], found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The one JSON object."""
    values: dict[str, float | None] = {goal.name: None for goal in GOALS}
    for name, sized in found.get("erasure", {}).items():
        for work in ("encode", "decode"):
            values[f"erasure_{work}_{name}_vs_npm_wasm"] = sized[work]["ratio"]
    for part in ("votes", "proofs", "model"):
        values |= {goal: value for goal, value in found.get(part, {}).items() if goal in values}
    ratios = {
        f"erasure_{work}_{name}_vs_npm_wasm_call_alone": sized[work]["ratio_to_its_call_alone"]
        for name, sized in found.get("erasure", {}).items()
        for work in ("encode", "decode")
    }
    return {
        "bench": "jam",
        "machine": machine,
        "results": {part: shown(part, result) for part, result in found.items()},
        "ratios": ratios,
        "goals": judged(GOALS, values),
    }


def shown(part: str, result: dict[str, Any]) -> dict[str, Any]:
    """What stands in the report: middles where there were rounds."""
    match part:
        case "votes":
            return {
                "votes": result["votes"],
                "laneway_ms": rounded(median(result["laneway_ms"])),
                "pynacl_ms": rounded(median(result["pynacl_ms"])),
            }
        case "proofs":
            best = {keys: min(spent) for keys, spent in result["us_per_proof"].items()}
            return {"us_per_proof": {keys: rounded(spent) for keys, spent in best.items()}}
        case _:
            return result


def execute(plan: Plan, environment_folder: Path, only: str, *, quick: bool) -> dict[str, Any]:
    names = chosen(only)
    with ExitStack() as stack:
        stack.enter_context(ended_by_signals())
        folder = stack.enter_context(disk())
        needs = {name: NEEDS[name] for name in names}
        guests = invited(stack, folder, environment_folder, needs, (), quick=quick)
        names = [name for name in names if name not in guests.missing]
        bar = stack.enter_context(progress(sum(SECONDS[name] for name in names)))
        bench = Bench(plan, guests, bar)
        machine: dict[str, Any] = {**machine_facts(folder), "peers": guests.words}
        found = assembled(machine, {name: bench.run(name) for name in names})
    if quick:
        found["quick"] = True
    if only:
        found["only"] = names
    return found


def main(
    json: bool,
    quick: bool,
    out: Path,
    peers: Path = Path(".venv-peers"),
    only: str = "",
) -> int:
    plan = QUICK if quick else FULL
    return present(lambda: execute(plan, peers, only, quick=quick), "jam", out, json=json)
