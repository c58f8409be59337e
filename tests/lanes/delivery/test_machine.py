"""The delivery machine: a ladder for each message, and nobody waits for another."""

import pytest
from tests.lanes.delivery.stage import LANE, Stage, intent

from laneway.lanes.common.values import CommandRefused
from laneway.lanes.delivery import delivery_kind
from laneway.lanes.delivery.machine import deadline, wants
from laneway.lanes.delivery.values import Post
from laneway.lanes.limits import LADDER_MS

HOUR_MS = 3_600_000


def test_a_message_is_sent_at_once_and_any_2xx_delivers_it() -> None:
    for code in (200, 204, 299):
        stage = Stage()
        assert stage.offer(1).effects == (Post(1, 1, b"message 1"),)
        stage.answer(code)
        assert stage.result(1).status == "confirmed"
        assert deadline(stage.lane) is None


@pytest.mark.parametrize("code", [None, 100, 301, 302, 400, 401, 404, 408, 429, 500, 502, 503])
def test_any_other_answer_is_tried_again_by_the_ladder_and_then_it_is_dead(
    code: int | None,
) -> None:
    stage = Stage()
    begun = stage.now_ms
    stage.offer(1, 2)
    stage.answer(200, 2)
    waits = []
    for _ in range(7):
        stage.answer(code)
        assert wants(stage.lane) == 16, "a retry blocks nothing"
        waits.append(deadline(stage.lane) - stage.now_ms)  # type: ignore[operator]
        stage.tick()
    assert waits == [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 36_000_000]
    assert tuple(waits) == LADDER_MS[1:]
    assert stage.now_ms - begun == 27 * HOUR_MS + 35 * 60_000 + 5_000
    stage.answer(code)
    assert (stage.result(1).status, len(stage.posts)) == ("dead", 9)
    stage.offer(3)
    assert stage.posts[-1].slot == 3, "the lane goes on"


def test_an_endpoint_that_is_gone_is_disabled_until_a_person_resumes_it() -> None:
    stage = Stage()
    stage.offer(1, 2, 3)
    stage.answer(500, 2)
    stage.answer(410)
    assert stage.result(1).status == "refused"
    assert stage.lane.head.mode == "disabled"
    assert (wants(stage.lane), deadline(stage.lane)) == (0, None)
    stage.tick(stage.now_ms + HOUR_MS)
    stage.answer(200, 3)
    assert stage.result(3).status == "confirmed", "what was out is still answered"
    stage.tell("resume", by="ada", reason="it is back")
    assert stage.tick().effects == (Post(2, 2, b"message 2"),)


@pytest.mark.parametrize(
    ("code", "after_ms", "wait_ms"),
    [
        (429, 60_000, 60_000),
        (503, 60_000, 60_000),
        (503, 1_000, 5_000),
        (429, 400 * HOUR_MS, 10 * HOUR_MS),
        (429, None, 5_000),
        (500, 60_000, 5_000),
    ],
)
def test_a_busy_endpoint_may_ask_for_more_time_but_not_for_less_or_for_ever(
    code: int, after_ms: int | None, wait_ms: int
) -> None:
    stage = Stage()
    stage.offer(1)
    stage.answer(code, retry_after_ms=after_ms)
    assert deadline(stage.lane) == stage.now_ms + wait_ms


def test_at_most_sixteen_are_under_way_and_what_is_due_goes_oldest_first() -> None:
    stage = Stage()
    assert len(stage.offer(*range(1, 21)).effects) == 16
    assert wants(stage.lane) == 0
    for slot in range(16, 0, -1):
        stage.answer(500, slot)
        stage.now_ms += 1
    stage.offer(*range(17, 33))
    assert deadline(stage.lane) is None, "the window is full"
    stage.now_ms += 60_000
    stage.answer(200, 17)
    assert [post.slot for post in stage.tick().effects] == [16]


def test_a_thousand_open_deliveries_are_enough() -> None:
    stage = Stage()
    stage.large = True
    while (count := wants(stage.lane)) > 0:
        first = stage.lane.head.cursors[0] + 1
        for post in stage.offer(*range(first, first + count)).effects:
            stage.answer(500, post.slot)
    assert len(stage.lane.slots) == 1_000
    stage.tick()
    stage.answer(200, stage.posts[-1].slot)
    assert wants(stage.lane) == 1


def test_a_late_or_doubled_answer_changes_nothing() -> None:
    stage = Stage()
    stage.offer(1)
    for odd in (stage.answer(200, 9), stage.answer(200, attempt=2), stage.decline(9)):
        assert odd.records == ()
    stage.answer(500)
    assert stage.answer(200, attempt=1).records == ()
    assert stage.answer(200, attempt=2).records == ()
    assert stage.decline(1, 2).records == ()


def test_what_was_not_sent_is_no_attempt() -> None:
    stage = Stage()
    stage.offer(1)
    stage.decline()
    assert stage.tick().effects == (Post(1, 1, b"message 1"),)
    assert stage.now_ms == 2_000


def test_a_pause_begins_nothing_and_a_resume_goes_on() -> None:
    stage = Stage()
    stage.offer(1, 2)
    stage.answer(500)
    stage.tell("pause", reason="upgrade", by="ada")
    assert (wants(stage.lane), deadline(stage.lane)) == (0, None)
    assert stage.offer(3).records == ()
    stage.answer(200, 2)
    stage.tell("resume")
    assert stage.tick().effects == (Post(1, 2, b"message 1"),)


def test_a_message_can_be_taken_back_unless_it_is_being_sent() -> None:
    stage = Stage()
    stage.offer(1, 2)
    assert isinstance(stage.cancel(1).records[0], CommandRefused)
    stage.answer(500)
    stage.cancel(1)
    stage.cancel(3)
    assert [stage.result(seq).status for seq in (1, 3)] == ["cancelled"] * 2
    stage.answer(200, 2)
    assert isinstance(stage.cancel(2).records[0], CommandRefused), "it is final"
    assert isinstance(stage.tell("cancel").records[0], CommandRefused), "it names none"
    assert isinstance(stage.tell("drain").records[0], CommandRefused)


def test_the_place_in_the_feed_is_kept_whatever_the_lane_does() -> None:
    stage = Stage()
    stage.tell("pause")
    stage.tell("fed", word="1.2.3")
    stage.restart()
    assert stage.lane.head.feed == "1.2.3"


def test_a_crash_sends_again_what_was_out_and_nothing_else() -> None:
    stage = Stage()
    stage.offer(1, 2, 3)
    stage.answer(500, 1)
    stage.answer(200, 2)
    assert stage.restart() == (Post(3, 1, b"message 3"),)
    assert deadline(stage.lane) == stage.now_ms + 5_000


def test_the_kind_is_made_of_these() -> None:
    kind = delivery_kind()
    stage = Stage()
    stage.offer(1)
    assert kind.name == "delivery"
    assert kind.cursors(stage.lane) == (1,)
    assert kind.decode(kind.encode(tuple(stage.records))) == tuple(stage.records)
    assert kind.offered(1, (intent(1),)).intents == (intent(1),)
    assert kind.empty(LANE).slots == {}
