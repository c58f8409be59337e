"""Laws of the clients for rollups: every call, of both of them."""

import asyncio
from pathlib import Path

import pytest
from tests.client.stage import KINDS, either
from tests.rollup_served import LANE, hash_of, staged

from laneway.client.errors import Invalid, NotFound
from laneway.rollups.ledger.account import DEV_ACCOUNTS

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", KINDS)
def test_every_call_is_there(kind: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with staged(tmp_path) as stage, either(kind, stage.client.url) as lw:
            (listed,) = await lw.rollups()
            assert (listed.name, listed.lane) == ("dev", LANE)
            raw = stage.raw(0)
            sent = await lw.transfer("dev", bytes.fromhex(raw[2:]), key="once")
            again = await lw.transfer(LANE, raw)
            assert (again.id, again.replayed, sent.replayed) == (sent.id, True, False)
            done = await lw.of(sent, "wait", 30)
            assert (done.status, done.hash) == ("confirmed", hash_of(raw))
            assert (await lw.tx("key:once")).rollup.bundle == "B-1"
            status = await lw.rollup("1")
            assert status.picture.finalised == ["1v1"]
            (bundle,) = await lw.take(None, "bundles", "dev")
            assert (bundle.number, bundle.state) == (1, "finalised")
            assert await lw.take(None, "bundles", "dev", "queued") == []
            shown = await lw.bundle("dev", 1)
            assert shown.transactions[0].hash == done.hash
            receipt = await lw.receipt("dev", done.hash)
            assert (receipt.ok, receipt.number) == (True, 1)
            account = await lw.rollup_account("dev", DEV_ACCOUNTS[0].id.hex())
            assert (account.nonce, account.nonce_next) == (1, 1)
            for call, given in (
                ("rollup", ("nobody",)),
                ("bundle", ("dev", "B-9")),
                ("receipt", ("dev", "00" * 32)),
            ):
                with pytest.raises(NotFound):
                    await getattr(lw, call)(*given)
            with pytest.raises(Invalid):
                await lw.transfer("dev", "0x00")

    asyncio.run(main())
