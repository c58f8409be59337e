"""What the runners of real rollup builders share: a chain with weather, processes, a judge.

The chain is in the runner's own process, so that it outlives every builder and each submission is
seen by `Watch` before the chain has it. Each builder speaks to a node of its own, by which it is
told apart.
"""

import asyncio
import signal
import sys
from collections import Counter
from pathlib import Path
from random import Random
from time import monotonic

import msgspec
from msgspec.structs import replace
from tests import runners
from tests.kill.rollup_worker import Ask, Told
from tests.rollup_stage import Judge, Purse, Watch, digest
from tests.runners import Pulse, Stalled

from laneway.devnets.jam.devnet import JamDevnet, rollup_service
from laneway.devnets.jam.limits import ROLLUP_SERVICE_DEV
from laneway.devnets.jam.model.values import ModelSetup
from laneway.jam.spec import TINY
from laneway.wiring.config import toml_value

WORKER = Path(__file__).parent / "kill" / "rollup_worker.py"
STALL_S_MAX = 60.0
SLOT_MS = 200
CORES = 4
FOUR = replace(
    TINY, core_count=CORES, validator_count=3 * CORES, recovery_count=TINY.recovery_count * 2
)
RESEND_S = 0.5
"""What a worker could not take is asked for again after this."""
FINAL = ("confirmed", "reverted", "refused", "expired", "cancelled", "indeterminate")

CONFIG = """\
[store]
path = {store}
[engine]
heartbeat_ms = 300
lease_ms = {lease_ms}
[bundle]
order = {order}
max_inflight = {inflight}
block_txs_max = {block_txs}
block_interval_ms = 1000
build_from_ms = 6000
build_until_ms = 500
submit_from_ms = 6000
submit_until_ms = 0
poll_ms = 1000
[[rollup]]
name = "ledger"
service = {service}
nodes = [{url}]
genesis = {genesis}
slot_ms = {slot_ms}
builder = {builder}
[log]
level = "warning"
format = "json"
"""


class Report(runners.Report, kw_only=True):
    transfers: int
    order: str
    applied: int = 0
    blocks: int = 0
    packages: int = 0
    """Work packages that were handed in."""
    rebuilt: int = 0
    """Those of a block that had another before."""
    offers: int = 0
    resubmitted: int = 0
    reorgs: int = 0
    withheld: int = 0
    lost: int = 0
    """Reports that timed out."""
    slots: int = 0
    replayed: int = 0


