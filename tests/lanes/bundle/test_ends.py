"""Versions that came to nothing."""

from typing import Any

import msgspec
import pytest
from tests.lanes.bundle.scenes import aged, fork, reported, show
from tests.lanes.bundle.stage import SLOT_MS, Stage, queued, replace, submitted

from laneway.core.ids import IntentId
from laneway.core.jam import Failed, May, PackageKind, ServiceRefused
from laneway.lanes.bundle import records as r
from laneway.lanes.bundle import values as v
from laneway.lanes.bundle.draft import DecisionDraft
from laneway.lanes.bundle.ends import (
    TO_AUTHORISE,
    UNAUTHORISED,
    UNSETTLED,
    dependants,
    drop,
    gate_ms,
    must_drop,
    over_ms,
    reason_of,
)
from laneway.lanes.bundle.rows import Answered, FactKind
from laneway.lanes.bundle.values import SubmitPackage
from laneway.lanes.common.values import ModeChanged


def requeued(stage: Stage) -> list[r.BlockRequeued]:
    return [one for one in stage.all if isinstance(one, r.BlockRequeued)]


def test_another_version_waits_for_the_death_of_the_first_and_for_54_seconds() -> None:
    stage = submitted()
    first = stage.version(1).first_ms
    assert first is not None
    while not stage.version(1).is_dead():
        stage.slot()
        assert not requeued(stage)
    died = stage.now_ms
    assert died - first < 54_000, "its anchor died first"
    assert over_ms(stage.lane, stage.named(1)) == first + 54_000
    stage.until(first + 53_999)
    assert not requeued(stage)
    assert stage.named(1).word == "submitted"
    stage.until(first + 54_000)
    (again,) = requeued(stage)
    assert (again.faults, again.at_ms) == (1, first + 54_000)
    assert stage.version(1, 2).first_ms == first + 54_000, "a window was open just then"


def test_time_alone_ends_nothing() -> None:
    stage = submitted()
    stage.until(stage.now_ms + 120_000)
    assert not stage.version(1).is_dead(), (
        "slots were skipped, and its anchor is as young as it was"
    )
    assert not requeued(stage)


def test_the_timeout_of_a_guarantee_is_a_setting() -> None:
    stage = submitted(guarantee_timeout_ms=100_000)
    first = stage.version(1).first_ms
    assert first is not None
    while not stage.version(1).is_dead():
        stage.slot()
    stage.until(first + 99_999)
    assert not stage.named(1).queued
    stage.until(first + 100_000)
    assert stage.named(1).queued


def test_the_next_version_carries_the_same_block_on_a_fresh_anchor() -> None:
    stage = aged()
    slot, payload = stage.named(1), stage.lane.payloads[1]
    stage.to_slot(2_500)
    first, second = stage.version(1), stage.version(1, 2)
    assert second.anchor != first.anchor
    assert second.package_hash != first.package_hash
    assert stage.lane.payloads[1] == payload
    assert (stage.named(1).block, stage.named(1).digest) == (slot.block, slot.digest)


def test_a_block_that_is_dead_takes_those_that_name_it_along() -> None:
    stage = submitted(3, guarantee_timeout_ms=60_000)
    while not stage.version(1).is_dead():
        stage.slot()
    facts = [stage.version(number).fact(FactKind.DEAD) for number in (1, 2, 3)]
    assert [fact is not None and fact.by_prerequisite for fact in facts] == [False, True, True]
    assert gate_ms(stage.lane, stage.named(2)) is None
    stage.until(stage.now_ms + 25_000)
    assert [stage.version(number, 2).is_sent() for number in (1, 2, 3)] == [True, True, True]
    assert [stage.named(number).faults for number in (1, 2, 3)] == [1, 0, 0]


def test_those_behind_go_with_the_one_before_them_when_it_has_a_version_already() -> None:
    stage = submitted(2)
    show(stage, (1, 1, Failed(PackageKind.BAD_CONTEXT, "")), may=(May.REBUILD,))
    lane = stage.lane
    child = stage.named(2)
    assert gate_ms(lane, child) is None
    lane.slots[1] = replace(stage.named(1), queued=True)
    assert gate_ms(lane, child) == 0
    del lane.numbers[1]
    assert gate_ms(lane, child) == 0


