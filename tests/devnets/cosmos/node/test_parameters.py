"""Laws of parameters: what a node reads from them, and its words against what it cannot read."""

import string
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.devnets.cosmos.node.parameters import (
    CometParameters,
    CometRefused,
    by_name,
    kind_of,
    read_base64,
)
from laneway.wire.rpc_codes import (
    INTERNAL,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
)

HASH = bytes(range(32))

ALPHABET = {
    letter: value
    for value, letter in enumerate(
        string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
    )
}


def read_letters(text: str) -> bytes:
    """Base64 as Go reads it, letter by letter: the model that `read_base64` is compared with."""
    found = bytearray()
    values: list[int] = []
    place = 0
    while place < len(text):
        letter = text[place]
        if letter in "\r\n":
            place += 1
        elif letter in ALPHABET:
            values.append(ALPHABET[letter])
            place += 1
            if len(values) == 4:
                found += octets_of(values)
                values = []
        elif letter == "=" and len(values) >= 2:
            end = past_newlines(text, place + 1)
            if len(values) == 2:
                if end == len(text):
                    raise ValueError(f"illegal base64 data at input byte {end}")
                if text[end] != "=":
                    raise ValueError(f"illegal base64 data at input byte {end - 1}")
                end = past_newlines(text, end + 1)
            if end < len(text):
                raise ValueError(f"illegal base64 data at input byte {end}")
            return bytes(found + octets_of(values))
        else:
            raise ValueError(f"illegal base64 data at input byte {place}")
    if values:
        raise ValueError(f"illegal base64 data at input byte {len(text) - len(values)}")
    return bytes(found)


def past_newlines(text: str, place: int) -> int:
    while text[place : place + 1] in ("\r", "\n"):
        place += 1
    return place


def octets_of(values: Sequence[int]) -> bytes:
    """Of two, three or four letters: one, two or three bytes."""
    padded = [*values, *[0] * (4 - len(values))]
    number = padded[0] << 18 | padded[1] << 12 | padded[2] << 6 | padded[3]
    return number.to_bytes(3, "big")[: len(values) - 1]


def problem(refused: pytest.ExceptionInfo[CometRefused], way: str = "json") -> str:
    assert refused.value.code == INVALID_PARAMS
    begin, _, rest = refused.value.data.partition(" params to arguments: ")
    assert begin == f"error converting {way}"
    return rest


def test_a_refusal_tells_its_code_its_message_and_its_reason() -> None:
    no = CometRefused(INTERNAL, "mempool is full")
    assert (no.code, no.data, str(no)) == (
        -32603,
        "mempool is full",
        "-32603 Internal error: mempool is full",
    )
    assert CometRefused(METHOD_NOT_FOUND).data == ""
    assert (INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS) == (-32600, -32601, -32602)


def test_bytes_are_read_from_base64() -> None:
    given = CometParameters({"tx": "YWJj", "none": None})
    assert given.octets("tx") == b"abc"
    assert given.octets("none") == given.octets("missing") == b""


def test_bytes_are_read_from_hex_in_a_uri_alone() -> None:
    assert CometParameters({"hash": f"0x{HASH.hex()}"}, "http").octets("hash") == HASH
    with pytest.raises(CometRefused) as refused:
        CometParameters({"hash": f"0x{HASH.hex()}"}).octets("hash")
    assert problem(refused) == "illegal base64 data at input byte 64"
    with pytest.raises(CometRefused) as refused:
        CometParameters({"hash": "0xzz"}, "http").octets("hash")
    assert problem(refused, "http").startswith("encoding/hex: invalid byte")


@pytest.mark.parametrize(
    ("value", "kind"), [(5, "number"), (1.5, "number"), (True, "bool"), ({}, "object")]
)
def test_bytes_are_nothing_but_a_text(value: object, kind: str) -> None:
    with pytest.raises(CometRefused) as refused:
        CometParameters({"hash": value}).octets("hash")
    assert problem(refused) == f"json: cannot unmarshal {kind} into Go value of type []uint8"
    with pytest.raises(CometRefused) as refused:
        CometParameters({"hashes": ["YWJj", value]}).many_octets("hashes")
    assert problem(refused) == f"json: cannot unmarshal {kind} into Go value of type []uint8"


def test_many_bytes_keep_their_order_and_their_duplicates() -> None:
    given = CometParameters({"hashes": ["YWJj", "", "YQ==", "YWJj"], "none": None})
    assert given.many_octets("hashes") == [b"abc", b"", b"a", b"abc"]
    assert given.many_octets("none") == given.many_octets("missing") == []


def test_many_bytes_are_a_list_of_base64() -> None:
    with pytest.raises(CometRefused) as refused:
        CometParameters({"hashes": ["YWJj", "Y"]}).many_octets("hashes")
    assert problem(refused) == "illegal base64 data at input byte 0"
    with pytest.raises(CometRefused) as refused:
        CometParameters({"hashes": "YWJj"}, "http").many_octets("hashes")
    assert problem(refused, "http").startswith("json: cannot unmarshal string into Go value")


