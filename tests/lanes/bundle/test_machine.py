"""All transitions of a bundle lane, in one place."""

from typing import Any

import pytest
from tests.lanes.bundle.stage import LANE, SETTINGS, Stage, queued, replace, submitted

from laneway.core.ids import LaneId
from laneway.core.rows import Head, Rows
from laneway.lanes.bundle import BundleSettings, bundle_kind
from laneway.lanes.bundle import values as v
from laneway.lanes.bundle.machine import decide, resume
from laneway.lanes.bundle.records import BlockSealed, StartsCounted, VersionSealed
from laneway.lanes.common.values import CommandRefused, TimerFired


def test_a_transaction_goes_from_the_pool_to_a_final_block() -> None:
    stage = Stage()
    stage.accept(7)
    stage.run(8)
    assert stage.statuses() == ["confirmed"] * 7
    assert stage.chain.line() == list(stage.accepted)
    assert [number for number, _, _ in stage.chain.best.applied] == [1, 2]
    assert (stage.lane.slots, stage.lane.tells, stage.lane.intents) == ({}, {}, {})
    left = {key.partition("/")[0] for _, key in stage.rows}
    assert left == {"finished", "chain"}


def test_what_is_unknown_is_a_bug() -> None:
    class Unknown:
        now_ms = 1

    with pytest.raises(AssertionError):
        decide(queued().lane, Unknown())  # type: ignore[arg-type]


def test_a_look_that_failed_and_a_command_are_events_too() -> None:
    stage = submitted()
    stage.tick(1_000)
    stage.blind()
    looking = [stage.lane.head.looking]
    stage.now_ms += 400
    stage.post(v.HeadChanged(stage.now_ms))
    assert [*looking, stage.lane.head.looking] == [False, True]
    stage.tell("pause")
    assert stage.lane.head.mode == "paused"


def kinds(stage: Stage) -> list[type]:
    return [type(effect) for effect in resume(stage.lane)]


def test_a_block_that_a_start_finds_begun_is_ordered_when_that_was_counted() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    stage.crash()
    assert [one.is_found for one in stage.out if isinstance(one, v.BuildBlock)] == [True]
    stage.found()
    assert [one.is_found for one in stage.out if isinstance(one, v.BuildBlock)] == [False]
    assert stage.told == [StartsCounted(1, 1)]


def test_what_a_crash_may_have_lost_is_ordered_again() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    assert kinds(stage) == [v.BuildBlock, v.LookAtChain]
    stage.not_built()
    assert kinds(stage) == [v.LookAtChain]
    stage.tick(1_000)
    stage.build()
    stage.look()
    assert kinds(stage) == []
    stage.now_ms = (stage.chain.best.ref.slot + 1) * 6_000 - 3_000
    stage.tick()
    assert kinds(stage) == [v.BuildVersion, v.LookAtChain]
    stage.make()
    assert kinds(stage) == [v.SubmitPackage, v.LookAtChain, v.NotifyBuilder]
    stage.send()
    stage.look()
    stage.hear_all()
    assert kinds(stage) == []
    stage.slot(stage.hash_of(1))
    stage.to_slot()
    stage.chain.produce()
    stage.look()
    assert kinds(stage) == [v.NotifyBuilder]
    stage.note()
    assert kinds(stage) == [v.NotifyUser]
    stage.hear()
    assert kinds(stage) == []


def test_a_crash_at_any_point_changes_nothing_in_the_end() -> None:
    stage = Stage()
    stage.accept(9)
    for _ in range(12):
        stage.crash()
        stage.slot_all(2)
    assert stage.statuses() == ["confirmed"] * 9
    assert stage.chain.line() == list(stage.accepted)


def test_the_feed_names_large_bytes_by_their_hash_alone() -> None:
    stage = submitted()
    sealed = [one for one in stage.all if isinstance(one, BlockSealed | VersionSealed)]
    kind = stage.kind
    block, version = kind.decode(kind.encode(tuple(sealed)))
    assert (block.payload, version.package) == (b"", b"")
    assert block.slot.digest
    assert version.version.package_hash


def test_folding_the_feed_gives_the_lane_but_for_its_bytes() -> None:
    stage = submitted(3)
    stage.slot(stage.hash_of(1))
    kind = stage.kind
    lane = kind.empty(LANE)
    for record in kind.decode(kind.encode(tuple(stage.all))):
        kind.evolve(lane, record)
    assert (lane.slots, lane.versions, lane.members) == (
        stage.lane.slots,
        stage.lane.versions,
        stage.lane.members,
    )
    assert (lane.chain, lane.bound, lane.hashes) == (
        stage.lane.chain,
        stage.lane.bound,
        stage.lane.hashes,
    )


def test_an_engine_is_given_the_kind_with_settings_for_all_or_for_each() -> None:
    kind = bundle_kind(SETTINGS)
    assert kind.name == "rollup"
    assert kind.serves(LANE)
    assert kind.empty(LANE).settings is SETTINGS
    assert kind.cursors(kind.empty(LANE)) == (0, 0, 0, 0)
    one = bundle_kind({LANE: SETTINGS})
    assert one.serves(LANE)
    assert not one.serves(LaneId("rollup:8"))
    restored: Any = one.restore(Rows(Head(LANE), (), (), ()))
    assert restored.settings is SETTINGS
    assert kind.woken(5) == TimerFired(5)
    assert kind.describe(b"").word == "idle"


