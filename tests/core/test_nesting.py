"""JSON from elsewhere is no deeper and no wider than its bounds, whatever stands in its texts."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import DecodeError, json

from laneway.core import nesting
from laneway.core.limits import NESTING_MAX
from laneway.core.nesting import TooManyBrackets, bounded


def deep(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def test_a_text_within_the_bounds_is_passed_on_as_it_is() -> None:
    for raw in (b"", b"{}", b'{"a":[1,2,{"b":[]}]}', b"no json at all", deep(NESTING_MAX)):
        assert bounded(raw) is raw


def test_a_text_that_is_nested_too_deep_is_refused() -> None:
    for raw in (
        deep(NESTING_MAX + 1),
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"a":[' * NESTING_MAX,
        b'["a\\"]"' + b',["\\\\"' * (NESTING_MAX + 1),
    ):
        with pytest.raises(DecodeError, match=f"nested deeper than {NESTING_MAX}"):
            bounded(raw)


def test_brackets_that_stand_beside_each_other_are_counted_alone() -> None:
    wide = b"[" + b",".join([b"[]"] * 500) + b"]"
    assert bounded(wide, 501) is wide
    with pytest.raises(TooManyBrackets, match="more than 500"):
        bounded(wide, 500)


def test_brackets_within_texts_do_not_count() -> None:
    text = json.encode({"data": "[{" * 5_000 + '"\\' + "[" * 5_000})
    assert bounded(text, 1) is text


@pytest.fixture
def raised_recursion() -> Iterator[None]:
    """Libraries of this trade raise it, and then the decoder overflows the stack."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(200_000)
    yield
    sys.setrecursionlimit(before)


def test_a_deep_text_is_refused_whatever_the_recursion_limit_is(raised_recursion: None) -> None:
    with pytest.raises(DecodeError):
        json.decode(bounded(b"[" * 100_000))


VALUES = st.recursive(
    st.text(alphabet='[]{}"\\a,', max_size=8) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=12,
)


def depth_of(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


@given(VALUES, st.integers(0, 6), st.integers(1, 7))
def test_depth_is_that_of_the_decoded_value(value: Any, most: int, piece: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nesting, "NESTING_MAX", most)
        patch.setattr(nesting, "PIECE_BYTES", piece)
        raw = json.encode(value)
        if depth_of(value) <= most:
            assert bounded(raw) is raw
        else:
            with pytest.raises(DecodeError):
                bounded(raw)
