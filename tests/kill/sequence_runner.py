"""Kill −9 at random points of a real process that submits blobs from Cosmos accounts; the devnet's
own history is the judge.

Run by path: `python tests/kill/sequence_runner.py --kills 100`. On the way transactions are
evicted, nodes are started again and forget their mempools, and the price of gas rises. Exit code 0
only if each blob is committed exactly once, in its account's order, or was told to be indeterminate
with its bytes, every answer is true, and nothing was signed again while its bytes could land.
"""

import asyncio
import sys
from collections import Counter
from pathlib import Path
from random import Random
from time import monotonic

import msgspec
from msgspec import Struct

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests import runners
from tests.kill.sequence_worker import Ask, Place, Told, blob_of
from tests.runners import Pulse, Stalled, check_integrity, quotas

from laneway.cosmos.tx import read
from laneway.devnets.cosmos.devnet import CosmosDevnet
from laneway.devnets.cosmos.model.mempool import MempoolRules
from laneway.devnets.cosmos.model.verdicts import OK, AppVerdict

WORKER = Path(__file__).parent / "sequence_worker.py"
READY_S_MAX = 90.0
STARTUP_S_MAX = 0.8
STALL_S_MAX = 60.0
BLOCK_MS = 150
TTL_BLOCKS = 8
PRICE_GROWTH = 1.5
SIZES = (200, 1_500, 20_000)
FINAL = ("confirmed", "reverted", "refused", "expired", "cancelled", "indeterminate")
SEQUENCE = {
    "inflight": 20,
    "timeout_blocks": 12,
    "attempts_max": 8,
    "poll_ms": 60,
    "retry_ms": 50,
    "rest_ms": 1_000,
}


class Plan(Struct, frozen=True, kw_only=True):
    kills: int = 100
    blobs: int = 1_000
    accounts: int = 3
    window: int = 40
    """Blobs of one account that have no end yet."""
    evictions: float = 0.15
    """Chance of each block that one transaction is dropped from a node's mempool."""
    restarts: int = 3
    raises: int = 2
    seed: int = 0


class Report(runners.Report, kw_only=True):
    blobs: int
    accounts: int
    committed: int = 0
    indeterminate: int = 0
    fillers: int = 0
    signed_again: int = 0
    kills: int = 0
    startup_kills: int = 0
    evictions: int = 0
    restarts: int = 0
    raises: int = 0
    replayed: int = 0
    height: int = 0
    integrity: str = ""


class Form(Struct):
    """One signed form of a blob, as the nodes saw it."""

    hash: bytes
    timeout: int
    seen_height: int
    """When the first node was offered it."""
    is_taken: bool = False