def test_what_nobody_has_is_built_again_at_once() -> None:
    stage = queued()
    stage.now_ms = (stage.chain.best.ref.slot + 1) * SLOT_MS - 3_000
    stage.tick()
    stage.make()
    stage.send(PackageKind.BAD_CONTEXT, final=True)
    assert stage.named(1).queued
    assert stage.named(1).making is not None
    assert reason_of(stage.version(1)) == "a: bad_context; b: bad_context"


@pytest.mark.parametrize(("kind", "waits"), [("unavailable", False), ("anchor_not_recent", True)])
def test_what_was_guaranteed_is_given_up_after_three_minutes_unless_its_report_was_dropped(
    kind: str, waits: bool
) -> None:
    stage = submitted(guarantee_timeout_ms=0)
    show(stage, (1, 1, reported(stage)))
    assert stage.named(1).overdue_ms == stage.now_ms + 60_000
    show(stage, (1, 1, Failed(PackageKind(kind), "")), may=(May.REBUILD,))
    assert stage.named(1).queued is not waits
    if waits:
        assert gate_ms(stage.lane, stage.named(1)) == stage.named(1).overdue_ms


def test_an_accumulation_that_is_overdue_is_counted_three_times_and_left_to_the_chain() -> None:
    stage = submitted(accumulate_timeout_ms=20_000)
    stage.to_slot()
    stage.chain.produce([stage.hash_of(1)])
    stage.look()
    won = stage.now_ms
    for count in (1, 2, 3):
        stage.chain.produce(ready=())
        stage.until(won + count * 20_000)
        assert stage.named(1).overdue == count
    slot = stage.named(1)
    assert (slot.overdue_ms, slot.word) == (None, "guaranteed")
    assert "overdue" in slot.wait_reason
    stage.until(stage.now_ms + 60_000)
    assert stage.named(1).word == "guaranteed", "the chain does not say that it is dead"
    show(stage, (1, 1, Failed(PackageKind.ANCHOR_NOT_RECENT, "")), may=(May.REBUILD,))
    assert stage.named(1).queued
    assert (stage.named(1).overdue, stage.named(1).overdue_ms) == (0, None)


def test_the_timeout_of_an_accumulation_is_a_setting() -> None:
    stage = submitted(accumulate_timeout_ms=18_000, accumulate_timeouts_max=1)
    show(stage, (1, 1, reported(stage)))
    show(stage, (1, 1, Failed(PackageKind.ANCHOR_NOT_RECENT, "")), may=(May.REBUILD,))
    overdue = stage.named(1).overdue_ms
    assert overdue is not None
    stage.now_ms = overdue
    stage.tick()
    assert stage.named(1).queued


def test_what_nobody_counts_as_overdue_waits_for_the_guarantee_timeout() -> None:
    """A fork took the winner's report back, and with it the time that was waited for it."""
    stage = submitted()
    show(stage, (1, 1, reported(stage)))
    show(stage, (1, 1, Failed(PackageKind.ANCHOR_NOT_RECENT, "")), may=(May.REBUILD,))
    stage.put(replace(stage.named(1), overdue_ms=None))
    first = stage.version(1).first_ms
    assert first is not None
    assert gate_ms(stage.lane, stage.named(1)) == first + 54_000
    stage.now_ms = first + 54_000
    stage.tick()
    assert requeued(stage)


def test_only_what_is_guaranteed_is_said_to_be_overdue() -> None:
    stage = submitted(accumulate_timeout_ms=5_000, accumulate_timeouts_max=9)
    show(stage, (1, 1, reported(stage)))
    show(stage, (1, 1, Failed(PackageKind.ANCHOR_NOT_RECENT, "")), may=(May.REBUILD,))
    stage.until(stage.now_ms + 5_000)
    slot = stage.named(1)
    assert (slot.overdue, slot.winner, slot.wait_reason) == (1, 0, "")


