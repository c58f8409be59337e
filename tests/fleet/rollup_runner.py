"""Two real builders of one ledger rollup on one Redis, killed and stopped past their leases.

Run by path: `python tests/fleet/rollup_runner.py --kills 3 --stops 3`. Exit code 0 only if whoever
submitted a package held the lane's lease, each transfer had its effect exactly once, balances and
nonces are those that the blocks on the chain come to, every answer is true, and no package was
submitted while another one with the same transfers could land.
"""

import asyncio
import signal
import sys
from bisect import bisect
from pathlib import Path
from time import monotonic

from msgspec import Struct

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests import rollup_soak, runners
from tests.kill.rollup_worker import ENGINE_ENDED
from tests.redis_servers import DURABLE, Server
from tests.rollup_soak import Builder, RollupSoak
from tests.runners import Stalled, say

from laneway.core.ids import LaneId
from laneway.devnets.jam.limits import ROLLUP_SERVICE_DEV
from laneway.engine.system import SystemClock
from laneway.wiring.store import open_store

LEASE_MS = 1_500
STOPPED_S = 2.4
"""How long a stopped builder sleeps at least: past its lease. It sleeps until the other has its
lane."""
TAKEN_S_MAX = 60
"""For the other to take a lane whose holder is gone: its lease, and a slow machine."""
HOLDER_S = 0.4
"""A lease that is given back or taken is seen by this, and no one acts on one for so long."""
LANE = LaneId(f"rollup:{ROLLUP_SERVICE_DEV}")


class Plan(Struct, frozen=True, kw_only=True):
    kills: int = 3
    stops: int = 3
    order: str = "parallel"
    transfers: int = 600
    window: int = 120
    seed: int = 0


class Report(rollup_soak.Report, kw_only=True):
    kills: int = 0
    stops: int = 0
    lives: int = 0
    submitters: int = 0
    """Processes that ever submitted a package."""
    takeovers: int = 0
    """How often the one that holds the lane was another than the one before."""


class FleetSoak(RollupSoak):
    report: Report

    def __init__(self, plan: Plan, folder: Path, server: Server) -> None:
        report = Report(seed=plan.seed, transfers=plan.transfers, order=plan.order)
        super().__init__(folder, report, builders=2, window=plan.window)
        self.plan = plan
        self.server = server
        self.door = self.builders[0]
        """Who is handed the transfers; the lane may be with either."""
        self.held: list[tuple[float, int]] = []
        """When the lane was seen with which process."""
        self.sent: list[tuple[float, int]] = []
        """When which process submitted something."""
        self.watch.heard = self.submitted

    def submitted(self, node: int) -> None:
        process = self.builders[node].process
        assert process is not None
        self.sent.append((monotonic(), process.pid))

    async def work(self) -> None:
        following = asyncio.create_task(self.follow())
        try:
            await self.disturb()
        finally:
            following.cancel()
        self.judge_leases()

    async def disturb(self) -> None:
        plan, total = self.plan, self.plan.transfers
        for builder in self.builders:
            await builder.begin()
        acts = [self.kill] * plan.kills + [self.stop] * plan.stops
        self.random.shuffle(acts)
        for place, act in enumerate(acts):
            # While one acts the other goes on, so the last begins long before the end.
            target = total * 6 // 10 * place // len(acts) + self.random.randrange(total // 20)
            while len(self.ended) < target or not self.flies():
                await self.pause()
            await act(self.holder())
            say(f"{act.__name__}: {self.progress()}")
        while len(self.ended) < total:
            await self.pause()
        await self.ask_all_again(self.builders[0])

    def flies(self) -> bool:
        """Whether something is handed in and not in a final block; then it is taken over."""
        return self.judge.height() < max(
            (one.number for one in self.watch.packages.values()), default=0
        )

    def holder(self) -> Builder:
        """Who holds the lane, or who submitted last while that is not seen."""
        for builder in self.builders:
            if self.held and builder.process is not None and builder.pid() == self.held[-1][1]:
                return builder
        return self.builders[self.watch.submissions[-1].node]

    async def kill(self, builder: Builder) -> None:
        gone = builder.pid()
        await builder.kill()
        self.hand_over(builder)
        await asyncio.sleep(self.random.uniform(0, 1))
        await builder.begin()
        await self.taken_from(gone)
        self.report.kills += 1

    async def stop(self, builder: Builder) -> None:
        """SIGSTOP past the lease, then SIGCONT: it may not go on where it was."""
        builder.signal(signal.SIGSTOP)
        self.hand_over(builder)
        end_s = monotonic() + STOPPED_S
        while monotonic() < end_s:
            await self.pause()
        await self.taken_from(builder.pid())
        builder.signal(signal.SIGCONT)
        self.report.stops += 1

    async def taken_from(self, pid: int) -> None:
        """Wait until another process holds the lane."""
        end_s = monotonic() + TAKEN_S_MAX
        while self.held[-1][1] == pid:
            if monotonic() > end_s:
                raise Stalled(f"nobody took the lane from {pid}")
            await self.pause()

    def hand_over(self, gone: Builder) -> None:
        """The other one is handed all that is open first: this keeps the order."""
        if gone is self.door:
            self.door = self.builders[1 - gone.place]
            for ask in self.open_asks():
                self.door.send(ask)

    async def pause(self) -> None:
        await super().pause()
        for builder in self.builders:
            if builder.is_gone():
                await self.revive(builder)
        self.feed(self.door)

    async def revive(self, builder: Builder) -> None:
        """One that learned that it was declared dead ends, and begins under another name."""
        assert builder.process is not None
        code = builder.process.returncode
        if code != ENGINE_ENDED:
            raise Stalled(f"builder {builder.place} ended by itself with {code}")
        await builder.kill()
        self.hand_over(builder)
        await builder.begin()

    # Who holds the lane.

    async def follow(self) -> None:
        store = open_store(self.server.url, SystemClock())
        try:
            while True:
                view = await store.lane(LANE)
                owner = None if view is None else view.head.owner
                if owner is not None:
                    self.held.append((monotonic(), int(owner.rsplit("-", 2)[1])))
                await asyncio.sleep(0.01)
        finally:
            await store.close()

    def judge_leases(self) -> None:
        report = self.report
        report.lives = sum(builder.lives for builder in self.builders)
        report.submitters = len({pid for _, pid in self.sent})
        pairs = zip(self.held, self.held[1:], strict=False)
        report.takeovers = sum(before[1] != after[1] for before, after in pairs)
        for at_s, pid in self.sent:
            around = {held for seen_s, held in self.held if abs(seen_s - at_s) < HOLDER_S}
            # Whoever was seen last before and first after it, however long a busy machine paused.
            place = bisect(self.held, (at_s, pid))
            around |= {held for _, held in self.held[max(place - 1, 0) : place + 1]}
            if pid not in around:
                report.problems.append(f"{pid} submitted, and {around} held the lane")


async def run(plan: Plan, folder: Path) -> runners.Report:
    (folder / "redis").mkdir()
    server = Server(folder / "redis", *DURABLE)
    try:
        soak = FleetSoak(plan, folder, server)
        return await soak.run(server.url, lease_ms=LEASE_MS)
    finally:
        server.kill()


def main() -> int:
    return runners.command(Plan(), run, __doc__)


if __name__ == "__main__":
    sys.exit(main())
