"""How much of 341 cores one rollup keeps busy: the machine on the chain model of the full size.

Every core takes one package a block. The service is a stub that keeps nothing, so blocks are known
to have accumulated by the chain's own history; nothing is signed or erasure coded. Blocks are there
as soon as they are asked for, and every answer comes at once: what is measured is whether the lane
finds each core free in time and has a package for it.
"""

import time
from typing import Any

from laneway.devnets.jam.model.values import ModelSetup, ServiceSetup
from laneway.jam.package import WorkItem
from laneway.jam.spec import FULL, ChainSpec
from laneway.lanes.bundle.records import BlockFinalised, Record
from laneway.lanes.bundle.settings import BundleSettings
from laneway.lanes.bundle.values import BlockBuilt, BuildBlock, BuildVersion, VersionBuilt
from laneway_bench.contestant import answer_all, say
from laneway_bench.jam.model import SERVICE, Echo
from laneway_bench.rollup.chain import ModelChain
from laneway_bench.rollup.lane import SLOT_MS, DrivenLane, stub_block

GOAL = "core_slots_busy_341_cores_stub_service"
FIRST_SLOT = 20
"""Slots before it are not counted: the first blocks have to come from somewhere."""
PAYLOAD = b"a rollup block that holds nothing"


def settings(spec: ChainSpec) -> BundleSettings:
    cores = spec.core_count
    return BundleSettings(
        service=SERVICE,
        cores=tuple(range(cores)),
        keeps_records=False,
        order="parallel",
        max_inflight=cores,
        max_queue_depth=cores,
        block_interval_ms=0,
        block_txs_max=1,
        poll_ms=2_000,
        rotation_slots=spec.rotation_slots,
        lookup_slots_max=spec.lookup_anchor_slots_max,
    )


class Cores(ModelChain):
    """The chain of the full size, with blocks that hold nothing."""

    def __init__(self, spec: ChainSpec) -> None:
        stub = ServiceSetup(service=Echo())
        super().__init__(
            ModelSetup(spec=spec, signs=False, codes_shards=False, services={SERVICE: stub})
        )

    def execute(self, order: BuildBlock, now_ms: int) -> BlockBuilt:
        return stub_block(order, PAYLOAD, now_ms)

    def package(self, order: BuildVersion) -> VersionBuilt:
        item = WorkItem(
            service=SERVICE,
            code_hash=Echo.code_hash,
            payload=b"%d %d " % (order.number, order.version) + PAYLOAD,
            refine_gas_limit=1_000,
            accumulate_gas_limit=1_000,
            import_segments=(),
            extrinsic=(),
            export_count=0,
        )
        return self.made(order, item)


def measure(slots: int, spec: ChainSpec = FULL, first: int = FIRST_SLOT) -> dict[str, Any]:
    """Slots `first` to `first + slots`."""
    world = Cores(spec)
    final = 0

    def hear(record: Record) -> None:
        nonlocal final
        final += isinstance(record, BlockFinalised)

    driven = DrivenLane(settings(spec), world, hear)
    driven.supply = 1 << 30
    reported = engaged = 0
    lane_s = model_s = 0.0
    for slot in range(1, first + slots):
        begun_s = time.process_time()
        report = world.step(slot)
        between_s = time.process_time()
        driven.now_ms = slot * SLOT_MS
        driven.until((slot + 1) * SLOT_MS - 1)
        lane_s += time.process_time() - between_s
        model_s += between_s - begun_s
        if slot >= first:
            reported += len(report.reported)
            engaged += sum([one is not None for one in report.pending])
        say(progress=slot / (first + slots))
    pairs = slots * spec.core_count
    return {
        "cores": spec.core_count,
        "slots": [first, first + slots],
        "pairs": pairs,
        "with_a_new_report": reported,
        "engaged": engaged,
        "blocks_final": final,
        "blocks_open": len(driven.lane.slots),
        "lane_s": lane_s,
        "model_s": model_s,
        GOAL: reported / pairs,
    }


def main() -> None:
    answer_all(lambda question: measure(**question))


if __name__ == "__main__":
    main()
