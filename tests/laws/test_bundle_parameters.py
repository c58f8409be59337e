"""One law for each parameter: with another value the lane does another thing.

Seeds 000 and 001 name them; what each is by default and in their presets stands in the mirror test
of the settings.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeAlias

import pytest
from tests.lanes.bundle.scenes import aged, reported, show
from tests.lanes.bundle.stage import SLOT_MS, Stage, queued, replace, submitted

from laneway.core.jam import Accumulated, Failed, May, PackageKind, ServiceRefused
from laneway.lanes.bundle.lane import BundleLane
from laneway.lanes.bundle.records import BlockDropped
from laneway.lanes.bundle.rounds import look
from laneway.lanes.bundle.settings import BundleSettings
from laneway.lanes.bundle.standing import free_cores, is_stale
from laneway.lanes.bundle.values import BuildBlock, BuildVersion, SubmitPackage

See: TypeAlias = Callable[[Any], Any]
LAWS: dict[str, list[tuple[See, Any, Any]]] = {}


def law(name: str, *values: tuple[Any, Any]) -> Callable[[See], See]:
    """What is seen with each value of a parameter."""

    def kept(see: See) -> See:
        LAWS[name] = [(see, value, expected) for value, expected in values]
        return see

    return kept


@law("service", (7, 7), (9, 9))
def service(value: Any) -> Any:
    return look(submitted(service=value).lane).packages[0].service


@law("nodes", (("a",), ("a",)), (("a", "b", "c"), ("a", "b", "c")))
def nodes(value: Any) -> Any:
    return submitted(nodes=value).version(1).nodes


@law("cores", ((3,), [3]), ((0, 1), [0, 1]))
def cores(value: Any) -> Any:
    return [stage_core.core for stage_core in versions(submitted(2, cores=value))]


def versions(stage: Stage) -> list[Any]:
    return [one for slot in stage.lane.in_order() for one in stage.lane.of(slot.id)]


@law("first_number", (1, [1]), (1_000, [1_000]))
def first_number(value: Any) -> Any:
    return list(queued(first_number=value).lane.numbers)


@law("keeps_records", (True, "guaranteed"), (False, "accumulated"))
def keeps_records(value: Any) -> Any:
    stage = submitted(keeps_records=value)
    show(stage, (1, 1, Accumulated(None)))
    return stage.named(1).word


@law("max_queue_depth", (1, 1), (3, 3))
def max_queue_depth(value: Any) -> Any:
    stage = Stage(max_queue_depth=value, block_txs_max=1, block_interval_ms=1)
    stage.accept(9)
    for _ in range(9):
        stage.pull()
        if any(isinstance(one, BuildBlock) for one in stage.out):
            stage.build()
        stage.tick(1)
    return len(stage.lane.slots)


@law("max_inflight", (1, 1), (3, 3), (4, 4))
def max_inflight(value: Any) -> Any:
    return len(submitted(5, max_inflight=value).picture().submitted)


@law("inflight_counts", ("submitted", 2), ("submitted_and_guaranteed", 1))
def inflight_counts(value: Any) -> Any:
    stage = submitted(3, inflight_counts=value, max_inflight=2)
    stage.slot(stage.hash_of(1))
    stage.to_slot(500)
    return len(stage.picture().submitted)


@law("core_reuse", ("expected", [0]), ("ready", []), ("guaranteed", [0]))
def core_reuse(value: Any) -> Any:
    stage = submitted(core_reuse=value, cores=(0,))
    stage.slot(stage.hash_of(1))
    return free_cores(stage.lane)


@law("order", ("chained", 1), ("parallel", 0))
def order(value: Any) -> Any:
    return len(submitted(2, order=value).version(2).prerequisites)


@law("winner", ("first_guarantee_wins", 1), ("latest_version", 0))
def winner(value: Any) -> Any:
    stage = aged(winner=value)
    stage.to_slot(2_500)
    show(stage, (1, 1, reported(stage)))
    return stage.named(1).winner


@law("retention_window", (1, 1), (3, 3))
def retention_window(value: Any) -> Any:
    stage = Stage(retention_window=value, block_txs_max=1, block_interval_ms=3_000)
    stage.accept(4)
    stage.run(12)
    return len(stage.lane.finished)


@law("block_interval_ms", (6_000, 6_000), (3_000, 3_000))
def block_interval_ms(value: Any) -> Any:
    stage = Stage(block_interval_ms=value, block_txs_max=1)
    stage.accept(2)
    stage.until(stage.now_ms + 8_000)
    made = [slot.made_ms for slot in stage.lane.in_order()]
    return made[1] - made[0]


@law("block_txs_max", (1, 1), (4, 4))
def block_txs_max(value: Any) -> Any:
    stage = Stage(block_txs_max=value)
    stage.accept(9)
    stage.pull()
    return stage.named(1).count


@law("block_bytes_max", (70, 2), (105, 3))
def block_bytes_max(value: Any) -> Any:
    stage = Stage(block_bytes_max=value)
    stage.accept(5)
    stage.pull()
    return stage.named(1).count


@law("slot_ms", (6_000, 54_000), (1_000, 9_000))
def slot_ms(value: Any) -> Any:
    return BundleSettings(slot_ms=value).guarantee_wait_ms()


@law("rotation_slots", (4, 54_000), (10, 126_000))
def rotation_slots(value: Any) -> Any:
    return BundleSettings(rotation_slots=value).guarantee_wait_ms()


@law("guarantee_margin_slots", (2, 54_000), (0, 42_000))
def guarantee_margin_slots(value: Any) -> Any:
    return BundleSettings(guarantee_margin_slots=value).guarantee_wait_ms()


@law("guarantee_timeout_ms", (None, 54_000), (66_000, 66_000))
def guarantee_timeout_ms(value: Any) -> Any:
    """Between a version and the next."""
    stage = submitted(guarantee_timeout_ms=value)
    while stage.named(1).version == 1:
        stage.slot()
    first, second = stage.version(1).first_ms, stage.version(1, 2).first_ms
    assert first is not None
    return second - first if second is not None else None


@law("accumulate_timeout_ms", (60_000, 60_000), (18_000, 18_000))
def accumulate_timeout_ms(value: Any) -> Any:
    stage = submitted(accumulate_timeout_ms=value)
    show(stage, (1, 1, reported(stage)))
    overdue = stage.named(1).overdue_ms
    return overdue - stage.now_ms if overdue is not None else None


@law("accumulate_timeouts_max", (1, True), (2, False))
def accumulate_timeouts_max(value: Any) -> Any:
    stage = submitted(accumulate_timeouts_max=value, accumulate_timeout_ms=1_500)
    show(stage, (1, 1, reported(stage)))
    show(stage, (1, 1, Failed(PackageKind.ANCHOR_NOT_RECENT, "")), may=(May.REBUILD,))
    stage.tick(1_000)
    return stage.named(1).queued


@law("submit_retry_ms", (6_000, {6_000}), (12_000, {12_000}))
def submit_retry_ms(value: Any) -> Any:
    stage = submitted(submit_retry_ms=value)
    for _ in range(5):
        stage.slot()
    return {later - early for (early, _), (later, _) in pairwise(stage.sent)}


@law("max_submit_retries", (1, 1), (3, 3), (8, 8))
def max_submit_retries(value: Any) -> Any:
    stage = submitted(max_submit_retries=value)
    stage.until(stage.now_ms + 12 * SLOT_MS)
    return len(stage.sent)


@law("max_version_retries", (1, 1), (2, 2))
def max_version_retries(value: Any) -> Any:
    stage = submitted(max_version_retries=value, guarantee_timeout_ms=0)
    tried = 0
    while not stage.of(BlockDropped):
        tried = max(tried, stage.named(1).version)
        stage.slot()
        stage.chain.finalise()
    return tried


@law("drops_max", (1, "halted"), (2, "running"))
def drops_max(value: Any) -> Any:
    """The service refuses the block's parent, in a block that is final."""
    stage = submitted(drops_max=value, guarantee_timeout_ms=0)
    show(stage, (1, 1, ServiceRefused("wrong_parent", 1)))
    stage.chain.finalise()
    show(stage)
    assert stage.lane.head.drops == 1
    return stage.lane.head.mode


