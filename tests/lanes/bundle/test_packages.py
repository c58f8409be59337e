"""Versions of blocks."""

from itertools import pairwise
from typing import Any

import pytest
from tests.lanes.bundle.chain import digest
from tests.lanes.bundle.scenes import two
from tests.lanes.bundle.stage import SLOT_MS, Stage, due, queued, replace, submitted

from laneway.core.errors import BuildFailed
from laneway.core.jam import May, PackageAnswer, PackageKind, SlotClock, SubmissionAnswers
from laneway.core.outcome import Outcome
from laneway.lanes.bundle import records as r
from laneway.lanes.bundle import values as v
from laneway.lanes.bundle.limits import STUCK_TRIES_MIN
from laneway.lanes.bundle.packages import (
    TOO_SLOW,
    anchor_offset,
    is_cut_off,
    is_lowest_waiting,
    is_open,
    is_skewed,
    may_act,
    opens_ms,
    retry_ms,
)
from laneway.lanes.bundle.show import read_head, stuck


def builds(stage: Stage) -> list[v.BuildVersion]:
    return [one for one in stage.out if isinstance(one, v.BuildVersion)]


def sends(stage: Stage) -> list[v.SubmitPackage]:
    return [one for one in stage.out if isinstance(one, v.SubmitPackage)]


def at(stage: Stage, before_ms: int) -> None:
    """So long before the next timeslot, with nobody answering."""
    stage.now_ms = (stage.chain.best.ref.slot + 1) * SLOT_MS - before_ms
    stage.tick()


def test_a_version_is_built_three_to_two_seconds_before_the_next_timeslot() -> None:
    stage = queued()
    for before_ms in (3_001, 1_999, 1_000):
        at(stage, before_ms)
        assert builds(stage) == []
    at(stage, 3_000)
    (order,) = builds(stage)
    slot = stage.named(1)
    assert (order.slot, order.version, order.number) == (1, 1, 1)
    assert (order.block, order.digest, order.pre_root) == (slot.block, slot.digest, slot.pre_root)
    assert order.payload == stage.lane.payloads[1]
    assert (order.prerequisites, order.core, order.anchor_offset) == ((), 0, 1)


def test_a_version_is_submitted_three_to_one_second_before_the_next_timeslot() -> None:
    stage = queued()
    at(stage, 3_000)
    stage.now_ms += 2_001
    stage.make()
    assert sends(stage) == []
    assert stage.lane.head.window_ms == stage.now_ms - 1 + 4_000
    stage.tick(4_000 - 1)
    assert len(sends(stage)) == 1
    stage = queued()
    at(stage, 3_000)
    stage.now_ms += 2_000
    stage.make()
    assert len(sends(stage)) == 1


def test_the_bytes_are_durable_before_they_are_submitted() -> None:
    stage = queued()
    at(stage, 2_500)
    stage.make()
    (sealed,) = [one for one in stage.told if isinstance(one, r.VersionSealed)]
    (order,) = sends(stage)
    assert sealed.version.package_hash == order.package_hash
    assert ("aux", "package/1/1") in stage.rows
    assert order.nodes == ("a", "b")
    assert order.cores == (0, 1, 2, 3)
    assert stage.version(1).nodes == ("a", "b")
    stage.crash()
    (again,) = sends(stage)
    assert again.package == order.package


def test_blocks_are_popped_the_lowest_first_and_each_names_the_one_before_it() -> None:
    stage = queued(3)
    at(stage, 2_500)
    assert [order.slot for order in builds(stage)] == [1]
    stage.make()
    assert [order.slot for order in sends(stage)] == [1, 2, 3]
    assert stage.version(2).prerequisites == (stage.hash_of(1),)
    assert stage.version(3).prerequisites == (stage.hash_of(2),)


def test_in_parallel_mode_all_are_popped_at_once() -> None:
    stage = queued(3, order="parallel")
    at(stage, 2_500)
    assert [order.slot for order in builds(stage)] == [1, 2, 3]
    assert [order.core for order in builds(stage)] == [0, 1, 2]
    stage.make()
    assert all(stage.version(number).prerequisites == () for number in (1, 2, 3))


def test_no_more_are_popped_than_may_be_in_flight() -> None:
    stage = queued(5, cores=(0, 1, 2, 3, 4, 5))
    at(stage, 2_500)
    stage.make()
    assert len(sends(stage)) == 3
    assert queued(5, max_inflight=1).settings.max_inflight == 1


