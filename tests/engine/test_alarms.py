"""One heap entry a lane, however often its deadline moves."""

from tests.engine.toy import toy_kind

from laneway.core.ids import LaneId
from laneway.engine.alarms import Alarms
from laneway.engine.limits import ALARMS_SPARE_MAX
from laneway.engine.run import Run


class House:
    def __init__(self, lanes: int) -> None:
        self.runs = {LaneId(f"toy:{n}"): Run(LaneId(f"toy:{n}"), toy_kind()) for n in range(lanes)}
        self.alarms = Alarms(self.runs)

    def set(self, number: int, at_ms: int) -> Run:
        run = self.runs[LaneId(f"toy:{number}")]
        run.deadline_ms = at_ms
        self.alarms.set(run, at_ms)
        return run


def test_a_deadline_that_moves_later_with_every_job_costs_one_entry() -> None:
    house = House(1)
    for job in range(100_000):
        house.set(0, 1_800_000 + job)
    assert len(house.alarms) == 1


def test_a_deadline_that_moves_earlier_every_time_stays_bounded() -> None:
    house = House(10)
    for job in range(30_000):
        house.set(job % 10, 1_000_000 - job)
    assert len(house.alarms) <= 2 * 10 + ALARMS_SPARE_MAX
    assert house.alarms.next_ms() == 1_000_000 - 29_999


def test_a_lane_comes_due_once_and_must_be_set_again() -> None:
    house = House(2)
    first = house.set(0, 100)
    house.set(0, 50)
    house.set(1, 70)
    assert house.alarms.next_ms() == 50
    assert house.alarms.due(60) == [first]
    assert house.alarms.next_ms() == 70
    assert len(house.alarms.due(1_000)) == 1


def test_an_entry_that_nobody_waits_for_sets_no_timer() -> None:
    house = House(1)
    house.set(0, 100).deadline_ms = None
    assert house.alarms.next_ms() is None
    assert len(house.alarms) == 0
    house.set(0, 200)
    assert house.alarms.next_ms() == 200


def test_an_entry_of_a_lane_that_was_given_up_sets_no_timer() -> None:
    house = House(1)
    house.set(0, 100)
    house.runs.clear()
    assert house.alarms.next_ms() is None
    assert house.alarms.due(1_000) == []


def test_a_lane_that_was_given_up_and_opened_again_is_not_woken_by_the_old_entry() -> None:
    house = House(1)
    lane = house.set(0, 100).id
    house.runs[lane] = Run(lane, toy_kind())
    house.set(0, 500)
    assert house.alarms.due(100) == []
    assert house.alarms.next_ms() == 500
