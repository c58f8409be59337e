"""Laws of calls in words: encoded exactly as they are said, or refused with what is wrong."""

from typing import Any

import pytest
from msgspec import json

from laneway.core.errors import BadRequest
from laneway.evm.abi.calls import (
    CallInWords,
    CreationCode,
    EncodedCall,
    creation_code,
    encoded_call,
    encoded_words,
)

TO = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
TRANSFER = bytes.fromhex("a9059cbb") + bytes.fromhex(TO[2:]).rjust(32, b"\0") + (5).to_bytes(32)
ABI = ["function transfer(address to, uint256 amount)", "error Poor(uint256)", "event Sent()"]
MAKE = ["constructor(uint256 supply)", *ABI[1:]]
CODE = "0x6080"


def encoded(*, creates: bool = False, **words: Any) -> EncodedCall:
    return encoded_words(CallInWords(creates=creates, **words))


def test_a_call_is_its_selector_and_its_arguments_in_their_order() -> None:
    plain = encoded_call("transfer(address,uint256)", [TO, 5])
    assert plain == EncodedCall(TRANSFER, ("function transfer(address, uint256)",))
    ways: tuple[dict[str, Any], ...] = (
        {"call": "transfer", "abi": ABI, "args": (TO, "5")},
        {"call": "transfer", "abi": ABI, "args": [TO, "5 wei"], "data": "0x"},
        {"call": "function transfer(address who, uint n)", "abi": ABI, "args": [TO, "0x5"]},
    )
    for words in ways:
        assert encoded(**words) == EncodedCall(TRANSFER, tuple(ABI))
    assert encoded(call="f()").data == encoded(call="f()", args=[]).data
    assert len(encoded(call="f()").data) == 4


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"call": "transfer(address,uint256)", "args": [TO]}, "takes 2 arguments, not 1"),
        ({"call": "transfer(address,uint256)", "args": [5, TO]}, r"args\[0\]: an address as text"),
        ({"call": "transfer(address,uint256)", "args": TO}, "args: a list of arguments"),
        ({"call": "transfer(address,uint256)", "args": {"to": TO}}, "args: a list of arguments"),
        ({"call": "transfer", "args": [TO, 5]}, "call: 'transfer' alone does not say"),
        ({"call": "", "args": []}, "call: a signature like"),
        ({"call": " "}, "call: a signature like"),
        ({"call": 5}, "call: a signature like"),
        ({"call": "transfer", "abi": ["f("]}, r"abi\[0\]: "),
        ({"call": "f()", "data": "0x00"}, "data: either this, or a call in words"),
        ({"call": "f()", "data": "zz"}, "data: 0x and pairs"),
        ({"args": [TO]}, "call: say which function"),
        ({"call": "f()", "creates": True}, "to: a call is sent to a contract: say which"),
        ({"deploy": CODE}, "to: a deployment has none"),
    ],
)
def test_what_is_wrong_is_named(words: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadRequest, match=problem):
        encoded(**words)


def test_calldata_of_the_callers_own_may_have_an_abi() -> None:
    assert encoded(data=TRANSFER) == EncodedCall(TRANSFER)
    assert encoded(data=f"0x{TRANSFER.hex()}", abi=ABI) == EncodedCall(TRANSFER, tuple(ABI))
    other = [ABI[1], "f()", ABI[0]]
    assert encoded(data=TRANSFER, abi=other).kept == (ABI[0], ABI[1])
    assert encoded(data=b"\x00", abi=ABI).kept == tuple(ABI[1:])
    assert encoded(data=b"\x00", abi=MAKE, creates=True).kept == tuple(MAKE)


def test_a_deployment_is_the_code_and_the_constructors_arguments() -> None:
    made = EncodedCall((7).to_bytes(32), tuple(MAKE), b"\x60\x80")
    artifact = {"bytecode": CODE, "abi": MAKE}
    ways: tuple[dict[str, Any], ...] = (
        {"deploy": CODE, "args": [7], "abi": MAKE},
        {"deploy": b"\x60\x80", "args": ["7"], "call": "constructor(uint256)", "abi": MAKE},
        {"deploy": artifact, "args": [7]},
        {"deploy": CODE, "data": (7).to_bytes(32), "abi": MAKE},
    )
    for words in ways:
        assert encoded(creates=True, **words) == made
    assert encoded(creates=True, deploy=CODE) == EncodedCall(b"", (), b"\x60\x80")
    assert encoded(creates=True, deploy=CODE, args=[]) == EncodedCall(b"", (), b"\x60\x80")
    assert encoded(creates=True, deploy=CODE, abi=ABI).kept[0] == "constructor()"
    other: dict[str, Any] = {"deploy": artifact, "abi": ["constructor(bool yes)"], "args": ["true"]}
    assert encoded(creates=True, **other).kept == ("constructor(bool yes)",)
    named = encoded(creates=True, deploy=CODE, call="constructor(uint supply)", args=[7])
    assert named.kept == ("constructor(uint256 supply)",)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"args": [7]}, "call: say the constructor's types"),
        ({"abi": MAKE}, r"constructor\(uint256\) takes 1 argument, not 0"),
        ({"abi": ABI, "args": [7]}, r"constructor\(\) takes no arguments, not 1"),
        ({"call": "make(uint256)", "args": [7]}, "is no constructor"),
        ({"call": 5}, "call: a signature like"),
        ({"data": "0x00", "args": []}, "data: either this, or"),
        ({"data": "0x00", "call": "constructor()"}, "data: either this, or"),
        ({"deploy": "0x"}, "deploy: there is no code in it"),
        ({"deploy": b""}, "deploy: there is no code in it"),
        ({"deploy": "60__$aa$__80"}, "deploy: it must be linked first"),
        ({"deploy": "nonsense"}, "deploy: 0x and pairs"),
        ({"deploy": 5}, "deploy: the contract's code as 0x"),
        ({"deploy": "{}"}, "deploy: the artifact has no `bytecode`"),
        ({"deploy": "{"}, "deploy: it is not JSON"),
        ({"deploy": "0" * ((4 << 20) + 1)}, "deploy: it has more than"),
    ],
)
def test_a_deployment_that_is_wrong_is_refused(words: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadRequest, match=problem):
        encoded(creates=True, **{"deploy": CODE, **words})


@pytest.mark.parametrize(
    "source",
    [
        "0x6080",
        " 6080\n",
        b"\x60\x80",
        {"bytecode": "0x6080"},
        {"bytecode": {"object": "6080"}},
        {"evm": {"bytecode": {"object": "6080"}}},
        {"bin": "6080"},
        json.encode({"bytecode": {"object": "0x6080"}}).decode(),
    ],
)
def test_code_is_taken_as_compilers_write_it(source: object) -> None:
    assert creation_code(source) == CreationCode(b"\x60\x80")
