"""What each record changes."""

import pytest
from tests.lanes.delivery.stage import LANE, Stage, intent

from laneway.lanes.delivery.fold import evolve
from laneway.lanes.delivery.lane import DeliveryLane
from laneway.lanes.delivery.values import Slot, SlotClaimed


def test_a_message_is_taken_once() -> None:
    lane = DeliveryLane(LANE)
    claimed = SlotClaimed(Slot(1, intent(1).id, 1, 9, 0))
    evolve(lane, claimed)
    with pytest.raises(AssertionError):
        evolve(lane, claimed)


def test_the_head_counts_what_became_of_messages() -> None:
    stage = Stage()
    stage.offer(1, 2, 3)
    stage.answer(500, 1)
    stage.answer(500, 2)
    assert (stage.lane.head.failures, stage.lane.head.wait_reason) == (2, "HTTP 500")
    stage.decline(3)
    stage.cancel(2)
    stage.cancel(4)
    assert stage.lane.head.failures == 2, "a person's word is no failure"
    for _ in range(7):
        stage.tick()
        if 3 in stage.lane.slots:
            stage.answer(200, 3)
            stage.tick()
        stage.answer(None, 1, reason="no answer")
    head = stage.lane.head
    assert (head.delivered_count, head.dead_count) == (1, 1)
    assert (head.settled_count, head.settled_bytes) == (4, 4 * intent(1).size())
    assert head.wait_reason == "no answer"


def test_words_of_people_and_of_the_feed_are_kept_in_the_head() -> None:
    stage = Stage()
    stage.tell("pause", reason="🂡" * 300, by="ada")
    stage.tell("fed", word="1.2.3")
    stage.tell("dance")
    head = stage.lane.head
    assert (head.mode, head.by, head.feed) == ("paused", "ada", "1.2.3")
    assert len(head.reason.encode()) <= 150
