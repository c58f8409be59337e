"""Fee arithmetic, by tables."""

import pytest

from laneway.lanes.eoa.fees import (
    GWEI,
    Fee,
    bumped,
    clamped,
    fresh,
    is_replaced_by,
    replacing,
    rising,
    written,
)


def test_a_first_offer_leaves_room_for_a_rising_base_fee() -> None:
    assert fresh(100, 3) == Fee(203, 3)


@pytest.mark.parametrize(
    ("wei", "least"), [(0, 1), (1, 2), (7, 8), (8, 9), (100, 113), (1000, 1125)]
)
def test_a_replacement_rises_by_an_eighth_and_at_least_by_one_wei(wei: int, least: int) -> None:
    assert rising(wei) == least


@pytest.mark.parametrize(
    ("last", "market", "expected"),
    [
        (Fee(100, 10), Fee(50, 5), Fee(113, 12)),
        (Fee(100, 10), Fee(200, 20), Fee(240, 24)),
        (Fee(10, 10), Fee(1, 1), Fee(12, 12)),
        (Fee(1, 0), Fee(1, 90), Fee(108, 108)),
    ],
)
def test_a_bump_beats_the_last_attempt_and_the_market(
    last: Fee, market: Fee, expected: Fee
) -> None:
    fee = bumped(last, market)
    assert fee == expected
    assert is_replaced_by(last, fee)
    assert fee.tip <= fee.cap


def test_both_fields_must_rise() -> None:
    last = Fee(100, 10)
    least = replacing(last)
    assert is_replaced_by(last, least)
    assert not is_replaced_by(last, Fee(least.cap - 1, least.tip))
    assert not is_replaced_by(last, Fee(least.cap, least.tip - 1))


def test_what_carries_blobs_is_replaced_by_twice_as_much_of_everything() -> None:
    assert replacing(Fee(10, 0, 3)) == Fee(20, 1, 6)
    assert bumped(Fee(10, 2, 3), Fee(1, 1, 50)) == Fee(20, 4, 60)
    assert not is_replaced_by(Fee(10, 2, 3), Fee(20, 4, 5))


@pytest.mark.parametrize(
    ("cap", "bound", "needed", "found"),
    [(20, 20, 11, 20), (20, 15, 11, 15), (20, 11, 11, 11), (20, 10, 11, None), (9, 10, 11, 9)],
)
def test_a_cap_is_lowered_to_its_bound_while_that_pays_what_is_asked_now(
    cap: int, bound: int, needed: int, found: int | None
) -> None:
    assert clamped(cap, bound, needed) == found


@pytest.mark.parametrize(
    ("wei", "text"),
    [
        (0, "0 wei"),
        (GWEI - 1, "999999999 wei"),
        (GWEI, "1 gwei"),
        (100 * GWEI, "100 gwei"),
        (1_500_000_001, "1.500000001 gwei"),
    ],
)
def test_an_amount_is_written_as_people_read_it(wei: int, text: str) -> None:
    assert written(wei) == text