def test_a_new_lane_begins_where_its_service_does() -> None:
    lane = bundle_kind(BundleSettings(first_number=1_000)).empty(LANE)
    assert (lane.head.number_next, lane.head.tip.number) == (1_000, 999)
    stage = Stage(first_number=1_000)
    stage.accept(1)
    stage.run(6)
    assert stage.picture().finalised == ("1000v1",)
    assert replace(SETTINGS).service == 7


def refusals(stage: Stage) -> list[str]:
    return [one.reason for one in stage.all if isinstance(one, CommandRefused)]


def test_a_lane_is_paused_and_goes_on() -> None:
    stage = submitted()
    stage.tell("pause")
    head = stage.lane.head
    assert (head.mode, head.reason, head.by) == ("paused", "why", "ann")
    stage.slot()
    assert len(stage.sent) == 1, "nothing is submitted again"
    stage.tell("resume")
    assert head.mode == "running"
    stage.run(7)
    assert stage.statuses() == ["confirmed"]


def offering() -> Stage:
    """The lane's last decision was to submit a package, and it is paused then."""
    stage = queued()
    stage.now_ms = (stage.chain.best.ref.slot + 1) * 6_000 - 3_000
    stage.tick()
    stage.make()
    stage.tell("pause")
    assert stage.version(1).offering
    return stage


def test_a_paused_lane_submits_nothing_after_a_restart_and_looks_on() -> None:
    stage = offering()
    stage.crash()
    assert v.SubmitPackage not in kinds(stage)
    for _ in range(3):
        stage.slot()
    assert stage.sent == []
    assert stage.lane.head.best == stage.chain.best.ref, "what is out is followed all the same"


def test_a_submission_that_a_pause_and_a_restart_cut_off_is_made_up_for() -> None:
    """Also where no other submission of these bytes is allowed."""
    stage = offering()
    stage.crash(max_submit_retries=1)
    stage.slot()
    stage.tell("resume")
    stage.slot_all()
    assert [one for _, one in stage.sent] == [stage.hash_of(1)]
    assert not stage.version(1).offering
    stage.run(4)
    assert stage.statuses() == ["confirmed"]
    assert len(stage.sent) == 1


def test_a_version_that_is_sealed_while_the_lane_is_paused_is_not_submitted() -> None:
    stage = queued()
    stage.now_ms = (stage.chain.best.ref.slot + 1) * 6_000 - 3_000
    stage.tick()
    stage.tell("pause")
    stage.make()
    assert not stage.version(1).is_sent()
    stage.crash()
    stage.slot()
    stage.slot()
    assert stage.sent == []
    stage.tell("resume")
    stage.run(5)
    assert stage.statuses() == ["confirmed"]


def test_a_lane_drains_its_queue_and_is_paused_then() -> None:
    stage = submitted()
    stage.accept(1)
    stage.tell("drain", word="queue", seq=2)
    head = stage.lane.head
    assert (head.mode, head.drain_left) == ("draining", 1)
    stage.accept(1)
    stage.run(10)
    assert stage.statuses() == ["confirmed", "confirmed", ""]
    assert (head.mode, head.by) == ("paused", "ann")


def test_a_lane_drains_what_is_running() -> None:
    stage = submitted()
    stage.accept(1)
    stage.tell("drain", word="running")
    stage.run(7)
    assert stage.statuses() == ["confirmed", ""]
    assert stage.lane.head.mode == "paused"
    empty = Stage()
    empty.tell("drain", word="running")
    assert empty.lane.head.mode == "paused"


def test_a_drain_says_what_of() -> None:
    stage = Stage()
    stage.tell("drain", word="everything")
    assert refusals(stage) == ["a lane drains its 'queue' or what is 'running'"]


def test_what_waits_is_taken_back() -> None:
    stage = Stage()
    names = stage.accept(2)
    stage.tell("cancel", names[1])
    assert stage.statuses() == ["", "cancelled"]
    assert stage.lane.head.dropped_seq == 2


def test_what_went_back_to_the_pool_is_taken_back() -> None:
    stage = Stage()
    names = stage.accept(2)
    stage.pull()
    stage.build(t1="deferred")
    stage.tell("cancel", names[1])
    assert stage.statuses() == ["", "cancelled"]
    assert stage.lane.returned == {}
    stage.check_places()


def test_what_is_in_a_block_that_could_not_be_built_is_taken_back() -> None:
    stage = Stage()
    names = stage.accept(2)
    stage.pull()
    stage.tell("cancel", names[0])
    assert refusals(stage) == ["it is in a block, which never changes"], "it is being executed"
    stage.not_built("no disk")
    stage.tell("cancel", names[0])
    assert stage.statuses() == ["cancelled", ""]
    stage.run(8)
    assert stage.statuses() == ["cancelled", "confirmed"]
    stage.check_places()


def test_a_cancel_while_it_drains_counts() -> None:
    stage = submitted()
    names = stage.accept(1)
    stage.tell("drain", word="queue", seq=2)
    stage.tell("cancel", names[0])
    assert stage.lane.head.drain_left == 0


@pytest.mark.parametrize(
    ("settled", "why"), [(False, "it is in a block"), (True, "it is final already")]
)
def test_a_block_never_changes(settled: bool, why: str) -> None:
    stage = submitted()
    if settled:
        stage.run(6)
    stage.tell("cancel", next(iter(stage.accepted)))
    assert refusals(stage)[0].startswith(why)


def test_a_cancel_names_an_intent_and_takes_no_word() -> None:
    stage = Stage()
    stage.tell("cancel")
    (name,) = stage.accept(1)
    stage.tell("cancel", name, word="now")
    stage.tell("bump")
    assert refusals(stage) == [
        "it names no intent",
        "a cancel takes no word",
        "a bundle lane has no command 'bump'",
    ]