def test_no_more_are_popped_than_there_are_cores() -> None:
    stage = queued(3, cores=(4,))
    at(stage, 2_500)
    stage.make()
    assert [order.cores for order in sends(stage)] == [(4,)]
    assert builds(stage) == []


def test_anchors_are_older_for_the_first_bundles_by_seed_000s_table() -> None:
    stage = queued(5, order="parallel", anchor_policy="table", cores=(0, 1), max_inflight=9)
    at(stage, 2_500)
    assert [order.anchor_offset for order in builds(stage)] == [6, 6]
    stage = queued(5, anchor_policy="formula", order="parallel", cores=(0, 1, 2, 3, 4))
    at(stage, 2_500)
    assert [order.anchor_offset for order in builds(stage)] == [6, 6, 6]


@pytest.mark.parametrize(("skew_ms", "acts"), [(1_000, True), (1_001, False), (-1_001, False)])
def test_with_a_clock_that_is_off_nothing_is_built_or_submitted(skew_ms: int, acts: bool) -> None:
    stage = queued()
    stage.skew_ms = skew_ms
    stage.look()
    at(stage, 2_500)
    assert is_skewed(stage.lane) is not acts
    assert bool(builds(stage)) is acts
    stage.settle()
    stage.skew_ms = 1_001
    sent = len(stage.sent)
    stage.slot()
    stage.slot()
    assert len(stage.sent) - sent == 0


def test_without_a_clock_nothing_is_built() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    stage.build()
    assert not may_act(stage.lane)
    at(stage, 2_500)
    assert builds(stage) == []
    unknown = queued()
    unknown.skew_ms = None
    unknown.look()
    assert may_act(unknown.lane)


def test_a_paused_lane_builds_and_submits_nothing() -> None:
    stage = queued()
    stage.tell("pause")
    at(stage, 2_500)
    assert builds(stage) == []
    stage.tell("resume")
    assert len(builds(stage)) == 1


def test_an_answer_that_comes_too_late_makes_no_version() -> None:
    stage = queued()
    at(stage, 3_000)
    (order,) = stage.take(v.BuildVersion)
    built = stage.version_of(order)
    for other in (replace(built, order=99), replace(built, slot=99)):
        stage.post(v.VersionsMade(stage.now_ms, (other,)))
        assert stage.told == []
    stage.post(v.VersionsMade(stage.now_ms, (built,)))
    assert stage.version(1).version == 1
    stage.post(v.VersionsMade(stage.now_ms, (built,)))
    assert not any(isinstance(one, r.VersionSealed) for one in stage.told)
    stage.out.append(order)
    stage.not_made()
    assert stage.told == []


def test_a_version_that_could_not_be_built_is_tried_later_and_not_in_a_hot_loop() -> None:
    stage = queued()
    at(stage, 3_000)
    stage.not_made("no snapshot")
    slot = stage.named(1)
    assert (slot.making, slot.retry_ms, slot.wait_reason) == (
        None,
        stage.now_ms + 1_000,
        "no snapshot",
    )
    stage.tick(500)
    assert builds(stage) == []
    assert stage.lane.head.window_ms == stage.now_ms + 500
    stage.tick(500)
    assert len(builds(stage)) == 1
    stage.not_made()
    assert stage.named(1).retry_ms == stage.now_ms + 2_000
    assert stage.lane.head.window_ms == stage.now_ms + 5_000


@pytest.mark.parametrize(
    ("field", "why"),
    [
        ("block", f"another block than the one sealed; {BuildFailed.REMEDY}"),
        ("package_hash", "built before"),
    ],
)
def test_a_version_that_is_not_what_was_sealed_or_is_known_is_not_taken(
    field: str, why: str
) -> None:
    stage = submitted()
    stage.apply([])
    stage = queued(2, max_inflight=1)
    stage.to_slot(2_500)
    stage.slot(stage.hash_of(1))
    at(stage, 2_500)
    (order,) = stage.take(v.BuildVersion)
    wrong = {"block": digest("other"), "package_hash": stage.hash_of(1)}[field]
    built = replace(stage.version_of(order), **{field: wrong})
    stage.post(v.VersionsMade(stage.now_ms, (built,)))
    assert why in stage.named(2).wait_reason
    assert stage.lane.of(2) == ()


