"""Kill −9 at random points of a real worker that pays from EVM accounts; a real anvil is the judge.

Run by path: `python tests/kill/eoa_runner.py --store redis --kills 100`. Exit code 0 only if each
payment is mined exactly once, in its account's order, without a gap, and every answer is true.
With `--server-kills` Redis itself is killed and started again in between; with `--node devnet` the
chain is laneway's own.

Each payment's value names it: the n-th of an account pays n wei more than its base, so the chain
alone tells which were mined, how often and in what order.
"""

import asyncio
import sys
from collections import Counter
from pathlib import Path
from random import Random
from time import monotonic
from typing import Literal

from eth_account import Account
from msgspec import Struct

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests import runners
from tests.anvil import CHAIN_ID, Anvil, used
from tests.redis_servers import DURABLE, Server
from tests.runners import Pulse, Stalled, check_integrity, quotas

from laneway.core.errors import LanewayError
from laneway.demo.worker import WorkerCaller
from laneway.wiring.config import toml_value
from laneway.wiring.worker_lines import Send, Stop

STARTUP_S_MAX = 1.2
JITTER_S_MAX = 0.05
STALL_S_MAX = 60.0
BLOCK_S = "0.2"
BASE_WEI = 1_000_000
PAYEE = "0x" + "11" * 20
MNEMONIC = "test test test test test test test test test test test junk"

CONFIG = """\
[store]
path = {path}
[eoa]
finality_depth_blocks = 3
block_ms = 200
confirm_delay_ms = 300
target_tps = 400
poll_ms = 200
resend_ms = 1000
bump_after_ms = 4000
make_retry_ms = 100
rest_ms = 1000
[engine]
heartbeat_ms = 300
lease_ms = 1500
[log]
level = "warning"
format = "json"
[[evm]]
name = "dev"
chain_id = {chain_id}
nodes = [{{ url = {url}, ws_url = {ws_url} }}]
"""

ACCOUNT = """\
[[evm.accounts]]
name = "{name}"
signer = "file:{file}"
"""


class Plan(Struct, frozen=True, kw_only=True):
    store: Literal["sqlite", "redis"] = "sqlite"
    kills: int = 100
    payments: int = 2_000
    accounts: int = 4
    server_kills: int = 0
    window: int = 60
    """Payments of one account that are not final, so that the door is busy until the end; fewer
    of them make lives last longer."""
    seed: int = 0
    node: Literal["anvil", "devnet"] = "anvil"


class Report(runners.Report, kw_only=True):
    store: str
    payments: int
    accounts: int
    mined: int = 0
    no_ops: int = 0
    kills: int = 0
    startup_kills: int = 0
    server_kills: int = 0
    resent: int = 0
    replayed: int = 0
    integrity: str = ""


