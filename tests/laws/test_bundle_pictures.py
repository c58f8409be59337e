"""What the two seeds draw and tell, acted out by the lane: pictures, flow, timeline."""

from typing import Any

from tests.lanes.bundle.chain import Chain, digest
from tests.lanes.bundle.scenes import reported, show
from tests.lanes.bundle.stage import SLOT_MS, Stage

from laneway.core.jam import Accumulated, ServiceRefused
from laneway.lanes.bundle.records import Counted, StatusChanged, VersionDied
from laneway.lanes.bundle.settings import preset

GENESIS = digest("the service's genesis")


def stage_from(number: int, *, cores: int, **settings: object) -> Stage:
    """A rollup that has come so far; each block holds one transaction."""
    fields: dict[str, Any] = {
        "cores": tuple(range(cores)),
        "first_number": number,
        "block_txs_max": 1,
    }
    stage = Stage(**{**fields, **settings})
    stage.chain = Chain(GENESIS, stage.now_ms // SLOT_MS, number - 1)
    stage.chain.produce()
    return stage


def step(stage: Stage, count: int, *reports: int) -> None:
    """A timeslot: so many transactions come, and these blocks are reported."""
    stage.accept(count)
    stage.to_slot()
    stage.chain.produce([stage.hash_of(number) for number in reports])


def seen(stage: Stage) -> None:
    stage.until(stage.chain.best.ref.slot * SLOT_MS + 500)
    stage.look()
    stage.settle()


def test_low_volume_is_one_block_at_a_time() -> None:
    stage = stage_from(999, cores=1)
    stage.accept(1)
    stage.run(5)
    stage.accept(1)
    stage.to_slot()
    stage.chain.produce([stage.hash_of(1000)])
    seen(stage)
    shown = stage.picture()
    assert (shown.queued, shown.submitted, shown.accumulated) == ((), (), ())
    assert shown.guaranteed == ("1000v1",)
    assert shown.finalised == ("999v1",)


def test_medium_volume_has_a_block_in_every_state_on_one_core() -> None:
    stage = stage_from(999, cores=1)
    stage.accept(10)
    for number in (999, 1000, 1001):
        stage.slot()
        stage.to_slot(1_000)
        stage.to_slot()
        stage.chain.produce([stage.hash_of(number)])
        stage.until(stage.chain.best.ref.slot * SLOT_MS + 500)
        if number == 1000:
            first = stage.chain.states[stage.chain.best.parent]
            stage.chain.finalise(first)
    stage.to_slot(500)
    shown = stage.picture()
    assert shown.finalised == ("999v1",)
    assert shown.accumulated == ("1000v1",)
    assert shown.guaranteed == ("1001v1",)
    assert shown.submitted == ("1002v1",)
    assert shown.queued[0] == "1003v1"


def test_high_volume_has_two_blocks_in_every_state_on_two_cores() -> None:
    stage = stage_from(996, cores=2, block_interval_ms=3_000)
    stage.accept(40)
    stage.slot()
    for pair in ((996, 997), (998, 999), (1000, 1001)):
        stage.to_slot()
        stage.chain.produce([stage.hash_of(number) for number in pair])
        stage.until(stage.chain.best.ref.slot * SLOT_MS + 500)
        if 1000 in pair:
            stage.chain.finalise(stage.chain.states[stage.chain.best.parent])
    stage.to_slot(500)
    shown = stage.picture()
    assert shown.finalised == ("996v1", "997v1")
    assert shown.accumulated == ("998v1", "999v1")
    assert shown.guaranteed == ("1000v1", "1001v1")
    assert shown.submitted == ("1002v1", "1003v1")
    assert shown.queued[0] == "1004v1"


def test_danger_a_lost_block_takes_all_behind_it_along() -> None:
    """997v1 got lost, so 998 and up must be rebuilt; what is guaranteed of them is stale."""
    stage = stage_from(996, cores=4, max_inflight=4, max_queue_depth=12)
    stage.accept(4)
    stage.until(stage.now_ms + 4 * SLOT_MS)
    while 999 not in stage.lane.numbers or not stage.lane.of(stage.named(999).id):
        stage.slot()
    stage.slot(*[stage.hash_of(number) for number in (996, 997, 998, 999)])
    lost = stage.hash_of(997)
    stage.to_slot()
    stage.chain.produce(ready=[stage.hash_of(n) for n in (996, 998, 999)], lose=[lost])
    seen(stage)
    shown = stage.picture()
    assert shown.accumulated == ("996v1",)
    assert shown.stale == ("997v1", "998v1", "999v1")
    first = stage.version(997).first_ms
    assert first is not None
    while stage.now_ms < first + 54_000:
        stage.slot()
    stage.to_slot(500)
    shown = stage.picture()
    assert shown.submitted == ("997v2", "998v2", "999v2")
    assert shown.stale == ("997v1", "998v1", "999v1")
    assert stage.version(998, 2).prerequisites == (stage.hash_of(997, 2),)
    assert stage.version(999, 2).prerequisites == (stage.hash_of(998, 2),)
    stage.run(6)
    assert stage.statuses() == ["confirmed"] * 4
    assert stage.chain.line() == list(stage.accepted)


def test_complete_flow_of_seed_000() -> None:
    """51 transactions come; two bundles of five at a time, on two cores."""
    settings = preset("seed-000", block_txs_max=5, cores=(0, 1), max_inflight=2, nodes=("a",))
    stage = Stage(
        **{name: getattr(settings, name) for name in settings.__struct_fields__}
        | {"block_interval_ms": 3_000}
    )
    stage.chain.produce()
    for _ in range(7):
        stage.chain.produce()
    stage.now_ms = stage.chain.best.ref.slot * SLOT_MS
    stage.accept(51)
    stage.until(stage.now_ms + 2_999)
    assert stage.picture().queued == ("1v1",)
    stage.to_slot(500)
    shown = stage.picture()
    assert shown.submitted == ("1v1", "2v1")
    assert [stage.version(number).core for number in (1, 2)] == [0, 1]
    ages = [stage.chain.age(stage.version(number).anchor, stage.chain.best) for number in (1, 2)]
    assert ages == [6, 6]
    assert (shown.inflight, shown.can_submit) == (2, False)
    stage.to_slot()
    stage.chain.produce([stage.hash_of(1), stage.hash_of(2)])
    seen(stage)
    shown = stage.picture()
    assert shown.guaranteed == ("1v1", "2v1")
    assert (shown.inflight, shown.can_submit) == (0, True)
    stage.to_slot(500)
    assert stage.picture().submitted == ("3v1", "4v1")
    stage.to_slot()
    stage.chain.produce([stage.hash_of(3), stage.hash_of(4)])
    seen(stage)
    assert stage.picture().accumulated == ("1v1", "2v1")
    stage.run(20)
    assert stage.statuses() == ["confirmed"] * 51
    assert len(stage.picture().finalised) == 11


def test_the_race_of_seed_000() -> None:
    """v1 times out, v2 is submitted, and v1's guarantee comes first: v1 wins, v2 comes to nothing.

    Here v1's guarantee was on a fork that the lane had not seen: on the one it saw v1 was dead."""
    stage = Stage(guarantee_timeout_ms=0, block_txs_max=1)
    stage.chain.produce()
    stage.accept(1)
    stage.slot()
    stage.to_slot(2_000)
    while not stage.version(1).is_dead():
        stage.slot()
    stage.to_slot(2_000)
    assert stage.picture().submitted == ("1v2",)
    show(stage, (1, 1, reported(stage)))
    assert (stage.named(1).winner, stage.named(1).word) == (1, "guaranteed")
    assert stage.picture().non_winning_versions_cancelled == 1
    show(stage, (1, 2, reported(stage)))
    assert stage.named(1).winner == 1
    assert stage.picture().duplicate_guarantees_rejected == 1
    show(stage, (1, 1, Accumulated(1)))
    assert stage.named(1).word == "accumulated"
    show(stage, (1, 2, ServiceRefused("same_block_applied", 1)))
    assert stage.named(1).word == "accumulated"
    assert stage.picture().duplicate_accumulates_rejected == 1
    whats = [one.what for one in stage.all if isinstance(one, Counted)]
    assert whats == ["version_cancelled", "duplicate_guarantee", "duplicate_accumulate"]
    words = [one.word for one in stage.all if isinstance(one, StatusChanged)]
    assert words.count("accumulated") == 1


def test_signals_move_a_block_and_nothing_else_does() -> None:
    """Seed 000's table: E_G guarantees, E_A accumulates, a timeout requeues, staleness rebuilds."""
    stage = Stage(block_txs_max=1)
    stage.chain.produce()
    stage.accept(1)
    stage.to_slot(500)
    before = stage.named(1).word
    stage.slot()
    assert stage.named(1).word == before == "submitted"
    stage.slot(stage.hash_of(1))
    assert stage.named(1).word == "guaranteed"
    stage.slot()
    assert stage.named(1).word == "accumulated"
    assert not [one for one in stage.told if isinstance(one, VersionDied)]