def test_what_names_a_package_that_is_another_by_now_is_popped_again() -> None:
    stage = queued(2)
    at(stage, 3_000)
    (order,) = stage.take(v.BuildVersion)
    stage.post(v.VersionsMade(stage.now_ms, (stage.version_of(order),)))
    stage.send(PackageKind.BAD_CONTEXT, final=True)
    (order,) = stage.take(v.BuildVersion, 1)
    assert order.slot == 2
    stage.post(v.VersionsMade(stage.now_ms, (stage.version_of(order),)))
    assert stage.lane.of(2) == ()
    assert not any(isinstance(one, r.VersionSealed) for one in stage.told)
    assert [one.slot for one in builds(stage)] == [1]


def test_what_was_sealed_and_not_submitted_is_built_again_when_its_anchor_is_old() -> None:
    stage = queued(1, submit_from_ms=1_500)
    stage.to_slot(2_500)
    before = stage.hash_of(1)
    stage.tell("pause")
    for _ in range(7):
        stage.slot()
    stage.tell("resume")
    stage.until((stage.chain.best.ref.slot + 1) * SLOT_MS - 1_200)
    assert any(isinstance(one, r.VersionDiscarded) for one in stage.all)
    assert stage.lane.of(1) == ()
    stage.slot()
    stage.to_slot(1_200)
    assert stage.version(1).is_sent()
    assert stage.hash_of(1) != before
    assert stage.named(1).version == 1, "nobody ever heard of the first one"


def test_what_was_sealed_is_built_again_when_it_names_another_package_by_now() -> None:
    stage = queued(2, submit_from_ms=1_500)
    stage.to_slot(2_500)
    assert not stage.version(2).is_sent()
    stage.now_ms = (stage.chain.best.ref.slot + 1) * SLOT_MS - 1_500
    stage.tick()
    stage.take(v.SubmitPackage)
    # The first is refused by all while the second was not submitted, as after a pause.
    version = replace(stage.version(1), offering=False, is_refused=True)
    other = replace(stage.version(2), offering=False, first_ms=None, sends=0, nodes=(), serial=0)
    again = replace(stage.named(2), queued=True)
    stage.put(version, other, again)
    stage.tick(1)
    assert stage.lane.of(2) == ()
    (gone,) = [one for one in stage.told if isinstance(one, r.VersionDiscarded)]
    assert "names" in gone.reason


def test_the_same_bytes_are_submitted_every_six_seconds_and_eight_times_in_all() -> None:
    stage = submitted()
    for _ in range(7):
        stage.slot()
    before = {hash_ for _, hash_ in stage.sent}
    times = [at_ms for at_ms, _ in stage.sent]
    assert len(before) == 1
    assert [later - early for early, later in pairwise(times)] == [6_000] * (len(times) - 1)
    assert 1 < len(times) <= 8
    one = submitted(max_submit_retries=2, recent_blocks=100)
    for _ in range(4):
        one.slot()
    assert len(one.sent) == 2


def test_the_pause_between_submissions_is_a_setting() -> None:
    stage = submitted(submit_retry_ms=12_000)
    for _ in range(5):
        stage.slot()
    times = [at_ms for at_ms, _ in stage.sent]
    assert [later - early for early, later in pairwise(times)] == [12_000] * 2


def test_what_is_guaranteed_is_not_submitted_again() -> None:
    stage = submitted()
    stage.slot(stage.hash_of(1))
    for _ in range(3):
        stage.slot()
    assert len(stage.sent) == 1


def answer(stage: Stage, *answers: PackageAnswer, final: bool = False) -> None:
    (order,) = stage.take(v.SubmitPackage)
    result = v.Submitted(order.slot, order.version, order.serial, SubmissionAnswers(answers, final))
    stage.post(v.PackagesSubmitted(stage.now_ms, (result,)))


def said(node: str, kind: PackageKind, **fields: Any) -> PackageAnswer:
    known = {PackageKind.TAKEN: Outcome.ACCEPTED, PackageKind.SILENT: Outcome.UNKNOWN}
    outcome = known.get(kind, Outcome.REFUSED)
    return PackageAnswer(node=node, core=0, kind=kind, outcome=outcome, **fields)


def offering() -> Stage:
    stage = queued()
    at(stage, 3_000)
    stage.make()
    return stage


def test_a_package_is_where_a_node_took_it() -> None:
    stage = offering()
    answer(stage, replace(said("a", PackageKind.TAKEN), core=3))
    assert (stage.version(1).core, stage.version(1).is_held) == (3, True)
    stage = offering()
    answer(stage, replace(said("a", PackageKind.TAKEN), core=None))
    assert stage.version(1).core == 0


