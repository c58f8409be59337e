"""When in a timeslot something may be done."""

import pytest

from laneway.core.jam import SlotClock
from laneway.lanes.bundle.windows import anchor_offset, is_open, opens_ms

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