def test_what_the_service_refused_waits_for_the_guarantee_timeout() -> None:
    stage = submitted()
    show(stage, (1, 1, reported(stage)))
    show(stage, (1, 1, ServiceRefused("expired", 1)))
    first = stage.version(1).first_ms
    assert first is not None
    assert gate_ms(stage.lane, stage.named(1)) == first + 54_000


def test_a_fork_may_bring_a_version_back_that_others_have() -> None:
    stage = aged()
    assert stage.named(1).queued
    fork(stage, 5)
    parent = stage.chain.best
    for _ in range(6):
        parent = stage.chain.states[parent.parent]
    stage.chain.best = stage.chain.produce(parent=parent, skip=9)
    stage.look()
    assert not stage.version(1).is_dead()
    assert (stage.named(1).queued, stage.named(1).word) == (False, "submitted")
    assert any(isinstance(one, r.BlockRevived) for one in stage.all)
    assert stage.named(1).wait_reason == "", "it does not wait for another version any more"


def test_what_was_built_for_nothing_is_forgotten() -> None:
    stage = aged()
    stage.crash(submit_from_ms=1_500)
    stage.to_slot(2_500)
    assert stage.lane.version(1, 2) is not None
    parent = stage.chain.best
    for _ in range(6):
        parent = stage.chain.states[parent.parent]
    stage.chain.best = stage.chain.produce(parent=parent, skip=9)
    stage.look()
    assert stage.lane.version(1, 2) is None
    assert stage.named(1).version == 1


# Dropping.


@pytest.mark.slow
def test_a_block_is_dropped_after_five_versions_of_its_own_that_are_dead_for_good() -> None:
    stage = submitted(2, guarantee_timeout_ms=0, block_interval_ms=10**9)
    names = list(stage.accepted)
    for _ in range(60):
        stage.slot()
        if any(isinstance(one, r.BlockDropped) for one in stage.all):
            break
        stage.chain.finalise(behind=2)
    dropped = [one for one in stage.all if isinstance(one, r.BlockDropped)]
    assert [(one.slot, one.is_cause) for one in dropped] == [(1, True), (2, False)]
    assert max(version for _, version in versions(stage)) == 5
    assert [*stage.lane.bound, *stage.lane.returned] == names
    assert stage.named(1).id == 3, "its number is built from the pool"
    assert [one.word for one in stage.ends()] == ["failed", "failed"]
    assert all(one.hashes for one in stage.heard)
    stage.check_places()


def versions(stage: Stage) -> list[tuple[int, int]]:
    seen = [one for one in stage.all if isinstance(one, r.OfVersion)]
    return sorted({(one.slot, one.version) for one in seen})


def test_the_number_of_versions_is_a_setting() -> None:
    stage = submitted(max_version_retries=2, guarantee_timeout_ms=0)
    assert not must_drop(stage.lane, stage.named(1))
    stage.put(replace(stage.named(1), faults=1))
    assert must_drop(stage.lane, stage.named(1))


@pytest.mark.parametrize("reason", ["wrong_parent", "expired"])
def test_a_block_that_no_version_can_bring_is_dropped_at_once(reason: str) -> None:
    stage = submitted(guarantee_timeout_ms=0)
    show(stage, (1, 1, ServiceRefused(reason, 1)))
    assert must_drop(stage.lane, stage.named(1)) is (reason == "wrong_parent")
    stage.chain.finalise()
    show(stage)
    assert (1 in stage.lane.slots) is (reason == "expired")


def test_a_lane_whose_authorizer_the_service_does_not_take_halts_with_what_to_do() -> None:
    """The first time, not after `drops_max` blocks; its transactions are in the pool in order."""
    stage = submitted(2, order="parallel", guarantee_timeout_ms=0)
    names = list(stage.accepted)
    refused = ServiceRefused("not_authorised", 0)
    show(stage, (1, 1, refused), (2, 1, refused))
    assert stage.lane.head.mode == "running", "a fork could take it back"
    stage.chain.finalise()
    show(stage)
    head = stage.lane.head
    assert (head.mode, head.drops, head.reason) == ("halted", 1, UNAUTHORISED)
    assert "set `authorizer`" in head.reason
    assert (stage.lane.slots, list(stage.lane.returned)) == ({}, names)
    assert not requeued(stage)


