"""The demo: ten contracts and three EVM accounts, and a worker that is killed on the way.

The parent hosts the chains and calls; the worker owns the database. Kills are chosen by progress,
so that each of them hits running rounds, unanswered submissions and payments on their way.
Nothing here prints.
"""

import asyncio
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from random import Random
from time import monotonic
from typing import TYPE_CHECKING

from laneway.chains.contract_rest import RestHost
from laneway.core.errors import BadRequest, LanewayError
from laneway.core.outcome import Outcome
from laneway.demo.audit import WatchedChain, audit
from laneway.demo.limits import WORK_S_MAX
from laneway.demo.values import (
    DemoPlan,
    DemoSnapshot,
    DemoVerdict,
    DemoView,
    Direct,
    Kill,
    Naive,
    Surroundings,
)
from laneway.demo.worker import WorkerCaller
from laneway.devnets.contract.node.socket import ContractSocket
from laneway.ports import ContractCall
from laneway.wiring.config import toml_value
from laneway.wiring.worker_lines import Stop, Submit

if TYPE_CHECKING:
    # The curve is an extra (`evm`); the contracts' part needs none of it.
    from laneway.demo.pay import Payers

DIRECT_COUNT = 10
DIRECT_ROUND_MS = 1_000
"""Long enough that ten callers on a busy machine all read the same block before it ends."""
POLL_S = 0.02
SHOW_S = 0.1
KILL_JITTER_S_MAX = 0.004
"""A kill falls into the answering of the last submissions; a group commit takes 2 to 5 ms here."""
EXECUTOR = "did:demo"
DIRECT_CONTRACT = "T-direct"


async def run_demo(plan: DemoPlan, view: DemoView, *, once: bool) -> DemoVerdict | None:
    """Show the whole demo; None when it was interrupted before its verdict."""
    check_plan(plan)
    interrupted = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, interrupted.set)
    ending = asyncio.create_task(interrupted.wait())
    with workplace(plan) as (folder, keep):
        demo = Demo(plan, view, folder)
        showing = asyncio.create_task(demo.show(once=once))
        try:
            await asyncio.wait((showing, ending), return_when=asyncio.FIRST_COMPLETED)
        finally:
            ending.cancel()
            if not showing.done():
                showing.cancel()
            # Also when cancelled it ends its worker before the folder goes.
            await asyncio.wait((showing,))
        if not showing.cancelled():
            showing.result()
        if demo.verdict is not None and not demo.verdict.is_right():
            keep.set()
    return demo.verdict


def check_plan(plan: DemoPlan) -> None:
    if plan.kills >= plan.executions:
        raise BadRequest(
            "--executions", f"must be more than the {plan.kills} kills, so that each hits some work"
        )


@contextmanager
def workplace(plan: DemoPlan) -> Iterator[tuple[Path, asyncio.Event]]:
    """The folder to work in, and what to set if it should stay: a failure leaves its evidence."""
    keep = asyncio.Event()
    if plan.folder is None:
        folder = Path(tempfile.mkdtemp(prefix="laneway-demo-"))
        try:
            yield folder, keep
        finally:
            if not keep.is_set():
                shutil.rmtree(folder, ignore_errors=True)
        return
    folder = Path(plan.folder).absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadRequest("--keep", f"{plan.folder} cannot be made: {error.strerror}") from error
    if any(folder.iterdir()):
        raise BadRequest("--keep", f"{plan.folder} is not empty; name a new folder")
    yield folder, keep


