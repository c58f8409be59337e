"""A deployment that makes many rollup blocks, and the question whether its memory stays as it is.

Run by path: `python tests/scenarios/memory.py --blocks 20000`. Exit code 0 only if what it holds in
memory is flat after the first 2,000 blocks, which are warm-up, and every answer is true. A shorter
run has a tenth of its blocks as warm-up, and shows only what grows fast.
"""

import sys
from pathlib import Path
from statistics import median
from time import monotonic

from msgspec import Struct, field

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests import runners
from tests.scenarios.stage import Stage

WARM_UP_BLOCKS = 2_000
"""Until then caches fill: SQLite's pages, the thousand final blocks that a builder keeps, the rows
of finished blocks that a lane keeps."""
SAMPLES = 40
GROWTH_MB_MAX = 12.0
"""From the middle of the first third after the warm-up to that of the last. Twelve thousand blocks
lie between them in the long form, so that one kilobyte a block that is never freed shows; less is
what the allocator and SQLite's page caches breathe."""


class Plan(Struct, frozen=True, kw_only=True):
    blocks: int = 400
    seed: int = 0


class Report(runners.Report, kw_only=True):
    blocks: int = 0
    samples: list[tuple[int, float]] = field(default_factory=list)
    growth_mb: float = 0.0

    def text(self) -> str:
        lines = [f"{blocks:>7} blocks  {rss_mb:>7.1f} MB" for blocks, rss_mb in self.samples]
        lines += [f"problem: {one}" for one in self.problems]
        word = "held" if self.ok else "BROKEN"
        return "\n".join([*lines, f"{self.blocks} blocks, {self.growth_mb:+.1f} MB, {word}"])


def growth(samples: list[tuple[int, float]]) -> float:
    """Between the medians of the first and the last third after the warm-up, in megabytes."""
    first = min(WARM_UP_BLOCKS, samples[-1][0] // 10)
    warm = [rss_mb for blocks, rss_mb in samples if blocks >= first]
    third = len(warm) // 3
    assert third, "too few samples say nothing"
    return round(median(warm[-third:]) - median(warm[:third]), 1)


async def run(plan: Plan, folder: Path) -> runners.Report:
    begun_s, report = monotonic(), Report(seed=plan.seed)
    async with Stage(folder, seed=plan.seed, has_weather=False) as stage:

        async def story() -> None:
            one = await stage.deploy("one", level="warning")
            stage.crowd.hire([one], count=4, window=12)
            for _ in range(SAMPLES):
                await stage.until_blocks(max(1, plan.blocks // SAMPLES))
                report.samples.append((stage.chronicle.count, one.rss_mb()))

        report.problems = await stage.play(story)
        report.blocks = stage.chronicle.count
    if not report.problems:
        report.growth_mb = growth(report.samples)
        if report.growth_mb > GROWTH_MB_MAX:
            report.problems.append(f"memory grows by {report.growth_mb} MB: {report.samples}")
    return report.close(begun_s)


def main() -> int:
    return runners.command(Plan(), run, __doc__)


if __name__ == "__main__":
    sys.exit(main())
