"""One scenario with real processes: `python tests/scenarios/runner.py --story restored --seed 7`.

Exit code 0 only if each transfer that was accepted has a final answer that is true of the chain,
none had its effect twice or out of its account's order, the ledger recomputed from the chain is
what its service says, and at the end all that ask after its health hear that all is well.
"""

import sys
from pathlib import Path
from time import monotonic

from msgspec import Struct

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests import runners
from tests.scenarios.stage import Stage
from tests.scenarios.stories import STORIES


class Plan(Struct, frozen=True, kw_only=True):
    story: str = "restored"
    seed: int = 0
    blocks: int = 0
    """Rollup blocks in each chapter; 0: as many as in the short form."""
    kept: int = 0
    """Packages that the chain keeps; 0: as the story has it."""


class Report(runners.Report, kw_only=True):
    story: str
    blocks: int = 0
    transfers: int = 0
    answers: int = 0
    slots: int = 0


async def run(plan: Plan, folder: Path) -> runners.Report:
    begun_s = monotonic()
    story = STORIES[plan.story]
    setup = story.setup | ({"packages_kept": plan.kept} if plan.kept else {})
    async with Stage(folder, seed=plan.seed, **setup) as stage:
        problems = await stage.play(lambda: story.tell(stage, plan.blocks or story.blocks))
        report = Report(
            story=plan.story,
            seed=plan.seed,
            problems=problems,
            blocks=stage.chronicle.count,
            transfers=len(stage.crowd.payments),
            answers=stage.crowd.ended_count(),
            slots=stage.devnet.model.slot,
        )
    return report.close(begun_s)


def main() -> int:
    return runners.command(Plan(), run, __doc__)


if __name__ == "__main__":
    sys.exit(main())
