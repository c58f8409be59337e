"""Laws of the clients for Cosmos accounts: three lines send and wait."""

import asyncio
from pathlib import Path

import pytest
from tests.client.stage import KINDS, either
from tests.cosmos_stage import LANE, NAMESPACE, OWN, TO, WHOLE, staged

from laneway.client.asynchronous import AsyncClient
from laneway.client.errors import Conflict, Invalid, NotFound, Unavailable
from laneway.core.errors import BadRequest
from laneway.cosmos.messages import Coin, MsgSend
from laneway.cosmos.protobuf import encode
from laneway.wire.cosmos import CosmosBlob

pytestmark = pytest.mark.slow


def test_three_lines_send_and_wait(tmp_path: Path) -> None:
    async def main() -> None:
        async with staged(tmp_path, block_ms=50) as stage, AsyncClient(stage.client.url) as lw:
            tx = await lw.send("cosmos:dev", to=TO, amount="5utia", key="order-7")
            done = await tx.result(30)
            assert (done.status, done.cosmos is not None) == ("confirmed", True)
            assert done.hash is not None
            assert stage.chain.chain.committed(bytes.fromhex(done.hash)) is not None

    asyncio.run(main())


@pytest.mark.parametrize("kind", KINDS)
def test_every_verb_is_there(kind: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with staged(tmp_path) as stage, either(kind, stage.client.url) as lw:
            sent = await lw.send("cosmos:dev", b"some data", namespace=bytes.fromhex(NAMESPACE))
            out = await stage.until(sent.id, "submitted")
            for name in (out["hash"], "cosmos:dev#0", f"{LANE}#0", sent.id):
                assert (await lw.tx(name)).id == sent.id
            with pytest.raises(Conflict, match="a node may have it"):
                await lw.cancel(sent.id)
            with pytest.raises(Conflict):
                await lw.bump(sent.id)
            plan = await lw.set_sequence("cosmos:dev", 9, dry_run=True)
            assert (plan.outcome, plan.sequence.becomes) == ("would", 9)
            await stage.finish(sent.id)
            assert (await lw.wait(sent.id, 10)).cosmos.payload.blobs[0].namespace == WHOLE
            assert (await lw.set_sequence("cosmos:dev", reason="drift")).outcome == "done"
            message = encode(MsgSend(OWN, TO, (Coin("utia", "3"),)))
            options = {"memo": "m", "gas": 500_000, "gas_price": "0.01"}
            more = [
                await lw.send(LANE, messages=[(MsgSend.url, message)], **options),
                await lw.send(
                    LANE, blobs=[(NAMESPACE, b"x"), CosmosBlob(WHOLE, b"y", 1)], **options
                ),
            ]
            for one in more:
                assert (await stage.finish(one.id))["status"] == "confirmed"
            assert (await lw.pause("cosmos:dev")).lane.state == "paused"
            waits = await lw.send("cosmos:dev", to=TO, amount=1, fee=2_000, timeout_height=10**6)
            assert (await lw.cancel(waits.id)).tx.status == "cancelled"
            assert (await lw.resume("cosmos:dev")).outcome == "done"
            health = await lw.health("cosmos:dev")
            assert (health.healthy, health.cosmos.committed) == (True, 3)

    asyncio.run(main())


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_wrong_is_said_before_or_by_the_server(kind: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with staged(tmp_path) as stage, either(kind, stage.client.url) as lw:
            with pytest.raises(NotFound):
                await lw.send("cosmos:dev:cold", to=TO, amount=1)
            with pytest.raises(Invalid, match="checksum"):
                await lw.send(LANE, to=TO[:-1] + "q", amount=1)
            with pytest.raises(BadRequest, match="a Cosmos account has no such option"):
                await lw.send(LANE, to=TO, value=1)
            with pytest.raises(BadRequest, match="an EVM account has no such option"):
                await lw.send("evm:dev:hot", to=TO, amount="1")
            with pytest.raises(BadRequest, match="a contract has no such option"):
                await lw.send("contract:Q", "x", memo="m")
            with pytest.raises(BadRequest, match="namespace"):
                await lw.send(LANE, b"data")
            with pytest.raises(BadRequest, match="data"):
                await lw.send(LANE, namespace=NAMESPACE)

    asyncio.run(main())


@pytest.mark.parametrize("kind", KINDS)
def test_a_large_blob_passes_and_one_without_room_is_told_so(kind: str, tmp_path: Path) -> None:
    async def main() -> None:
        bounds = "account_bytes_max = 12000000\nsubmit_wait_ms = 50"
        async with (
            staged(tmp_path, sequence=bounds) as stage,
            either(kind, stage.client.url, retry_s=0.1) as lw,
        ):
            await lw.pause("cosmos:dev")
            sent = await lw.send("cosmos:dev", bytes(5 << 20), namespace=NAMESPACE, key="large")
            assert sent.tx.cosmos.payload.blobs[0].size == 5 << 20
            again = await lw.send("cosmos:dev", bytes(5 << 20), namespace=NAMESPACE, key="large")
            assert (again.id, again.replayed) == (sent.id, True)
            with pytest.raises(Unavailable, match="no_room"):
                await lw.send("cosmos:dev", bytes(1 << 20), namespace=NAMESPACE)

    asyncio.run(main())
