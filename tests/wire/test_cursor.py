"""Laws of cursors: what was wrapped is read back, anything else is refused."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.core.errors import BadRequest
from laneway.wire.cursor import BundlePlace, LanePlace, TxPlace, unwrap, wrap


@given(st.text(max_size=200), st.text(max_size=40))
def test_a_place_is_read_back(lane: str, intent: str) -> None:
    place = TxPlace(lane, intent)
    text = wrap(place)
    if len(text) <= 700:
        assert unwrap(text, TxPlace) == place
    assert text.isascii()


@given(st.text(max_size=900))
def test_any_text_is_a_place_or_a_clear_refusal(text: str) -> None:
    with suppress(BadRequest):
        assert isinstance(unwrap(text, TxPlace), TxPlace)


def test_a_cursor_of_another_list_is_refused() -> None:
    with pytest.raises(BadRequest):
        unwrap(wrap(LanePlace("contract:Q")), TxPlace)
    with pytest.raises(BadRequest):
        unwrap(wrap(TxPlace("contract:Q", "tx_1")), LanePlace)
    with pytest.raises(BadRequest):
        unwrap("A" * 701, TxPlace)


@pytest.mark.parametrize("number", [0, 7, (1 << 53) - 1])
@pytest.mark.parametrize("final", [False, True])
def test_a_blocks_place_is_read_back(number: int, final: bool) -> None:
    place = BundlePlace(final, number)
    assert unwrap(wrap(place), BundlePlace) == place


@pytest.mark.parametrize("number", [-1, 1 << 53, (1 << 64) - 1])
def test_a_number_that_no_block_has_is_no_place(number: int) -> None:
    with pytest.raises(BadRequest):
        unwrap(wrap(BundlePlace(True, number)), BundlePlace)
