"""Kill −9 at random points of a real process that builds a ledger rollup; the chain is the judge.

Run by path: `python tests/kill/rollup_runner.py --store redis --kills 100`. On the way guarantors
are silent, reports are lost for want of shards, and forks take guarantees and accumulations back.
Exit code 0 only if each transfer had its effect exactly once, balances and nonces are those that
the blocks on the chain come to, every answer is true, and no package was submitted while another
one with the same transfers could land.
"""

import asyncio
import sys
from pathlib import Path
from time import monotonic
from typing import Literal

from msgspec import Struct

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests import rollup_soak, runners
from tests.fleet.stores import started
from tests.redis_servers import DURABLE, Server
from tests.rollup_soak import RollupSoak
from tests.runners import Stalled, check_integrity, say

STARTUP_S_MAX = 1.2
JITTER_S_MAX = 0.2


class Plan(Struct, frozen=True, kw_only=True):
    store: Literal["sqlite", "redis", "postgres"] = "sqlite"
    order: str = "parallel"
    kills: int = 100
    transfers: int = 2_000
    window: int = 120
    """Transfers that have no end yet."""
    seed: int = 0


class Report(rollup_soak.Report, kw_only=True):
    store: str
    kills: int = 0
    startup_kills: int = 0
    integrity: str = ""


class KillSoak(RollupSoak):
    report: Report

    def __init__(self, plan: Plan, folder: Path) -> None:
        report = Report(
            seed=plan.seed, store=plan.store, transfers=plan.transfers, order=plan.order
        )
        super().__init__(folder, report, builders=1, window=plan.window)
        self.plan = plan
        (self.builder,) = self.builders

    async def work(self) -> None:
        total = self.plan.transfers
        targets = sorted(self.random.randrange(total * 19 // 20) for _ in range(self.plan.kills))
        for target in targets:
            await self.live_until(target)
            self.report.startup_kills += not self.builder.is_ready
            await self.builder.kill()
            self.report.kills += 1
            say(f"kill {self.report.kills}/{self.plan.kills}: {self.progress()}")
        await self.builder.begin()
        while len(self.ended) < total:
            await self.pause()
        await self.ask_all_again(self.builder)

    async def live_until(self, target: int) -> None:
        await self.builder.begin()
        if len(self.ended) >= target:
            end_s = monotonic() + self.random.uniform(0, STARTUP_S_MAX)
            while monotonic() < end_s:
                await self.pause()
            return
        while len(self.ended) < target:
            await self.pause()
        await asyncio.sleep(self.random.uniform(0, JITTER_S_MAX))

    async def pause(self) -> None:
        await super().pause()
        if self.builder.is_gone():
            raise Stalled("the process ended by itself")
        self.feed(self.builder)


async def run(plan: Plan, folder: Path) -> runners.Report:
    soak = KillSoak(plan, folder)
    if plan.store == "sqlite":
        report = await soak.run(str(folder / "laneway.db"))
        soak.report.integrity = check_integrity(folder / "laneway.db")
    elif plan.store == "redis":
        (folder / "redis").mkdir()
        server = Server(folder / "redis", *DURABLE)
        try:
            report = await soak.run(server.url)
        finally:
            server.kill()
        soak.report.integrity = "ok"
    else:
        with started("postgres") as database:
            report = await soak.run(database.url)
        soak.report.integrity = "ok"
    if soak.report.integrity != "ok":
        soak.report.problems.append(f"integrity_check: {soak.report.integrity}")
        soak.report.ok = False
    return report


def main() -> int:
    return runners.command(Plan(), run, __doc__)


if __name__ == "__main__":
    sys.exit(main())
