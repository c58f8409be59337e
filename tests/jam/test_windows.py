"""Laws of windows: what ages in blocks, what ages in slots, and when a core is free."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.jam.lookups import reportable_blocks

from laneway.jam.spec import TINY
from laneway.jam.windows import (
    engaged_until_slot,
    is_engaged,
    lookup_slots,
    remaining_blocks,
)

NUMBERS = st.integers(0, 1 << 32)


def test_an_anchor_serves_the_eight_blocks_after_it() -> None:
    assert list(reportable_blocks(100)) == [101, 102, 103, 104, 105, 106, 107, 108]
    assert [remaining_blocks(100, head) for head in (100, 101, 107, 108, 109)] == [8, 7, 1, 0, 0]


@given(NUMBERS, st.integers(0, 20))
def test_what_remains_is_the_part_of_the_window_that_follows_the_head(
    anchor: int, age: int
) -> None:
    head = anchor + age
    left = [block for block in reportable_blocks(anchor) if block > head]
    assert remaining_blocks(anchor, head) == len(left)


def test_an_anchor_after_the_head_has_no_age() -> None:
    with pytest.raises(AssertionError):
        remaining_blocks(101, 100)


def test_a_lookup_anchor_ages_in_slots() -> None:
    assert 124 in lookup_slots(100, TINY)
    assert 125 not in lookup_slots(100, TINY)
    assert 99 not in lookup_slots(100, TINY)


def test_a_core_is_engaged_until_its_report_is_available_or_too_old() -> None:
    assert [is_engaged(100, slot) for slot in range(101, 107)] == [True] * 4 + [False] * 2
    assert is_engaged(100, 101, available_slot=102)
    assert not is_engaged(100, 102, available_slot=102)


@given(NUMBERS, st.integers(1, 20))
def test_availability_frees_a_core_and_never_holds_it_longer(reported: int, waited: int) -> None:
    available = reported + waited
    assert engaged_until_slot(reported, available) == reported + min(waited, 5)
    assert engaged_until_slot(reported) == reported + 5
