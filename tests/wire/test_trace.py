"""A trace is kept as it came, and what is none is ignored."""

import pytest

from laneway.wire.trace import traceparent

GOOD = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def test_a_trace_is_kept_as_it_came() -> None:
    assert traceparent([GOOD]) == GOOD


def test_a_later_version_is_read_as_far_as_this_one_goes() -> None:
    later = GOOD.replace("00-4b", "cc-4b") + "-what-the-future-will-be-like"
    assert traceparent([later]) == GOOD


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [GOOD, GOOD],
        [""],
        [GOOD.upper()],
        [GOOD + "-more"],
        [GOOD + "0"],
        [GOOD[:-1]],
        ["ff" + GOOD[2:]],
        [GOOD.replace("4bf92f3577b34da6a3ce929d0e0e4736", "0" * 32)],
        [GOOD.replace("00f067aa0ba902b7", "0" * 16)],
        [" " + GOOD],
        [GOOD + "\u0661"],
    ],
    ids=str,
)
def test_what_is_none_is_ignored(headers: list[str]) -> None:
    assert traceparent(headers) == ""