def is_built(before_ms: int, **settings: Any) -> bool:
    stage = queued(**settings)
    stage.now_ms = (stage.chain.best.ref.slot + 1) * SLOT_MS - before_ms
    stage.tick()
    return any(isinstance(one, BuildVersion) for one in stage.out)


@law("build_from_ms", (3_000, False), (4_000, True))
def build_from_ms(value: Any) -> Any:
    return is_built(3_500, build_from_ms=value)


@law("build_until_ms", (2_000, False), (1_000, True))
def build_until_ms(value: Any) -> Any:
    return is_built(1_500, build_until_ms=value)


def is_submitted(before_ms: int, **settings: Any) -> bool:
    stage = queued(**settings, build_from_ms=6_000, build_until_ms=0)
    stage.now_ms = (stage.chain.best.ref.slot + 1) * SLOT_MS - before_ms
    stage.tick()
    stage.make()
    return any(isinstance(one, SubmitPackage) for one in stage.out)


@law("submit_from_ms", (3_000, False), (4_000, True))
def submit_from_ms(value: Any) -> Any:
    return is_submitted(3_500, submit_from_ms=value)


@law("submit_until_ms", (1_000, False), (500, True))
def submit_until_ms(value: Any) -> Any:
    return is_submitted(700, submit_until_ms=value)


