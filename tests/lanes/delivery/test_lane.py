"""A delivery lane's rows, and what its head says for people."""

import pytest
from tests.lanes.delivery.stage import LANE, Stage, intent

from laneway.core.rows import Head, Rows
from laneway.lanes.delivery.lane import (
    DeliveryLane,
    decode_history,
    describe,
    evolve,
    read_head,
    restore,
)
from laneway.lanes.delivery.values import Slot, SlotClaimed


def test_an_empty_lane_stands_up_from_nothing() -> None:
    lane = restore(Rows(Head(LANE), (), (), ()))
    assert (lane.slots, lane.waiting, lane.head.feed) == ({}, {}, None)


def test_slots_and_attempts_stand_in_their_order_whatever_the_store_sorts_by() -> None:
    stage = Stage()
    stage.offer(*range(1, 13))
    for slot in (11, 2, 11):
        stage.answer(500, slot)
        stage.tick()
    stage.restart()
    assert list(stage.lane.slots) == list(range(1, 13))
    assert [attempt.number for attempt in stage.lane.attempts[11]] == [1, 2]


def test_the_history_of_a_delivery_tells_every_attempt() -> None:
    stage = Stage()
    stage.offer(1)
    stage.answer(500, preview=b"x" * 9_000)
    stage.tick()
    stage.answer(204)
    history = decode_history(stage.result(1).history)
    assert [(a.number, a.code, len(a.preview)) for a in history.attempts] == [
        (1, 500, 512),
        (2, 204, 0),
    ]
    assert stage.rows == {}


def test_a_head_says_where_its_lane_is_and_why() -> None:
    stage = Stage()
    assert describe(b"").word == "idle"
    assert read_head(b"").mode == "running"
    stage.offer(1, 2)
    assert (describe(stage.state).word, describe(stage.state).running) == ("running", 2)
    stage.answer(500)
    assert (describe(stage.state).word, describe(stage.state).reason) == ("running", "HTTP 500")
    stage.answer(500, 2)
    assert (describe(stage.state).word, describe(stage.state).failures) == ("backing off", 2)
    stage.tell("pause", reason="upgrade", by="ada")
    told = describe(stage.state)
    assert (told.word, told.reason, told.by) == ("paused", "upgrade", "ada")
    stage.tell("resume")
    stage.tick()
    stage.answer(410)
    assert describe(stage.state).word == "halted"
    assert "410" in describe(stage.state).reason


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