class Demo:
    def __init__(self, plan: DemoPlan, view: DemoView, folder: Path) -> None:
        self.verdict: DemoVerdict | None = None
        self._plan = plan
        self._view = view
        self._folder = folder
        self._random = Random(plan.seed)
        self._contracts = [f"T{n:02}" for n in range(plan.contracts)]
        self._chain = WatchedChain(round_ms=plan.round_ms)
        self._caller = WorkerCaller(folder / "laneway.toml", folder / "worker.log")
        self._sent: dict[str, list[tuple[str, str]]] = {name: [] for name in self._contracts}
        self._payers: Payers | None = None
        self._direct: Direct | None = None
        self._naive: Naive | None = None
        self._kills: list[Kill] = []
        self._begun_s = monotonic()
        self._shown_s = 0.0

    async def show(self, *, once: bool) -> None:
        names = [f"payer{place + 1}" for place in range(self._plan.accounts)]
        self._view.began(self._plan, self._contracts, names if has_curve() else [])
        async with ContractSocket(self._chain) as socket, self._paying():
            (self._folder / "laneway.toml").write_text(self._worker_config(socket.url))
            try:
                self.verdict = await self._judge(await self._work(socket.url))
                self._view.ended(self.verdict)
                if not once:
                    self._view.stays(self._surroundings(socket.url))
                    await asyncio.Event().wait()
            finally:
                await self._caller.stop(Stop("now"))

    @asynccontextmanager
    async def _paying(self) -> AsyncIterator[None]:
        """The EVM chain and the accounts on it, if any are wanted and can sign."""
        if self._plan.accounts == 0:
            yield
            return
        if not has_curve():
            self._view.node("")
            yield
            return
        from laneway.demo.pay import open_payers

        async with open_payers(self._plan, self._folder) as self._payers:
            self._view.node(self._payers.node.name)
            yield

    async def _work(self, url: str) -> str:
        """Everything up to the verdict; says what went wrong, if anything did."""
        try:
            async with asyncio.timeout(WORK_S_MAX):
                await self._caller.spawn()
                await self._run_naive()
                await self._run_direct(url)
                await self._caller.ready()
                await self._run_queued()
                await self._hear_all()
                while self._running():
                    await self._pause()
        except TimeoutError:
            return f"the work did not end within {WORK_S_MAX:g} s"
        except LanewayError as error:
            return str(error)
        if self._caller.contradictions:
            return f"{len(self._caller.contradictions)} keys were answered with two intents"
        return ""

    async def _run_naive(self) -> None:
        if self._payers is not None:
            self._naive = await self._payers.pay_naively()
            self._view.naive(self._naive)

    async def _run_direct(self, url: str) -> None:
        """Ten callers at once and no queue: all read block N, one writes block N+1."""
        self._chain.round_ms = DIRECT_ROUND_MS
        host = RestHost(url, password="")
        try:
            calls = [
                ContractCall(DIRECT_CONTRACT, EXECUTOR, f"execution {n}")
                for n in range(1, DIRECT_COUNT + 1)
            ]
            answers = await asyncio.gather(*(host.execute(call, 0) for call in calls))
        finally:
            await host.close()
            self._chain.round_ms = self._plan.round_ms
        self._direct = Direct(
            sent=len(answers),
            succeeded=sum(1 for answer in answers if answer.outcome is Outcome.ACCEPTED),
            conflicts=sum(1 for answer in answers if answer.stale),
        )
        self._view.direct(self._direct)

    async def _run_queued(self) -> None:
        plan = self._plan
        self._send(plan.executions - plan.kills * plan.held_back())
        while self._landed() < plan.total() or self._unpaid() or self._caller.unanswered:
            self._pay()
            await self._pause()
            number = len(self._kills) + 1
            if number <= plan.kills and self._is_due(number):
                await self._kill(number)

    def _is_due(self, number: int) -> bool:
        if not self._caller.is_ready() or self._landed() < self._plan.landed_at_kill(number):
            return False
        # In the middle of rounds, if there are any; what was held back will start some otherwise.
        running = self._running()
        return running == 0 or 2 * running >= self._plan.contracts

    async def _kill(self, number: int) -> None:
        self._send(self._plan.held_back())
        ahead = self._plan.paid_ahead()
        while True:
            self._pay(ahead=ahead, kill=number)
            await self._caller.flush()
            await asyncio.sleep(self._random.uniform(0, KILL_JITTER_S_MAX))
            while self._running() == 0:
                await self._pause()
            if self._payers is None or self._unmined() or ahead > self._plan.payments:
                break
            # All of them were mined meanwhile; it is to come in the middle of payments too.
            ahead += self._plan.paid_ahead()
        pid = self._caller.pid
        assert pid is not None
        landed, running = self._landed(), self._running()
        await self._caller.kill()
        kill = Kill(
            number=number,
            at_s=round(self._at_s(), 3),
            pid=pid,
            landed=landed,
            running=running,
            unanswered=len(self._caller.unanswered),
            unmined=self._unmined(),
        )
        self._kills.append(kill)
        self._view.killed(kill)
        await self._caller.spawn()

    async def _hear_all(self) -> None:
        """Ask for every final answer; those of a worker that died are asked for again."""
        self._caller.ask_again()
        total = self._plan.total()
        if self._payers is not None:
            total += self._payers.sent_count()
        while len(self._caller.ended) + len(self._caller.refused) < total:
            await self._pause()

    async def _pause(self) -> None:
        await asyncio.sleep(POLL_S)
        await self._caller.check()
        if self._at_s() - self._shown_s >= SHOW_S:
            self._shown_s = self._at_s()
            if self._payers is not None:
                await self._payers.look()
            self._view.moved(self._snapshot())

    def _send(self, count: int) -> None:
        """The next executions of every contract, the callers of all contracts mixed."""
        turns = [name for name in self._contracts for _ in range(count)]
        self._random.shuffle(turns)
        for contract in turns:
            number = len(self._sent[contract]) + 1
            key = f"demo-{contract}-{number:03}"
            data = f"execution {number} of {contract}"
            self._sent[contract].append((key, data))
            self._caller.send(Submit(key, contract, data, EXECUTOR))

    def _pay(self, *, ahead: int = 0, kill: int | None = None) -> None:
        """The payments that are due; those that later kills are to hit are held back."""
        if self._payers is not None:
            plan = self._plan
            kills = plan.kills - (len(self._kills) if kill is None else kill)
            most = plan.payments - kills * plan.paid_ahead()
            self._payers.send(self._caller, min(plan.payments_due(self._landed()) + ahead, most))

    async def _judge(self, problem: str) -> DemoVerdict:
        caller, chain, payers = self._caller, self._chain, self._payers
        rows = [
            audit(contract, chain.history(contract), self._sent[contract], caller.ended)
            for contract in self._contracts
        ]
        payments = []
        if payers is not None:
            try:
                payments = await payers.judge(caller)
            except LanewayError as error:
                problem = problem or str(error)
        return DemoVerdict(
            rows=rows,
            direct=self._direct,
            kills=self._kills,
            resent=caller.resent_count,
            replayed=caller.replayed_count,
            tries_refused=sum(chain.conflicts[contract] for contract in self._contracts),
            seconds=round(self._at_s(), 3),
            folder=str(self._folder),
            problem=problem,
            payments=payments,
            node="" if payers is None else payers.node.name,
            naive=self._naive,
            answers_lost=0 if payers is None else payers.answers_lost(),
        )

    def _snapshot(self) -> DemoSnapshot:
        caller, chain, payers = self._caller, self._chain, self._payers
        sent = sum(len(sent) for sent in self._sent.values())
        return DemoSnapshot(
            at_s=self._at_s(),
            landed={name: chain.latest(name) for name in self._contracts},
            running={name: chain.running(name) for name in self._contracts},
            sent=sent if payers is None else sent + payers.sent_count(),
            answered=len(caller.ids),
            kills=len(self._kills),
            worker=f"pid {caller.pid}" if caller.is_ready() else "starting again",
            paid={} if payers is None else payers.paid,
        )

    def _surroundings(self, url: str) -> Surroundings:
        return Surroundings(
            url=url,
            folder=str(self._folder),
            database=str(self._folder / "laneway.db"),
            log=str(self._folder / "worker.log"),
            contract=self._contracts[0],
            pid=self._caller.pid,
            node="" if self._payers is None else self._payers.node.url,
        )

    def _worker_config(self, url: str) -> str:
        path = toml_value(str(self._folder / "laneway.db"))
        text = WORKER_CONFIG.format(path=path, url=toml_value(url))
        return text if self._payers is None else text + self._payers.config()

    def _unmined(self) -> int:
        return 0 if self._payers is None else self._payers.unmined_count()

    def _unpaid(self) -> bool:
        return self._payers is not None and self._payers.has_more()

    def _landed(self) -> int:
        return sum(self._chain.latest(name) for name in self._contracts)

    def _running(self) -> int:
        return sum(self._chain.running(name) for name in self._contracts)

    def _at_s(self) -> float:
        return monotonic() - self._begun_s


def has_curve() -> bool:
    """Whether the extra `evm` is installed."""
    return find_spec("coincurve") is not None and find_spec("sha3") is not None


WORKER_CONFIG = """\
# The configuration of the demo's worker. Its waits are short because its rounds are.
[store]
path = {path}

[contract]
execution_ms_max = 10000
search_ms = 100
retry_ms_min = 50
retry_ms_max = 1000
breaker_open_ms = 1000

[host]
kind = "rest"
url = {url}
takes_parent = true

[log]
format = "text"
"""
