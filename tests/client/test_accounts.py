"""Laws of the clients for EVM accounts: three lines send and wait."""

import asyncio
from pathlib import Path

import pytest
from tests.anvil import anvil
from tests.client.stage import KINDS, either
from tests.server.test_accounts import LANE, TO, attempts, running, until

from laneway.client.asynchronous import AsyncClient
from laneway.client.errors import Conflict, Invalid, NotFound
from laneway.core.errors import BadRequest

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("each_node")]


def test_three_lines_send_and_wait(tmp_path: Path) -> None:
    async def main() -> None:
        with anvil("--block-time", "0.2") as node:
            async with running(node, tmp_path) as (_, client):
                async with AsyncClient(client.url) as lw:
                    tx = await lw.send("evm:dev:hot", to=TO, value="1 gwei", key="order-7")
                    done = await tx.result(30)
                assert done.status == "confirmed"
                mined = node.say("eth_getTransactionByHash", done.hash)
                assert int(mined["value"], 16) == 10**9

    asyncio.run(main())


@pytest.mark.parametrize("kind", KINDS)
def test_every_verb_is_there(kind: str, tmp_path: Path) -> None:
    async def main() -> None:
        with anvil() as node:
            async with running(node, tmp_path) as (_, client), either(kind, client.url) as lw:
                sent = await lw.send(LANE, to=bytes.fromhex(TO[2:]), value=5, gas=21_000)
                out = await until(client, sent.id, "submitted")
                assert (await lw.tx(out["hash"])).id == sent.id
                assert (await lw.tx(f"evm:dev:hot#{out['nonce']}")).id == sent.id
                assert (await lw.bump(sent.id, reason="slow")).outcome == "done"
                await attempts(client, sent.id, 2)
                action = await lw.replace(out["hash"], to=TO, value="2 gwei", gas=21_000)
                assert (action.action, action.tx.nonce) == ("replace", out["nonce"])
                await attempts(client, sent.id, 3)
                assert (await lw.cancel(f"{LANE}#{out['nonce']}")).outcome == "done"
                health = await lw.health("evm:dev:hot")
                assert (health.healthy, health.evm.submitted) == (True, 1)
                plan = await lw.reset_nonce("evm:dev:hot", dry_run=True)
                assert plan.reset.becomes == out["nonce"] + 1
                with pytest.raises(NotFound):
                    await lw.send("evm:dev:cold", to=TO)
                with pytest.raises(Invalid, match="checksum"):
                    await lw.send(LANE, to="0x" + "Aa" * 20)
                with pytest.raises(BadRequest, match="no such option"):
                    await lw.send(LANE, to=TO, executor="did:1")
                with pytest.raises(BadRequest, match="no such option"):
                    await lw.send("contract:Qm1", "x", to=TO)
                with pytest.raises(BadRequest, match="part of a wei"):
                    await lw.send(LANE, to=TO, value="0.5")
                execution = await lw.send("contract:Qm1", "x", executor="did:1", priority=0)
                with pytest.raises(Conflict):
                    await lw.bump(execution.id)

    asyncio.run(main())