@pytest.mark.parametrize("reason", ["wrong_parent", "wrong_parent" + "x" * 400])
def test_a_lane_that_halts_for_dropped_blocks_says_what_to_do(reason: str) -> None:
    stage = submitted(2, guarantee_timeout_ms=0, drops_max=1)
    draft = DecisionDraft(stage.lane, stage.now_ms)
    drop(draft, stage.named(1), reason)
    (halted,) = [one for one in draft.decision().records if isinstance(one, ModeChanged)]
    assert halted.mode == "halted"
    assert halted.reason.startswith("1 blocks were dropped one after the other: wrong_parent")
    assert halted.reason.endswith("; see docs/rollup-operations.md, then resume the lane")


UNSIGNED = "the authorizer refuses what is not signed with the key in its config"


@pytest.mark.parametrize(
    ("kind", "words", "is_named"),
    [
        ("refine_failed", UNSIGNED, True),
        ("unauthorized", "core without authorizer", True),
        ("refine_failed", "out of gas", False),
        ("core_busy", "the authorizer waits", False),
    ],
)
def test_what_nodes_say_of_the_authorizer_is_the_reason_and_halts_the_lane(
    kind: str, words: str, is_named: bool
) -> None:
    """Not that the anchor grew too old meanwhile; the first time, for the next block would go the
    same way."""
    stage = refused_by_all(kind, words)
    version = stage.version(1)
    said = f"{kind}: {words} (b); {TO_AUTHORISE}"
    assert (reason_of(version) == said) is is_named
    stage.chain.finalise()
    show(stage)
    assert 1 not in stage.lane.slots
    head = stage.lane.head
    assert (head.mode, head.drops) == ("halted" if is_named else "running", 1)
    assert (head.reason == said) is is_named


def test_what_one_node_took_is_not_called_unauthorised() -> None:
    stage = refused_by_all("unauthorized", "core without authorizer")
    held = replace(stage.version(1), is_held=True)
    assert "unauthorized" not in reason_of(held)


def refused_by_all(kind: str, words: str) -> Stage:
    """A block whose one package no node took, in words of theirs, until its anchor was too old."""
    stage = submitted(max_version_retries=1, guarantee_timeout_ms=0)
    refused = Answered("b", 0, kind, "refused", final=False, words=words)
    stage.put(replace(stage.version(1), is_held=False, answers=(refused,)))
    while not stage.version(1).is_dead():
        stage.slot()
        stage.put(replace(stage.version(1), is_held=False, answers=(refused,)))
    return stage


def test_a_reason_that_nobody_knows_is_one_for_another_version_and_not_for_ever() -> None:
    """As many versions as are allowed are made, and no more."""
    stage = submitted(guarantee_timeout_ms=0, max_version_retries=2)
    show(stage, (1, 1, ServiceRefused("not_known_yet", 1)))
    assert [one.faults for one in requeued(stage)] == [1]
    assert must_drop(stage.lane, stage.named(1))


def test_what_was_told_to_be_accumulated_is_taken_back_before_it_fails() -> None:
    """A fork that is final by the time it is seen takes the accumulation and the block at once."""
    stage = submitted(max_version_retries=1, guarantee_timeout_ms=0)
    for _ in range(3):
        stage.slot_all()
    assert stage.named(1).word == "accumulated"
    fork(stage, 3)
    for _ in range(8):
        stage.chain.produce()
    stage.chain.finalise()
    stage.look()
    stage.hear_all()
    assert 1 not in stage.lane.slots
    assert [one.word for one in stage.ends()] == ["accumulated", "restored", "failed"]


