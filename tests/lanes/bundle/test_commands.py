"""What an operator tells a bundle lane."""

import pytest
from tests.lanes.bundle.stage import Stage, submitted

from laneway.lanes.bundle.values import CommandRefused


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
        "a bundle lane knows no bump",
    ]
