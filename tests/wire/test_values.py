"""The API's words are the core's words."""

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from laneway.core.outcome import Status
from laneway.wire.problem import problem
from laneway.wire.times import LAST, LAST_MS, to_ms, to_time
from laneway.wire.values import StatusWord


def test_every_status_word_is_there() -> None:
    assert get_args(StatusWord) == tuple(status.value for status in Status)


@given(st.integers(0, LAST_MS))
def test_a_time_is_read_back_to_the_millisecond(ms: int) -> None:
    assert to_ms(to_time(ms)) == ms


def test_a_time_beyond_the_calendar_is_its_last_second() -> None:
    assert to_time((1 << 53) - 1) == LAST
    assert to_time(-1) == LAST


def test_a_problem_says_what_it_is_in_three_ways() -> None:
    told = problem(404, "intent_not_found", "there is no intent tx_1", tx="tx_1")
    assert (told.type, told.title, told.status) == (
        "urn:laneway:problem:intent_not_found",
        "Not Found",
        404,
    )