class Life:
    """One process, from its start to its end."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.is_ready = False


class Soak:
    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self.report = Report(seed=plan.seed, blobs=plan.blobs, accounts=plan.accounts)
        self.random = Random(plan.seed)
        self.names = [f"payer{n}" for n in range(plan.accounts)]
        self.quota = quotas(self.names, plan.blobs)
        self.asks: dict[str, Ask] = {}
        self.keys: dict[bytes, str] = {}
        """Whose blob these bytes are."""
        self.ids: dict[str, str] = {}
        self.ended: dict[str, Told] = {}
        self.forms: dict[str, list[Form]] = {}
        self.begun_s = monotonic()
        self.pulse = Pulse(STALL_S_MAX)
        self.life: Life | None = None
        self.raised_at: set[int] = set()
        self.restarted_at: set[int] = set()

    async def run(self) -> runners.Report:
        rules = (MempoolRules(ttl_blocks=TTL_BLOCKS), MempoolRules(ttl_blocks=TTL_BLOCKS))
        self.net = CosmosDevnet(block_ms=None, nodes=rules)
        self.watch()
        async with self.net:
            self.configure()
            weather = asyncio.create_task(self.weather())
            try:
                await self.work()
            except Stalled as error:
                self.report.problems.append(str(error))
            finally:
                weather.cancel()
                await self.end_life()
            self.judge()
        return self.report.close(self.begun_s)

    def configure(self) -> None:
        accounts = {}
        for place, name in enumerate(self.names):
            key = self.folder / f"{name}.key"
            key.write_text(self.net.accounts[place].secret.hex())
            key.chmod(0o600)
            accounts[name] = str(key)
        place_ = Place(
            str(self.folder / "laneway.db"), self.net.chain_id, self.net.urls, accounts, SEQUENCE
        )
        (self.folder / "place.json").write_bytes(msgspec.json.encode(place_))

    # The chain.

    def watch(self) -> None:
        """Every offer that reaches a node is noted."""
        chain = self.net.chain
        broadcast = chain.broadcast

        def noted(node: int, raw: bytes) -> tuple[bytes, AppVerdict]:
            form = self.form(raw)
            hash_, verdict = broadcast(node, raw)
            if form is not None and verdict is OK:
                form.is_taken = True
            return hash_, verdict

        chain.broadcast = noted  # type: ignore[method-assign]

    def form(self, raw: bytes) -> Form | None:
        tx = read(raw)
        key = self.keys.get(tx.blobs[0].data) if tx.blobs else None
        if key is None:
            return None
        known = self.forms.setdefault(key, [])
        for form in known:
            if form.hash == tx.hash:
                return form
        form = Form(tx.hash, tx.body.timeout_height, self.net.chain.height)
        for before in known:
            if before.is_taken and form.seen_height <= before.timeout:
                self.report.problems.append(
                    f"{key} was signed again at {form.seen_height}, and its bytes could land until "
                    f"{before.timeout}"
                )
        known.append(form)
        return form

    async def weather(self) -> None:
        chain, plan = self.net.chain, self.plan
        places = [self.random.randrange(plan.blobs * 9 // 10) for _ in range(plan.restarts)]
        dear = [self.random.randrange(plan.blobs * 9 // 10) for _ in range(plan.raises)]
        while True:
            await asyncio.sleep(BLOCK_MS / 1_000)
            done = len(self.ended)
            if self.random.random() < plan.evictions:
                self.evict()
            for place in [one for one in places if one <= done]:
                places.remove(place)
                chain.restart(self.random.randrange(len(chain.nodes)))
                self.report.restarts += 1
            for place in [one for one in dear if one <= done]:
                dear.remove(place)
                chain.app.price_micro = int(chain.app.price_micro * PRICE_GROWTH)
                self.report.raises += 1
            chain.is_held = self.random.random() < 0.1
            chain.produce(proposer=self.random.randrange(len(chain.nodes)))

    def evict(self) -> None:
        chain = self.net.chain
        node = self.random.randrange(len(chain.nodes))
        held = list(chain.nodes[node].mempool.in_order())
        if held:
            chain.evict(node, self.random.choice(held).hash)
            self.report.evictions += 1

    # The process.

    async def work(self) -> None:
        total = self.plan.blobs
        for target in sorted(
            self.random.randrange(total * 19 // 20) for _ in range(self.plan.kills)
        ):
            await self.live_until(target)
            assert self.life is not None
            self.report.startup_kills += not self.life.is_ready
            await self.end_life()
            self.report.kills += 1
        await self.begin_life()
        while len(self.ended) < total:
            await self.pause()

    async def live_until(self, target: int) -> None:
        await self.begin_life()
        if len(self.ended) >= target:
            end_s = monotonic() + self.random.uniform(0, STARTUP_S_MAX)
            while monotonic() < end_s:
                await self.pause()
            return
        while len(self.ended) < target:
            await self.pause()
        await asyncio.sleep(self.random.uniform(0, 0.1))

    async def begin_life(self) -> None:
        """A process that is told once more of all that has no end yet."""
        with (self.folder / "worker.log").open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                sys.executable, str(WORKER), str(self.folder / "place.json"),
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=log,
                limit=64 << 20,
            )  # fmt: skip
        self.life = Life(process)
        self.hearing = asyncio.create_task(self.hear(self.life))
        for key, ask in self.asks.items():
            if key not in self.ended:
                self.send(ask)

    async def end_life(self) -> None:
        if self.life is None:
            return
        process = self.life.process
        if process.returncode is None:
            process.kill()
        await process.wait()
        await self.hearing
        self.life = None

    async def hear(self, life: Life) -> None:
        assert life.process.stdout is not None
        while line := await life.process.stdout.readline():
            if not line.endswith(b"\n"):
                return
            told = msgspec.json.decode(line, type=Told)
            if told.word == "ready":
                life.is_ready = True
            elif told.word == "accepted":
                self.report.replayed += told.key in self.ids
                if self.ids.setdefault(told.key, told.id) != told.id:
                    self.report.problems.append(f"{told.key} was answered with two intents")
            elif told.word in FINAL:
                self.end(told)
            else:
                self.report.problems.append(f"{told.key}: {told.word} {told.reason}")

    def end(self, told: Told) -> None:
        before = self.ended.setdefault(told.key, told)
        if (before.word, before.hash) != (told.word, told.hash):
            self.report.problems.append(f"{told.key} is {before.word} and {told.word}")

    async def pause(self) -> None:
        await asyncio.sleep(0.01)
        assert self.life is not None
        if self.life.process.returncode is not None:
            raise Stalled(f"the process ended by itself with {self.life.process.returncode}")
        self.feed()
        self.pulse.beat(len(self.ended), self.progress)

    def progress(self) -> str:
        return (
            f"{len(self.ended)}/{self.plan.blobs} final, {self.report.kills} kills, "
            f"block {self.net.chain.height}"
        )

    def feed(self) -> None:
        asked, done = Counter(one.account for one in self.asks.values()), Counter[str]()
        for key in self.ended:
            done[key.partition("/")[0]] += 1
        for name in self.names:
            room = done[name] + self.plan.window - asked[name]
            for number in range(asked[name], min(asked[name] + room, self.quota[name])):
                ask = Ask(f"{name}/{number}", name, self.random.choice(SIZES))
                self.asks[ask.key] = ask
                self.keys[blob_of(ask.key, ask.size)] = ask.key
                self.send(ask)

    def send(self, ask: Ask) -> None:
        assert self.life is not None
        assert self.life.process.stdin is not None
        self.life.process.stdin.write(msgspec.json.encode(ask) + b"\n")

    # The judge.

    def judge(self) -> None:
        report, chain = self.report, self.net.chain
        report.height = chain.height
        report.signed_again = sum(len(forms) - 1 for forms in self.forms.values())
        landed: dict[str, list[str]] = {name: [] for name in self.names}
        where: dict[str, tuple[str, int]] = {}
        for block in chain.blocks:
            for hash_ in block.hashes:
                found = chain.committed(hash_)
                assert found is not None
                if not found.tx.blobs:
                    report.fillers += 1
                    continue
                key = self.keys[found.tx.blobs[0].data]
                landed[key.partition("/")[0]].append(key)
                where[key] = (hash_.hex().upper(), found.height)
        for name, keys in landed.items():
            report.committed += len(keys)
            numbers = [int(key.partition("/")[2]) for key in keys]
            if numbers != sorted(set(numbers)):
                report.problems.append(f"{name}: twice or out of order: {numbers}")
        for key, told in self.ended.items():
            self.judge_answer(key, told, where.get(key))
        report.integrity = check_integrity(self.folder / "laneway.db")
        if report.integrity != "ok":
            report.problems.append(f"integrity_check: {report.integrity}")

    def judge_answer(self, key: str, told: Told, found: tuple[str, int] | None) -> None:
        problems = self.report.problems
        if told.word == "confirmed":
            if found != (told.hash, told.height):
                problems.append(f"{key} was told {told.hash} in {told.height}; it is {found}")
        elif told.word == "indeterminate":
            self.report.indeterminate += 1
            if not told.raw:
                problems.append(f"{key} is indeterminate without its bytes")
        else:
            problems.append(f"{key} ended as {told.word}: {told.reason}; it is {found}")


def main() -> int:
    return runners.command(Plan(), lambda plan, folder: Soak(plan, folder).run(), __doc__)


if __name__ == "__main__":
    sys.exit(main())