def test_a_text_is_a_text() -> None:
    assert CometParameters({"path": "/a"}).text("path") == "/a"
    assert CometParameters({}).text("path") == ""
    with pytest.raises(CometRefused) as refused:
        CometParameters({"path": ["/a"]}).text("path")
    assert problem(refused) == "json: cannot unmarshal array into Go value of type string"


def test_hex_is_read_with_and_without_its_prefix() -> None:
    assert CometParameters({"data": "0aFF"}).hex_octets("data") == b"\x0a\xff"
    assert CometParameters({"data": "0x0a"}, "http").hex_octets("data") == b"\x0a"
    assert CometParameters({}).hex_octets("data") == b""
    with pytest.raises(CometRefused) as refused:
        CometParameters({"data": "0g"}).hex_octets("data")
    assert problem(refused).startswith("encoding/hex: invalid byte")


def test_a_number_is_digits_or_in_a_uri_a_number() -> None:
    assert CometParameters({"height": "12"}).number("height", 7) == 12
    assert CometParameters({"height": 12}, "http").number("height", 7) == 12
    assert CometParameters({"height": None}).number("height", 7) == 7
    assert CometParameters({}).number("height", 7) == 7


@pytest.mark.parametrize("value", ["", "twelve", "1.5", 1.5, True, [1]])
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(CometRefused) as refused:
        CometParameters({"height": value}).number("height", 7)
    assert problem(refused)


def test_kinds_are_called_as_go_calls_them() -> None:
    values: list[object] = [False, 1, 1.5, "a", [], {}]
    assert [kind_of(one) for one in values] == [
        "bool",
        "number",
        "number",
        "string",
        "array",
        "object",
    ]


def test_a_list_is_named_by_its_places() -> None:
    assert by_name(["/a", "00"], ("path", "data")) == {"path": "/a", "data": "00"}
    assert by_name({"data": "00"}, ("path", "data")) == {"data": "00"}
    assert by_name(None, ("path",)) == {}
    assert by_name([], ()) == {}


@pytest.mark.parametrize("params", [[], ["/a"], ["/a", "00", "0"]])
def test_a_list_has_all_the_parameters(params: list[object]) -> None:
    with pytest.raises(CometRefused) as refused:
        by_name(params, ("path", "data"))
    assert problem(refused).startswith("expected 2 parameters (")


@pytest.mark.parametrize(
    ("text", "octets"),
    [
        ("", b""),
        ("YQ==", b"a"),
        ("YWI=", b"ab"),
        ("YWJj", b"abc"),
        ("YWJjZA==", b"abcd"),
        ("Y\nWI\r=\n", b"ab"),
        ("+/+/", b"\xfb\xff\xbf"),
        ("YW\nJj", b"abc"),
    ],
)
def test_base64_is_read_with_its_padding(text: str, octets: bytes) -> None:
    assert read_base64(text) == octets


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("YQ", 0),
        ("YWJjY", 4),
        ("YWJj*", 4),
        ("Y!", 1),
        ("-_-_", 0),
        ("=", 0),
        ("Y=", 1),
        ("YQ=", 3),
        ("YQ==YQ==", 4),
        ("YWI=x", 4),
    ],
)
def test_what_is_no_base64_is_told_by_its_place(text: str, place: int) -> None:
    with pytest.raises(ValueError, match=f"illegal base64 data at input byte {place}$"):
        read_base64(text)


def test_four_letters_are_three_bytes() -> None:
    assert octets_of([24, 22, 9, 35]) == b"abc"
    assert octets_of([24, 16]) == b"a"


def test_a_number_is_posted_as_a_text_and_plain_in_a_uri() -> None:
    assert CometParameters({"n": "-7"}).number("n", 1) == -7
    assert CometParameters({"n": 7}, "http").number("n", 1) == 7
    with pytest.raises(CometRefused, match='invalid 64-bit integer encoding "7", expected string'):
        CometParameters({"n": 7}).number("n", 1)
    for odd in ("²", "7.0", "", "9" * 5_000):
        with pytest.raises(CometRefused, match="invalid syntax"):
            CometParameters({"n": odd}).number("n", 1)


def test_bytes_in_a_uri_are_hex_or_stand_for_themselves() -> None:
    assert CometParameters({"tx": "0X6162"}, "http").octets("tx") == b"ab"
    assert CometParameters({"tx": "YQ=="}, "http").octets("tx") == b"YQ=="
    with pytest.raises(CometRefused, match="invalid byte"):
        CometParameters({"tx": "0x61 62"}, "http").octets("tx")
    assert CometParameters({"data": None}).text("data") == ""


@pytest.mark.parametrize(
    ("text", "place"), [("AA=A", 2), ("AA=", 3), ("AA==A", 4), ("AA=\n=\nA", 6), ("A=", 1)]
)
def test_what_is_wrong_with_base64_is_told_by_its_place(text: str, place: int) -> None:
    with pytest.raises(ValueError, match=rf"input byte {place}$"):
        read_base64(text)
    assert read_base64("AA=\n=\n") == b"\0"


@given(st.text("AB/=\n ", max_size=9))
def test_base64_at_once_and_letter_by_letter_are_the_same(text: str) -> None:
    def outcome(read: Callable[[str], bytes]) -> bytes | str:
        try:
            return read(text)
        except ValueError as error:
            return str(error)

    assert outcome(read_base64) == outcome(read_letters)
