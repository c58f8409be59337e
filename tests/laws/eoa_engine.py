"""An engine with EVM accounts for the laws: quick settings, one file, real nodes.

    async with opened(folder, [node.url]) as run:
        handle = await run.pay(1)
        await run.final(handle)
    assert paid(node) == once([1])

The n-th payment pays n wei, so the chain alone tells which were mined, how often and in what order.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct
from tests.anvil import CHAIN_ID, KEYS, address
from tests.evm_worlds import Node

from laneway.core.ids import IntentId, LaneId
from laneway.core.outcome import Status
from laneway.core.rows import Command, Result
from laneway.engine.listeners import Listener
from laneway.kinds.handle import Settled
from laneway.lanes.eoa.values import AttemptAnswered, AttemptsTaken
from laneway.wiring.config import load, toml_value
from laneway.wiring.embedded import Handle, Laneway
from laneway.wiring.opening import open_laneway

PAYEE = "0x" + "11" * 20
WAIT_S = 30.0
HOT = "evm:dev:hot"

R = TypeVar("R")

QUICK: dict[str, str | int | bool] = {
    "finality_depth_blocks": 2,
    "block_ms": 200,
    "confirm_delay_ms": 100,
    "target_tps": 400,
    "poll_ms": 50,
    "look_ms_min": 20,
    "resend_ms": 200,
    "bump_after_ms": 30_000,
    "make_retry_ms": 50,
    "rest_ms": 200,
    "funds_retry_ms": 100,
}


class Heard(Listener):
    """All that became true, in order."""

    def __init__(self) -> None:
        self.records: list[Any] = []
        self.results: list[Result] = []

    def notified(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        self.records += records
        self.results += results

    def of(self, kind: type[R]) -> list[R]:
        return [record for record in self.records if isinstance(record, kind)]


class Run(Struct):
    """One engine, its ear, and the hands of its caller."""

    laneway: Laneway
    heard: Heard

    async def pay(self, number: int, *, lane: str = HOT, **words: Any) -> Handle:
        words = {"to": PAYEE, "value": str(number), "gas": 21_000, **words}
        return await self.laneway.send(lane, **words)

    async def pay_all(self, numbers: Sequence[int], *, lane: str = HOT) -> list[Handle]:
        return list(await asyncio.gather(*(self.pay(number, lane=lane) for number in numbers)))

    async def final(self, *handles: Handle) -> list[Settled]:
        return list(await asyncio.gather(*(handle.result(WAIT_S) for handle in handles)))

    async def confirmed(self, *handles: Handle) -> None:
        ends = await self.final(*handles)
        assert [end.status for end in ends] == [Status.CONFIRMED.value] * len(handles), ends

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(WAIT_S):
            while not is_so():
                self.laneway.check()
                await asyncio.sleep(0.01)

    async def until_heard(self, kind: type[R], count: int = 1) -> list[R]:
        await self.until(lambda: len(self.heard.of(kind)) >= count)
        return self.heard.of(kind)

    async def until_taken(self, count: int) -> None:
        """Until nodes said so often that they have an attempt, one by one or together."""

        def taken() -> int:
            alone = [one for one in self.heard.of(AttemptAnswered) if one.word == "taken"]
            return len(alone) + sum(len(one.hashes) for one in self.heard.of(AttemptsTaken))

        await self.until(lambda: taken() >= count)

    async def tell(self, verb: str, intent: IntentId | None = None, lane: str = HOT) -> None:
        """A word into the lane's mailbox."""
        assert self.laneway.evm.lanes is not None
        command = Command(0, self.laneway.evm.lanes.lane(lane), verb, 0, "why", "ann")
        if intent is not None:
            view = await self.laneway.store.intent(intent)
            assert view is not None
            row = view.intent
            command = Command(
                0, row.lane, verb, 0, "why", "ann", row.id, row.seq, row.priority, row.size()
            )
        await self.laneway.engine.tell(command)


def configured(
    folder: Path,
    nodes: Sequence[str],
    *,
    keys: Sequence[str] = KEYS[:1],
    store: str | None = None,
    chain: str = "",
    **eoa: str | int | bool,
) -> Path:
    """A `laneway.toml`; the first account is `hot`, the others `hot1`, `hot2` …"""
    lines = ["[store]", f"path = {toml_value(store or str(folder / 'laneway.db'))}", "[eoa]"]
    lines += [f"{key} = {toml_value(value)}" for key, value in {**QUICK, **eoa}.items()]
    lines += ["[engine]", "heartbeat_ms = 200", "lease_ms = 1000"]
    urls = ", ".join(toml_value(url) for url in nodes)
    lines += ["[[evm]]", 'name = "dev"', f"chain_id = {CHAIN_ID}", f"nodes = [{urls}]", chain]
    for place, key in enumerate(keys):
        name = f"hot{place or ''}"
        secret = folder / f"{name}.key"
        secret.write_text(key.removeprefix("0x"))
        secret.chmod(0o600)
        lines += ["[[evm.accounts]]", f'name = "{name}"', f'signer = "file:{secret}"']
    path = folder / "laneway.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


@asynccontextmanager
async def opened(
    folder: Path, nodes: Sequence[str], *, heard: Heard | None = None, **words: Any
) -> AsyncIterator[Run]:
    """A running engine on nodes at these addresses; see `configured` for the words."""
    heard = heard or Heard()
    folder.mkdir(exist_ok=True)
    configuration = load(str(configured(folder, nodes, **words)))
    async with open_laneway(configuration, (heard,)) as laneway:
        yield Run(laneway, heard)


@asynccontextmanager
async def mining(node: Node, every_s: float = 0.1) -> AsyncIterator[None]:
    """Blocks at this pace, of a node that mines when it is told to."""

    async def mine() -> None:
        while True:
            await asyncio.sleep(every_s)
            node.mine()

    task = asyncio.create_task(mine())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def paid(node: Node, key: str = KEYS[0]) -> list[tuple[int, int]]:
    """Nonce and value of all that an account has on chain, in the chain's order."""
    sender = "0x" + address(key).hex()
    found: list[tuple[int, int]] = []
    for number in range(int(node.say("eth_blockNumber"), 16) + 1):
        block = node.say("eth_getBlockByNumber", hex(number), True)
        found += [
            (int(tx["nonce"], 16), int(tx["value"], 16))
            for tx in block["transactions"]
            if tx["from"].lower() == sender
        ]
    return found


def once(numbers: Sequence[int], first: int = 0) -> list[tuple[int, int]]:
    """What the chain shows when each was paid exactly once, in order and without a gap."""
    return [(first + place, number) for place, number in enumerate(numbers)]


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(story)