def test_an_unknown_answer_counts_as_sent() -> None:
    stage = offering()
    stage.send(PackageKind.SILENT)
    assert stage.version(1).is_held
    stage = offering()
    stage.send(PackageKind.CORE_BUSY)
    assert not stage.version(1).is_held
    assert not stage.version(1).is_dead()


def test_what_every_node_refused_for_good_is_built_again_at_once() -> None:
    stage = offering()
    stage.send(PackageKind.BAD_CONTEXT, final=True)
    assert stage.version(1).is_refused
    (order,) = builds(stage)
    assert order.version == 2


def test_a_refusal_by_some_nodes_proves_nothing() -> None:
    stage = offering()
    answer(stage, said("a", PackageKind.BAD_CONTEXT, final=True), final=True)
    assert not stage.version(1).is_refused


def test_a_refusal_after_an_unknown_answer_proves_nothing() -> None:
    stage = offering()
    stage.send(PackageKind.SILENT)
    stage.look()
    stage.to_slot(3_000)
    stage.chain.produce()
    stage.now_ms += 6_000 + 3_000
    stage.tick()
    stage.send(PackageKind.BAD_CONTEXT, final=True)
    assert not stage.version(1).is_refused


def test_a_refusal_of_what_was_being_submitted_before_a_crash_proves_nothing() -> None:
    stage = offering()
    stage.crash()
    stage.send(PackageKind.BAD_CONTEXT, final=True)
    assert not stage.version(1).is_refused
    assert stage.version(1).is_held


def test_a_submission_that_ended_with_a_process_while_the_lane_was_paused_is_due_again() -> None:
    stage = offering()
    stage.tell("pause")
    stage.crash(max_submit_retries=1)
    lane, slot = stage.lane, stage.named(1)
    assert is_cut_off(lane, stage.version(1))
    assert retry_ms(lane, slot, stage.version(1)) == (stage.version(1).last_ms or 0) + 6_000
    answered = replace(stage.version(1), offering=False, serial=2)
    assert not is_cut_off(lane, answered)
    assert retry_ms(lane, slot, answered) is None


def test_a_package_that_no_version_can_mend_is_hopeless() -> None:
    for may, hopeless in (((May.DROP,), True), ((May.DROP, May.REBUILD), False)):
        stage = offering()
        stage.send(PackageKind.MALFORMED, final=True, may=may)
        assert (1 in stage.lane.slots) is not hopeless


def test_an_answer_to_an_earlier_submission_says_nothing() -> None:
    stage = offering()
    (order,) = sends(stage)
    stage.send()
    for serial, version in ((1, 1), (9, 1), (1, 9)):
        told = SubmissionAnswers((said("a", PackageKind.TAKEN),), False)
        result = v.Submitted(order.slot, version, serial, told)
        stage.post(v.PackagesSubmitted(stage.now_ms, (result,)))
        assert stage.told == []


def test_while_one_submission_is_out_the_answer_to_another_says_nothing() -> None:
    stage = offering()
    (order,) = sends(stage)
    told = SubmissionAnswers((said("a", PackageKind.TAKEN),), False)
    result = v.Submitted(order.slot, order.version, order.serial - 1, told)
    stage.post(v.PackagesSubmitted(stage.now_ms, (result,)))
    assert stage.version(1).offering


def test_answers_are_kept_with_their_words() -> None:
    stage = offering()
    long = "x" * 1_000
    answer(
        stage,
        said("a", PackageKind.QUEUE_FULL, words=long),
        said("b", PackageKind.CORE_BUSY, words="busy"),
    )
    first, second = stage.version(1).answers
    assert (first.node, first.kind, len(first.words)) == ("a", "queue_full", 60)
    assert (second.node, second.kind, second.words) == ("b", "core_busy", "busy")


def test_what_one_node_took_is_held_whatever_the_others_refused() -> None:
    refused = said("a", PackageKind.BAD_CONTEXT, final=True)
    for other in (PackageKind.TAKEN, PackageKind.SILENT):
        for answers in (
            (refused, said("b", other)),
            (replace(said("b", other), node="a"), refused),
        ):
            stage = offering()
            answer(stage, *answers, final=True)
            assert (stage.version(1).is_held, stage.version(1).is_refused) == (True, False)


