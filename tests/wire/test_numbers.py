"""Laws of numbers from outside: digits of ASCII, whole, and within their bound."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.wire.limits import NUMBER_MAX
from laneway.wire.numbers import read_digits, read_whole


@given(number=st.integers(min_value=0, max_value=NUMBER_MAX))
def test_every_number_up_to_the_bound_is_read(number: int) -> None:
    assert read_digits(str(number)) == read_whole(number) == number


def test_leading_zeros_change_nothing() -> None:
    assert read_digits("0") == read_digits("000") == 0
    assert read_digits("0" * 40 + "7") == 7


@pytest.mark.parametrize(
    "text", ["", "abc", "-1", "+1", " 1", "1_0", "1.0", "1e3", "0x1", "\u00b2", "\u0663"]
)
def test_what_is_no_digit_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a number"):
        read_digits(text)


@pytest.mark.parametrize("text", [str(NUMBER_MAX + 1), str((1 << 64) - 5), "9" * 5_000])
def test_more_than_the_bound_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is more than"):
        read_digits(text)


@pytest.mark.parametrize(
    "value", [None, True, "1", 1.0, float("nan"), -1, NUMBER_MAX + 1, [], {}, 10**5_00]
)
def test_a_value_that_is_no_whole_number_within_the_bounds_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="is not a number from 0"):
        read_whole(value)


def test_a_bound_below_is_kept() -> None:
    assert read_whole(1, 3, 1) == 1
    with pytest.raises(ValueError, match="from 1 to 3"):
        read_whole(0, 3, 1)
