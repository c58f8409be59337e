"""A rollup whose lane hardly ever looks by itself goes on with what its node notifies of."""

import pytest
from tests.kinds.rollup.stage import LANE, made, run, table
from tests.rollup_stage import Purse

from laneway.devnets.jam.devnet import JamDevnet
from laneway.kinds.rollup.section import BundleSection

pytestmark = pytest.mark.slow

POLL_MS = 3_600_000


def test_a_new_block_of_the_chain_is_looked_at_without_waiting_for_the_next_poll() -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=200) as devnet:
            section = BundleSection(poll_ms=POLL_MS)
            one = table(devnet.url, slot_ms=devnet.slot_ms)
            async with made(":memory:", one, section=section) as lw:
                raw = Purse(devnet.model.genesis).transfer()
                done = await (await lw.transfer(LANE, raw)).result(60)
                assert done.status == "confirmed"

    run(story)