def test_a_block_is_not_dropped_while_a_fork_could_bring_it_back() -> None:
    stage = submitted(max_version_retries=1, guarantee_timeout_ms=0)
    while not stage.version(1).is_dead():
        stage.slot()
    assert stage.named(1).wait_reason == UNSETTLED
    assert over_ms(stage.lane, stage.named(1)) is None
    stage.slot()
    assert 1 in stage.lane.slots
    stage.chain.finalise()
    stage.look()
    assert 1 not in stage.lane.slots


def test_a_dropped_number_is_built_from_the_pool_and_no_number_stays_empty() -> None:
    stage = submitted(2, max_version_retries=1, guarantee_timeout_ms=0)
    names = list(stage.accepted)
    while 1 in stage.lane.slots:
        stage.slot()
        stage.chain.finalise()
    stage.run(12)
    assert stage.statuses() == ["confirmed", "confirmed"]
    assert stage.chain.line() == names
    assert [number for number, _, _ in stage.chain.best.applied] == [1, 2]


def test_what_was_accumulated_stays_when_a_block_before_it_is_dropped() -> None:
    stage = submitted(3, order="parallel", keeps_records=False)
    stage.chain.orders_blocks = False
    stage.slot(stage.hash_of(3))
    stage.slot()
    assert stage.words() == {1: "submitted", 2: "submitted", 3: "accumulated"}
    assert dependants(stage.lane, stage.named(1)) == [], "and what is out may land by itself"
    stage.crash(keeps_records=True)
    assert [one.number for one in dependants(stage.lane, stage.named(1))] == [2, 3]


def test_a_block_that_is_being_built_goes_without_a_word() -> None:
    stage = submitted(1, max_version_retries=1, guarantee_timeout_ms=0)
    while not stage.version(1).is_dead():
        stage.slot()
    stage.accept(1)
    stage.pull()
    stage.chain.finalise()
    stage.tick(stage.lane.head.look_ms - stage.now_ms if stage.lane.head.look_ms else 0)
    seen: Any = stage.look
    seen()
    assert [(one.slot, one.is_cause) for one in stage.told if isinstance(one, r.BlockDropped)] == [
        (1, True),
        (2, False),
    ]
    stage.hear_all()
    assert [one.slot for one in stage.ends()] == [1]


