"""Laws of the slot clock: the quickest block says when slots begin."""

from time import monotonic

import pytest

from laneway.chains.jam.clock import JAM_ERA_MS, BlockArrivals, steady_ms, wall_ms
from laneway.chains.jam.limits import HEADS_KEPT_MAX


class Hand:
    """A machine's clock, which may be set; and one beside it that is not."""

    def __init__(self) -> None:
        self.now_ms = 0
        self.set_ms = 0

    def __call__(self) -> int:
        return self.now_ms + self.set_ms

    def steady(self) -> int:
        return self.now_ms - 77


def test_nothing_is_said_before_a_block_was_heard_of() -> None:
    assert BlockArrivals().clock(6_000) is None


def test_the_quickest_block_says_when_slots_begin() -> None:
    hand = Hand()
    arrivals = BlockArrivals(hand, steady=hand.steady)
    for slot, delay in ((10, 900), (11, 200), (12, 400)):
        hand.now_ms = 1_000_000 + slot * 6_000 + delay
        arrivals.saw(slot)
    clock = arrivals.clock(6_000)
    assert clock is not None
    assert (clock.slot, clock.heard_ms) == (12, 1_072_400)
    assert clock.begin_ms == 1_000_200
    assert clock.skew_ms is None
    assert clock.slot_at(1_072_400) == 12


def test_only_the_first_sight_of_a_slot_counts() -> None:
    hand = Hand()
    arrivals = BlockArrivals(hand, steady=hand.steady)
    for slot, now_ms in ((5, 30_000), (5, 31_000), (4, 32_000)):
        hand.now_ms = now_ms
        arrivals.saw(slot)
    clock = arrivals.clock(6_000)
    assert clock is not None
    assert (clock.slot, clock.heard_ms, clock.begin_ms) == (5, 30_000, 0)


def test_the_skew_is_the_distance_to_the_calendar() -> None:
    for late_ms in (300, -2_000):
        hand = Hand()
        arrivals = BlockArrivals(hand, JAM_ERA_MS, hand.steady)
        hand.now_ms = JAM_ERA_MS + 7 * 6_000 + late_ms
        arrivals.saw(7)
        clock = arrivals.clock(6_000)
        assert clock is not None
        assert clock.skew_ms == late_ms


def test_old_arrivals_are_forgotten_so_that_a_clock_that_was_set_right_is_right() -> None:
    hand = Hand()
    arrivals = BlockArrivals(hand, steady=hand.steady)
    for slot in range(HEADS_KEPT_MAX + 1):
        hand.now_ms = slot * 6_000 + (0 if slot == 0 else 5_000)
        arrivals.saw(slot)
    clock = arrivals.clock(6_000)
    assert clock is not None
    assert clock.begin_ms == 5_000


@pytest.mark.parametrize("set_ms", [3_600_000, -3_600_000, 1_500, -1_500])
def test_a_clock_that_is_set_is_noticed_by_the_next_question(set_ms: int) -> None:
    hand = Hand()
    arrivals = BlockArrivals(hand, JAM_ERA_MS, hand.steady)
    for slot in range(7, 20):
        hand.now_ms = JAM_ERA_MS + slot * 6_000 + 40
        arrivals.saw(slot)
    hand.now_ms += 1_000
    for moved_ms in (set_ms, 0):
        hand.set_ms = moved_ms
        clock = arrivals.clock(6_000)
        assert clock is not None
        assert clock.skew_ms == moved_ms + 40
        assert clock.begin_ms == JAM_ERA_MS + moved_ms + 40
        assert clock.heard_ms == hand() - 1_000
        assert clock.slot_at(hand()) == 19
        assert clock.until_next_ms(hand()) == 5_000


def test_after_a_sleep_the_first_block_says_when_slots_begin() -> None:
    """The steady clock stood still meanwhile, so that this machine's went on beside it."""
    hand = Hand()
    arrivals = BlockArrivals(hand, JAM_ERA_MS, hand.steady)
    hand.now_ms = JAM_ERA_MS + 7 * 6_000
    arrivals.saw(7)
    hand.set_ms = 600 * 6_000
    arrivals.saw(607)
    clock = arrivals.clock(6_000)
    assert clock is not None
    assert (clock.skew_ms, clock.slot) == (0, 607)


def test_the_clocks_are_in_milliseconds() -> None:
    assert wall_ms() > JAM_ERA_MS
    assert 0 <= steady_ms() - monotonic() * 1_000 + 1_000 < 60_000
