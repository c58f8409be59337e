"""Steady load on a real `laneway up` over HTTP, and the question whether it stays as it is.

Run by path: `python tests/load/runner.py --seconds 3600`. Exit code 0 only if memory, tasks, files
and threads of the server are flat under load and back where they were at rest, and every accepted
execution is on the chain exactly once, in its contract's order.

The chain is here and not in the server: an embedded devnet keeps every block in its process, and
its growth would be the server's. Rows gather on disk, which is what a store is for.
"""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

from aiohttp import ClientError, ClientSession, ClientTimeout
from msgspec import Struct, field, json

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests import runners
from tests.load.chain import ThinChain, number_of
from tests.load.flat import TOLERANCES, Verdict, judged
from tests.load.served import Sample, Served, ServerGone
from tests.load.traffic import Contract, Traffic
from tests.runners import Losses, Stalled, check_integrity, config, say

from laneway.devnets.contract.node.socket import ContractSocket

EXECUTION_MS_MAX = 60_000
SAMPLES = 40
"""At least: ten a quarter. An hour has one every ten seconds."""
SAMPLE_S_MAX = 10.0
SETTLE_S_MAX = 60.0
"""For what was accepted to land when nothing more is sent: a paused lane at most a second late,
a lost answer two."""
REST_S_MAX = 30.0
"""For connections to be closed on both sides; the server keeps those to the chain for 5 s."""
REST_SPARE = 8
"""Tasks and files at rest beside those before the load: a connection each of sampling and of a
probe of the chain, on both sides."""
PAGE = 500

SERVER = """\
[server]
port = 0
"""


QUARTERS = ("q1", "q2", "q3", "q4")
COLUMNS = ("before", *QUARTERS, "peak", "at rest", "growth", "may", "per hour")


class Plan(Struct, frozen=True, kw_only=True):
    seconds: float = 60.0
    rate: float = 150.0
    """Executions a second: about half of what two small cores bear, callers and chain included."""
    contracts: int = 200
    readers: int = 30
    round_ms: int = 50
    lost: float = 0.002
    """The share of executions whose answer never comes."""
    seed: int = 0