def test_a_lane_that_drops_one_block_after_the_other_halts() -> None:
    stage = queued()
    for _ in range(3):
        stage.now_ms = (stage.now_ms // SLOT_MS + 1) * SLOT_MS - 3_000
        stage.tick()
        stage.make()
        stage.send(PackageKind.MALFORMED, final=True, may=(May.DROP,))
        if stage.lane.head.mode == "running":
            stage.now_ms += 6_000
            stage.tick()
            stage.build()
    head = stage.lane.head
    assert (head.mode, head.drops, head.drops_total) == ("halted", 3, 3)
    assert "malformed" in head.reason
    stage.tell("resume")
    assert (head.mode, head.drops) == ("running", 0)
    assert [one.mode for one in stage.all if isinstance(one, ModeChanged)] == ["halted", "running"]


def unpackable(stage: Stage, *at_fault: IntentId, slots: int = 60) -> list[int]:
    """How many transactions were in each block of which the builder could make no package: one
    with one of these. No other block is refused one."""
    sizes: list[int] = []

    def make() -> None:
        for order in stage.take(v.BuildVersion):
            _, _, inside, _ = msgspec.msgpack.decode(order.payload)
            made: v.VersionBuilt | v.VersionNotBuilt = stage.version_of(order)
            if any(one in at_fault for one in inside):
                sizes.append(len(inside))
                made = v.VersionNotBuilt(order.slot, order.order, "it raised KeyError(7)", True)
            stage.post(v.VersionsMade(stage.now_ms, (made,)))

    stage.make = make  # type: ignore[method-assign, assignment]
    stage.pull()
    stage.run(slots)
    return sizes


def test_a_transaction_that_no_package_can_be_made_with_is_refused_and_all_others_settle() -> None:
    stage = Stage(block_txs_max=8)
    names = stage.accept(20)
    sizes = unpackable(stage, names[5])
    assert (sizes[0], sizes[-1], sizes.count(1)) == (8, 1, 1), "less is tried, down to that one"
    assert len(sizes) <= 6
    assert stage.results[names[5]].status == "refused"
    said = "no package can be made of a block with it: it raised KeyError(7)"
    assert stage.results[names[5]].reason == said
    others = [name for name in names if name != names[5]]
    assert [stage.results[name].status for name in others] == ["confirmed"] * 19
    assert stage.chain.line() == others
    head = stage.lane.head
    assert (head.mode, head.drops, head.txs_max, head.unpacked) == ("running", 0, 0, 0)
    assert max([one.slot.count for one in stage.of(r.SlotClaimed)][-2:]) > 1, "blocks are full"


def test_one_that_the_builder_puts_off_alone_hides_nobody_from_whom_no_package_can_be_made() -> (
    None
):
    """It is in a block only beside the other, whose package fails each time."""
    stage = Stage(block_txs_max=8)
    late, at_fault = stage.accept(2)
    built = stage.built

    def built_with_company(order: v.BuildBlock) -> v.BlockBuilt:
        is_alone = order.intents == (late,) and at_fault not in stage.results
        return built(order, **({"t0": "deferred"} if is_alone else {}))

    stage.built = built_with_company  # type: ignore[method-assign, assignment]
    assert unpackable(stage, at_fault) == [2, 1]
    assert stage.results[at_fault].status == "refused"
    assert stage.results[late].status == "confirmed"


def test_a_builder_that_makes_no_package_at_all_halts_the_lane() -> None:
    stage = Stage(block_txs_max=8)
    names = stage.accept(12)
    unpackable(stage, *names)
    head = stage.lane.head
    assert head.mode == "halted"
    assert head.reason.startswith("no package could be made of 3 transactions one after the other")
    assert head.reason.endswith("; fix the builder, and resume the lane")
    assert stage.statuses().count("refused") == 2
    stage.crash()
    stage.tell("resume")
    stage.make = Stage.make.__get__(stage)  # type: ignore[method-assign]
    stage.run(30)
    # The third one failed before, and is not asked for again.
    assert sorted(stage.statuses()) == ["confirmed"] * 9 + ["refused"] * 3


def test_what_was_sealed_earlier_is_executed_once_more_before_it_is_refused() -> None:
    """Another release of the rules may not read what one before it sealed."""
    stage = queued()
    stage.now_ms = (stage.chain.best.ref.slot + 1) * SLOT_MS - 3_000
    stage.tick()
    (name,) = stage.accepted
    stage.not_made("the payload is that of another block", final=True)
    assert name not in stage.results
    stage.run(10)
    assert stage.statuses() == ["confirmed"]


def test_what_stands_on_a_block_without_a_package_goes_with_it() -> None:
    stage = Stage(block_txs_max=2, order="parallel")
    names = stage.accept(8)
    unpackable(stage, names[1])
    assert stage.results[names[1]].status == "refused"
    assert stage.chain.line() == [name for name in names if name != names[1]]


def test_a_hopeless_block_waits_until_what_is_out_is_dead() -> None:
    stage = aged()
    stage.until((stage.chain.best.ref.slot + 1) * SLOT_MS - 3_001)
    stage.tick(1)
    stage.not_made("its state is gone", final=True)
    assert stage.named(1).is_hopeless
    stage.chain.finalise()
    stage.look()
    assert 1 not in stage.lane.slots


def test_a_submission_under_way_is_no_reason_to_wait() -> None:
    stage = aged()
    assert stage.named(1).id not in stage.lane.over, "it is queued again"
    waiting = aged(guarantee_timeout_ms=600_000)
    assert waiting.named(1).id in waiting.lane.over
    assert not [one for one in stage.out if isinstance(one, SubmitPackage)]
    assert any(isinstance(one, r.StatusChanged) and one.word == "queued" for one in stage.all)
