"""Reasons fit into a row, whatever they were."""

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from laneway.core.limits import REASON_BYTES_MAX
from laneway.core.reason import clip


def test_short_words_stay_as_they_are() -> None:
    assert clip("the node is down") == "the node is down"
    assert clip("größer als erwartet") == "größer als erwartet"


def test_a_long_reason_is_cut_at_its_limit() -> None:
    assert clip("x" * 5_000) == "x" * REASON_BYTES_MAX


def test_a_cut_never_splits_a_letter() -> None:
    assert clip("ää", 3) == "ä"


@settings(deadline=None, derandomize=True, database=None)
@given(st.text(alphabet=st.characters(codec=None), max_size=400), st.integers(0, 350))
def test_any_text_fits_and_can_be_written(text: str, bytes_max: int) -> None:
    kept = clip(text, bytes_max)
    assert len(kept.encode()) <= bytes_max
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(kept)) == kept
    assert clip(kept, bytes_max) == kept


def test_what_is_no_text_at_all_can_still_be_written() -> None:
    assert clip("file \udcff") == "file ?"
