"""Laws of EVM accounts in the library."""

import asyncio
from pathlib import Path

import pytest
from tests.anvil import KEYS, anvil
from tests.server.test_accounts import LANE, TO, TOML

from laneway.core.errors import AccountNotFound, BadRequest, IntentConflict, IntentNotFound
from laneway.wire.evm import EvmPayload
from laneway.wiring.config import load
from laneway.wiring.opening import open_laneway

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("each_node")]


def test_the_library_sends_waits_replaces_and_shows(tmp_path: Path) -> None:
    async def main() -> None:
        key = tmp_path / "hot.key"
        key.write_text(KEYS[0])
        key.chmod(0o600)
        file = tmp_path / "laneway.toml"
        with anvil() as node:
            file.write_text(TOML.format(url=node.url, key=key, chain=""))
            flags = {"store.path": str(tmp_path / "a.db"), "host.round_ms": "5"}
            async with open_laneway(load(str(file), {}, flags)) as lw:
                sent = await lw.send("evm:dev:hot", to=TO, value="1 gwei", gas=21_000, key="a")
                again = await lw.send(LANE, to=TO, value=10**9, gas=21_000, key="a")
                assert (again.id, again.replayed) == (sent.id, True)
                with pytest.raises(IntentConflict):
                    await lw.send(LANE, to=TO, value=2, key="a")
                with pytest.raises(AccountNotFound, match="no account evm:dev:cold"):
                    await lw.send("evm:dev:cold", to=TO)
                with pytest.raises(BadRequest, match=r"request\.to"):
                    await lw.send(LANE)
                for _ in range(3_000):
                    if (await lw.show(sent.id)).status == "submitted":
                        break
                    await asyncio.sleep(0.02)
                await lw.bump(sent.id, reason="slow")
                await lw.replace(sent.id, EvmPayload(to=TO, value="5", gas=21_000))
                await lw.pause("evm:dev:hot", reason="audit")
                await lw.resume("evm:dev:hot")
                await lw.reset_nonce("evm:dev:hot")
                for _ in range(1_200):
                    node.mine()
                    await asyncio.sleep(0.05)
                    if (await lw.show(sent.id)).status == "confirmed":
                        break
                done = await sent.result(5)
                assert (done.status, done.nonce) == ("confirmed", 0)
                assert done.hash is not None
                assert done.block is not None
                health = await lw.health("evm:dev:hot")
                assert health.healthy
                assert health.evm is not None
                assert len(health.evm.nonce_resets) == 1
                execution = await lw.submit("Qm1", "x")
                assert (await execution.result(5)).hash is None
                with pytest.raises(IntentNotFound):
                    await lw.replace(execution.id, EvmPayload(to=TO))

    asyncio.run(main())
