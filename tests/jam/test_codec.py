"""Laws of the codec: one encoding for each value, all bytes read, no claim believed."""

import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from laneway.jam.codec import (
    BLOB,
    FLAG,
    HASH,
    NATURAL,
    U8,
    U16,
    U32,
    U64,
    Blob,
    ByteReader,
    Codec,
    Exactly,
    Fixed,
    Hash,
    Many,
    Mapped,
    Maybe,
    Octets,
    Record,
    Uint16,
    record,
)
from laneway.jam.errors import MalformedEncoding, Unencodable
from laneway.jam.limits import BLOB_BYTES_MAX, SEQUENCE_COUNT_MAX


class Pair(Struct, frozen=True):
    left: int
    right: tuple[bytes, ...]


PAIR = Record(Pair, left=U16, right=Many(HASH))
NATURALS = st.integers(0, 64).flatmap(lambda bits: st.integers(0, (1 << bits) - 1 if bits else 0))


def trouble(codec: Codec[Any], raw: bytes) -> tuple[str, int, str]:
    with pytest.raises(MalformedEncoding) as caught:
        codec.decode(raw, "it")
    operands = caught.value.operands
    assert isinstance(operands["at"], int)
    return str(operands["path"]), operands["at"], str(operands["problem"])


@given(NATURALS)
def test_a_natural_comes_back_from_its_bytes(value: int) -> None:
    raw = NATURAL.encode(value)
    assert NATURAL.decode(raw) == value
    assert len(raw) == max(1, min(9, (value.bit_length() + 6) // 7))


@pytest.mark.parametrize(
    ("value", "raw"),
    [
        (0, "00"),
        (1, "01"),
        (127, "7f"),
        (128, "8080"),
        (16_383, "bfff"),
        (16_384, "c00040"),
        ((1 << 21) - 1, "dfffff"),
        (1 << 21, "e0000020"),
        ((1 << 56) - 1, "feffffffffffffff"),
        (1 << 56, "ff0000000000000001"),
        ((1 << 64) - 1, "ffffffffffffffffff"),
    ],
)
def test_a_natural_takes_one_byte_more_for_each_seven_bits(value: int, raw: str) -> None:
    assert NATURAL.encode(value).hex() == raw
    assert NATURAL.decode(bytes.fromhex(raw)) == value


@given(st.binary(min_size=1, max_size=9))
def test_a_natural_has_exactly_one_encoding(raw: bytes) -> None:
    try:
        value = NATURAL.decode(raw)
    except MalformedEncoding:
        return
    assert NATURAL.encode(value) == raw


@pytest.mark.parametrize(
    "raw", ["8000", "807f", "c0ff3f", "fe" + "ff" * 6 + "00", "ff" + "ff" * 7 + "00"]
)
def test_a_natural_in_more_bytes_than_it_needs_is_refused(raw: str) -> None:
    assert "is written in" in trouble(NATURAL, bytes.fromhex(raw))[2]


@pytest.mark.parametrize("value", [-1, 1 << 64])
def test_what_is_no_natural_below_two_to_the_64_has_no_encoding(value: int) -> None:
    with pytest.raises(Unencodable):
        NATURAL.encode(value)


@pytest.mark.parametrize(("codec", "width"), [(U8, 1), (U16, 2), (U32, 4), (U64, 8), (Fixed(3), 3)])
def test_a_number_of_fixed_width_has_its_little_end_first(codec: Codec[int], width: int) -> None:
    assert codec.encode(1) == b"\x01" + bytes(width - 1)
    assert codec.decode(b"\xff" * width) == (1 << 8 * width) - 1
    for value in (-1, 1 << 8 * width):
        with pytest.raises(Unencodable):
            codec.encode(value)
    assert trouble(codec, bytes(width - 1))[1] == 0


def test_a_flag_is_zero_or_one() -> None:
    assert (FLAG.encode(False), FLAG.encode(True)) == (b"\x00", b"\x01")
    assert (FLAG.decode(b"\x00"), FLAG.decode(b"\x01")) == (False, True)
    assert trouble(FLAG, b"\x02")[2] == "2 is neither 0 nor 1"


def test_octets_are_as_many_as_they_must_be() -> None:
    assert Octets(2).decode(Octets(2).encode(b"ab")) == b"ab"
    with pytest.raises(Unencodable):
        Octets(2).encode(b"abc")
    assert trouble(Octets(2), b"a") == ("it", 0, "2 bytes are expected and 1 are left")


def test_a_blob_stands_behind_its_length() -> None:
    assert BLOB.encode(b"abc") == b"\x03abc"
    assert BLOB.decode(b"\x03abc") == b"abc"
    assert BLOB.decode(b"\x00") == b""


def test_a_blob_above_its_bound_is_neither_written_nor_read() -> None:
    with pytest.raises(Unencodable):
        Blob(2).encode(b"abc")
    assert trouble(Blob(2), b"\x03abc")[2] == "3 bytes, and at most 2 are taken"


@pytest.mark.parametrize(
    ("codec", "claim"),
    [
        (BLOB, BLOB_BYTES_MAX),
        (BLOB, (1 << 64) - 1),
        (Many(U8), SEQUENCE_COUNT_MAX),
        (Many(U8), (1 << 64) - 1),
        (Octets(BLOB_BYTES_MAX), 7),
        (Exactly(HASH, SEQUENCE_COUNT_MAX), 7),
    ],
)
def test_what_a_prefix_claims_is_not_allocated(codec: Codec[Any], claim: int) -> None:
    raw = NATURAL.encode(claim) + bytes(100)
    tracemalloc.start()
    try:
        trouble(codec, raw)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_a_sequence_stands_behind_its_count() -> None:
    assert Many(U16).encode((1, 2)) == bytes.fromhex("0201000200")
    assert Many(U16).decode(bytes.fromhex("0201000200")) == (1, 2)


def test_a_sequence_above_its_bound_is_neither_written_nor_read() -> None:
    with pytest.raises(Unencodable):
        Many(U8, 1).encode((1, 2))
    assert trouble(Many(U8, 1), b"\x02\x00\x00")[2] == "2 items, and at most 1 are taken"


def test_a_count_above_the_bytes_that_are_left_is_a_lie() -> None:
    assert trouble(Many(U8), b"\x05\x00")[2] == "5 items are expected and 1 bytes are left"


def test_a_fixed_number_of_things_has_no_prefix() -> None:
    assert Exactly(U8, 3).encode((1, 2, 3)) == b"\x01\x02\x03"
    assert Exactly(U8, 3).decode(b"\x01\x02\x03") == (1, 2, 3)
    with pytest.raises(Unencodable):
        Exactly(U8, 3).encode((1, 2))
    assert trouble(Exactly(U8, 3), b"\x01\x02")[:2] == ("it[2]", 2)


def test_a_thing_that_may_be_missing_is_told_by_a_byte() -> None:
    assert (Maybe(U8).encode(None), Maybe(U8).encode(7)) == (b"\x00", b"\x01\x07")
    assert (Maybe(U8).decode(b"\x00"), Maybe(U8).decode(b"\x01\x07")) == (None, 7)
    assert trouble(Maybe(U8), b"\x02\x07")[2] == "2 is neither 0 nor 1"


def test_a_record_is_its_fields_one_behind_the_other() -> None:
    pair = Pair(513, (bytes(32),))
    assert PAIR.encode(pair) == b"\x01\x02\x01" + bytes(32)
    assert PAIR.decode(PAIR.encode(pair)) == pair


def test_an_error_names_the_field_and_the_byte() -> None:
    nested = Many(PAIR)
    raw = nested.encode((Pair(1, ()), Pair(2, (bytes(32), bytes(32)))))
    assert trouble(nested, raw[:-1]) == (
        "it[1].right[1]",
        39,
        "32 bytes are expected and 31 are left",
    )


def test_bytes_behind_the_end_are_refused() -> None:
    assert trouble(U8, b"\x01\x02\x03") == ("it", 1, "2 bytes follow the end")


def test_nothing_is_no_encoding_of_a_natural() -> None:
    assert trouble(NATURAL, b"") == ("it", 0, "a byte is expected and none is left")


@pytest.mark.parametrize("error", [ValueError("odd"), Unencodable(problem="odd")])
def test_bytes_that_are_no_such_thing_are_refused_where_they_end(error: Exception) -> None:
    def outward(value: int) -> int:
        if value % 2:
            raise error
        return value // 2

    halved: Codec[int] = Mapped(U8, lambda value: value * 2, outward)
    assert halved.decode(halved.encode(3)) == 3
    assert trouble(halved, b"\x03") == ("it", 1, "odd")


def test_a_codec_must_say_how_it_writes_and_reads() -> None:
    empty: Codec[int] = Codec()
    with pytest.raises(NotImplementedError):
        empty.encode(1)
    with pytest.raises(NotImplementedError):
        empty.read(ByteReader(b""))


class _Inner(Struct, frozen=True):
    number: Uint16


class _Outer(Struct, frozen=True, kw_only=True):
    inner: _Inner
    several: tuple[_Inner, ...]
    name: Hash
    flag: bool


def test_a_record_follows_from_the_declared_types_in_their_order() -> None:
    codec = record(_Outer, flag=FLAG)
    value = _Outer(flag=True, name=b"n" * 32, several=(_Inner(2), _Inner(3)), inner=_Inner(1))
    raw = b"\x01\x00" + b"\x02\x02\x00\x03\x00" + b"n" * 32 + b"\x01"
    assert codec.encode(value) == raw
    assert codec.decode(raw) == value
