"""Reasons fit into a row, whatever they were."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laneway.core.limits import REASON_BYTES_MAX
from laneway.core.reason import clip, shown_error


def test_short_words_stay_as_they_are() -> None:
    assert clip("the node is down") == "the node is down"
    assert clip("größer als erwartet") == "größer als erwartet"


def test_a_long_reason_is_cut_at_its_limit() -> None:
    assert clip("x" * 5_000) == "x" * REASON_BYTES_MAX


def test_a_cut_never_splits_a_letter() -> None:
    assert clip("ää", 3) == "ä"


REMEDY = "; name another file"


@pytest.mark.parametrize("bytes_max", [40, 60, 150, 300])
def test_the_remedy_at_the_end_of_a_long_reason_is_kept(bytes_max: int) -> None:
    kept = clip("the file is of another chain: " + "x" * 500 + REMEDY, bytes_max)
    assert kept.endswith("…" + REMEDY)
    assert kept.startswith("the ")
    assert len(kept.encode()) == bytes_max


def test_of_a_remedy_that_is_too_long_its_beginning_is_kept() -> None:
    assert clip("ab" * 50 + "; do " + "this " * 100, 20) == "ab…; do this this "


def test_a_reason_that_begins_with_its_remedy_is_cut_at_its_end() -> None:
    assert clip("no; " + "x" * 50, 30) == "no; " + "x" * 26


def test_a_cut_before_a_remedy_never_splits_a_letter() -> None:
    for bytes_max in range(20, 40):
        kept = clip("ä" * 100 + "; ö" + "ü" * 3, bytes_max)
        assert kept.endswith("…; öüüü")
        assert bytes_max - 1 <= len(kept.encode()) <= bytes_max


@settings(deadline=None, derandomize=True, database=None)
@given(
    st.text(alphabet=st.characters(codec=None), max_size=400),
    st.text(alphabet=st.characters(codec=None), max_size=40),
    st.integers(0, 350),
)
def test_any_text_fits_and_can_be_written(problem: str, remedy: str, bytes_max: int) -> None:
    text = f"{problem}; {remedy}" if remedy else problem
    kept = clip(text, bytes_max)
    assert len(kept.encode()) <= bytes_max
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(kept)) == kept
    assert clip(kept, bytes_max) == kept


def test_what_is_no_text_at_all_can_still_be_written() -> None:
    assert clip("file \udcff") == "file ?"


def test_an_exception_that_cannot_say_what_it_is_has_a_name() -> None:
    class Mute(Exception):
        def __repr__(self) -> str:
            raise ValueError("mute")

    assert shown_error(Mute()) == "Mute"
    assert shown_error(KeyError("x")) == "KeyError('x')"
