"""A fleet of real worker processes on one shared store, with random kill −9, SIGSTOP and a store
that dies and comes back; the chain is the judge.

Run by path: `python tests/fleet/runner.py --store postgres --kills 200 --executions 2000`. Exit
code 0 only if each execution is on the chain exactly once, in the order in which its lane
accepted it.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path
from random import Random
from time import monotonic

from msgspec import Struct

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests import runners
from tests.fleet.stores import Server, started
from tests.runners import Losses, Pulse, Stalled, config, quotas

from laneway.core.errors import LanewayError
from laneway.core.ids import LaneId
from laneway.demo.audit import WatchedChain
from laneway.demo.worker import WorkerCaller, WorkerGone
from laneway.devnets.contract.node.socket import ContractSocket
from laneway.engine.system import SystemClock
from laneway.ports import Store
from laneway.wiring.store import open_store
from laneway.wiring.worker_lines import Submit

WINDOW = 4
"""Unlanded submissions of one contract: with 200 contracts the doors are busy until the end."""
RESEND_S = 0.3
"""A submission that the store could not take is sent again after this."""
EXECUTION_MS_MAX = 20_000
LEASE_MS = 1_000
STOPPED_S = 1.6
"""How long a stopped worker sleeps: past its lease, so that others took its lanes."""
STALL_S_MAX = 30.0

ENGINE = f"""\
[engine]
heartbeat_ms = 200
lease_ms = {LEASE_MS}
"""


class Plan(Struct, frozen=True, kw_only=True):
    store: str = "postgres"
    workers: int = 3
    kills: int = 10
    stops: int = 2
    server_kills: int = 1
    executions: int = 2_000
    contracts: int = 200
    seed: int = 0
    round_ms: int = 20
    lost: float = 0.01


class Report(runners.Report, kw_only=True):
    store: str
    executions: int
    on_chain: int = 0
    kills: int = 0
    stops: int = 0
    server_kills: int = 0
    lives: int = 0
    resent: int = 0
    replayed: int = 0
    tries_refused: int = 0
    answers_lost: int = 0


class FleetSoak:
    def __init__(self, plan: Plan, folder: Path, server: Server) -> None:
        self.plan = plan
        self.server = server
        self.folder = folder
        self.report = Report(store=plan.store, seed=plan.seed, executions=plan.executions)
        self.random = Random(plan.seed)
        self.losses = Losses(plan.lost, plan.seed + 1)
        self.chain = WatchedChain(round_ms=plan.round_ms)
        config = folder / "laneway.toml"
        self.callers = [
            WorkerCaller(config, folder / f"worker{n}.log") for n in range(plan.workers)
        ]
        self.contracts = [f"contract-{n:03}" for n in range(plan.contracts)]
        self.quota = quotas(self.contracts, plan.executions)
        self.sent = dict.fromkeys(self.contracts, 0)
        self.begun_s = self.resent_s = monotonic()
        self.pulse = Pulse(STALL_S_MAX)

    async def run(self) -> runners.Report:
        report = self.report
        try:
            async with ContractSocket(self.chain, fault=self.losses) as socket:
                written = config(
                    self.server.url, socket.url, execution_ms_max=EXECUTION_MS_MAX, more=ENGINE
                )
                (self.folder / "laneway.toml").write_text(written)
                try:
                    await self.work()
                    await self.judge()
                except Stalled as error:
                    report.problems += [str(error), *await self.stuck()]
                finally:
                    for caller in self.callers:
                        await caller.kill()
        except LanewayError as error:
            report.problems.append(f"{type(error).__name__}: {error}")
        return report.close(self.begun_s)

    # What happens.

    async def work(self) -> None:
        plan, total = self.plan, self.plan.executions
        for caller in self.callers:
            await caller.spawn()
        acts = [self.kill] * plan.kills + [self.stop] * plan.stops
        acts += [self.kill_server] * plan.server_kills
        self.random.shuffle(acts)
        targets = sorted(self.random.randrange(total * 9 // 10) for _ in acts)
        for target, act in zip(targets, acts, strict=True):
            while self.landed() < target:
                await self.pause()
            await act()
        while self.landed() < total or any(caller.unanswered for caller in self.callers):
            await self.pause()
        while any(self.chain.running(name) for name in self.contracts):
            await self.pause()
        while not await self.all_final():
            await self.pause()

    async def kill(self) -> None:
        caller = self.random.choice(self.callers)
        await caller.kill()
        await caller.spawn()
        self.report.kills += 1

    async def stop(self) -> None:
        """SIGSTOP past the lease, then SIGCONT: whatever it does then must be refused."""
        caller = self.random.choice(self.callers)
        while not caller.is_ready():
            await self.pause()
        pid = caller.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        end_s = monotonic() + STOPPED_S
        while monotonic() < end_s:
            await self.pause()
        os.kill(pid, signal.SIGCONT)
        self.report.stops += 1

    async def kill_server(self) -> None:
        await asyncio.to_thread(self.server.kill)
        await asyncio.sleep(self.random.uniform(0, 0.5))
        await asyncio.to_thread(self.server.start)
        self.report.server_kills += 1

    async def pause(self) -> None:
        await asyncio.sleep(0.01)
        for caller in self.callers:
            await self.revive(caller)
        self.feed()
        now_s = monotonic()
        if now_s - self.resent_s > RESEND_S:
            self.resent_s = now_s
            for caller in self.callers:
                for submit in list(caller.unanswered.values()):
                    caller.send(submit)
        self.pulse.beat(self.landed(), self.progress)

    def progress(self) -> str:
        return f"{self.landed()}/{self.plan.executions} on chain, {self.report.kills} kills"

    async def revive(self, caller: WorkerCaller) -> None:
        """A worker that learned that it was declared dead ends, and starts under a new name."""
        try:
            await caller.check()
        except WorkerGone:
            await caller.kill()
            await caller.spawn()

    def feed(self) -> None:
        for place, name in enumerate(self.contracts):
            caller = self.callers[place % len(self.callers)]
            while self.sent[name] < min(self.quota[name], self.chain.latest(name) + WINDOW):
                self.sent[name] += 1
                number = self.sent[name]
                caller.send(Submit(f"{name}/{number}", name, f"{name} {number}", "did:fleet"))

    def landed(self) -> int:
        return sum(self.chain.latest(name) for name in self.contracts)

    # The judgement.

    async def all_final(self) -> bool:
        store = open_store(self.server.url, SystemClock())
        try:
            for name in self.contracts:
                lane = await store.lane(LaneId(f"contract:{name}"))
                if lane is None or lane.depth():
                    return False
        finally:
            await store.close()
        return True

    async def stuck(self) -> list[str]:
        """Where the lanes stand that do not go on."""
        found = [
            f"{len(caller.unanswered)} unanswered, refused {caller.refused[:2]}"
            for caller in self.callers
        ]
        store = open_store(self.server.url, SystemClock())
        try:
            for name in self.contracts:
                view = await store.lane(LaneId(f"contract:{name}"))
                if view is not None and view.depth():
                    head = view.head
                    words = f"wake {head.wake_ms} version {head.version} fence {head.fence}"
                    found.append(f"{name}: depth {view.depth()} owner {head.owner} {words}")
        finally:
            await store.close()
        return found

    async def judge(self) -> None:
        report = self.report
        report.on_chain, report.answers_lost = self.landed(), self.losses.count
        report.lives = sum(caller.lives for caller in self.callers)
        report.resent = sum(caller.resent_count for caller in self.callers)
        report.replayed = sum(caller.replayed_count for caller in self.callers)
        report.tries_refused = sum(self.chain.conflicts.values())
        store = open_store(self.server.url, SystemClock())
        try:
            for name in self.contracts:
                await self.judge_contract(store, name)
        finally:
            await store.close()
        for caller in self.callers:
            if caller.refused:
                report.problems.append(f"refused: {caller.refused[:3]}")
            if caller.contradictions:
                report.problems.append(f"answered with two intents: {caller.contradictions}")

    async def judge_contract(self, store: Store, name: str) -> None:
        """Every wish once, and in the order of the lane's own sequence."""
        history = await store.history(LaneId(f"contract:{name}"), None, self.quota[name] + 10)
        blocks = [block.data for block in self.chain.history(name)[1:]]
        wished = {f"{name} {number}" for number in range(1, self.quota[name] + 1)}
        if set(blocks) != wished or len(blocks) != len(wished):
            self.report.problems.append(f"{name}: {len(blocks)} blocks for {len(wished)} wishes")
        for place, view in enumerate(history, start=1):
            result = view.result
            if result is None or result.status != "confirmed" or result.number != place:
                self.report.problems.append(f"{name}: place {place} is {result}")
            elif view.intent.key != blocks[place - 1].replace(" ", "/"):
                self.report.problems.append(f"{name}: {view.intent.key} is out of order")


async def run(plan: Plan, folder: Path) -> runners.Report:
    with started(plan.store) as server:
        return await FleetSoak(plan, folder, server).run()


def main() -> int:
    return runners.command(Plan(), run, __doc__)


if __name__ == "__main__":
    sys.exit(main())
