"""Laws of the header Retry-After: any text is read, and none is believed beyond a bound."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from laneway.wire.retry_after import read_retry_after

DATES = st.from_regex(
    r"[A-Z][a-z]{2}, ?[0-9]{1,9} [A-Z][a-z]{2} [0-9]{1,20} [0-9:.]{0,12} [-+]?[0-9A-Z]{0,12}",
    fullmatch=True,
)


@given(text=st.one_of(st.text(max_size=80), DATES, st.from_regex(r"[0-9]{1,40}", fullmatch=True)))
@example(text="Mon, 01 Jan 2024 00:00:00 +9999999999")
@example(text="Mon, 01 Jan 99999999999 00:00:00 GMT")
@example(text="Mon, 01 Jan 0001 00:00:00 +2359")
@example(text="9" * 5_000)
@example(text="\u00b2")
@example(text=" ")
def test_any_text_is_read_without_an_error_and_within_the_bound(text: str) -> None:
    wait_s = read_retry_after(text, 1_700_000_000.0, 300)
    assert wait_s is None or 0 <= wait_s <= 300


@pytest.mark.parametrize(
    ("text", "wait_s"),
    [
        (None, None),
        ("", None),
        ("7", 7),
        (" 7 ", 7),
        ("0", 0),
        ("000000000000000000007", 7),
        ("1000000000", 300),
        ("9" * 40, 300),
        ("-5", None),
        ("1e9", None),
        ("soon", None),
        ("Thu, 01 Jan 1970 00:02:00 GMT", 60),
        ("Thu, 01 Jan 1970 00:02:00 -0000", 60),
        ("Thu, 01 Jan 1970 00:00:01 GMT", 0),
        ("Thu, 01 Jan 2970 00:00:00 GMT", 300),
    ],
)
def test_it_holds_seconds_or_a_date(text: str | None, wait_s: float | None) -> None:
    assert read_retry_after(text, 60.0, 300) == wait_s