class Builder:
    """One process after another, on the same configuration."""

    def __init__(self, soak: "RollupSoak", place: int) -> None:
        self._soak = soak
        self.place = place
        self.config = soak.folder / f"laneway{place}.toml"
        self.is_ready = False
        self.lives = 0
        self.process: asyncio.subprocess.Process | None = None
        self._hearing: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """It is told once more of all that has no end yet."""
        assert self.process is None
        with (self._soak.folder / f"worker{self.place}.log").open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, str(WORKER), str(self.config),
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=log,
                limit=1 << 20,
            )  # fmt: skip
        self.is_ready = False
        self.lives += 1
        self._hearing = asyncio.create_task(self._hear(self.process))
        for ask in self._soak.open_asks():
            self.send(ask)

    async def kill(self) -> None:
        if self.process is None:
            return
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        assert self._hearing is not None
        await self._hearing
        self.process = None

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def is_gone(self) -> bool:
        """Whether it ended by itself."""
        return self.process is not None and self.process.returncode is not None

    def send(self, ask: Ask) -> None:
        if self.process is None or self.process.stdin is None:
            return
        try:
            self.process.stdin.write(msgspec.json.encode(ask) + b"\n")
        except RuntimeError:
            return  # It ended a moment ago; its successor is told.

    async def _hear(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            if not line.endswith(b"\n"):
                return
            told = msgspec.json.decode(line, type=Told)
            if told.word == "ready":
                self.is_ready = True
            else:
                self._soak.hear(told)


class RollupSoak:
    """A runner adds what happens to the builders."""

    def __init__(self, folder: Path, report: Report, *, builders: int, window: int) -> None:
        self.folder = folder
        self.report = report
        self.random = Random(report.seed)
        self.window = window
        self.asks: dict[str, Ask] = {}
        self.raws: dict[str, bytes] = {}
        self.ids: dict[str, str] = {}
        self.ended: dict[str, Told] = {}
        self.again: set[str] | None = None
        """Whose end was told once more, when all are asked for again."""
        self.trouble: dict[tuple[str, int], int] = {}
        """What troubles a core or a node, and until which slot."""
        self.later: dict[str, None] = {}
        """What a builder could not take, and is asked for again."""
        self.begun_s = self._resent_s = monotonic()
        self.pulse = Pulse(STALL_S_MAX)
        setup = ModelSetup(spec=FOUR, nodes=builders)
        setup = replace(setup, services={ROLLUP_SERVICE_DEV: rollup_service(setup)})
        self.devnet = JamDevnet(slot_ms=0, setup=setup)
        self.watch = Watch(self.devnet)
        self.judge = Judge(self.devnet.say)
        self.purse = Purse(self.devnet.model.genesis, report.seed)
        self.builders = [Builder(self, place) for place in range(builders)]

    async def run(self, store: str, *, lease_ms: int = 1_500) -> runners.Report:
        async with self.devnet:
            self.configure(store, lease_ms)
            weather = asyncio.create_task(self.weather())
            try:
                await self.work()
            except Stalled as error:
                self.report.problems += [str(error), *self.last_words()]
            finally:
                for builder in self.builders:
                    await builder.kill()
                weather.cancel()
            self.settle()
        return self.report.close(self.begun_s)

    async def work(self) -> None:
        raise NotImplementedError

    def configure(self, store: str, lease_ms: int) -> None:
        for builder in self.builders:
            filled = CONFIG.format(
                store=toml_value(store),
                lease_ms=lease_ms,
                order=toml_value(self.report.order),
                inflight=CORES,
                block_txs=10,
                service=ROLLUP_SERVICE_DEV,
                url=toml_value(self.devnet.urls[builder.place]),
                genesis=toml_value(self.devnet.model.genesis.hex()),
                slot_ms=SLOT_MS,
                builder=toml_value(str(self.folder / f"builder{builder.place}.db")),
            )
            builder.config.write_text(filled)

    # The chain.

    async def weather(self) -> None:
        """Slots, and what goes wrong in them: guarantors are silent, reports are lost, forks win,
        and slots have no block."""
        faults, loop = self.devnet.model.faults, asyncio.get_running_loop()
        at_s = loop.time()
        while True:
            at_s = max(at_s + SLOT_MS / 1000, loop.time())
            await asyncio.sleep(at_s - loop.time())
            slot = self.devnet.model.slot + 1
            self.worsen(slot)
            silent = {core for core in range(CORES) if self.random.random() < 0.1}
            faults.withheld_cores = silent | self.beset("withheld", slot)
            faults.unavailable_cores = self.beset("unavailable", slot)
            faults.lag_slots = dict.fromkeys(self.beset("behind", slot), 1)
            made = self.devnet.step()
            self.report.lost += len(made.timed_out)

    def worsen(self, slot: int) -> None:
        """What begins now, and lasts for as long as it takes to lose something."""
        faults, chance = self.devnet.model.faults, self.random.random
        if chance() < 0.03:
            self.trouble["withheld", self.random.randrange(CORES)] = slot + 10
        if chance() < 0.03:
            self.trouble["unavailable", self.random.randrange(CORES)] = slot + 6
        if chance() < 0.03:
            self.trouble["behind", self.random.randrange(len(self.builders))] = slot + 4
        if chance() < 0.04:
            faults.reorg_depth = self.random.randrange(1, 3)
            self.report.reorgs += 1
        if chance() < 0.04:
            faults.skipped_slots = {slot}

    def beset(self, word: str, slot: int) -> set[int]:
        return {place for (what, place), end in self.trouble.items() if what == word and slot < end}

    # The builders.

    def hear(self, told: Told) -> None:
        if told.word == "accepted":
            self.report.replayed += told.key in self.ids
            if self.ids.setdefault(told.key, told.id) != told.id:
                self.report.problems.append(f"{told.key} was answered with two intents")
        elif told.word == "refused" and told.retry in ("later", "after_check"):
            self.later[told.key] = None
        elif told.word in FINAL:
            if self.again is not None:
                self.again.add(told.key)
            before = self.ended.setdefault(told.key, told)
            if (before.word, before.hash, before.block) != (told.word, told.hash, told.block):
                self.report.problems.append(f"{told.key} is {before} and {told}")
        else:
            self.report.problems.append(f"{told.key}: {told.word} {told.reason}")

    def open_asks(self) -> list[Ask]:
        return [ask for key, ask in self.asks.items() if key not in self.ended]

    def feed(self, builder: Builder) -> None:
        """Transfers for one builder, in the order of their nonces."""
        while len(self.asks) < min(self.report.transfers, len(self.ended) + self.window):
            raw = self.purse.transfer()
            ask = Ask(f"t{len(self.asks)}", raw.hex())
            self.asks[ask.key], self.raws[ask.key] = ask, raw
            builder.send(ask)
        now_s = monotonic()
        if self.later and now_s - self._resent_s > RESEND_S:
            self._resent_s = now_s
            # A later one may have been taken already: all that are open go again, in their order.
            self.later.clear()
            for ask in self.open_asks():
                builder.send(ask)

    async def ask_all_again(self, builder: Builder) -> None:
        """Whoever forgot that a transfer was answered gets the same answer, and nothing is done."""
        await builder.kill()
        await builder.begin()
        self.again = set()
        for ask in self.asks.values():
            builder.send(ask)
        until_s = monotonic() + STALL_S_MAX
        while len(self.again) < len(self.asks):
            await asyncio.sleep(0.01)
            if monotonic() > until_s:
                raise Stalled(f"{len(self.asks) - len(self.again)} were not answered again")

    async def pause(self) -> None:
        await asyncio.sleep(0.01)
        self.pulse.beat(len(self.ended), self.progress)

    def progress(self) -> str:
        return (
            f"{len(self.ended)}/{self.report.transfers} final, slot {self.devnet.model.slot}, "
            f"{len(self.watch.packages)} packages"
        )

    def last_words(self) -> list[str]:
        """What the logs end with, where something stands still."""
        found: list[str] = []
        for path in sorted(self.folder.glob("worker*.log")):
            found += [f"{path.name}: {line}" for line in path.read_text().splitlines()[-3:]]
        return found

    # The judgement.

    def settle(self) -> None:
        report, watch = self.report, self.watch
        faults = self.devnet.model.faults
        faults.withheld_cores, faults.unavailable_cores, faults.lag_slots = set(), set(), {}
        for _ in range(6):
            self.devnet.step()
        audit = self.judge.audit(self.purse.made)
        report.problems += audit.problems + watch.problems
        report.applied, report.blocks = audit.total, len(audit.blocks)
        report.packages, report.rebuilt = len(watch.packages), watch.again()
        report.offers = len(watch.submissions)
        taken = Counter(one.package for one in watch.submissions if one.is_taken)
        report.resubmitted = sum(count > 1 for count in taken.values())
        report.withheld = self.bites("withheld_cores")
        report.slots = self.devnet.model.slot
        where = {raw: block.number for block in audit.blocks for raw in block.transfers}
        for key, told in self.ended.items():
            raw = self.raws[key]
            is_true = (told.word, told.block) == ("confirmed", where.get(raw))
            if not is_true or told.hash != "0x" + digest(raw).hex():
                report.problems.append(f"{key} was told {told}; it is in {where.get(raw)}")
        if len(self.ended) < report.transfers:
            report.problems.append(f"{report.transfers - len(self.ended)} have no end")

    def bites(self, switch: str) -> int:
        found = self.devnet.model.faults.bites
        return sum(count for fault, count in found.items() if fault.value == switch)
