"""A server for accounts of an embedded Cosmos chain, and what one asks of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from tests.server.stage import QUICK, Client, Heard

from laneway.devnets.cosmos.accounts import DEV_ACCOUNTS
from laneway.devnets.cosmos.devnet import CosmosDevnet
from laneway.wiring.config import load
from laneway.wiring.server import Up

OWN, TO = (account.address("celestia") for account in DEV_ACCOUNTS[:2])
LANE = f"cosmos:laneway-dev:{OWN}"
NAMESPACE = "6c616e65"
WHOLE = "00" + "00" * 18 + NAMESPACE.rjust(20, "0")
WHY = {"reason": "a test"}

TOML = """
[sequence]
poll_ms = 20
retry_ms = 20
make_retry_ms = 20
inflight = 4
{sequence}
[[cosmos]]
name = "dev"
chain_id = "laneway-dev"
nodes = [{nodes}]
{chain}
[[cosmos.accounts]]
name = "main"
signer = "file:{key}"
"""


class Stage(NamedTuple):
    up: Up
    client: Client
    chain: CosmosDevnet

    async def send(self, lane: str = LANE, **more: Any) -> Any:
        headers = more.pop("headers", {})
        outer = {name: more.pop(name) for name in ("valid_until",) if name in more}
        payload = more or {"to": TO, "amount": "5utia"}
        heard = await self.post({"lane": lane, "payload": payload, **outer}, **headers)
        assert heard.status == 202, heard
        return heard.body

    async def post(self, body: object, **headers: str) -> Heard:
        """However large it is."""
        return await post_large(self.client, "/v1/transactions", body, **headers)

    async def until(self, intent: str, *words: str) -> Any:
        """The transaction, once its status is one of these."""
        for _ in range(6_000):
            tx = (await self.client.get(f"/v1/transactions/{intent}")).body
            if tx["status"] in words:
                return tx
            await asyncio.sleep(0.01)
        raise AssertionError(tx)

    async def finish(self, intent: str) -> Any:
        """Its end, in the next blocks."""
        for _ in range(3_000):
            self.chain.produce()
            tx = (await self.client.get(f"/v1/transactions/{intent}")).body
            if tx["final"]:
                return tx
            await asyncio.sleep(0.02)
        raise AssertionError(tx)

    async def act(self, intent: str, verb: str, **more: Any) -> Heard:
        path = f"/v1/transactions/{intent.replace('#', '%23')}/{verb}"
        return await self.client.post(path, WHY | more)

    async def lane(self, **wanted: object) -> Any:
        """The account's part of its lane, once it is so."""
        for _ in range(6_000):
            lane = (await self.client.get("/v1/lanes/cosmos:dev")).body
            found: Any = lane["cosmos"]
            if all(found[name] == value for name, value in wanted.items()):
                return found
            await asyncio.sleep(0.01)
        raise AssertionError(lane)


async def post_large(client: Client, path: str, body: object, **headers: str) -> Heard:
    raw = BytesIO(msgspec.json.encode(body))
    return await client.ask(
        "POST", path, data=raw, headers={"Content-Type": "application/json", **headers}
    )


def written(
    folder: Path, chain: CosmosDevnet, sequence: str = "", more: str = "", own: str = ""
) -> str:
    """A configuration for the chain's first account."""
    key = folder / "main.key"
    key.write_text(chain.accounts[0].secret.hex())
    key.chmod(0o600)
    file = folder / "laneway.toml"
    nodes = ", ".join(f'"{url}"' for url in chain.urls)
    file.write_text(TOML.format(nodes=nodes, key=key, sequence=sequence, chain=own) + more)
    return str(file)


@asynccontextmanager
async def staged(
    folder: Path,
    *,
    sequence: str = "",
    more: str = "",
    own: str = "",
    block_ms: int | None = None,
    **flags: str,
) -> AsyncIterator[Stage]:
    """Blocks are made when they are told to be, or every so often."""
    given = {name.replace("__", "."): value for name, value in flags.items()}
    async with CosmosDevnet(block_ms=block_ms) as chain:
        file = written(folder, chain, sequence, more, own)
        configuration = load(file, {}, QUICK | {"server.port": "0"} | given)
        async with Up(configuration) as up, Client(up.server.urls[0]) as client:
            yield Stage(up, client, chain)
