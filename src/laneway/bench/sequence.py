"""`laneway bench sequence`: transfers and blobs of Cosmos accounts on the devnet, against the
peers, in one run.

What is measured and why it is fair stands in docs/benchmarks.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from laneway.bench.child import BenchFailed, Child
from laneway.bench.contest import STEP_S, Contest, disk, ended_by_signals, present
from laneway.bench.cosmos_node import secret
from laneway.bench.eoa import module
from laneway.bench.frame import (
    Goal,
    Progress,
    Sample,
    cpu_ratio,
    judged,
    progress,
    ratio,
    rounded,
    summary,
)
from laneway.bench.guests import Guests, Need, invited
from laneway.bench.limits import (
    BLOCK_MS,
    BYTES_BLOCK_MS,
    BYTES_WAIT_MS,
    PAYER_INFLIGHT,
    PEER_POLL_MS,
    SEQUENCE_POLL_MS,
    TIMEOUT_BLOCKS,
)
from laneway.bench.machine import machine_facts
from laneway.cosmos.keys import HeldKey

PACKAGES = ("cosmpy", "pyCelestia")
"""Of the peers' environment."""

NEEDS: dict[str, tuple[Need, ...]] = {
    "sign_encode_post": (),
    "laneway_sqlite": (),
    "cosmjs": ("node",),
    "cosmpy": ("peers",),
    "cosmjs_by_hand": ("node",),
    "bytes": (),
    "commitment": ("peers",),
}
"""What each contestant and each part needs, in the order they run: those compared are near."""

PARTS = ("bytes", "commitment")
"""Those that are no contestants."""

GOALS = (
    Goal("tps_vs_cosmjs", 10),
    Goal("tps_vs_cosmpy", 10),
    Goal("client_cpu_vs_sign_encode_post", 2.5, at_least=False),
    Goal("rss_over_byte_cap_mb", 150, at_least=False),
    Goal("commitment_mb_per_s_vs_pycelestia", 0.8),
)

RATIOS = {
    "tps_vs_cosmjs": ("laneway_sqlite", "cosmjs"),
    "tps_vs_cosmpy": ("laneway_sqlite", "cosmpy"),
    "tps_vs_cosmjs_by_hand": ("laneway_sqlite", "cosmjs_by_hand"),
    "tps_vs_sign_encode_post": ("laneway_sqlite", "sign_encode_post"),
}
"""Which contestant is divided by which. What is no goal is there for honesty."""

CPU_RATIOS = {
    "client_cpu_vs_sign_encode_post": ("laneway_sqlite", "sign_encode_post"),
    "client_cpu_vs_cosmjs": ("laneway_sqlite", "cosmjs"),
    "client_cpu_vs_cosmpy": ("laneway_sqlite", "cosmpy"),
    "client_cpu_vs_cosmjs_by_hand": ("laneway_sqlite", "cosmjs_by_hand"),
}

PEERS: dict[str, tuple[str, dict[str, int]]] = {
    "cosmjs": ("cosmjs_sends.cjs", {}),
    "cosmjs_by_hand": ("cosmjs_sends.cjs", {"by_hand": 1}),
    "cosmpy": ("cosmpy_sends.py", {}),
}
"""Their scripts."""

PREFIX, DENOM = "celestia", "utia"
GAS, FEE, GAS_PRICE = "100000", "400", 0.004
"""The same for everyone, so that nobody simulates or asks for a price."""

CAP_BYTES = 256 << 20
SIZES = tuple(1 << power for power in range(10, 23))
"""From 1 KiB to 4 MiB."""


class Plan(Struct, frozen=True):
    """How much of everything: enough to mean something, or only enough to try it."""

    rounds: int
    jobs: dict[str, int]
    """Of each contestant in each round, in the order they run: those compared are neighbours."""
    accounts: int
    blobs: int
    """Of each account."""
    blob_bytes: int
    cap_bytes: int
    commitment_rounds: int
    commitment_bytes: int
    """Of each size in each round."""


FULL = Plan(
    rounds=5,
    jobs={
        "sign_encode_post": 6_000,
        "laneway_sqlite": 6_000,
        "cosmjs": 40,
        "cosmpy": 40,
        "cosmjs_by_hand": 1_000,
    },
    accounts=500,
    blobs=100,
    blob_bytes=64 << 10,
    cap_bytes=CAP_BYTES,
    commitment_rounds=7,
    commitment_bytes=4 << 20,
)

QUICK = Plan(
    rounds=1,
    jobs={
        "sign_encode_post": 300,
        "laneway_sqlite": 300,
        "cosmjs": 4,
        "cosmpy": 4,
        "cosmjs_by_hand": 50,
    },
    accounts=20,
    blobs=5,
    blob_bytes=64 << 10,
    cap_bytes=4 << 20,
    commitment_rounds=1,
    commitment_bytes=4 << 20,
)

