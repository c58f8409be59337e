"""Parameters are read strictly, by their places."""

from typing import Any

import pytest

from laneway.devnets.jam.node.parameters import (
    any_of,
    below,
    blob,
    fields,
    flag,
    hash_,
    index,
    number,
    one_of,
    state_key,
)
from laneway.devnets.jam.node.rpc import Jip2Dialect
from laneway.wire.rpc_server.methods import Kind, Method, RpcRefused

INVALID_PARAMS = -32602
read = Jip2Dialect().parameters


def refused(kind: Kind, value: object) -> str:
    with pytest.raises(RpcRefused) as no:
        kind(value)
    assert no.value.code == INVALID_PARAMS
    assert no.value.data is None
    return no.value.message


@pytest.mark.parametrize(("text", "raw"), [("", b""), ("AA==", b"\0"), ("+/8=", b"\xfb\xff")])
def test_a_blob_is_padded_base64(text: str, raw: bytes) -> None:
    assert blob(text) == raw


@pytest.mark.parametrize(
    "text",
    [
        "A",
        "AA",
        "AA=",
        "AA=A",
        "AA===",
        "AB==",
        "A A=",
        "AA==\n",
        "-_8=",
        "ä",
        "AAAA=",
        "=",
        "====",
    ],
)
def test_a_byte_string_has_one_text(text: str) -> None:
    assert refused(blob, text) == "Invalid params: not padded base64"


@pytest.mark.parametrize("value", [None, 5, True, [], {}, b""])
def test_a_blob_is_a_string(value: object) -> None:
    assert refused(blob, value) == "Invalid params: a blob is a string"


def test_hashes_and_state_keys_have_their_lengths() -> None:
    assert hash_("A" * 43 + "=") == bytes(32)
    assert len(state_key("A" * 40 + "AA==")) == 31
    assert refused(hash_, "A" * 42 + "==") == "Invalid params: Invalid hash length."
    assert "31 bytes" in refused(state_key, "A" * 43 + "=")


def test_numbers_are_whole_and_bounded() -> None:
    assert [number(0), number(2**32 - 1), index(2**16 - 1)] == [0, 2**32 - 1, 2**16 - 1]
    wrong: list[tuple[Kind, object]] = [
        (number, 2**32),
        (number, -1),
        (number, 1.0),
        (number, "1"),
        (number, True),
        (number, None),
        (index, 2**16),
        (below(3), 3),
    ]
    for kind, value in wrong:
        assert refused(kind, value) == "Invalid params: not a number in range"


def test_a_flag_is_true_or_false() -> None:
    assert flag(True) is True
    assert flag(False) is False
    for value in (0, 1, None, "true"):
        assert refused(flag, value) == "Invalid params: not a boolean"


def test_a_list_has_one_kind_and_a_bound() -> None:
    assert any_of(number, 2)([1, 2]) == [1, 2]
    assert any_of(number, 2)([]) == []
    assert "at most 2" in refused(any_of(number, 2), [1, 2, 3])
    assert "in range" in refused(any_of(number, 2), [1, "2"])
    assert refused(any_of(number, 2), {"0": 1}) == "Invalid params: not an array"


def test_a_word_is_one_of_those_that_are_known() -> None:
    assert one_of("none", "keys")("keys") == "keys"
    for value in ("all", None, ["none"], 0):
        assert refused(one_of("none", "keys"), value) == "Invalid params: none of none, keys"


def test_an_object_has_no_member_that_is_not_known() -> None:
    kind = fields(slot=number, is_it=flag)
    assert kind({}) == {}
    assert kind({"slot": 3}) == {"slot": 3}
    assert refused(kind, {"wish": 1, "other": 2}) == "Invalid params: unknown: other, wish"
    assert "in range" in refused(kind, {"slot": "3"})
    others: tuple[object, ...] = (None, [], "slot", 1)
    for value in others:
        assert refused(kind, value) == "Invalid params: not an object"


def called(*given: Any) -> tuple[Any, ...]:
    return given


def test_parameters_are_given_by_their_places() -> None:
    method = Method((number, flag), called)
    assert read(method, [1, True]) == [1, True]
    for params in ([], [1], [1, True, 2]):
        with pytest.raises(RpcRefused, match=f"expected 2 and got {len(params)}"):
            read(method, params)
    others: tuple[object, ...] = ({"0": 1}, "1", 7, False)
    for other in others:
        with pytest.raises(RpcRefused, match="by position"):
            read(method, other)


def test_what_may_be_left_away_may_be_left_away() -> None:
    method = Method((number, flag), called, optional=1)
    assert read(method, [1]) == [1]
    assert read(method, [1, False]) == [1, False]
    assert read(Method((), called), None) == []
    with pytest.raises(RpcRefused, match="expected 2 and got 0"):
        read(method, None)
