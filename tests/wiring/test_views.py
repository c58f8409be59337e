"""Laws of what is answered about lanes and transactions: the library and REST say the same."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.cosmos_stage import TOML as COSMOS_TOML
from tests.kinds.rollup.test_transfers import one
from tests.server.stage import QUICK, Client

from laneway.core.errors import IntentNotFound, LaneNotFound
from laneway.devnets.cosmos.devnet import CosmosDevnet
from laneway.devnets.evm.devnet import EvmDevnet
from laneway.devnets.jam.devnet import JamDevnet
from laneway.wiring.config import load
from laneway.wiring.embedded import Laneway
from laneway.wiring.server import Up

EVM_TOML = """
[eoa]
finality_depth_blocks = 0
poll_ms = 20
look_ms_min = 10
[[evm]]
name = "dev"
chain_id = 31337
nodes = ["{url}"]
[[evm.accounts]]
name = "hot"
signer = "file:{key}"
"""
ROLLUP_TOML = """
[[rollup]]
name = "main"
service = 1
nodes = ["{url}"]
slot_ms = 600000
"""


def secret(path: Path, digits: str) -> Path:
    path.write_text(digits)
    path.chmod(0o600)
    return path


class Stage(AsyncExitStack):
    """A server with lanes of every kind, each on a chain of its own, and an engine to ask."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    async def __aenter__(self) -> "Stage":
        await super().__aenter__()
        evm = await self.enter_async_context(EvmDevnet(block_ms=20))
        cosmos = await self.enter_async_context(CosmosDevnet(block_ms=20))
        self.jam = await self.enter_async_context(JamDevnet(slot_ms=0))
        file = self._folder / "laneway.toml"
        hot = secret(self._folder / "hot.key", evm.accounts[0].secret.hex())
        main = secret(self._folder / "main.key", cosmos.accounts[0].secret.hex())
        file.write_text(
            EVM_TOML.format(url=evm.url, key=hot)
            + COSMOS_TOML.format(nodes=f'"{cosmos.url}"', key=main, sequence="", chain="")
            + ROLLUP_TOML.format(url=self.jam.url)
        )
        up = Up(load(str(file), {}, QUICK | {"server.port": "0"}))
        await self.enter_async_context(up)
        self.lw: Laneway = up.laneway
        self.client = await self.enter_async_context(Client(up.server.urls[0]))
        self.evm_to = "0x" + evm.accounts[1].address.hex()
        self.cosmos_to = cosmos.accounts[1].address("celestia")
        return self

    async def sent(self) -> dict[str, str]:
        """One transaction of each kind, by the kind; all but the rollup's are final."""
        lw = self.lw
        executed = await lw.submit("Qm1", "x", key="a")
        paid = await lw.send("evm:dev:hot", to=self.evm_to, value=1, key="b")
        body = {"lane": "cosmos:dev", "payload": {"to": self.cosmos_to, "amount": "5utia"}}
        moved = (await self.client.post("/v1/transactions?wait=confirmed", body)).body
        await executed.result(20)
        await paid.result(20)
        queued = await lw.transfer("rollup:main", one(self.jam))
        return {
            "contract": executed.id,
            "cosmos": moved["id"],
            "evm": paid.id,
            "rollup": queued.id,
        }


def written(value: object) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


@pytest.mark.slow
def test_the_library_shows_what_rest_shows_of_every_kind(tmp_path: Path) -> None:
    async def main() -> None:
        async with Stage(tmp_path) as stage:
            lw, client = stage.lw, stage.client
            for kind, intent in (await stage.sent()).items():
                shown = await lw.show(intent)
                told = (await client.get(f"/v1/transactions/{intent}")).body
                assert written(shown) == told
                assert shown.lane.startswith(f"{kind}:")
                lane = await lw.lane(shown.lane)
                assert lane.id == shown.lane
                assert lane.id == (await client.get(f"/v1/lanes/{lane.id}")).body["id"]
                assert kind == "contract" or getattr(lane, kind) is not None
                assert (await lw.health(shown.lane)).healthy
            names = [lane.id for lane in await lw.lanes()]
            assert [name.partition(":")[0] for name in names] == [
                "contract", "cosmos", "evm", "rollup",
            ]  # fmt: skip
            page = (await client.get("/v1/lanes")).body["items"]
            assert names == [lane["id"] for lane in page]
            assert (await lw.lane("Qm1")).id == (await lw.lane("contract:Qm1")).id == names[0]
            assert (await lw.lane("evm:dev:hot")).id == names[2]
            assert (await lw.lane("rollup:main")).id == names[3]

    asyncio.run(main())


@pytest.mark.slow
def test_a_transaction_is_shown_by_its_hash_and_by_its_number(tmp_path: Path) -> None:
    async def main() -> None:
        async with Stage(tmp_path) as stage:
            lw = stage.lw
            intents = await stage.sent()
            for kind in ("cosmos", "evm"):
                shown = await lw.show(intents[kind])
                assert shown.hash is not None
                assert (await lw.show(shown.hash)).id == shown.id
                assert (await lw.show(f"{shown.lane}#0")).id == shown.id
            for wrong in ("evm:dev:hot#7", "contract:Qm1#1", "rollup:main#0", "nothing"):
                with pytest.raises(IntentNotFound):
                    await lw.show(wrong)

    asyncio.run(main())


@pytest.mark.slow
def test_a_configured_account_has_a_lane_before_its_first_transaction(tmp_path: Path) -> None:
    async def main() -> None:
        async with Stage(tmp_path) as stage:
            lane = await stage.lw.lane("evm:dev:hot")
            assert lane.waiting == lane.running == 0
            assert await stage.lw.lanes() == []
            for unknown in ("evm:dev:cold", "cosmos:other:main", "rollup:9"):
                with pytest.raises(LaneNotFound):
                    await stage.lw.lane(unknown)

    asyncio.run(main())
