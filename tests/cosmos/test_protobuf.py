"""Laws of our protobuf: canonical when written, tolerant of order when read, strict on the rest."""

from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.cosmos.errors import MalformedProtobuf
from laneway.cosmos.limits import PROTOBUF_DEPTH_MAX
from laneway.cosmos.protobuf import UINT64_MAX, Message, decode, encode, encode_varint


class Inner(Message, frozen=True):
    number: int = 0


class Outer(Message, frozen=True):
    number: int = 0
    flag: bool = False
    text: str = ""
    data: bytes = b""
    inner: Inner | None = None
    inners: tuple[Inner, ...] = ()
    numbers: tuple[int, ...] = ()
    rate: float = 0.0
    texts: tuple[str, ...] = ()
    field_numbers: ClassVar = (1, 2, 3, 4, 5, 6, 7, 8, 16)


class Deep(Message, frozen=True):
    inner: "Deep | None" = None


uints = st.integers(0, UINT64_MAX)
inners = st.builds(Inner, uints)
outers = st.builds(
    Outer,
    uints,
    st.booleans(),
    st.text(),
    st.binary(),
    st.none() | inners,
    st.lists(inners).map(tuple),
    st.lists(uints).map(tuple),
    st.floats(allow_nan=False),
    st.lists(st.text()).map(tuple),
)


@given(outers)
def test_what_is_written_is_read_as_it_was(outer: Outer) -> None:
    assert decode(Outer, encode(outer)) == outer


def test_defaults_are_left_out_and_the_rest_stands_in_the_order_of_numbers() -> None:
    assert encode(Outer()) == b""
    full = Outer(1, True, "é", b"\0", Inner(), (Inner(2), Inner()), (0, 300), 1.0, ("", "x"))
    assert encode(full).hex() == (
        "0801" "1001" "1a02c3a9" "220100" "2a00" "32020802" "3200" "3a0300ac02"
        "41000000000000f03f" "820100" "82010178"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, "00"),
        (1, "01"),
        (127, "7f"),
        (128, "8001"),
        (300, "ac02"),
        (UINT64_MAX, "ff" * 9 + "01"),
    ],
)
def test_a_number_is_as_short_as_can_be(number: int, said: str) -> None:
    assert encode_varint(number).hex() == said


def test_any_order_is_read_and_the_last_word_counts() -> None:
    assert decode(Outer, bytes.fromhex("100108050806")) == Outer(6, True)


def test_many_numbers_are_read_packed_or_one_by_one() -> None:
    assert decode(Outer, bytes.fromhex("38013a0202033804")).numbers == (1, 2, 3, 4)


@pytest.mark.parametrize("unknown", ["7801", "7a0161", "790000000000000000", "7d00000000"])
def test_what_is_unknown_is_refused_or_passed_over(unknown: str) -> None:
    raw = bytes.fromhex("0805" + unknown + "1001")
    assert decode(Outer, raw, strict=False) == Outer(5, True)
    with pytest.raises(MalformedProtobuf, match="field 15 is unknown"):
        decode(Outer, raw)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ("08", "a number is cut off"),
        ("0880", "a number is cut off"),
        ("08" + "ff" * 10 + "01", "more than ten bytes"),
        ("08" + "ff" * 9 + "02", "more than 64 bits"),
        ("2202ff", "cut off"),
        ("41000000", "cut off"),
        ("3a0201", "cut off"),
        ("3a0180", "a number is cut off"),
        ("1a01ff", "not UTF-8"),
        ("0a0101", "number has the wire type 2"),
        ("1801", "text has the wire type 0"),
        ("0001", "field 0 is unknown"),
    ],
)
def test_what_is_malformed_is_said_with_its_place(raw: str, problem: str) -> None:
    with pytest.raises(MalformedProtobuf, match=problem) as error:
        decode(Outer, bytes.fromhex(raw), strict=False)
    assert error.value.operands["what"] == "Outer"


@pytest.mark.parametrize("raw", ["7b", "7f01", "7a05", "79", "7d0000", "00"])
def test_what_cannot_be_passed_over_is_malformed(raw: str) -> None:
    with pytest.raises(MalformedProtobuf):
        decode(Outer, bytes.fromhex(raw), strict=False)


def test_depth_is_bounded() -> None:
    raw = b""
    for _ in range(PROTOBUF_DEPTH_MAX):
        raw = b"\x0a" + encode_varint(len(raw)) + raw
    found: Any = decode(Deep, raw)
    for _ in range(PROTOBUF_DEPTH_MAX):
        found = found.inner
    assert found == Deep()
    with pytest.raises(MalformedProtobuf, match="too deep"):
        decode(Deep, b"\x0a" + encode_varint(len(raw)) + raw)
