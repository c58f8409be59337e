"""Laws of the slot clock: the quickest block says when slots begin."""

from laneway.chains.jam.clock import JAM_ERA_MS, BlockArrivals, wall_ms
from laneway.chains.jam.limits import HEADS_KEPT_MAX


class Hand:
    def __init__(self) -> None:
        self.now_ms = 0

    def __call__(self) -> int:
        return self.now_ms


def test_nothing_is_said_before_a_block_was_heard_of() -> None:
    assert BlockArrivals().clock(6_000) is None


def test_the_quickest_block_says_when_slots_begin() -> None:
    hand = Hand()
    arrivals = BlockArrivals(hand)
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
    arrivals = BlockArrivals(hand)
    for slot, now_ms in ((5, 30_000), (5, 31_000), (4, 32_000)):
        hand.now_ms = now_ms
        arrivals.saw(slot)
    clock = arrivals.clock(6_000)
    assert clock is not None
    assert (clock.slot, clock.heard_ms, clock.begin_ms) == (5, 30_000, 0)


def test_the_skew_is_the_distance_to_the_calendar() -> None:
    for late_ms in (300, -2_000):
        hand = Hand()
        arrivals = BlockArrivals(hand, JAM_ERA_MS)
        hand.now_ms = JAM_ERA_MS + 7 * 6_000 + late_ms
        arrivals.saw(7)
        clock = arrivals.clock(6_000)
        assert clock is not None
        assert clock.skew_ms == late_ms


def test_old_arrivals_are_forgotten_so_that_a_clock_that_was_set_right_is_right() -> None:
    hand = Hand()
    arrivals = BlockArrivals(hand)
    for slot in range(HEADS_KEPT_MAX + 1):
        hand.now_ms = slot * 6_000 + (0 if slot == 0 else 5_000)
        arrivals.saw(slot)
    clock = arrivals.clock(6_000)
    assert clock is not None
    assert clock.begin_ms == 5_000


def test_the_wall_clock_is_in_milliseconds() -> None:
    assert wall_ms() > JAM_ERA_MS
