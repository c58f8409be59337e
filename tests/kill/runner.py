"""Kill −9 at random points of a real worker on a real SQLite file; the chain is the judge.

Run by path: `python tests/kill/runner.py --kills 100 --executions 5000`. Exit code 0 only if each
execution is on the chain exactly once, in its contract's order, and the database is sound.

What "in order" means: callers send a contract's submissions one behind the other without waiting
for answers. A worker accepts lines in their order, so a killed one has accepted a prefix; what it
did not answer is sent again in the old order before anything new. The order of acceptance is then
the order of sending, and the chain must have that order.
"""

import asyncio
import sys
from pathlib import Path
from random import Random
from time import monotonic

from msgspec import Struct

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests import runners
from tests.runners import Losses, Pulse, Stalled, check_integrity, config, quotas

from laneway.core.errors import LanewayError
from laneway.demo.audit import WatchedChain, audit
from laneway.demo.worker import WorkerCaller
from laneway.devnets.contract.node.socket import ContractSocket
from laneway.wiring.worker_lines import Stop, Submit

WINDOW = 20
"""Unlanded submissions of one contract, so that the door is busy until the end."""
STARTUP_S_MAX = 0.8
"""A worker needs half a second to start; later kills hit its recovery and its first work."""
JITTER_S_MAX = 0.03
EXECUTION_MS_MAX = 60_000
LONG_ROUND_MS = 2_500
"""Some rounds outlive the restart, so that their execution is tried again beside them."""
REPEATS_MAX = 3
"""Answered submissions that are sent once more to each new worker."""
STALL_S_MAX = 20.0
"""Half a minute would already hide a lane that wakes up by its deadline only."""


class Plan(Struct, frozen=True, kw_only=True):
    kills: int = 100
    executions: int = 5_000
    contracts: int = 20
    seed: int = 0
    round_ms: int = 20
    lost: float = 0.02
    """The share of executions whose answer never comes."""


class Report(runners.Report, kw_only=True):
    executions: int
    contracts: int
    on_chain: int = 0
    kills: int = 0
    startup_kills: int = 0
    """Kills before the worker had its database."""
    resent: int = 0
    replayed: int = 0
    tries_refused: int = 0
    answers_lost: int = 0
    integrity: str = ""


class Soak:
    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan = plan
        self.report = Report(seed=plan.seed, executions=plan.executions, contracts=plan.contracts)
        self.folder = folder
        self.random = Random(plan.seed)
        self.losses = Losses(plan.lost, plan.seed + 1)
        self.chain = WatchedChain(round_ms=plan.round_ms)
        self.caller = WorkerCaller(folder / "laneway.toml", folder / "worker.log")
        self.contracts = [f"contract-{n:03}" for n in range(plan.contracts)]
        self.quota = quotas(self.contracts, plan.executions)
        self.sent: dict[str, list[tuple[str, str]]] = {name: [] for name in self.contracts}
        self.submits: list[Submit] = []
        self.begun_s = monotonic()
        self.pulse = Pulse(STALL_S_MAX)

    async def run(self) -> runners.Report:
        report = self.report
        try:
            async with ContractSocket(self.chain, fault=self.losses) as socket:
                store = str(self.folder / "laneway.db")
                written = config(store, socket.url, execution_ms_max=EXECUTION_MS_MAX)
                (self.folder / "laneway.toml").write_text(written)
                try:
                    await self.work()
                finally:
                    code = await self.caller.stop(Stop("queue"))
            if code != 0:
                report.problems.append(f"the last worker ended with code {code}")
        except (LanewayError, Stalled) as error:
            report.problems.append(str(error))
        self.judge()
        return report.close(self.begun_s)

    async def work(self) -> None:
        total = self.plan.executions
        # Close neighbours among these make kills in start-up and recovery.
        targets = sorted(self.random.randrange(total * 19 // 20) for _ in range(self.plan.kills))
        for target in targets:
            await self.live_until(target)
            self.report.startup_kills += not self.caller.is_ready()
            await self.caller.kill()
            self.report.kills += 1
            self.chain.round_ms = self.plan.round_ms
        await self.begin_life()
        await self.caller.ready()
        while self.landed() < total or self.caller.unanswered:
            await self.pause()
        self.caller.ask_again()
        while len(self.caller.ended) < total:
            await self.pause()
        while any(self.chain.running(name) for name in self.contracts):
            await self.pause()

    async def live_until(self, target: int) -> None:
        """One life of a worker, up to the moment of its end."""
        await self.begin_life()
        if self.landed() >= target:
            end_s = monotonic() + self.random.uniform(0, STARTUP_S_MAX)
            while monotonic() < end_s:
                await self.pause()
            return
        while self.landed() < target:
            await self.pause()
        if self.random.random() < 0.4:
            self.chain.round_ms = LONG_ROUND_MS
        await asyncio.sleep(self.random.uniform(0, JITTER_S_MAX))
        # The last words before the end: some are accepted, some are not, all are sent again.
        self.feed(WINDOW + 5)
        await self.caller.flush()
        await asyncio.sleep(self.random.uniform(0, JITTER_S_MAX / 5))

    async def begin_life(self) -> None:
        await self.caller.spawn()
        for _ in range(min(REPEATS_MAX, len(self.submits))):
            repeated = self.random.choice(self.submits)
            if repeated.key in self.caller.ids:
                self.caller.send(repeated)

    async def pause(self) -> None:
        await asyncio.sleep(0.005)
        await self.caller.check()
        self.feed(WINDOW)
        self.pulse.beat(self.landed(), self.progress)

    def progress(self) -> str:
        return f"{self.landed()}/{self.plan.executions} on chain, {self.report.kills} kills"

    def feed(self, window: int) -> None:
        """Send what the windows allow, the contracts mixed."""
        turns = []
        for name in self.contracts:
            ahead = self.chain.latest(name) + window - len(self.sent[name])
            left = self.quota[name] - len(self.sent[name])
            turns += [name] * min(ahead, left)
        self.random.shuffle(turns)
        for name in turns:
            number = len(self.sent[name]) + 1
            submit = Submit(f"{name}/{number}", name, f"{name} {number}", "did:kill")
            self.sent[name].append((submit.key, submit.data))
            self.submits.append(submit)
            self.caller.send(submit)

    def landed(self) -> int:
        return sum(self.chain.latest(name) for name in self.contracts)

    def judge(self) -> None:
        report, caller = self.report, self.caller
        report.on_chain, report.answers_lost = self.landed(), self.losses.count
        report.resent, report.replayed = caller.resent_count, caller.replayed_count
        report.tries_refused = sum(self.chain.conflicts.values())
        for name in self.contracts:
            row = audit(name, self.chain.history(name), self.sent[name], caller.ended)
            if not row.is_right() or row.on_chain != self.quota[name]:
                report.problems.append(f"{name} is wrong: {row}")
            for place, (key, _) in enumerate(self.sent[name], start=1):
                end = caller.ended.get(key)
                if end is None or end.block != place:
                    report.problems.append(f"{key} should be block {place}: {end}")
        if caller.contradictions:
            report.problems.append(f"answered with two intents: {caller.contradictions}")
        if caller.refused:
            report.problems.append(f"refused: {caller.refused}")
        report.integrity = check_integrity(self.folder / "laneway.db")
        if report.integrity != "ok":
            report.problems.append(f"integrity_check: {report.integrity}")


def main() -> int:
    return runners.command(Plan(), lambda plan, folder: Soak(plan, folder).run(), __doc__)


if __name__ == "__main__":
    sys.exit(main())
