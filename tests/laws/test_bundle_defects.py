"""Defects of the original builder (facts §3.2), each by name, and what this lane does instead."""

from tests.lanes.bundle.chain import digest
from tests.lanes.bundle.scenes import aged, reported, show, two
from tests.lanes.bundle.stage import SLOT_MS, queued, submitted

from laneway.core.jam import Accumulated, PackageKind
from laneway.lanes.bundle.records import BlockDropped
from laneway.lanes.bundle.values import BuildVersion, SubmitPackage, VersionsMade


def test_defect_1_the_item_is_never_lost_when_an_older_version_wins() -> None:
    """There the only item was deleted, so accumulation knew no transactions, and they were bundled
    again."""
    stage = two()
    names = list(stage.accepted)
    slot, payload = stage.named(1), stage.lane.payloads[1]
    show(stage, (1, 1, reported(stage)))
    show(stage, (1, 1, Accumulated(1)))
    stage.hear_all()
    (told,) = stage.ends()
    assert (told.word, told.version, told.hashes) == ("accumulated", 1, (digest(names[0]),))
    assert stage.lane.payloads[1] == payload
    assert (stage.named(1).block, stage.named(1).count) == (slot.block, 1)
    stage.accept(1)
    stage.until(stage.now_ms + 7_000)
    inside = [one.intent for members in stage.lane.members.values() for one in members]
    assert len(inside) == len(set(inside)), "no transaction is in two blocks"


def test_defect_2_a_failed_submission_or_build_is_no_hot_loop() -> None:
    """There a failed one was put back and taken again for the rest of the window."""
    stage = queued()
    stage.now_ms = (stage.chain.best.ref.slot + 1) * SLOT_MS - 3_000
    stage.tick()
    for _ in range(20):
        orders = stage.take(BuildVersion)
        for _ in orders:
            stage.out += orders
            stage.not_made()
            break
        stage.tick(50)
    failed = [one for one in stage.all if getattr(one, "what", "") == "delayed"]
    assert len(failed) <= 2, "a second of tries"
    busy = queued()
    busy.now_ms = (busy.chain.best.ref.slot + 1) * SLOT_MS - 3_000
    busy.tick()
    busy.make()
    for _ in range(20):
        busy.send(PackageKind.CORE_BUSY)
        busy.tick(50)
    assert len(busy.sent) == 1, "again in the next slot"


def test_defect_3_a_dropped_block_is_told_and_takes_those_built_on_it_along() -> None:
    """There later blocks stayed chained on a root that never commits."""
    stage = submitted(3, max_version_retries=1, guarantee_timeout_ms=0, drops_max=99)
    names = list(stage.accepted)
    while not stage.of(BlockDropped):
        stage.slot()
        stage.chain.finalise()
    assert [one.slot for one in stage.of(BlockDropped)] == [1, 2, 3]
    stage.settle()
    assert [(one.word, one.slot) for one in stage.ends()] == [("failed", n) for n in (1, 2, 3)]
    stage.check_places()
    stage.run(12)
    assert stage.chain.line() == names
    assert stage.statuses() == ["confirmed"] * 3
    roots = [one.parent for one in stage.chain.packages.values() if one.number == 2]
    applied = {number: block for number, block, _ in stage.chain.best.applied}
    assert applied[1] in roots


def test_defect_4_time_stands_in_for_nothing_on_the_chain() -> None:
    """There 54 seconds were taken as the death of a package; skipped slots do not age an anchor."""
    stage = submitted()
    stage.until(stage.now_ms + 120_000)
    assert {hash_ for _, hash_ in stage.sent} == {stage.hash_of(1)}
    assert not stage.named(1).queued
    stage.chain.produce([stage.hash_of(1)], skip=20)
    stage.look()
    assert stage.named(1).word == "guaranteed", "the first version landed after two minutes"


def test_defect_5_everything_is_in_rows() -> None:
    """There a restart began at block 1 with nothing known."""
    stage = submitted(3)
    stage.slot(stage.hash_of(1))
    shown = stage.picture()
    stage.crash()
    assert stage.picture() == shown
    stage.accept(1)
    stage.run(10)
    assert stage.statuses() == ["confirmed"] * 4
    assert [number for number, _, _ in stage.chain.best.applied] == [1, 2, 3, 4]


def test_a_guarantee_in_a_block_between_two_looks_is_not_missed() -> None:
    """There only the head block's guarantees were read, once a second."""
    stage = submitted()
    stage.to_slot()
    stage.chain.produce([stage.hash_of(1)])
    stage.chain.produce()
    stage.chain.produce()
    stage.look()
    assert stage.named(1).word == "accumulated"


def test_every_block_that_timed_out_is_seen_and_not_one_at_a_time() -> None:
    stage = submitted(3, order="parallel", guarantee_timeout_ms=0)
    while not stage.version(1).is_dead():
        stage.slot()
    assert [stage.named(number).queued for number in (1, 2, 3)] == [True] * 3


def test_nothing_new_is_submitted_while_the_old_can_land_even_after_a_crash() -> None:
    stage = aged()
    stage.now_ms = (stage.chain.best.ref.slot + 1) * SLOT_MS - 3_000
    stage.tick()
    (order,) = stage.take(BuildVersion)
    stage.post(VersionsMade(stage.now_ms, (stage.version_of(order),)))
    (first,) = [one for one in stage.out if isinstance(one, SubmitPackage)]
    stage.crash()
    (again,) = [one for one in stage.out if isinstance(one, SubmitPackage)]
    assert again.package == first.package, "a crash makes no other bytes"
