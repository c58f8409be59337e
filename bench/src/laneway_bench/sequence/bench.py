"""`laneway bench sequence`: transfers and blobs of Cosmos accounts on the devnet, against the
peers, in one run.

What is measured and why it is fair stands in docs/benchmarks.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from laneway.cosmos.keys import HeldCosmosKey
from laneway_bench import contest
from laneway_bench.child import BenchFailed, Child, module
from laneway_bench.contest import Contest
from laneway_bench.frame import Goal, Sample, rounded
from laneway_bench.guests import Need
from laneway_bench.limits import (
    BLOCK_MS,
    BYTES_BLOCK_MS,
    BYTES_WAIT_MS,
    PAYER_INFLIGHT,
    PEER_POLL_MS,
    SEQUENCE_POLL_MS,
    TIMEOUT_BLOCKS,
)
from laneway_bench.sequence.cosmos_node import secret

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


class SequenceBenchPlan(contest.ContestPlan, frozen=True, kw_only=True):
    accounts: int
    blobs: int
    """Of each account."""
    blob_bytes: int
    cap_bytes: int
    commitment_rounds: int
    commitment_bytes: int
    """Of each size in each round."""


FULL = SequenceBenchPlan(
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

QUICK = SequenceBenchPlan(
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


class SequenceBench(Contest[SequenceBenchPlan]):
    """One run."""

    name = "sequence"
    full, quick = FULL, QUICK
    goals, needs, packages = GOALS, NEEDS, PACKAGES
    ratios, cpu_ratios = RATIOS, CPU_RATIOS
    seconds = {
        "sign_encode_post": 9.0,
        "laneway_sqlite": 12.0,
        "cosmjs": 13.0,
        "cosmpy": 14.0,
        "cosmjs_by_hand": 6.0,
        "bytes": 240.0,
        "commitment": 15.0,
    }

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.node_cpu_s: dict[str, list[float]] = {}
        """What the devnet spent on one transfer, in each round."""

    def measure(self, name: str, place: Path) -> Sample:
        jobs = self.plan.jobs[name]
        with self._node(BLOCK_MS, accounts=2) as (node, at):
            node_s = node.cpu_s()
            spent = self._send(name, place, at)
            self.node_cpu_s.setdefault(name, []).append((node.cpu_s() - node_s) / jobs)
            check(name, node, jobs)
        return Sample(jobs, spent["seconds"], spent["cpu_s"])

    def _send(self, name: str, place: Path, at: Mapping[str, Any]) -> dict[str, float]:
        """Wall and CPU time from the first signature until the last is known to be in a block."""
        sender, receiver = HeldCosmosKey(secret(1)), HeldCosmosKey(secret(2))
        question = {
            **at,
            "key": secret(1).hex(),
            "sender": sender.address(PREFIX),
            "to": receiver.address(PREFIX),
            "jobs": self.plan.jobs[name],
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
            with module("sequence.raw") as child:
                return child.ask(question, self.tick)
        script, more = PEERS[name]
        question |= {"gas_price": GAS_PRICE, "poll_ms": PEER_POLL_MS, **more}
        with Child(self.guests.script(script)) as child:
            return child.ask(question, self.tick)

    @contextmanager
    def _node(self, block_ms: int, *, accounts: int) -> Iterator[tuple[Child, dict[str, Any]]]:
        with module("sequence.cosmos_node") as node:
            yield node, node.ask({"block_ms": block_ms, "accounts": accounts})

    @contextmanager
    def _engine(
        self, place: Path, at: Mapping[str, Any], accounts: int, settings: Mapping[str, int]
    ) -> Iterator[Child]:
        with module("sequence.driver") as engine:
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
            module("sequence.commitment") as ours,
            Child(self.guests.script("pycelestia_commitments.py")) as theirs,
        ):
            for _ in range(self.plan.commitment_rounds):
                rounds["laneway"].append(ours.ask(question, self.tick))
                rounds["pycelestia"].append(theirs.ask(question, self.tick))
        return compared(rounds, self.plan.commitment_bytes)

    parts = {"bytes": run_bytes, "commitment": run_commitment}

    def results_of(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "devnet_cpu_us_per_transfer": {
                name: rounded(1e6 * median(found)) for name, found in self.node_cpu_s.items()
            },
            **{name: parts.get(name) for name in self.parts},
        }

    def values_of(self, parts: Mapping[str, Any]) -> dict[str, float | None]:
        return {
            "rss_over_byte_cap_mb": parts.get("bytes", {}).get("over_cap_mb"),
            "commitment_mb_per_s_vs_pycelestia": parts.get("commitment", {}).get("ratio"),
        }


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
    commitments = [one["commitments"] for found in rounds.values() for one in found]
    if any(one != commitments[0] for one in commitments):
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


main = SequenceBench.main
