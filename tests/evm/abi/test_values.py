"""Laws of arguments: what fits its type exactly is read, and nothing is guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.core.errors import BadRequest
from laneway.evm.abi.signatures import read_signature
from laneway.evm.abi.types import AbiType
from laneway.evm.abi.values import shown_value, value_of, values_of

TO = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
ACCOUNT = bytes.fromhex(TO[2:])


def typed(written: str) -> AbiType:
    return read_signature(f"f({written})").inputs[0].type


@pytest.mark.parametrize(
    ("written", "given", "value"),
    [
        ("uint256", 5, 5),
        ("uint256", "5", 5),
        ("uint256", "0x05", 5),
        ("uint256", str(2**256 - 1), 2**256 - 1),
        ("uint256", hex(2**256 - 1), 2**256 - 1),
        ("uint256", "1.5 ether", 15 * 10**17),
        ("uint256", "1.5ether", 15 * 10**17),
        ("uint256", "30 gwei", 30 * 10**9),
        ("uint256", "7 wei", 7),
        ("uint8", 255, 255),
        ("int8", -128, -128),
        ("int8", "-0x80", -128),
        ("int256", "-1 ether", -(10**18)),
        ("address", TO, ACCOUNT),
        ("address", TO.lower(), ACCOUNT),
        ("address", ACCOUNT, ACCOUNT),
        ("bool", True, True),
        ("bool", "true", True),
        ("bool", "false", False),
        ("string", "", ""),
        ("string", "5 ether", "5 ether"),
        ("bytes", "0x", b""),
        ("bytes", b"\x01", b"\x01"),
        ("bytes4", "0xa9059cbb", b"\xa9\x05\x9c\xbb"),
        ("function", "0x" + "11" * 24, b"\x11" * 24),
        ("uint256[]", [], []),
        ("uint256[]", (1, "2", "1 gwei"), [1, 2, 10**9]),
        ("uint256[]", "[1, 100000000000000000000000, \"3\"]", [1, 10**23, 3]),
        ("bool[2][]", "[[true, \"false\"]]", [[True, False]]),
        ("(address to, uint256 amount)", [TO, 5], (ACCOUNT, 5)),
        ("(address to, uint256 amount)", {"amount": "5", "to": TO}, (ACCOUNT, 5)),
        ("(address to, uint256 amount)", f'{{"amount": 5, "to": "{TO}"}}', (ACCOUNT, 5)),
        ("(address, uint256)", f'["{TO}", 5]', (ACCOUNT, 5)),
        ("((bool x) inner, bytes)[]", [[{"x": True}, "0x01"]], [((True,), b"\x01")]),
    ],
)  # fmt: skip
def test_an_argument_is_read_by_its_type(written: str, given: object, value: object) -> None:
    assert value_of(typed(written), given, "args[0]") == value


def test_members_are_taken_by_their_names_in_the_order_of_the_tuple() -> None:
    assert value_of(typed("(uint256 a, uint256 b)"), {"b": 2, "a": 1}, "args[0]") == (1, 2)


@pytest.mark.parametrize(
    ("written", "given", "problem"),
    [
        ("uint8", 256, "256' is out of range: a uint8 is from 0 to 255"),
        ("uint8", "-1", "'-1' is out of range: a uint8 is from 0 to 255"),
        ("int8", 128, "a int8 is from -128 to 127"),
        ("int8", "-129", "a int8 is from -128 to 127"),
        ("uint256", 2**256, "out of range"),
        ("uint256", 1 << 10_000, "a value of type int is out of range"),
        ("uint256", "9" * 79, "is not a whole number"),
        ("uint256", True, "a whole number, not 'True'"),
        ("uint256", 1.5, "a whole number, not '1.5'"),
        ("uint256", None, "a whole number, not 'None'"),
        ("uint256", b"\x05", "a whole number, not a value of type bytes"),
        ("uint256", "", "a whole number, not|is not a whole number"),
        ("uint256", "1.5", "is not a whole number like"),
        ("uint256", "1e18", "is not a whole number like"),
        ("uint256", "1,000", "is not a whole number like"),
        ("uint256", "1_000", "is not a whole number like"),
        ("uint256", " 5", "is not a whole number like"),
        ("uint256", "٥", "is not a whole number like"),
        ("uint256", "0.5 wei", "a part of a wei"),
        ("uint256", "1.2.3 ether", "is not an amount"),
        ("uint256", "5 eth", "is not a whole number like"),
        ("address", "0x12", "20 bytes, not 1"),
        ("address", TO[:-1] + "c", "hexadecimal|its checksum is wrong"),
        ("address", int.from_bytes(ACCOUNT), "an address as text"),
        ("bool", 1, "true or false, not '1'"),
        ("bool", "yes", "true or false, not 'yes'"),
        ("string", b"text", "text, not a value of type bytes"),
        ("string", "\ud800", "half a character"),
        ("bytes", "abcd", "pairs of hexadecimal digits"),
        ("bytes", 5, "bytes as 0x and digits, not '5'"),
        ("bytes32", "0x01", "bytes32 has 32 bytes, not 1"),
        ("bytes4", "0x0102030405", "bytes4 has 4 bytes, not 5"),
        ("uint256[]", 5, r"a list for uint256\[\], not '5'"),
        ("uint256[]", "5", r"a list for uint256\[\], not '5'"),
        ("uint256[]", "[1", "it is not JSON"),
        ("uint256[]", "[1.0]", r"args\[0\]\[0\]: a whole number"),
        ("uint256[]", "[1e3]", r"args\[0\]\[0\]: a whole number"),
        ("uint256[]", {"0": 1}, "a list for"),
        ("uint256[2]", [1], r"uint256\[2\] has 2 elements, not 1"),
        ("uint8[][]", [[1], [2, 300]], r"args\[0\]\[1\]\[1\]: '300' is out of range"),
        ("(bool a, bool b)", [True], "has 2 members, not 1"),
        ("(bool a, bool b)", 5, "a list or an object for"),
        ("(bool a, bool b)", [True, 5], r"args\[0\]\.b: true or false"),
        ("(bool, bool)", [True, 5], r"args\[0\]\.1: true or false"),
        ("(bool a, bool b)", {"a": True}, "has the members a, b, each once"),
        ("(bool a, bool b)", {"a": True, "b": True, "c": True}, "has the members a, b"),
        ("(bool a, bool)", {"a": True, "": True}, "have no names of their own"),
        ("(bool a, bool a)", {"a": True}, "have no names of their own"),
        ("string", "x" * ((2 << 20) + 1), "more than 2097152 characters"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(written: str, given: object, problem: str) -> None:
    with pytest.raises(BadRequest, match=problem):
        value_of(typed(written), given, "args[0]")


def test_a_refusal_repeats_no_more_than_a_line() -> None:
    with pytest.raises(BadRequest) as refused:
        value_of(typed("uint8"), "7" * 1_000, "args[0]")
    assert len(str(refused.value)) < 250


def test_arguments_are_counted_and_named() -> None:
    transfer = read_signature("transfer(address to, uint256)")
    given: list[object] = [TO, "5"]
    assert values_of("t", transfer.inputs, given) == [ACCOUNT, 5]
    for some, words in (([], "takes 2 arguments, not 0"), ([TO], "2 arguments, not 1")):
        with pytest.raises(BadRequest, match=words):
            values_of("transfer(address,uint256)", transfer.inputs, some)
    with pytest.raises(BadRequest, match=r"^args: f\(\) takes no arguments, not 1$"):
        values_of("f()", (), [1])
    with pytest.raises(BadRequest, match=r"^args: g takes 1 argument, not 3$"):
        values_of("g", transfer.inputs[:1], [1, 2, 3])
    with pytest.raises(BadRequest, match=r"^args\[0\]: to: an address has 20 bytes"):
        values_of("t", transfer.inputs, ["0x", "5"])
    with pytest.raises(BadRequest, match=r"^args\[1\]: true or false"):
        values_of("t", read_signature("f(bool,bool)").inputs, ["true", "5"])


@pytest.mark.parametrize(
    ("written", "value", "shown"),
    [
        ("uint256", 10**30, str(10**30)),
        ("int8", -5, "-5"),
        ("bool", True, True),
        ("string", "5", "5"),
        ("bytes", b"\x01", "0x01"),
        ("address", TO.lower(), TO),
        ("uint8[][]", ((1,), ()), [["1"], []]),
        ("(address to, (bool x) y)[]", [(TO.lower(), (False,))], [[TO, [False]]]),
    ],
)
def test_a_value_is_shown_as_an_argument_is_written(
    written: str, value: object, shown: object
) -> None:
    assert shown_value(typed(written), value) == shown


@given(st.integers(-(2**255), 2**255 - 1))
def test_what_is_shown_of_a_number_is_read_as_the_same(number: int) -> None:
    kind = typed("int256")
    assert value_of(kind, shown_value(kind, number), "args[0]") == number
    assert value_of(kind, hex(number), "args[0]") == number