SECONDS = {
    "sign_encode_post": 9.0,
    "laneway_sqlite": 12.0,
    "cosmjs": 13.0,
    "cosmpy": 14.0,
    "cosmjs_by_hand": 6.0,
    "bytes": 240.0,
    "commitment": 15.0,
}


class Bench(Contest):
    """One run."""

    seconds = SECONDS

    def __init__(self, plan: Plan, folder: Path, guests: Guests, bar: Progress) -> None:
        super().__init__(plan.jobs, plan.rounds, folder, guests, bar)
        self.plan = plan
        self.node_cpu_s: dict[str, list[float]] = {}
        """What the devnet spent on one transfer, in each round."""

    def measure(self, name: str, place: Path) -> Sample:
        jobs = self.jobs[name]
        with self._node(BLOCK_MS, accounts=2) as (node, at):
            node_s = node.cpu_s()
            spent = self._send(name, place, at)
            self.node_cpu_s.setdefault(name, []).append((node.cpu_s() - node_s) / jobs)
            check(name, node, jobs)
        return Sample(jobs, spent["seconds"], spent["cpu_s"])

    def _send(self, name: str, place: Path, at: Mapping[str, Any]) -> dict[str, float]:
        """Wall and CPU time from the first signature until the last is known to be in a block."""
        sender, receiver = HeldKey(secret(1)), HeldKey(secret(2))
        question = {
            **at,
            "key": secret(1).hex(),
            "sender": sender.address(PREFIX),
            "to": receiver.address(PREFIX),
            "jobs": self.jobs[name],
            "prefix": PREFIX,
            "denom": DENOM,
            "gas": GAS,
            "fee": FEE,
        }
        if name == "laneway_sqlite":
            settings = {
                "inflight": PAYER_INFLIGHT,
                "poll_ms": SEQUENCE_POLL_MS,
                "timeout_blocks": TIMEOUT_BLOCKS,
            }
            with self._engine(place, at, 1, settings) as engine:
                return engine.ask({"do": "run", **question}, self.tick)
        if name == "sign_encode_post":
            with module("sequence_raw") as child:
                return child.ask(question, self.tick)
        script, more = PEERS[name]
        question |= {"gas_price": GAS_PRICE, "poll_ms": PEER_POLL_MS, **more}
        with Child(self.guests.script(script)) as child:
            return child.ask(question, self.tick)

    @contextmanager
    def _node(self, block_ms: int, *, accounts: int) -> Iterator[tuple[Child, dict[str, Any]]]:
        with module("cosmos_node") as node:
            yield node, node.ask({"block_ms": block_ms, "accounts": accounts})

    @contextmanager
    def _engine(
        self, place: Path, at: Mapping[str, Any], accounts: int, settings: Mapping[str, int]
    ) -> Iterator[Child]:
        with module("sequence_driver") as engine:
            store = str(place / "laneway.db")
            engine.ask({**at, "store": store, "accounts": accounts, "settings": settings})
            yield engine

    # The rest.

    def run_bytes(self) -> dict[str, Any]:
        """Memory while far more blobs are submitted than there is room for."""
        plan = self.plan
        total = plan.accounts * plan.blobs
        self.step(f"{total:,} blobs of {plan.accounts} accounts", "bytes")
        settings = {
            "process_bytes_max": plan.cap_bytes,
            "timeout_blocks": TIMEOUT_BLOCKS,
            "submit_wait_ms": BYTES_WAIT_MS,
        }
        with self.place() as place, self._node(BYTES_BLOCK_MS, accounts=plan.accounts) as found:
            node, at = found
            with self._engine(place, at, plan.accounts, settings) as engine:
                asked = {"do": "fill", "blobs": plan.blobs, "size": plan.blob_bytes}
                spent = engine.ask(asked, self.tick)
            check("bytes", node, total)
        cap_mb = plan.cap_bytes / 1e6
        return {
            "accounts": plan.accounts,
            "blobs": total,
            "blob_bytes": plan.blob_bytes,
            "cap_mb": rounded(cap_mb),
            "rss_mb": {name: rounded(spent[f"{name}_mb"]) for name in ("idle", "peak", "end")},
            "over_cap_mb": rounded(spent["peak_mb"] - spent["idle_mb"] - cap_mb),
            "blobs_per_s": rounded(total / spent["seconds"]),
            "cpu_us_per_blob": rounded(1e6 * spent["cpu_s"] / total),
        }

    def run_commitment(self) -> dict[str, Any]:
        """Both in turn, on the same bytes; they must agree."""
        self.step("commitments", "commitment")
        question = {"sizes": SIZES, "bytes": self.plan.commitment_bytes}
        rounds: dict[str, list[dict[str, Any]]] = {"laneway": [], "pycelestia": []}
        with (
            module("sequence_commitment") as ours,
            Child(self.guests.script("pycelestia_commitments.py")) as theirs,
        ):
            for _ in range(self.plan.commitment_rounds):
                rounds["laneway"].append(ours.ask(question, self.tick))
                rounds["pycelestia"].append(theirs.ask(question, self.tick))
        return compared(rounds, self.plan.commitment_bytes)


