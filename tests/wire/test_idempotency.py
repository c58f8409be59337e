"""Laws of the Idempotency-Key header: quoted or bare, the same key; anything else is refused."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.core.errors import BadRequest
from laneway.wire.idempotency import key_of, parse_key, quoted

PRINTABLE = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1, max_size=255)


@given(PRINTABLE)
def test_a_quoted_string_is_read_back(key: str) -> None:
    assert parse_key(quoted(key)) == key


@given(PRINTABLE.filter(lambda key: key.strip() == key and not key.startswith('"')))
def test_a_bare_word_is_itself(key: str) -> None:
    assert parse_key(f" {key}\t") == key


@given(st.text(max_size=30))
def test_any_text_is_a_key_or_a_clear_refusal(text: str) -> None:
    with suppress(BadRequest):
        assert parse_key(text)


@pytest.mark.parametrize("text", ["", '"', '""', '"a', 'a\n"', '"a\\', '"a\\"', '"a\\n"', '"a"b"'])
def test_what_is_not_a_key_is_refused(text: str) -> None:
    with pytest.raises(BadRequest):
        parse_key(text)


def test_both_headers_must_agree() -> None:
    assert key_of({}) is None
    assert key_of({"Idempotency-Key": '"a"', "x-idempotency-key": "a"}) == "a"
    assert key_of({"x-idempotency-key": "a"}) == "a"
    with pytest.raises(BadRequest, match="disagree"):
        key_of({"Idempotency-Key": "a", "x-idempotency-key": "b"})
