"""The demo's EVM accounts: they pay through the same worker, and the chain is read back.

The n-th payment of an account is worth n wei more than a base, so the chain alone shows which
were mined, how often and in what order. On the way to the worker some of the node's answers are
lost, as they are on any network.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from laneway.demo.audit import audit_payments
from laneway.demo.naive import pay_naively
from laneway.demo.node import CHAIN_ID, DemoNode, open_node
from laneway.demo.values import DemoPlan, Naive, PaymentRow
from laneway.demo.worker import WorkerCaller
from laneway.devnets.chaos.proxy import ChaosProxy
from laneway.devnets.chaos.rules import ProxyFault, Rule
from laneway.devnets.evm.accounts import DEV_ACCOUNTS
from laneway.wire.hex import octets
from laneway.wiring.config import toml_value
from laneway.wiring.worker_lines import Send

BASE_WEI = 1_000_000
PAYEE = bytes.fromhex("11" * 20)
NAIVE_PLACE = len(DEV_ACCOUNTS) - 1
ACCOUNTS_MAX = NAIVE_PLACE
"""The last account is the naive sender's own."""
NAIVE_COUNT = 10
LOST_SHARE = 0.05
"""Of the sends; what is lost takes the answers of its whole batch with it."""


class Payers:
    """The accounts, what they sent, and what the chain has of it."""

    def __init__(self, plan: DemoPlan, node: DemoNode, proxy: ChaosProxy, folder: Path) -> None:
        self.names = [f"payer{place + 1}" for place in range(plan.accounts)]
        self.paid = dict.fromkeys(self.names, 0)
        """As the chain last counted."""
        self.node = node
        self._plan = plan
        self._proxy = proxy
        self._folder = folder
        self._sent: dict[str, list[tuple[str, int]]] = {name: [] for name in self.names}
        self._accounts = dict(zip(self.names, DEV_ACCOUNTS, strict=False))

    def config(self) -> str:
        """The worker's part of the configuration; the keys lie beside it."""
        text = CONFIG.format(
            block_ms=self._plan.block_ms,
            chain_id=CHAIN_ID,
            url=toml_value(self._proxy.url),
            ws_url=toml_value(self.node.ws_url),
        )
        for name, account in self._accounts.items():
            file = self._folder / f"{name}.key"
            file.write_text(account.secret.hex())
            file.chmod(0o600)
            text += ACCOUNT.format(name=name, signer=toml_value(f"file:{file}"))
        return text

    def send(self, caller: WorkerCaller, due: int) -> None:
        """The payments that are due, the accounts in turn."""
        for number in range(1, due + 1):
            for name in self.names:
                if len(self._sent[name]) < number:
                    self._send_next(caller, name)

    def _send_next(self, caller: WorkerCaller, name: str) -> None:
        number = len(self._sent[name]) + 1
        key, value = f"demo-{name}-{number:03}", BASE_WEI + number
        self._sent[name].append((key, value))
        caller.send(Send(key, f"evm:dev:{name}", octets(PAYEE), str(value), gas=21_000))

    def sent_count(self) -> int:
        return sum(len(sent) for sent in self._sent.values())

    def unmined_count(self) -> int:
        return max(0, self.sent_count() - sum(self.paid.values()))

    def has_more(self) -> bool:
        """Whether something is still to be sent, or to be mined."""
        planned = self._plan.accounts * self._plan.payments
        return self.sent_count() < planned or self.unmined_count() > 0

    def answers_lost(self) -> int:
        return sum(self._proxy.dice.struck)

    async def look(self) -> None:
        addresses = [octets(account.address) for account in self._accounts.values()]
        self.paid = dict(zip(self.names, await self.node.counts(addresses), strict=True))

    async def pay_naively(self) -> Naive:
        """The same chain without laneway, from an account of its own."""
        account = DEV_ACCOUNTS[NAIVE_PLACE]
        values = [BASE_WEI + number for number in range(1, NAIVE_COUNT + 1)]
        lost = await pay_naively(self.node.url, account, PAYEE, values)
        address = octets(account.address)
        while True:
            (count,) = await self.node.counts([address])
            if count >= NAIVE_COUNT + lost:
                break
            await asyncio.sleep(self._plan.block_ms / 1000)
        mined = (await self.node.mined())[account.address]
        row = audit_payments("naive", mined, [("", value) for value in values], 0, {})
        return Naive(NAIVE_COUNT, lost, len(mined), row.twice)

    async def judge(self, caller: WorkerCaller) -> list[PaymentRow]:
        mined = await self.node.mined()
        return [
            audit_payments(
                name,
                mined.get(account.address, []),
                self._sent[name],
                sum(1 for key, _ in self._sent[name] if key in caller.ids),
                caller.ended,
            )
            for name, account in self._accounts.items()
        ]


@asynccontextmanager
async def open_payers(plan: DemoPlan, folder: Path) -> AsyncIterator[Payers]:
    """The chain, the lossy way to it, and the accounts."""
    rule = Rule(ProxyFault.LOSE_ANSWER, method="eth_sendRawTransaction", probability=LOST_SHARE)
    async with (
        open_node(folder, plan.block_ms) as node,
        ChaosProxy(node.url, [rule], seed=plan.seed) as proxy,
    ):
        yield Payers(plan, node, proxy, folder)


CONFIG = """
[eoa]
finality_depth_blocks = 2
block_ms = {block_ms}
confirm_delay_ms = 300
target_tps = 400
poll_ms = 200
resend_ms = 500
bump_after_ms = 5000
make_retry_ms = 100
rest_ms = 1000

[[evm]]
name = "dev"
chain_id = {chain_id}
nodes = [{{ url = {url}, ws_url = {ws_url} }}]
"""

ACCOUNT = """
[[evm.accounts]]
name = "{name}"
signer = {signer}
"""