class Report(runners.Report, kw_only=True):
    load_s: float = 0.0
    accepted: int = 0
    on_chain: int = 0
    cancelled: int = 0
    answers_lost: int = 0
    contracts: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)
    at_rest: Sample | None = None
    samples: list[Sample] = field(default_factory=list)

    def text(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield " " * 9 + "".join(f"{word:>9}" for word in COLUMNS)
        for verdict in self.verdicts:
            rest = getattr(self.at_rest, verdict.name, float("nan"))
            moved = (verdict.growth, verdict.allowed, verdict.slope_per_hour)
            cells = (verdict.first, *verdict.quarters, verdict.peak, rest, *moved)
            word = "flat" if verdict.flat else "NOT FLAT"
            yield f"{verdict.name:<9}" + "".join(f"{cell:>9.1f}" for cell in cells) + f"  {word}"
        if self.samples:
            first, last = self.samples[0], self.samples[-1]
            deepest = max(sample.depth for sample in self.samples)
            grown = f"{first.store_mb:.1f} → {last.store_mb:.1f} MB"
            yield f"store {grown}, depth at most {deepest:.0f}"
        for name, count in sorted(self.counts.items()):
            yield f"{name:>14}  {count}"
        for problem in self.problems:
            yield f"problem: {problem}"
        yield self.summary()

    def summary(self) -> str:
        """One line with the figures that matter."""
        flat = {verdict.name: verdict for verdict in self.verdicts}
        ended = f"{self.on_chain} on chain and {self.cancelled} taken back"
        words = [f"{self.load_s:.0f} s of load", f"{self.accepted} accepted: {ended}"]
        if flat:
            rss, tasks = flat["rss_mb"], flat["tasks"]
            words += [
                f"memory {rss.quarters[1]:.1f} → {rss.quarters[3]:.1f} MB"
                f" ({rss.slope_per_hour:+.1f} MB/h)",
                f"tasks {tasks.quarters[1]:.0f} → {tasks.quarters[3]:.0f}",
            ]
        if self.at_rest is not None and self.samples:
            words += [f"at rest {self.at_rest.tasks:.0f} (before {self.samples[0].tasks:.0f})"]
        return ", ".join([*words, "held" if self.ok else "BROKEN"])


class Shown(Struct):
    """What the judgement wants of a transaction."""

    status: str
    payload: "Payload"
    block: int | None = None


class Payload(Struct):
    data: str


class Page(Struct):
    items: list[Shown] = field(default_factory=list)
    next_cursor: str | None = None


decode_page = json.Decoder(Page).decode


class LoadSoak:
    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan = plan
        self.report = Report(seed=plan.seed, load_s=plan.seconds)
        self.folder = folder
        self.chain = ThinChain(round_ms=plan.round_ms)
        self.losses = Losses(plan.lost, plan.seed + 1)
        store = folder / "laneway.db"
        self.served = Served(folder / "laneway.toml", store, folder / "server.log")
        self.store = store
        self.begun_s = monotonic()

    async def run(self) -> Report:
        report = self.report
        try:
            async with ContractSocket(self.chain, fault=self.losses) as socket:
                written = config(
                    str(self.store), socket.url, execution_ms_max=EXECUTION_MS_MAX, more=SERVER
                )
                (self.folder / "laneway.toml").write_text(written)
                try:
                    await self.served.start()
                    await self.work()
                finally:
                    code = await self.served.stop()
            if code != 0:
                report.problems.append(f"the server ended with code {code}")
        except (ServerGone, Stalled, ClientError, TimeoutError) as error:
            report.problems.append(f"{type(error).__name__}: {error}")
        integrity = check_integrity(self.store)
        if integrity != "ok":
            report.problems.append(f"integrity_check: {integrity}")
        report.close(self.begun_s)
        return report

    async def work(self) -> None:
        plan, report = self.plan, self.report
        traffic = Traffic(
            self.served.url,
            self.chain,
            contracts=plan.contracts,
            readers=plan.readers,
            seed=plan.seed,
        )
        async with ClientSession(timeout=ClientTimeout(total=60)) as session:
            report.samples.append(await self.served.sample(session))
            try:
                load = asyncio.create_task(traffic.run(plan.seconds, plan.rate))
                try:
                    await self.watch(load, session)
                finally:
                    load.cancel()
                    await asyncio.gather(load, return_exceptions=True)
            finally:
                await traffic.close()
            self.judge_series()
            await self.rest(session)
            await self.judge(traffic, session)
        report.problems += traffic.problems
        report.counts = dict(traffic.counts)

    async def watch(self, load: "asyncio.Task[None]", session: ClientSession) -> None:
        """Sample while the load lasts."""
        pause_s = min(SAMPLE_S_MAX, self.plan.seconds / SAMPLES)
        while not load.done():
            await asyncio.wait((load,), timeout=pause_s)
            if load.done():
                break
            sample = await self.served.sample(session)
            self.report.samples.append(sample)
            self.say(sample)
        load.result()

    def say(self, sample: Sample) -> None:
        share = min(1.0, sample.at_s / self.plan.seconds)
        bar = ("#" * round(20 * share)).ljust(20, ".")
        say(
            f"[{bar}] {sample.at_s:5.0f} s  {self.chain.count} on chain  {sample.rss_mb:.1f} MB  "
            f"{sample.tasks:.0f} tasks  {sample.fds:.0f} files  depth {sample.depth:.0f}",
            end="\r",
        )

    def judge_series(self) -> None:
        samples = self.report.samples
        times_s = [sample.at_s for sample in samples]
        for name in TOLERANCES:
            verdict = judged(name, times_s, [getattr(sample, name) for sample in samples])
            self.report.verdicts.append(verdict)
            if not verdict.flat:
                grew = f"{verdict.growth:.1f}, {verdict.allowed:.1f} may be"
                self.report.problems.append(f"{name} is not flat: it grew by {grew}")

    async def rest(self, session: ClientSession) -> None:
        """Nothing is sent any more: what was accepted lands, and what served it goes."""
        before = self.report.samples[0]
        settle_s = monotonic() + SETTLE_S_MAX
        while (sample := await self.served.sample(session)).depth:
            if monotonic() > settle_s:
                raise Stalled(f"{sample.depth:.0f} executions did not land in {SETTLE_S_MAX:g} s")
            await asyncio.sleep(0.2)
        rest_s = monotonic() + REST_S_MAX
        while risen(before, sample) and monotonic() < rest_s:
            await asyncio.sleep(0.5)
            sample = await self.served.sample(session)
        self.report.at_rest = sample
        self.report.problems += risen(before, sample)

    # Exactly once, in order.

    async def judge(self, traffic: Traffic, session: ClientSession) -> None:
        report = self.report
        report.accepted = traffic.counts["accepted"]
        report.on_chain, report.answers_lost = self.chain.count, self.losses.count
        contracts = traffic.contracts()
        report.contracts = len(contracts)
        for contract in contracts:
            await self.judge_contract(contract, session)
        if report.on_chain + report.cancelled != report.accepted:
            words = f"{report.on_chain} on chain and {report.cancelled} cancelled"
            report.problems.append(f"{report.accepted} were accepted: {words}")

    async def judge_contract(self, contract: Contract, session: ClientSession) -> None:
        """What the server shows, what the chain holds and what the caller was told are one."""
        listed = landed = 0
        on_chain = self.chain.landed.get(contract.name, ())
        cursor: str | None = None
        while True:
            page = await self.page(contract, cursor, session)
            for shown in page.items:
                number = number_of(shown.payload.data)
                if listed >= len(contract.accepted) or contract.accepted[listed] != number:
                    self.wrong(contract, f"place {listed} shows {number}")
                    return
                listed += 1
                if shown.status == "cancelled" and number in contract.taken_back:
                    self.report.cancelled += 1
                    continue
                landed += 1
                if shown.status != "confirmed" or shown.block != landed:
                    self.wrong(contract, f"{number} is {shown.status} in block {shown.block}")
                elif landed > len(on_chain) or on_chain[landed - 1] != number:
                    self.wrong(contract, f"block {landed} is not {number}")
            cursor = page.next_cursor
            if cursor is None:
                break
        if listed != len(contract.accepted) or landed != len(on_chain):
            seen = f"{listed} shown, {landed} confirmed, {len(on_chain)} on chain"
            self.wrong(contract, f"{len(contract.accepted)} accepted, {seen}")

    async def page(self, contract: Contract, cursor: str | None, session: ClientSession) -> Page:
        asked = {"lane": contract.lane, "limit": str(PAGE)}
        if cursor is not None:
            asked["cursor"] = cursor
        async with session.get(self.served.url + "/v1/transactions", params=asked) as answer:
            return decode_page(await answer.read())

    def wrong(self, contract: Contract, words: str) -> None:
        self.report.problems.append(f"{contract.name}: {words}")


def risen(before: Sample, sample: Sample) -> list[str]:
    """What did not come back to where it was before the load."""
    return [
        f"{getattr(sample, name):.0f} {name} at rest, {getattr(before, name):.0f} before the load"
        for name in ("tasks", "fds")
        if getattr(sample, name) > getattr(before, name) + REST_SPARE
    ]


def main() -> int:
    return runners.command(Plan(), lambda plan, folder: LoadSoak(plan, folder).run(), __doc__)


if __name__ == "__main__":
    sys.exit(main())
