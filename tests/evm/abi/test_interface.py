"""Laws of an ABI: read in every form that people have it in, and never guessed at."""

from typing import Any

import pytest
from msgspec import json

from laneway.core.errors import BadRequest
from laneway.evm.abi.interface import called, constructor, kept, read_abi, read_json
from laneway.evm.abi.items import AbiItem
from laneway.evm.abi.signatures import read_signature

TRANSFER = {
    "type": "function",
    "name": "transfer",
    "inputs": [
        {"name": "to", "type": "address", "internalType": "address"},
        {"name": "amount", "type": "uint256"},
    ],
    "outputs": [{"name": "", "type": "bool"}],
    "stateMutability": "nonpayable",
}
ORDERS = {
    "name": "fill",
    "inputs": [
        {
            "name": "orders",
            "type": "tuple[]",
            "components": [{"name": "id", "type": "uint"}, {"name": "0 odd", "type": "bytes"}],
        }
    ],
}
EVENT = {
    "type": "event",
    "name": "Sent",
    "anonymous": False,
    "inputs": [{"name": "who", "type": "address", "indexed": True}],
}
ERROR = {"type": "error", "name": "Poor", "inputs": [{"name": "by", "type": "uint256"}]}
MAKE: dict[str, Any] = {"type": "constructor", "inputs": [{"name": "name", "type": "string"}]}
WHOLE = [MAKE, TRANSFER, ORDERS, EVENT, ERROR, {"type": "receive"}, {"type": "fallback"}]


def texts(source: object) -> list[str]:
    return [item.text() for item in read_abi(source)]


READ = [
    "constructor(string name)",
    "function transfer(address to, uint256 amount)",
    "function fill((uint256 id, bytes)[] orders)",
    "event Sent(address indexed who)",
    "error Poor(uint256 by)",
]


@pytest.mark.parametrize(
    "source",
    [
        WHOLE,
        tuple(WHOLE),
        {"abi": WHOLE, "bytecode": "0x"},
        json.encode(WHOLE).decode(),
        " " + json.encode({"contractName": "T", "abi": WHOLE}).decode(),
        READ,
        "\n".join(["", *READ, " "]),
        [*WHOLE[:2], *READ[2:]],
    ],
)
def test_an_abi_is_read_in_every_form_that_people_have_it_in(source: object) -> None:
    assert texts(source) == READ


def test_one_entry_is_an_abi() -> None:
    assert texts(TRANSFER) == texts("transfer(address to, uint256 amount)")
    assert texts([]) == texts("") == []


def changed(**fields: object) -> list[object]:
    return [ERROR | fields]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (5, "abi: a list of its entries"),
        (b"[]", "abi: a list of its entries"),
        ({"abi": "transfer()"}, "abi: a list of its entries"),
        ([5], r"abi\[0\]: an object of an ABI, or a signature"),
        (["f()", "f("], r"abi\[1\]: 'f\(' is not a signature"),
        (changed(type="modifier"), "'modifier' is no kind"),
        (changed(name=""), "a error needs a name"),
        (changed(name=7), "a error needs a name"),
        (changed(inputs={}), "are lists of up to 256"),
        (changed(inputs=[{"name": "x"}] * 257), "are lists of up to 256"),
        (changed(inputs=[{"name": "x"}]), "both texts"),
        (changed(inputs=[{"type": "bool", "name": 1}]), "both texts"),
        (changed(inputs=["bool"]), "an object of an ABI"),
        (changed(inputs=[{"type": "tuple", "name": "x"}]), "are lists of up to 256"),
        (changed(inputs=[{"type": "wei", "name": "x"}]), "'wei' is not a type"),
        ("{", "it is not JSON"),
        (["f()"] * 4_097, "4097 entries, more than 4096"),
        (" " * (4 << 20) + "f", "more than 4194304 characters"),
    ],
)
def test_what_is_no_abi_is_refused_with_the_place(source: object, problem: str) -> None:
    with pytest.raises(BadRequest, match=problem):
        read_abi(source)


