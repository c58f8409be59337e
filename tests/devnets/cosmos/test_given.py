"""Laws of parameters: what a node reads from them, and its words against what it cannot read."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.devnets.cosmos.given import (
    INTERNAL,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    Given,
    RpcRefused,
    by_name,
    kind_of,
    octets_of,
    read_base64,
    read_letters,
)

HASH = bytes(range(32))


def problem(refused: pytest.ExceptionInfo[RpcRefused], way: str = "json") -> str:
    assert refused.value.code == INVALID_PARAMS
    begin, _, rest = refused.value.data.partition(" params to arguments: ")
    assert begin == f"error converting {way}"
    return rest


def test_a_refusal_tells_its_code_its_message_and_its_reason() -> None:
    no = RpcRefused(INTERNAL, "mempool is full")
    assert (no.code, no.data, str(no)) == (
        -32603,
        "mempool is full",
        "-32603 Internal error: mempool is full",
    )
    assert RpcRefused(METHOD_NOT_FOUND).data == ""
    assert (INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS) == (-32600, -32601, -32602)


def test_bytes_are_read_from_base64() -> None:
    given = Given({"tx": "YWJj", "none": None})
    assert given.octets("tx") == b"abc"
    assert given.octets("none") == given.octets("missing") == b""


def test_bytes_are_read_from_hex_in_a_uri_alone() -> None:
    assert Given({"hash": f"0x{HASH.hex()}"}, "http").octets("hash") == HASH
    with pytest.raises(RpcRefused) as refused:
        Given({"hash": f"0x{HASH.hex()}"}).octets("hash")
    assert problem(refused) == "illegal base64 data at input byte 64"
    with pytest.raises(RpcRefused) as refused:
        Given({"hash": "0xzz"}, "http").octets("hash")
    assert problem(refused, "http").startswith("encoding/hex: invalid byte")


@pytest.mark.parametrize(
    ("value", "kind"), [(5, "number"), (1.5, "number"), (True, "bool"), ({}, "object")]
)
def test_bytes_are_nothing_but_a_text(value: object, kind: str) -> None:
    with pytest.raises(RpcRefused) as refused:
        Given({"hash": value}).octets("hash")
    assert problem(refused) == f"json: cannot unmarshal {kind} into Go value of type []uint8"
    with pytest.raises(RpcRefused) as refused:
        Given({"hashes": ["YWJj", value]}).many_octets("hashes")
    assert problem(refused) == f"json: cannot unmarshal {kind} into Go value of type []uint8"


def test_many_bytes_keep_their_order_and_their_duplicates() -> None:
    given = Given({"hashes": ["YWJj", "", "YQ==", "YWJj"], "none": None})
    assert given.many_octets("hashes") == [b"abc", b"", b"a", b"abc"]
    assert given.many_octets("none") == given.many_octets("missing") == []


def test_many_bytes_are_a_list_of_base64() -> None:
    with pytest.raises(RpcRefused) as refused:
        Given({"hashes": ["YWJj", "Y"]}).many_octets("hashes")
    assert problem(refused) == "illegal base64 data at input byte 0"
    with pytest.raises(RpcRefused) as refused:
        Given({"hashes": "YWJj"}, "http").many_octets("hashes")
    assert problem(refused, "http").startswith("json: cannot unmarshal string into Go value")


def test_a_text_is_a_text() -> None:
    assert Given({"path": "/a"}).text("path") == "/a"
    assert Given({}).text("path") == ""
    with pytest.raises(RpcRefused) as refused:
        Given({"path": ["/a"]}).text("path")
    assert problem(refused) == "json: cannot unmarshal array into Go value of type string"


def test_hex_is_read_with_and_without_its_prefix() -> None:
    assert Given({"data": "0aFF"}).hex_octets("data") == b"\x0a\xff"
    assert Given({"data": "0x0a"}, "http").hex_octets("data") == b"\x0a"
    assert Given({}).hex_octets("data") == b""
    with pytest.raises(RpcRefused) as refused:
        Given({"data": "0g"}).hex_octets("data")
    assert problem(refused).startswith("encoding/hex: invalid byte")


def test_a_number_is_digits_or_in_a_uri_a_number() -> None:
    assert Given({"height": "12"}).number("height", 7) == 12
    assert Given({"height": 12}, "http").number("height", 7) == 12
    assert Given({"height": None}).number("height", 7) == 7
    assert Given({}).number("height", 7) == 7


@pytest.mark.parametrize("value", ["", "twelve", "1.5", 1.5, True, [1]])
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(RpcRefused) as refused:
        Given({"height": value}).number("height", 7)
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
    with pytest.raises(RpcRefused) as refused:
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
    assert Given({"n": "-7"}).number("n", 1) == -7
    assert Given({"n": 7}, "http").number("n", 1) == 7
    with pytest.raises(RpcRefused, match='invalid 64-bit integer encoding "7", expected string'):
        Given({"n": 7}).number("n", 1)
    for odd in ("²", "7.0", "", "9" * 5_000):
        with pytest.raises(RpcRefused, match="invalid syntax"):
            Given({"n": odd}).number("n", 1)


def test_bytes_in_a_uri_are_hex_or_stand_for_themselves() -> None:
    assert Given({"tx": "0X6162"}, "http").octets("tx") == b"ab"
    assert Given({"tx": "YQ=="}, "http").octets("tx") == b"YQ=="
    with pytest.raises(RpcRefused, match="invalid byte"):
        Given({"tx": "0x61 62"}, "http").octets("tx")
    assert Given({"data": None}).text("data") == ""


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
