"""Laws of coding: the bytes are those of the ABI's specification, and what strangers wrote is read
within bounds, or not at all."""

import sys
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.evm.abi.coding import cost, decode, encode
from laneway.evm.abi.signatures import read_signature
from laneway.evm.abi.types import AbiParameter

Parameters = Sequence[AbiParameter]


def parameters(written: str) -> Parameters:
    return read_signature(f"f({written})").inputs


def words(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(32) for number in numbers)


@pytest.mark.parametrize(
    ("types", "values", "content"),
    [
        # The examples of Solidity's "Contract ABI Specification".
        ("uint32,bool", [69, True], words(69, 1)),
        ("bytes3[2]", [[b"abc", b"def"]], b"abc" + bytes(29) + b"def" + bytes(29)),
        (
            "bytes,bool,uint256[]",
            [b"dave", True, [1, 2, 3]],
            words(0x60, 1, 0xA0, 4) + b"dave" + bytes(28) + words(3, 1, 2, 3),
        ),
        (
            "uint256,uint32[],bytes10,bytes",
            [0x123, [0x456, 0x789], b"1234567890", b"Hello, world!"],
            words(0x123, 0x80)
            + b"1234567890"
            + bytes(22)
            + words(0xE0, 2, 0x456, 0x789, 13)
            + b"Hello, world!"
            + bytes(19),
        ),
        (
            "uint256[][],string[]",
            [[[1, 2], [3]], ["one", "two", "three"]],
            words(0x40, 0x140, 2, 0x40, 0xA0, 2, 1, 2, 1, 3, 3, 0x60, 0xA0, 0xE0, 3)
            + b"one".ljust(32, b"\0")
            + words(3)
            + b"two".ljust(32, b"\0")
            + words(5)
            + b"three".ljust(32, b"\0"),
        ),
        ("(int256 a, (bool b) c) t", [(-1, (True,))], b"\xff" * 32 + words(1)),
        ("address", [b"\x11" * 20], bytes(12) + b"\x11" * 20),
        ("function", [b"\x11" * 24], b"\x11" * 24 + bytes(8)),
        ("", [], b""),
    ],
)
def test_values_are_encoded_as_the_specification_says(
    types: str, values: list[object], content: bytes
) -> None:
    assert encode(parameters(types), values) == content
    found = decode(parameters(types), content)
    assert found is not None
    assert encode(parameters(types), found) == content


def test_arguments_keep_their_order() -> None:
    assert encode(parameters("uint256,uint256"), [1, 2]) == words(1, 2)


@pytest.mark.parametrize(
    ("types", "content"),
    [
        ("uint8", words(256)),
        ("bool", words(2)),
        ("address", b"\xff" * 32),
        ("uint256", words(1)[:31]),
        ("uint256", words(1, 2)),
        ("bytes4", b"\x01" * 32),
        ("bytes", words(32, 1) + b"\x01" * 32),
        ("bytes", words(64, 0, 0)),
        ("bytes", words(2**255)),
        ("bytes", words(32, 2**255)),
        ("string", words(32, 1) + b"\xff".ljust(32, b"\0")),
        ("uint256[]", words(32, 2**40)),
        ("uint256[]", words(32, 2, 1)),
        ("uint256[]", b""),
        ("", b"\x00"),
    ],
)
def test_bytes_that_are_not_exactly_the_values_are_none(types: str, content: bytes) -> None:
    assert decode(parameters(types), content) is None


def test_pointers_into_one_place_are_not_followed_for_ever() -> None:
    """Sixty arrays of sixty arrays of sixty numbers, each in the same place, in six kilobytes."""
    arrays = words(60) + words(*[60 * 32] * 60)
    bomb = words(32) + arrays + arrays + words(60, *range(60))
    assert cost(parameters("uint256[][][]"), len(bomb) // 32) > 1 << 20
    assert decode(parameters("uint256[][][]"), bomb) is None
    # Within the bound it is read, and is no encoding that anybody makes.
    small = words(32, 2, 64, 64, 1, 7)
    assert decode(parameters("uint256[][]"), small) is None


def test_what_is_long_is_not_read() -> None:
    long = encode(parameters("bytes"), [bytes(33 << 10)])
    assert decode(parameters("bytes"), long) is None
    assert (
        decode(parameters("bytes[]"), encode(parameters("bytes[]"), [[bytes(9)] * 99])) is not None
    )


def test_a_cost_is_what_could_be_read() -> None:
    assert cost(parameters("uint8,bool"), 2) == 2
    assert cost(parameters("uint8[4][]"), 10) == 40
    assert cost(parameters("bytes"), 256) == cost(parameters("(string s) t"), 256) == 3


@given(st.binary(max_size=400), st.sampled_from(["bytes", "uint8[]", "(bool a,string b)[]"]))
def test_no_bytes_do_more_than_not_be_read(content: bytes, types: str) -> None:
    found = decode(parameters(types), content)
    assert found is None or encode(parameters(types), list(found)) == content


def test_nothing_needs_no_coder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "eth_abi", None)
    assert encode((), []) == b""
    with pytest.raises(ModuleNotFoundError, match="eth_abi"):
        encode(parameters("bool"), [True])
