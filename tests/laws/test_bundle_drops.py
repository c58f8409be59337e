"""A dropped block never lands, whatever is built in its place: no later block has its hash, so what
stood on it stands on nothing."""

from typing import Any

import pytest
from tests.lanes.bundle.stage import SLOT_MS, Stage, replace
from tests.laws import bundle_world
from tests.laws.bundle_world import World, check

from laneway.core.jam import May, PackageKind
from laneway.lanes.bundle import fold
from laneway.lanes.bundle.limits import MADE_STEP_MS
from laneway.lanes.bundle.records import BlockDropped, BlockSealed, SlotClaimed
from laneway.lanes.bundle.values import BlockBuilt, BuildBlock, PackagesSubmitted, SubmitPackage
from laneway.rollups.ledger.rules import JAM_ERA_MS, timestamp

UNIT_MS = MADE_STEP_MS
"""Of the time in a ledger's header, whatever the clock of its chain."""


def in_units(order: BuildBlock, unit_ms: int = UNIT_MS) -> BuildBlock:
    return replace(order, made_ms=order.made_ms // unit_ms)


def test_a_ledgers_header_tells_two_times_apart_that_are_a_step_apart() -> None:
    for made_ms in (JAM_ERA_MS, JAM_ERA_MS + 1, JAM_ERA_MS + UNIT_MS - 1):
        assert timestamp(made_ms + MADE_STEP_MS) > timestamp(made_ms)


class Refusing(Stage):
    """The first package of block 1 can never be taken; those behind it are. All of that is within
    one unit of the header's time."""

    is_refused = False

    def built(self, order: BuildBlock, **words: str) -> BlockBuilt:
        return super().built(in_units(order), **words)

    def send(self, kind: PackageKind = PackageKind.TAKEN, **fields: Any) -> None:
        results = []
        for order in self.take(SubmitPackage):
            if self.lane.slots[order.slot].number == 1 and not self.is_refused:
                self.is_refused = True
                malformed = PackageKind.MALFORMED
                results.append(self.submitted(order, malformed, final=True, may=(May.DROP,)))
            else:
                results.append(self.submitted(order))
        self.post(PackagesSubmitted(self.now_ms, tuple(results)))


def test_blocks_that_were_dropped_with_the_one_below_do_not_land_on_its_successor() -> None:
    stage = Refusing(order="parallel", block_txs_max=1, block_interval_ms=100)
    names = stage.accept(3)
    stage.run(8)
    dropped = [one.slot for one in stage.of(BlockDropped)]
    assert dropped == [1, 2, 3]
    assert stage.statuses() == ["confirmed"] * 3
    assert stage.chain.line() == names
    check_hashes(stage)
    made = [one.slot.made_ms for one in stage.of(SlotClaimed)]
    assert min(made[3:]) - max(made[:3]) >= UNIT_MS, "no waiting: the time is set forward"
    assert stage.now_ms < 1_020 * SLOT_MS


def check_hashes(stage: Stage) -> None:
    """What was dropped has a hash of its own, and nothing that is begun later is its child."""
    gone: dict[bytes, None] = {}
    sealed: dict[int, bytes] = {}
    begun_late: dict[int, None] = {}
    for record in stage.all:
        if isinstance(record, BlockSealed):
            sealed[record.slot.id] = record.slot.block
            if record.slot.id in begun_late:
                assert record.slot.block not in gone, "a block came back"
                assert record.slot.parent not in gone, "a block stands on one that was dropped"
        elif isinstance(record, BlockDropped) and record.slot in sealed:
            gone[sealed[record.slot]] = None
        elif isinstance(record, SlotClaimed) and gone:
            begun_late[record.slot.id] = None
    applied = [block for _, block, _ in stage.chain.best.applied]
    assert not [block for block in applied if block in gone], "a dropped block landed"


QUICK_MS = 100 * UNIT_MS
"""Seen from a chain whose clock is a hundred times as quick, the unit is so long."""


class Quick(World):
    def built(self, order: BuildBlock, **words: str) -> BlockBuilt:
        return super().built(in_units(order, QUICK_MS), **words)


HASTY: dict[str, Any] = {
    "guarantee_timeout_ms": 6_000,
    "accumulate_timeout_ms": 6_000,
    "accumulate_timeouts_max": 1,
    "max_version_retries": 1,
    "drops_max": 1_000,
    "block_interval_ms": 100,
}


def drops_in_worlds(order: str) -> int:
    drops = 0
    for seed in range(20):
        world = bundle_world.run(seed, **HASTY, order=order)
        check(world)
        check_hashes(world)
        drops += len(world.of(BlockDropped))
    return drops


@pytest.mark.slow
@pytest.mark.parametrize("order", ["chained", "parallel"])
def test_in_no_world_does_a_dropped_block_land(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle_world, "World", Quick)
    monkeypatch.setattr(fold, "MADE_STEP_MS", QUICK_MS)
    assert drops_in_worlds(order)


@pytest.mark.slow
def test_with_the_same_time_some_would(monkeypatch: pytest.MonkeyPatch) -> None:
    """The law can fail."""
    monkeypatch.setattr(bundle_world, "World", Quick)
    monkeypatch.setattr(fold, "MADE_STEP_MS", 0)
    with pytest.raises(AssertionError):
        drops_in_worlds("parallel")