@law("clock_skew_ms_max", (1_000, False), (2_000, True))
def clock_skew_ms_max(value: Any) -> Any:
    stage = queued(clock_skew_ms_max=value)
    stage.skew_ms = 1_500
    stage.slot()
    return bool(stage.sent)


@law("anchor_policy", ("freshest", 1), ("table", 6), ("formula", 6))
def anchor_policy(value: Any) -> Any:
    stage = queued(anchor_policy=value)
    stage.now_ms = (stage.chain.best.ref.slot + 1) * SLOT_MS - 3_000
    stage.tick()
    return stage.take(BuildVersion)[0].anchor_offset


@law("anchor_age_blocks_max", (6, True), (7, False))
def anchor_age_blocks_max(value: Any) -> Any:
    stage = submitted(anchor_age_blocks_max=value)
    old = replace(stage.version(1), born=stage.lane.head.height - 7, anchor=stage.anchor())
    lane: BundleLane = stage.lane
    lane.chain.clear()
    lane.heights.clear()
    return is_stale(lane, old)


@law("recent_blocks", (8, 8), (4, 4))
def recent_blocks(value: Any) -> Any:
    """Blocks behind its anchor after which a package that nobody reported is dead."""
    stage = queued(recent_blocks=value)
    stage.chain.produce()
    stage.look()
    stage.to_slot(2_500)
    anchor = stage.chain.states[stage.version(1).anchor.header_hash].height
    while not stage.version(1).is_dead():
        stage.chain.produce()
        stage.look()
    return stage.chain.best.height - anchor


@law("lookup_slots_max", (24, False), (5, True))
def lookup_slots_max(value: Any) -> Any:
    stage = submitted(lookup_slots_max=value)
    stage.chain.produce(skip=9)
    stage.look()
    return stage.version(1).is_dead()


@law("availability_slots", (5, []), (2, [0]))
def availability_slots(value: Any) -> Any:
    stage = submitted(availability_slots=value, cores=(0,))
    stage.slot(stage.hash_of(1))
    stage.chain.produce(ready=(), skip=1)
    stage.look()
    return free_cores(stage.lane)


@law("poll_ms", (1_000, 1_000), (250, 250))
def poll_ms(value: Any) -> Any:
    stage = queued(poll_ms=value)
    stage.look()
    assert stage.lane.head.look_ms is not None
    return stage.lane.head.look_ms - stage.now_ms


@law("deferred_ms_max", (60_000, ["", ""]), (1_000, ["", "refused"]), (0, ["refused"] * 2))
def deferred_ms_max(value: Any) -> Any:
    """Behind the first and the second block that left it out."""
    stage = Stage(deferred_ms_max=value)
    stage.accept(1)
    stage.pull()
    stage.build(t0="deferred")
    seen = stage.statuses()
    stage.tick(1_000)
    if not stage.results:
        stage.build(t0="deferred")
    return seen + stage.statuses()


@law("build_retry_ms", (1_000, 1_000), (50, 50))
def build_retry_ms(value: Any) -> Any:
    stage = Stage(build_retry_ms=value)
    stage.accept(1)
    stage.pull()
    stage.not_built()
    retry = stage.named(1).retry_ms
    return retry - stage.now_ms if retry is not None else None


@law("tell_retry_ms", (1_000, 1_000), (50, 50))
def tell_retry_ms(value: Any) -> Any:
    stage = submitted(tell_retry_ms=value)
    show(stage, (1, 1, Accumulated(1)))
    stage.hear(is_done=False)
    assert stage.lane.head.tell_ms is not None
    return stage.lane.head.tell_ms - stage.now_ms


CASES = [(name, *case) for name, cases in LAWS.items() for case in cases]


@pytest.mark.parametrize(
    ("name", "see", "value", "expected"),
    CASES,
    ids=[f"{name}={value}" for name, _, value, _ in CASES],
)
def test_a_parameter_does_what_it_says(name: str, see: See, value: Any, expected: Any) -> None:
    assert name in BundleSettings.__struct_fields__
    assert see(value) == expected


def test_every_parameter_has_its_law() -> None:
    assert sorted(LAWS) == sorted(BundleSettings.__struct_fields__)