def test_of_many_answers_those_of_nodes_that_took_it_are_kept() -> None:
    stage = offering()
    kinds = {
        "a": PackageKind.TAKEN,
        "b": PackageKind.SILENT,
        "c": PackageKind.CORE_BUSY,
        "d": PackageKind.CORE_BUSY,
    }
    answer(stage, *[said(node, kind) for node, kind in kinds.items()])
    assert [one.node for one in stage.version(1).answers] == ["b", "a"]


def test_a_payload_of_which_no_version_can_be_made_is_hopeless() -> None:
    stage = Stage(block_txs_max=2)
    stage.chain.produce()
    stage.now_ms = stage.chain.best.ref.slot * SLOT_MS
    stage.accept(2)
    stage.pull()
    stage.build()
    stage.look()
    at(stage, 3_000)
    stage.not_made("it is too large", final=True)
    assert 1 not in stage.lane.slots
    stage.tick(SLOT_MS)
    assert stage.named(1).building, "its number is built from the pool"
    assert stage.named(1).count == 1, "with less in it"


@pytest.mark.parametrize("counts", ["submitted", "submitted_and_guaranteed"])
def test_the_lowest_block_is_kept_waiting_by_none_above_it(counts: str) -> None:
    """One above it that is in flight may wait for it, and would fill the only place for ever."""
    stage = queued(3, order="parallel", max_inflight=1, inflight_counts=counts)
    at(stage, 3_000)
    stage.not_made()
    (order,) = builds(stage)
    assert order.number == 2
    stage.make()
    stage.send()
    stage.tick(1_000)
    (order,) = builds(stage)
    assert order.number == 1, "and the third waits for a place"


def test_a_line_of_packages_that_was_begun_in_the_window_is_made_to_its_end() -> None:
    """A builder that takes 300 ms for each makes six while they can be submitted, and not four."""
    stage = queued(8, max_inflight=8, cores=tuple(range(8)))
    at(stage, 3_000)
    made = 0
    for _ in range(10):
        orders = builds(stage)
        stage.now_ms += 300
        if orders:
            made += len(orders)
            stage.out = [one for one in stage.out if one not in orders]
            versions = tuple(stage.version_of(order) for order in orders)
            stage.post(v.VersionsMade(stage.now_ms, versions))
        else:
            stage.tick()
    assert made == 7
    late = [one.built_ms for slot in stage.lane.in_order() for one in stage.lane.of(slot.id)]
    end_ms = (stage.chain.best.ref.slot + 1) * SLOT_MS
    assert len([built_ms for built_ms in late if end_ms - built_ms >= 1_000]) == 6


def test_behind_the_window_no_line_is_begun() -> None:
    stage = queued(2)
    at(stage, 1_500)
    assert builds(stage) == []
    stage = submitted()
    stage.chain.produce()
    stage.now_ms = stage.chain.best.ref.slot * SLOT_MS
    stage.look()
    stage.apply(due(stage))
    stage.accept(1)
    stage.pull()
    stage.build()
    at(stage, 1_500)
    assert builds(stage) == [], "the one before it was made in another window"


def test_a_block_whose_version_died_on_a_core_is_tried_on_another() -> None:
    """The guarantors of a core may be silent."""
    stage = two()
    assert [one.core for one in stage.lane.of(1)] == [0, 1]
    alone = two(cores=(2,))
    assert [one.core for one in alone.lane.of(1)] == [2, 2], "there is no other"


def aged(**settings: Any) -> Stage:
    """A block that waits, on a chain of which the lane knows as much as anchors need."""
    stage = queued(**settings)
    for _ in range(9):
        stage.chain.produce()
    stage.now_ms = stage.chain.best.ref.slot * SLOT_MS
    stage.look()
    return stage


def test_a_version_that_is_stale_as_soon_as_it_is_built_is_not_built_again_at_once() -> None:
    stage = aged(anchor_policy="table", anchor_age_blocks_max=2)
    stage.now_ms = (stage.chain.best.ref.slot + 1) * SLOT_MS - 3_000
    stage.tick()
    stage.make()
    slot = stage.named(1)
    assert stage.lane.of(1) == ()
    assert slot.retry_ms == stage.now_ms + 1_000
    assert slot.wait_reason == TOO_SLOW
    stage.tick(1_000)
    assert len(stage.take(v.BuildVersion)) == 1


