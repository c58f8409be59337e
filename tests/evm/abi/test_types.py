"""Laws of the types of an ABI: one canonical name for each, and none that nobody could pass."""

import pytest

from laneway.core.errors import BadRequest
from laneway.evm.abi.types import (
    AbiParameter,
    AbiType,
    array_sizes,
    checked,
    elementary,
    joined,
)

UINT, BYTES = AbiType("uint256"), AbiType("bytes")
PAIR = AbiType("tuple", (AbiParameter(UINT, "amount"), AbiParameter(BYTES)))


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        *((name, name) for name in ("address", "bool", "bytes", "string", "function")),
        *((name, name) for name in ("uint8", "uint256", "int8", "int256", "bytes1", "bytes32")),
        ("uint", "uint256"),
        ("int", "int256"),
    ],
)
def test_a_type_has_one_canonical_name(written: str, canonical: str) -> None:
    assert elementary(written) == canonical


@pytest.mark.parametrize(
    "written",
    [
        "",
        "uint7",
        "uint0",
        "uint264",
        "int08",
        "bytes0",
        "bytes33",
        "fixed128x18",
        "tuple",
        "Uint8",
    ],
)
def test_what_no_compiler_writes_is_no_type(written: str) -> None:
    with pytest.raises(BadRequest, match="is not a type of the ABI"):
        elementary(written)


def test_sizes_are_read_from_the_innermost() -> None:
    assert array_sizes("[][3]") == (None, 3)
    assert array_sizes("") == ()
    for wrong in ("[0]", "[x]", "[1", "[]x", "[1234567]"):
        with pytest.raises(BadRequest, match=r"is not \[\] or \[3\]"):
            array_sizes(wrong)


def test_a_tuple_stands_in_a_signature_by_its_members() -> None:
    nested = AbiType(
        "tuple", (AbiParameter(PAIR), AbiParameter(AbiType("bool", (), (2,)))), (None,)
    )
    assert nested.text() == "((uint256,bytes),bool[2])[]"
    assert nested.element().text() == "((uint256,bytes),bool[2])"
    assert joined((AbiParameter(UINT), AbiParameter(nested.element()))) == (
        "(uint256,((uint256,bytes),bool[2]))"
    )


@pytest.mark.parametrize(
    ("kind", "words", "depth"),
    [
        (UINT, 1, 0),
        (PAIR, 2, 1),
        (AbiType("uint8", (), (3, 4)), 12, 2),
        (AbiType("uint8", (), (3, None)), 1, 2),
        (AbiType("tuple", (AbiParameter(PAIR), AbiParameter(UINT)), (5,)), 15, 3),
    ],
)
def test_a_value_has_a_least_size(kind: AbiType, words: int, depth: int) -> None:
    assert (kind.words(), kind.depth()) == (words, depth)


def test_numbers_and_bytes_have_their_bounds() -> None:
    assert AbiType("uint8").range() == range(256)
    assert AbiType("int8").range() == range(-128, 128)
    assert AbiType("int256").range() == range(-(2**255), 2**255)
    assert AbiType("bytes4").length() == 4
    assert AbiType("function").length() == 24
    assert BYTES.length() is None


def test_what_nobody_could_pass_is_refused() -> None:
    assert checked(PAIR) is PAIR
    with pytest.raises(BadRequest, match="a tuple has members"):
        checked(AbiType("tuple"))
    with pytest.raises(BadRequest, match="nested deeper than 16"):
        checked(AbiType("bool", (), (1,) * 17))
    with pytest.raises(BadRequest, match="no room in any calldata"):
        checked(AbiType("bool", (), (300, 300)))