def check(name: str, node: Child, jobs: int) -> None:
    """The chain itself is asked: everything is there once, and nothing failed."""
    found = node.ask({})
    if (found["committed"], found["failed"]) != (jobs, 0):
        raise BenchFailed(
            f"{name}: {found['committed']} of {jobs} are on the chain, {found['failed']} failed"
        )


def compared(rounds: Mapping[str, Sequence[dict[str, Any]]], size_bytes: int) -> dict[str, Any]:
    """MB a second of each size and of all sizes together, each of which counts alike by its bytes;
    and the median of the rounds' ratios."""
    told = [one["commitments"] for found in rounds.values() for one in found]
    if any(one != told[0] for one in told):
        raise BenchFailed("the commitments differ")
    speeds: dict[str, Any] = {}
    totals: dict[str, list[float]] = {}
    for name, found in rounds.items():
        totals[name] = [
            size_bytes * len(one["seconds"]) / sum(one["seconds"].values()) / 1e6 for one in found
        ]
        speeds[name] = {
            "all": rounded(median(totals[name])),
            "sizes": {
                size: rounded(size_bytes / median(one["seconds"][size] for one in found) / 1e6)
                for size in found[0]["seconds"]
            },
        }
    pairs = zip(totals["laneway"], totals["pycelestia"], strict=True)
    return {"mb_per_s": speeds, "ratio": rounded(median(ours / other for ours, other in pairs))}


def chosen(only: str) -> list[str]:
    """Contestants and parts by name."""
    if not only:
        return list(NEEDS)
    words = only.split(",")
    for word in words:
        if word not in NEEDS:
            raise BenchFailed(f"nobody is called {word}; there are {', '.join(NEEDS)}")
    return [name for name in NEEDS if name in words]


def seconds(plan: Plan, names: Sequence[str]) -> float:
    """About how long the steps of a run take."""
    times = {name: SECONDS.get(name, STEP_S) for name in names}
    once = sum(spent for name, spent in times.items() if name in PARTS)
    return once + plan.rounds * sum(times[name] for name in names if name not in PARTS)


def assembled(
    bench: Bench,
    machine: dict[str, Any],
    held: dict[str, Any] | None,
    commitment: dict[str, Any] | None,
) -> dict[str, Any]:
    """The one JSON object."""
    ratios = {name: ratio(bench.rounds, *pair) for name, pair in RATIOS.items()}
    ratios |= {name: cpu_ratio(bench.rounds, *pair) for name, pair in CPU_RATIOS.items()}
    values: dict[str, float | None] = {
        **ratios,
        "rss_over_byte_cap_mb": None if held is None else held["over_cap_mb"],
        "commitment_mb_per_s_vs_pycelestia": None if commitment is None else commitment["ratio"],
    }
    results: dict[str, Any] = {name: summary(found) for name, found in bench.rounds.items()}
    results["fdatasync_per_s"] = rounded(median(bench.syncs)) if bench.syncs else 0.0
    results["devnet_cpu_us_per_transfer"] = {
        name: rounded(1e6 * median(found)) for name, found in bench.node_cpu_s.items()
    }
    results["bytes"] = held
    results["commitment"] = commitment
    return {
        "bench": "sequence",
        "machine": machine,
        "results": results,
        "ratios": {k: None if v is None else rounded(v) for k, v in ratios.items()},
        "goals": judged(GOALS, values),
    }


def execute(plan: Plan, environment_folder: Path, only: str, *, quick: bool) -> dict[str, Any]:
    names = chosen(only)
    needs = {name: NEEDS[name] for name in names}
    with ExitStack() as stack:
        stack.enter_context(ended_by_signals())
        folder = stack.enter_context(disk())
        guests = invited(stack, folder, environment_folder, needs, PACKAGES, quick=quick)
        names = [name for name in names if name not in guests.missing]
        bar = stack.enter_context(progress(seconds(plan, names)))
        machine: dict[str, Any] = {**machine_facts(folder), "peers": guests.words}
        jobs = {name: count for name, count in plan.jobs.items() if name in names}
        bench = Bench(replace(plan, jobs=jobs), folder, guests, bar)
        bench.run_rounds()
        held = bench.run_bytes() if "bytes" in names else None
        commitment = bench.run_commitment() if "commitment" in names else None
        found = assembled(bench, machine, held, commitment)
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
    return present(lambda: execute(plan, peers, only, quick=quick), "sequence", out, json=json)