def test_no_nesting_is_followed_for_ever() -> None:
    inner: dict[str, Any] = {"name": "x", "type": "bool"}
    for _ in range(18):
        inner = {"name": "x", "type": "tuple", "components": [inner]}
    with pytest.raises(BadRequest, match="nested deeper than 16"):
        read_abi(changed(inputs=[inner]))
    with pytest.raises(BadRequest, match="it is not JSON"):
        read_json("[" * 100_000, "args")


TWO = read_abi(["transfer(address)", "transfer(uint256)", "burn(uint8 x)", "error Poor()"])


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        ("burn", "function burn(uint8 x)"),
        (" burn ", "function burn(uint8 x)"),
        ("burn(uint8)", "function burn(uint8 x)"),
        ("function burn(uint8 other) returns (bool)", "function burn(uint8 x)"),
        ("transfer(uint256)", "function transfer(uint256)"),
    ],
)
def test_a_function_is_named_by_its_signature_or_by_a_name_that_is_its_own(
    call: str, meant: str
) -> None:
    assert called(call, TWO).text() == meant


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ("transfer", r"ambiguous; write one of transfer\(address\), transfer\(uint256\)$"),
        ("transfer(bool)", r"no function transfer\(bool\); it has transfer\(address\), transfer"),
        ("mint", r"no function mint; it has transfer\(address\), .*, burn\(uint8\)$"),
        ("Poor", "no function Poor"),
        ("error Poor()", r"call: error Poor\(\) is no function"),
        ("burn(", "call: 'burn\\(' is not a signature"),
    ],
)
def test_an_unknown_or_ambiguous_function_is_refused_with_the_candidates(
    call: str, problem: str
) -> None:
    with pytest.raises(BadRequest, match=problem):
        called(call, TWO)


def test_the_same_function_twice_is_one() -> None:
    assert called("f", read_abi(["f(bool)", "f(bool)"])).signature() == "f(bool)"


def test_candidates_are_listed_up_to_a_bound() -> None:
    many = read_abi([f"f{number}()" for number in range(25)])
    with pytest.raises(BadRequest, match=r"f19\(\) and 5 more$"):
        called("g", many)
    with pytest.raises(BadRequest, match=r"it has none$"):
        called("g", ())


def test_without_an_abi_a_signature_says_how_a_function_is_called() -> None:
    assert called("transfer(address to,uint amount)", None).selector().hex() == "a9059cbb"
    with pytest.raises(BadRequest, match="'transfer' alone does not say how it is called"):
        called("transfer", None)


def test_a_deployment_runs_the_constructor_that_there_is() -> None:
    known = read_abi([MAKE])
    assert constructor(None, known).text() == "constructor(string name)"
    assert constructor("constructor(string)", known).text() == "constructor(string name)"
    assert constructor("constructor(bool x)", None).text() == "constructor(bool x)"
    assert constructor(None, None) == constructor(None, TWO) == AbiItem("constructor")


@pytest.mark.parametrize(
    ("call", "abi", "problem"),
    [
        ("f()", None, r"function f\(\) is no constructor"),
        ("constructor(", None, "call: "),
        ("constructor(bool)", [MAKE], r"no constructor\(bool\); it has constructor\(string\)"),
        ("constructor(bool)", ["f()"], r"no constructor\(bool\); it has none"),
        (None, [MAKE, "constructor(bool)"], "several constructors"),
    ],
)
def test_another_constructor_is_refused(call: str | None, abi: object, problem: str) -> None:
    with pytest.raises(BadRequest, match=problem):
        constructor(call, None if abi is None else read_abi(abi))


def test_what_is_called_is_kept_first_then_errors_then_events() -> None:
    items = read_abi([*READ, READ[1], READ[3]])
    assert kept(items[1], items) == (READ[1], READ[4], READ[3])
    assert kept(None, items) == (READ[4], READ[3])
    assert kept(items[1], None) == (READ[1],)
    assert kept(None, None) == ()


def test_what_is_kept_has_a_bound_and_what_is_called_comes_first() -> None:
    name = "e" * 1_000
    items = read_abi(["f()", *(f"event {name}{place}(bool)" for place in range(9)), "error S()"])
    found = kept(items[0], items)
    assert (found[:2], len(found)) == (("function f()", "error S()"), 6)
    assert sum(map(len, found)) <= 4 << 10
    assert kept(read_signature(f"f(bool {'x' * 5_000})"), items)[0] == "error S()"