class Soak:
    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self.report = Report(
            seed=plan.seed, store=plan.store, payments=plan.payments, accounts=plan.accounts
        )
        self.random = Random(plan.seed)
        self.caller = WorkerCaller(folder / "laneway.toml", folder / "worker.log")
        self.names = [f"payer{n}" for n in range(plan.accounts)]
        self.quota = quotas(self.names, plan.payments)
        self.sent: dict[str, list[str]] = {name: [] for name in self.names}
        self.submits: list[Send] = []
        self.addresses: dict[str, str] = {}
        self.begun_s = monotonic()
        self.pulse = Pulse(STALL_S_MAX)
        self.server: Server | None = None

    async def run(self) -> runners.Report:
        report = self.report
        used.set(self.plan.node)
        anvil = Anvil(self.folder, "--block-time", BLOCK_S, "--gas-limit", "1000000000")
        if self.plan.store == "redis":
            (self.folder / "redis").mkdir()
            self.server = Server(self.folder / "redis", *DURABLE)
        try:
            self.configure(anvil)
            try:
                await self.work()
            finally:
                code = await self.caller.stop(Stop("queue"))
            if code != 0:
                report.problems.append(f"the last worker ended with code {code}")
            self.judge(anvil)
        except (LanewayError, Stalled) as error:
            report.problems.append(str(error))
        finally:
            anvil.kill()
            if self.server is not None:
                self.server.kill()
        return report.close(self.begun_s)

    def configure(self, anvil: Anvil) -> None:
        Account.enable_unaudited_hdwallet_features()
        store = str(self.folder / "laneway.db") if self.server is None else self.server.url
        text = CONFIG.format(
            path=toml_value(store),
            chain_id=CHAIN_ID,
            url=toml_value(anvil.url),
            ws_url=toml_value(anvil.ws_url),
        )
        for place, name in enumerate(self.names):
            account = Account.from_mnemonic(MNEMONIC, account_path=f"m/44'/60'/0'/0/{place}")
            key = self.folder / f"{name}.key"
            key.write_text(account.key.hex().removeprefix("0x"))
            key.chmod(0o600)
            self.addresses[name] = account.address.lower()
            text += ACCOUNT.format(name=name, file=key)
        (self.folder / "laneway.toml").write_text(text)

    async def work(self) -> None:
        total = self.plan.payments
        targets = sorted(self.random.randrange(total * 19 // 20) for _ in range(self.plan.kills))
        fatal = set(self.random.sample(range(len(targets)), self.plan.server_kills))
        for place, target in enumerate(targets):
            await self.live_until(target)
            self.report.startup_kills += not self.caller.is_ready()
            if place in fatal:
                self.kill_server()
            await self.caller.kill()
            self.report.kills += 1
        await self.begin_life()
        await self.caller.ready()
        while self.ended() < total or self.caller.unanswered:
            await self.pause()

    def kill_server(self) -> None:
        """What it had answered is there when it comes back; what it had not is nobody's."""
        assert self.server is not None
        self.server.kill()
        self.server.start()
        self.report.server_kills += 1

    async def live_until(self, target: int) -> None:
        """One life of a worker, up to the moment of its end."""
        await self.begin_life()
        if self.ended() >= target:
            end_s = monotonic() + self.random.uniform(0, STARTUP_S_MAX)
            while monotonic() < end_s:
                await self.pause()
            return
        while self.ended() < target:
            await self.pause()
        await asyncio.sleep(self.random.uniform(0, JITTER_S_MAX))
        self.feed(self.plan.window + 5)
        await self.caller.flush()
        await asyncio.sleep(self.random.uniform(0, JITTER_S_MAX))

    async def begin_life(self) -> None:
        """A worker that is told once more of all that has no end yet: what was accepted is the
        same intent again, and an end that a killed worker told nobody is told now."""
        await self.caller.spawn()
        for submit in self.submits:
            if submit.key in self.caller.ids and submit.key not in self.caller.ended:
                self.caller.send(submit)

    async def pause(self) -> None:
        await asyncio.sleep(0.01)
        await self.caller.check()
        self.feed(self.plan.window)
        self.pulse.beat(self.ended(), self.progress)

    def progress(self) -> str:
        return f"{self.ended()}/{self.plan.payments} final, {self.report.kills} kills"

    def ended(self) -> int:
        return len(self.caller.ended)

    def feed(self, window: int) -> None:
        """Send what the windows allow, the accounts mixed."""
        done = Counter(key.partition("/")[0] for key in self.caller.ended)
        turns = []
        for name in self.names:
            ahead = done[name] + window - len(self.sent[name])
            turns += [name] * min(ahead, self.quota[name] - len(self.sent[name]))
        self.random.shuffle(turns)
        for name in turns:
            number = len(self.sent[name]) + 1
            value = str(BASE_WEI + number)
            submit = Send(f"{name}/{number}", f"evm:dev:{name}", PAYEE, value, gas=21_000)
            self.sent[name].append(submit.key)
            self.submits.append(submit)
            self.caller.send(submit)

    def judge(self, anvil: Anvil) -> None:
        report, caller = self.report, self.caller
        report.resent, report.replayed = caller.resent_count, caller.replayed_count
        mined = read_back(anvil)
        for name in self.names:
            self.judge_account(name, mined.get(self.addresses[name], []))
        for key, end in caller.ended.items():
            if end.status != "confirmed":
                report.problems.append(f"{key} ended as {end.status}: {end.reason}")
        if caller.contradictions:
            report.problems.append(f"answered with two intents: {caller.contradictions}")
        if caller.refused:
            report.problems.append(f"refused: {caller.refused}")
        report.integrity = "ok"
        if self.server is None:
            report.integrity = check_integrity(self.folder / "laneway.db")
        if report.integrity != "ok":
            report.problems.append(f"integrity_check: {report.integrity}")

    def judge_account(self, name: str, mined: list[tuple[int, int]]) -> None:
        report = self.report
        nonces = [nonce for nonce, _ in mined]
        if nonces != list(range(len(nonces))):
            report.problems.append(f"{name}: nonces are not dense: {nonces[:50]}")
        numbers = [value - BASE_WEI for _, value in mined if value]
        report.no_ops += len(mined) - len(numbers)
        report.mined += len(numbers)
        wanted = list(range(1, self.quota[name] + 1))
        if numbers == wanted:
            return
        twice = [number for number, count in Counter(numbers).items() if count > 1]
        lost = sorted(set(wanted) - set(numbers))
        report.problems.append(
            f"{name}: twice {twice[:9]}, lost {lost[:9]}, in order {numbers == sorted(numbers)}"
        )


def read_back(anvil: Anvil) -> dict[str, list[tuple[int, int]]]:
    """Nonce and value of all that each account has on chain, in the chain's order."""
    found: dict[str, list[tuple[int, int]]] = {}
    for number in range(int(anvil.say("eth_blockNumber"), 16) + 1):
        block = anvil.say("eth_getBlockByNumber", hex(number), True)
        for tx in block["transactions"]:
            paid = (int(tx["nonce"], 16), int(tx["value"], 16))
            found.setdefault(tx["from"].lower(), []).append(paid)
    return found


def main() -> int:
    return runners.command(Plan(), lambda plan, folder: Soak(plan, folder).run(), __doc__)


if __name__ == "__main__":
    sys.exit(main())
