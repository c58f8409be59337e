"""`laneway bench rollup-front`: what stands before and behind a rollup's queue, in one run.

What is measured and why it is fair stands in docs/benchmarks.md.
"""

from typing import Any

from laneway_bench import contest
from laneway_bench.contest import Contest
from laneway_bench.frame import Goal

GOALS = (
    Goal("tree_update_100_of_100k_vs_its_bare_hashes", 3, at_least=False),
    Goal("tree_update_1m_vs_100k", 1.5, at_least=False),
    Goal("snapshot_clone_100k_vs_100", 1.5, at_least=False),
    Goal("tree_open_1m_stems_cpu_s", 10, at_least=False),
)


class RollupFrontPlan(contest.ContestPlan, frozen=True, kw_only=True):
    tree_stems: tuple[int, int, int]
    tree_rounds: int


FULL = RollupFrontPlan(tree_stems=(100, 100_000, 1_000_000), tree_rounds=50)
QUICK = RollupFrontPlan(tree_stems=(100, 1_000, 5_000), tree_rounds=2)


class RollupFrontBench(Contest[RollupFrontPlan]):
    """One run."""

    name = "rollup-front"
    full, quick = FULL, QUICK
    goals = GOALS
    seconds = {"ubt": 60.0}

    def run_ubt(self) -> dict[str, Any]:
        self.step("the unified binary tree", "ubt")
        few, many, most = self.plan.tree_stems
        return self.ask(
            "rollup_front.tree", few=few, many=many, most=most, rounds=self.plan.tree_rounds
        )

    parts = {"ubt": run_ubt}


main = RollupFrontBench.main
