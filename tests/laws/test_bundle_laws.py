"""Laws of the bundle lane that no single scene shows."""

from typing import Any

import pytest
import tests.laws.bundle_world
from tests.lanes.bundle.stage import SLOT_MS, queued, replace, submitted
from tests.laws.bundle_world import World, check, run

from laneway.lanes.bundle import rounds
from laneway.lanes.bundle.machine import decide
from laneway.lanes.bundle.records import BlockDropped, WindowAwaited
from laneway.lanes.bundle.values import BuildVersion, VersionsMade
from laneway.lanes.common.values import IntentsOffered

MODES: list[dict[str, Any]] = [
    {},
    {"order": "parallel"},
    {"order": "parallel", "max_inflight": 1, "max_version_retries": 1, "drops_max": 1_000},
    {"guarantee_timeout_ms": 0, "accumulate_timeout_ms": 6_000, "accumulate_timeouts_max": 1},
]


class Doubted(World):
    """Every event is judged twice: as it is, and as if it might concern every block."""

    def post(self, event: Any) -> None:
        if isinstance(event, IntentsOffered):
            self.lane.intents |= {intent.id: intent for intent in event.intents}
        narrow = decide(self.lane, event)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rounds, "is_due", lambda _lane, _now_ms: True)
            wide = decide(self.lane, event)
        assert told(narrow.records) == told(wide.records)
        assert narrow.effects == wide.effects
        super().post(event)


def told(records: Any) -> list[Any]:
    """But for when it is woken next: with a glance at one block that may be too early, never too
    late."""
    return [one for one in records if not isinstance(one, WindowAwaited)]


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES, ids=str)
def test_an_event_that_touches_one_block_leaves_nothing_undone_for_the_others(
    mode: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tests.laws.bundle_world, "World", Doubted)
    for seed in range(15):
        world = run(seed, **mode)
        assert isinstance(world, Doubted)
        check(world)


def test_a_block_that_came_by_a_forgotten_package_is_in_no_other_block() -> None:
    """The store was brought back from a copy of before the first version was sealed. It builds the
    block's package anew, and both accumulate: the service takes the first, and the lane the word of
    the service."""
    stage = queued()
    stage.to_slot(3_500)
    rows, head, cursors = dict(stage.rows), stage.head, stage.cursors
    stage.to_slot(1_500)
    (first,) = stage.chain.packages
    stage.rows, stage.head, stage.cursors = rows, head, cursors
    stage.crash()
    stage.settle()
    stage.slot(first)
    stage.to_slot(1_500)
    (second,) = [one for one in stage.chain.packages if one != first]
    assert stage.hash_of(1) == second
    stage.slot(second)
    stage.run(6)
    assert stage.statuses() == ["confirmed"]
    assert stage.chain.line() == list(stage.accepted)
    assert stage.lane.head.overruled == 1
    assert stage.lane.finished[1].package_hash == first, "by the service's record"
    assert not stage.of(BlockDropped)


def test_a_block_that_is_held_for_an_unknown_package_is_not_dropped_while_it_may_land() -> None:
    """The same with a block that came too early: nothing of it is dropped for eighty slots."""
    stage = submitted(2, order="parallel", max_version_retries=1, guarantee_timeout_ms=0)
    slot, version = stage.named(2), stage.version(2)
    early = replace(version, package_hash=b"unknown")
    claim = stage.chain.packages[version.package_hash]
    stage.chain.packages[early.package_hash] = replace(claim, salt=1)
    stage.chain.cores[early.package_hash] = 1
    stage.slot(early.package_hash)
    stage.slot()
    stage.slot(stage.hash_of(2))
    while not stage.version(2).is_dead():
        stage.slot()
        stage.chain.finalise()
    assert "HELD" in stage.version(2).facts[-1].words
    for _ in range(3):
        stage.slot()
        stage.chain.finalise()
    assert slot.id in stage.lane.slots, "it waits there for the first block"
    assert not [one for one in stage.of(BlockDropped) if one.slot == slot.id and one.is_cause]


def test_windows_are_kept_by_a_builder_that_answers_late() -> None:
    """Versions of five blocks, each named by the next, made one behind the other in one window."""
    stage = queued(5, max_inflight=5, cores=tuple(range(5)))
    stage.to_slot(3_001)
    assert len(stage.picture().queued) == 5
    end_ms = (stage.chain.best.ref.slot + 1) * SLOT_MS
    stage.tick(1)
    while stage.now_ms < end_ms - 1_000:
        stage.now_ms += 350
        orders = stage.take(BuildVersion, 1)
        if orders:
            made = tuple(stage.version_of(order) for order in orders)
            stage.post(VersionsMade(stage.now_ms, made))
        stage.send()
    assert len(stage.picture().submitted) == 5
