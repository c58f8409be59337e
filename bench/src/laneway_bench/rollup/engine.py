"""How many rollup blocks a second an engine brings to finality on a chain whose clock is quick.

All of it runs here: the engine with its store on a file, the ledger's builder, the JIP-2 adapter,
and the devnet with its socket, in one process. The chain has two cores, so a slot takes two blocks
at most; all times shrink with the slot. Counted are blocks from the first that is final to the last
over the time between them.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from laneway.core.ids import LaneId
from laneway.core.outcome import Status
from laneway.core.rows import Result
from laneway.devnets.jam.limits import ROLLUP_SERVICE_DEV
from laneway.engine.listeners import Listener
from laneway.engine.system import SystemClock
from laneway.kinds.rollup.lanes import RollupLanes
from laneway.kinds.rollup.section import DEVNET, BundleSection, RollupSection
from laneway.kinds.rollup.served import RollupServed
from laneway.lanes.bundle.records import BlockFinalised
from laneway.rollups.domain import Domain
from laneway.rollups.ledger.account import DEV_ACCOUNTS
from laneway.rollups.ledger.transfer import TRANSFER, signed
from laneway.wiring.embedded import Laneway
from laneway.wiring.store import open_store
from laneway_bench.child import BenchFailed
from laneway_bench.contestant import answer_each, say
from laneway_bench.limits import GUARD_S

TRANSFERS_PER_BLOCK = 4
BATCH = 64
LANE = "rollup:bench"


class Finals(Listener):
    """When blocks became final."""

    def __init__(self) -> None:
        self.times_s: list[float] = []
        self.bad: Result | None = None

    def notified(self, _lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        now_s = time.perf_counter()
        self.times_s += [now_s for one in records if isinstance(one, BlockFinalised)]
        for result in results:
            if result.status != Status.CONFIRMED.value:
                self.bad = result


async def run(store: str, slot_ms: int, blocks: int) -> dict[str, Any]:
    clock, finals = SystemClock(), Finals()
    rollup = RollupSection(
        name="bench",
        service=ROLLUP_SERVICE_DEV,
        nodes=(DEVNET,),
        slot_ms=slot_ms,
        order="parallel",
        block_txs_max=TRANSFERS_PER_BLOCK,
        block_interval_ms=0,
    )
    section = BundleSection(
        poll_ms=1_000,
        max_inflight=4,
        # As wide as a slot: on a quick clock a window is over before a busy process has its turn.
        build_from_ms=6_000,
        build_until_ms=600,
        submit_from_ms=6_000,
        submit_until_ms=0,
    )
    lanes = RollupLanes((rollup,), section, clock, store_path=store)
    laneway = Laneway(
        open_store(store, clock),
        [RollupServed(lanes, clock)],
        clock,
        [finals],
    )
    async with laneway:
        assert lanes.devnet is not None
        raws = transfers(lanes.devnet.model.genesis, blocks * TRANSFERS_PER_BLOCK)
        for first in range(0, len(raws), BATCH):
            await laneway.transfer_many(LANE, raws[first : first + BATCH])
        await reached(laneway, finals, blocks)
        slots = lanes.devnet.model.slot
    times_s = finals.times_s
    return {
        "slot_ms": slot_ms,
        "blocks": len(times_s),
        "slots": slots,
        "blocks_per_s": (len(times_s) - 1) / (times_s[-1] - times_s[0]),
    }


def transfers(genesis: bytes, count: int) -> list[bytes]:
    domain = Domain(genesis, ROLLUP_SERVICE_DEV)
    sender, recipient = DEV_ACCOUNTS[0], DEV_ACCOUNTS[1]
    return [
        TRANSFER.encode(signed(sender.key, domain, recipient=recipient.id, amount=1, nonce=nonce))
        for nonce in range(count)
    ]


async def reached(laneway: Laneway, finals: Finals, blocks: int) -> None:
    """Wait until `blocks` of them are final; what stopped the engine or a lane is raised."""
    while len(finals.times_s) < blocks:
        await asyncio.sleep(GUARD_S / 4)
        say(progress=len(finals.times_s) / blocks)
        for fault in (laneway.engine.failure, *laneway.engine.faults.values()):
            if fault is not None:
                raise BenchFailed(f"the engine stopped: {fault}")
        if finals.bad is not None:
            raise BenchFailed(f"a transaction is {finals.bad.status}: {finals.bad.reason}")


def main() -> None:
    answer_each(lambda question: run(**question))


if __name__ == "__main__":
    main()