def slow_builder(stage: Stage, late_ms: int, slots: int) -> int:
    """How many versions a builder makes that takes so long for each."""
    made, answer_ms, answer = 0, 0, v.VersionsMade(0, ())
    for _ in range(slots):
        end_ms = (stage.chain.best.ref.slot + 1) * SLOT_MS
        while True:
            stage.send()
            if any(isinstance(one, v.LookAtChain) for one in stage.out):
                stage.look()
                continue
            stage.hear_all()
            if orders := stage.take(v.BuildVersion):
                made, answer_ms = made + len(orders), stage.now_ms + late_ms
                answer = v.VersionsMade(answer_ms, tuple(map(stage.version_of, orders)))
            wake_ms = stage.kind.deadline(stage.lane) or end_ms
            stage.now_ms = min([wake_ms, *([answer_ms] if answer.made else [])])
            if stage.now_ms >= end_ms:
                break
            if answer.made and stage.now_ms == answer_ms:
                stage.post(answer)
                answer = replace(answer, made=())
            else:
                stage.tick()
        stage.now_ms = end_ms
        stage.chain.produce(stage.reportable())
        stage.chain.finalise(behind=2)
    return made


@pytest.mark.parametrize("policy", ["freshest", "table", "formula"])
@pytest.mark.parametrize("order", ["chained", "parallel"])
def test_a_builder_that_misses_its_window_gets_a_fresher_anchor(policy: str, order: str) -> None:
    """Versions that are made in one slot and submitted in the next must not be too old then."""
    stage = aged(anchor_policy=policy, order=order)
    assert slow_builder(stage, 2_100, 12) <= 2
    assert stage.lane.head.finished_count == 1


def test_a_builder_that_is_too_slow_for_any_window_is_named_as_the_reason() -> None:
    stage = aged(anchor_policy="freshest", anchor_age_blocks_max=2)
    assert slow_builder(stage, 3 * SLOT_MS, 60) >= STUCK_TRIES_MIN
    assert stage.lane.head.finished_count == 0
    assert stuck(read_head(stage.head)) == f"no block is built: {TOO_SLOW}"


def test_a_block_is_the_lowest_that_waits_when_all_below_it_have_accumulated() -> None:
    stage = submitted(2, max_inflight=1)
    assert not is_lowest_waiting(stage.lane, (2,))
    stage.slot(stage.hash_of(1))
    assert not is_lowest_waiting(stage.lane, (2,)), "it is only guaranteed"
    stage.chain.produce()
    stage.look()
    assert stage.words() == {1: "accumulated", 2: "queued"}
    assert is_lowest_waiting(stage.lane, (2,))
    assert not is_lowest_waiting(stage.lane, ())


CLOCK = SlotClock(slot_ms=6_000, slot=10, heard_ms=60_000, begin_ms=0, skew_ms=0)


@pytest.mark.parametrize(
    ("now_ms", "build", "submit"),
    [
        (60_000, False, False),
        (62_999, False, False),
        (63_000, True, True),
        (64_000, True, True),
        (64_001, False, True),
        (65_000, False, True),
        (65_001, False, False),
        (66_000, False, False),
    ],
)
def test_building_and_submitting_have_their_seconds_before_the_next_timeslot(
    now_ms: int, build: bool, submit: bool
) -> None:
    assert is_open(CLOCK, now_ms, 3_000, 2_000) is build
    assert is_open(CLOCK, now_ms, 3_000, 1_000) is submit


@pytest.mark.parametrize(
    ("after_ms", "opens"),
    [(60_000, 63_000), (62_999, 63_000), (63_000, 69_000), (65_500, 69_000), (66_000, 69_000)],
)
def test_the_next_window_is_behind_this_moment(after_ms: int, opens: int) -> None:
    assert opens_ms(CLOCK, after_ms, 3_000) == opens


def test_the_freshest_anchor_is_the_parent_of_the_best_block() -> None:
    assert [anchor_offset("freshest", ahead, 2, 8) for ahead in range(10)] == [1] * 10


def test_seed_000s_table_of_anchors_and_its_formula_differ_from_the_sixth_on() -> None:
    table = [anchor_offset("table", ahead, 2, 8) for ahead in range(10)]
    assert table == [6, 6, 5, 5, 4, 4, 1, 1, 1, 1]
    formula = [anchor_offset("formula", ahead, 2, 8) for ahead in range(14)]
    assert formula == [6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 1, 1]
