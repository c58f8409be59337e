"""RLP: one encoding for each value, and nothing else is read."""

import pytest

from laneway.evm.errors import MalformedRlp
from laneway.evm.limits import RLP_BYTES_MAX, RLP_DEPTH_MAX
from laneway.evm.rlp import Item, Value, decode, encode

PAIRS: list[tuple[Value, str]] = [
    (b"", "80"),
    (0, "80"),
    (b"\x00", "00"),
    (1, "01"),
    (0x7F, "7f"),
    (0x80, "8180"),
    (b"\x80", "8180"),
    (1024, "820400"),
    (1 << 448, "b839" + "01" + "00" * 56),
    (b"dog", "83646f67"),
    (b"a" * 55, "b7" + "61" * 55),
    (b"a" * 56, "b838" + "61" * 56),
    (b"a" * 1024, "b90400" + "61" * 1024),
    ([], "c0"),
    ([b"cat", [b"dog", []]], "ca83636174" + "c583646f67c0"),
    ([b"a" * 60], "f83e" + "b83c" + "61" * 60),
]


@pytest.mark.parametrize(("value", "hex_form"), PAIRS)
def test_a_value_has_its_published_form(value: Value, hex_form: str) -> None:

    assert encode(value).hex() == hex_form


@pytest.mark.parametrize(("value", "hex_form"), PAIRS)
def test_what_is_decoded_encodes_to_the_same_bytes(value: Value, hex_form: str) -> None:
    raw = encode(value)
    assert encode(decode(raw)) == raw


@pytest.mark.parametrize(
    ("hex_form", "problem"),
    [
        ("", "an item is missing"),
        ("8000", "bytes are left over"),
        ("8100", "a small byte is its own encoding"),
        ("817f", "a small byte is its own encoding"),
        ("81", "the content is cut off"),
        ("c281", "the content is cut off"),
        ("c181", "the content is cut off"),
        ("b8", "the length is cut off"),
        ("b90001", "the length has a leading zero"),
        ("b801ff", "a short length is written long"),
        ("f803112233", "a short length is written long"),
        ("b838" + "00" * 55, "the content is cut off"),
        ("ffffffffffffffffff00", "the content is cut off"),
        ("c2" * 3 + "c0", "the content is cut off"),
    ],
)
def test_a_second_form_of_a_value_is_refused(hex_form: str, problem: str) -> None:
    with pytest.raises(MalformedRlp) as refused:
        decode(bytes.fromhex(hex_form))
    assert refused.value.operands["problem"] == problem
    assert refused.value.code == "rlp_malformed"


def nested(depth: int) -> bytes:
    raw = b""
    for _ in range(depth):
        raw = encode([decode(raw)] if raw else [])
    return raw


def test_lists_nest_as_deep_as_the_bound_and_no_deeper() -> None:
    deepest: Item = decode(nested(RLP_DEPTH_MAX))
    with pytest.raises(MalformedRlp, match="too deep"):
        decode(encode([deepest]))


def test_more_bytes_than_a_message_holds_are_not_looked_at() -> None:
    with pytest.raises(MalformedRlp, match="too many"):
        decode(bytes(RLP_BYTES_MAX + 1))
