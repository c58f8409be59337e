"""`laneway bench jam`: erasure code, votes, state proofs and the chain model, in one run.

What is measured and why it is fair stands in docs/benchmarks.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from laneway_bench import contest
from laneway_bench.child import BenchFailed, Child, module
from laneway_bench.contest import Contest
from laneway_bench.frame import Goal, rounded
from laneway_bench.guests import Need

NEEDS: dict[str, tuple[Need, ...]] = {"erasure": ("node",)}

GOALS = (
    Goal("erasure_encode_256k_vs_npm_wasm", 1.6),
    Goal("erasure_decode_256k_vs_npm_wasm", 0.9),
    Goal("erasure_encode_4m_vs_npm_wasm", 2),
    Goal("erasure_decode_4m_vs_npm_wasm", 2),
    Goal("verify_683_votes_vs_bare_pynacl", 1.3, at_least=False),
    Goal("state_proof_us_growth_100_to_100k_keys", 3, at_least=False),
    Goal("model_slots_per_s_6_validators", None),
)

SIZES = {"256k": 256 << 10, "4m": 4 << 20}
"""Payloads of the erasure code; the larger is a third of the largest bundle."""
STATES = (100, 100_000)
"""Keys of the two states that proofs are made in."""


class JamBenchPlan(contest.ContestPlan, frozen=True, kw_only=True):
    erasure_rounds: int
    vote_rounds: int
    proof_rounds: int
    model_slots: int


FULL = JamBenchPlan(erasure_rounds=7, vote_rounds=15, proof_rounds=50, model_slots=600)
QUICK = JamBenchPlan(erasure_rounds=1, vote_rounds=1, proof_rounds=2, model_slots=24)


class JamBench(Contest[JamBenchPlan]):
    """One run."""

    name = "jam"
    full, quick = FULL, QUICK
    goals, needs = GOALS, NEEDS
    seconds = {"erasure": 60.0, "votes": 10.0, "proofs": 15.0, "model": 20.0}

    def run_erasure(self) -> dict[str, Any]:
        """Both in turn, on the same bytes and from the same shards; they must agree."""
        self.step("erasure", "erasure")
        ours: dict[str, list[dict[str, Any]]] = {name: [] for name in SIZES}
        theirs: dict[str, list[dict[str, Any]]] = {name: [] for name in SIZES}
        with (
            module("jam.erasure") as laneway,
            Child(self.guests.script("jam_erasure.cjs")) as wasm,
        ):
            for number in range(self.plan.erasure_rounds):
                for name, size in SIZES.items():
                    question = {"bytes": size, "seed": number}
                    ours[name].append(laneway.ask(question, self.tick))
                    theirs[name].append(wasm.ask(question, self.tick))
        return {name: compared(SIZES[name], ours[name], theirs[name]) for name in SIZES}

    def run_votes(self) -> dict[str, Any]:
        self.step("votes", "votes")
        return self.ask("jam.votes", rounds=self.plan.vote_rounds)

    def run_proofs(self) -> dict[str, Any]:
        self.step("proofs", "proofs")
        return self.ask("jam.state", counts=STATES, rounds=self.plan.proof_rounds)

    def run_model(self) -> dict[str, Any]:
        self.step("model", "model")
        return self.ask("jam.model", slots=self.plan.model_slots)

    parts = {"erasure": run_erasure, "votes": run_votes, "proofs": run_proofs, "model": run_model}

    def results_of(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        return {part: shown(part, result) for part, result in parts.items()}

    def ratios_of(self, parts: Mapping[str, Any]) -> dict[str, float | None]:
        return {f"{name}_call_alone": found for name, found in erasure(parts, "_to_its_call_alone")}

    def values_of(self, parts: Mapping[str, Any]) -> dict[str, float | None]:
        return super().values_of(parts) | dict(erasure(parts, ""))


def erasure(parts: Mapping[str, Any], to: str) -> Iterator[tuple[str, float]]:
    """The ratios of the erasure code, if that part ran."""
    for name, sized in parts.get("erasure", {}).items():
        for work in ("encode", "decode"):
            yield f"erasure_{work}_{name}_vs_npm_wasm", sized[work][f"ratio{to}"]


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


main = JamBench.main
