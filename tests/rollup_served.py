"""A server for a ledger rollup on a JAM chain inside its process, and what one asks of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.server.stage import QUICK, Client, Heard

from laneway.devnets.jam.limits import ROLLUP_SERVICE_DEV
from laneway.rollups.domain import Domain
from laneway.rollups.ledger.account import DEV_ACCOUNTS
from laneway.rollups.ledger.transfer import TRANSFER, signed, transfer_hash
from laneway.wiring.config import load
from laneway.wiring.server import Up

LANE = f"rollup:{ROLLUP_SERVICE_DEV}"
WHY = {"reason": "a test"}
SLOT_MS = 150

TOML = """
[bundle]
{bundle}
[[rollup]]
name = "dev"
service = {service}
nodes = ["devnet"]
slot_ms = {slot_ms}
{own}
"""


class Stage(NamedTuple):
    up: Up
    client: Client
    chain: bytes
    """The hash of the chain's first header."""

    def raw(self, nonce: int, amount: int = 5, payer: int = 0, payee: int = 1) -> str:
        """A signed transfer."""
        made = signed(
            DEV_ACCOUNTS[payer].key,
            Domain(self.chain, ROLLUP_SERVICE_DEV),
            recipient=DEV_ACCOUNTS[payee].id,
            amount=amount,
            nonce=nonce,
        )
        return "0x" + TRANSFER.encode(made).hex()

    async def send(self, nonce: int) -> Any:
        heard = await self.post(self.raw(nonce))
        assert heard.status == 202, heard
        return heard.body

    async def post(self, raw: str, name: str = "dev", **headers: str) -> Heard:
        path = f"/v1/rollup/{name}/transactions"
        return await self.client.post(path, {"raw": raw}, **headers)

    async def until(self, intent: str, *words: str) -> Any:
        """The transaction, once its status is one of these."""
        for _ in range(6_000):
            tx = (await self.client.get(f"/v1/transactions/{intent}")).body
            if tx["status"] in words:
                return tx
            await asyncio.sleep(0.01)
        raise AssertionError(tx)

    async def finish(self, intent: str) -> Any:
        return await self.until(intent, "confirmed", "reverted", "refused", "cancelled", "expired")

    async def act(self, intent: str, verb: str, **more: Any) -> Heard:
        return await self.client.post(f"/v1/transactions/{intent}/{verb}", WHY | more)

    async def operate(self, verb: str, **more: Any) -> Any:
        heard = await self.client.post(f"/v1/lanes/rollup:dev/{verb}", WHY | more)
        assert heard.status in (200, 202), heard
        return heard.body

    async def status(self, name: str = "dev") -> Any:
        heard = await self.client.get(f"/v1/rollup/{name}")
        assert heard.status == 200, heard
        return heard.body


def hash_of(raw: str) -> str:
    return "0x" + transfer_hash(TRANSFER.decode(bytes.fromhex(raw[2:]), "transfer")).hex()


def written(folder: Path, *, bundle: str = "", own: str = "", slot_ms: int = SLOT_MS) -> str:
    file = folder / "laneway.toml"
    file.write_text(
        TOML.format(bundle=bundle, own=own, slot_ms=slot_ms, service=ROLLUP_SERVICE_DEV)
    )
    return str(file)


@asynccontextmanager
async def staged(
    folder: Path, *, bundle: str = "", own: str = "", slot_ms: int = SLOT_MS, **flags: str
) -> AsyncIterator[Stage]:
    given = {name.replace("__", "."): value for name, value in flags.items()}
    file = written(folder, bundle=bundle, own=own, slot_ms=slot_ms)
    configuration = load(file, {}, QUICK | {"server.port": "0"} | given)
    async with Up(configuration) as up, Client(up.server.urls[0]) as client:
        rollup = up.laneway.rollups.lanes
        assert rollup is not None
        assert rollup.devnet is not None
        yield Stage(up, client, rollup.devnet.model.genesis)
