"""What a rollup block costs the machine, and what it leaves.

A stub chain stands for the real one: it reports each package in the next block, accumulates it
in the one after, and calls that final two blocks later. There is no store, so rows are made and
thrown away: measured is the lane alone.

`retained`: CPU time of a block, from its transactions to its end, with 100,000 finished blocks kept
in the lane against 8. `grow`: resident memory of this process before and after these blocks went
through a lane that keeps 100.
"""

import gc
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from laneway.core.jam import JamBlockRef
from laneway.jam.hashing import blake2b
from laneway.lanes.bundle.records import Record
from laneway.lanes.bundle.rows import Finished
from laneway.lanes.bundle.settings import BundleSettings
from laneway_bench.contestant import answer_all, rss_mb, say
from laneway_bench.limits import PROGRESS_STEPS
from laneway_bench.rollup.chain import StubChain
from laneway_bench.rollup.lane import SLOT_MS, DrivenLane

COST_GOAL = "tick_cost_100k_vs_8_retained"
GROWTH_GOAL = "rss_growth_mb_100k_blocks"
CORES = 16
"""Blocks a slot: eighty are open at a time."""
WARM_SLOTS = 12
"""After these every slot is like the one before: as many blocks end as begin."""


def settings(retained: int) -> BundleSettings:
    return BundleSettings(
        cores=tuple(range(CORES)),
        max_inflight=CORES,
        max_queue_depth=CORES,
        retention_window=retained,
        block_interval_ms=0,
        block_txs_max=1,
        order="parallel",
    )


class Through:
    """A lane that blocks go through, sixteen a slot."""

    def __init__(self, retained: int) -> None:
        self.chain = StubChain()
        self._slot = 0
        self.driven = DrivenLane(settings(retained), self.chain, self._hear)
        self.run(WARM_SLOTS)

    def _hear(self, _record: Record) -> None:
        pass

    def run(self, slots: int) -> None:
        for _ in range(slots):
            self._slot += 1
            self.chain.step(self._slot)
            self.driven.now_ms = self._slot * SLOT_MS
            self.driven.supply += CORES
            self.driven.until((self._slot + 1) * SLOT_MS - 1)

    def final(self) -> int:
        return self.driven.lane.head.finished_count


def retaining(count: int) -> Through:
    """Blocks that are kept, of which all but the last were final long ago."""
    through = Through(count)
    lane = through.driven.lane
    newest = list(lane.finished.items())
    lane.finished.clear()
    for number in range(count - len(newest)):
        ref = JamBlockRef(blake2b(b"%d" % number), 1)
        old = Finished(0, -1 - number, 1, ref.header_hash, ref.header_hash, b"", ref, 1, 1, 1)
        lane.finished[old.number] = old
    lane.finished.update(newest)
    through.run(WARM_SLOTS)
    assert len(lane.finished) == count
    return through


def measure_cost(counts: tuple[int, int], rounds: int, slots: int) -> dict[str, Any]:
    """Both in turn, in one process, by CPU time."""
    lanes = {count: retaining(count) for count in counts}
    spent: dict[int, list[float]] = {count: [] for count in counts}
    gc.collect()
    gc.freeze()
    for number in range(rounds):
        for count in counts if number % 2 == 0 else reversed(counts):
            before = lanes[count].final()
            begun_s = time.process_time()
            lanes[count].run(slots)
            took_s = time.process_time() - begun_s
            spent[count].append(1e6 * took_s / (lanes[count].final() - before))
        say(progress=(number + 1) / rounds)
    few, many = (spent[count] for count in counts)
    return {
        "retained": counts,
        "us_per_block": {str(count): spent[count] for count in counts},
        COST_GOAL: median(more / less for less, more in zip(few, many, strict=True)),
    }


def measure_growth(blocks: int) -> dict[str, Any]:
    """After a tenth of them the process has what it needs, and the rest should add nothing."""
    through = Through(100)
    through.run(max(1, blocks // 10 // CORES))
    gc.collect()
    warm_mb, first = rss_mb(), through.final()
    begun_s = time.perf_counter()
    step = max(1, blocks // CORES // PROGRESS_STEPS)
    while through.final() - first < blocks:
        through.run(step)
        say(progress=min(1.0, (through.final() - first) / blocks))
    spent_s = time.perf_counter() - begun_s
    lane = through.driven.lane
    gc.collect()
    done = through.final() - first
    return {
        "chain": "stub",
        "store": "none",
        "blocks": done,
        "blocks_per_s": done / spent_s,
        "open": len(lane.slots),
        "kept": len(lane.finished),
        "rss_mb": {"warm": warm_mb, "end": rss_mb()},
        GROWTH_GOAL: rss_mb() - warm_mb,
    }


def main() -> None:
    measures: dict[str, Callable[..., dict[str, Any]]]
    measures = {"retained": measure_cost, "grow": measure_growth}
    answer_all(lambda question: measures[question.pop("do")](**question))


if __name__ == "__main__":
    main()
