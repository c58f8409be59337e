"""Laws of human-readable signatures: what Solidity and its tools write is read, and no more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.core.errors import BadRequest
from laneway.evm.abi.signatures import read_signature


@pytest.mark.parametrize(
    ("written", "kind", "signature"),
    [
        ("transfer(address,uint256)", "function", "transfer(address,uint256)"),
        (" transfer ( address to , uint amount ) ;", "function", "transfer(address,uint256)"),
        (
            "function transfer(address to, uint256 amount) external returns (bool)",
            "function",
            "transfer(address,uint256)",
        ),
        ("function f() view returns (uint256[] memory, bytes)", "function", "f()"),
        ("function f(address payable who, bytes calldata) payable", "function", "f(address,bytes)"),
        (
            "f((address a, uint b)[2][] x, tuple(bytes) y)",
            "function",
            "f((address,uint256)[2][],(bytes))",
        ),
        ("event Paid(address indexed, uint value) anonymous;", "event", "Paid(address,uint256)"),
        ("error Poor(uint256 available, uint256 needed)", "error", "Poor(uint256,uint256)"),
        ("constructor(string name) payable", "constructor", "constructor(string)"),
        # Names that are words elsewhere.
        ("event(uint256)", "function", "event(uint256)"),
        ("function error(bool)", "function", "error(bool)"),
        ("function constructor(bool)", "function", "constructor(bool)"),
        ("f(uint256 tuple, bool function)", "function", "f(uint256,bool)"),
        ("_$a1(function)", "function", "_$a1(function)"),
    ],
)  # fmt: skip
def test_what_people_write_is_read(written: str, kind: str, signature: str) -> None:
    found = read_signature(written)
    assert (found.kind, found.signature()) == (kind, signature)


def test_names_and_topics_are_kept() -> None:
    found = read_signature("event Paid(address indexed who, uint256 value) anonymous")
    assert [(one.name, one.indexed) for one in found.inputs] == [("who", True), ("value", False)]
    assert found.anonymous


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("", "a name is missing"),
        ("transfer", r"'\(' is missing"),
        ("transfer(address", "',' is missing"),
        ("transfer(address,)", "a type is missing"),
        ("transfer(address uint256)(", "does not belong there"),
        ("transfer(address a b)", "'b' does not belong there"),
        ("transfer(address indexed a)", "only parameters of events are indexed"),
        ("event E((uint256 indexed a) t)", "only parameters of events are indexed"),
        ("transfer(adress)", "'adress' is not a type"),
        ("transfer(uint256[0])", r"is not \[\] or \[3\]"),
        ("transfer(tuple)", "'tuple' is not a type|a type is missing"),
        ("transfer(())", "a tuple has members"),
        ("transfer(uint256) what", "'what' does not belong there"),
        ("event E(bool) view", "'view' does not belong there"),
        ("error E(bool) anonymous", "'anonymous' does not belong there"),
        ("function f() returns", r"'\(' is missing"),
        ("transfer(uint256); x()", "nothing follows the semicolon"),
        ("transfer(uint256-)", "'-\\)' does not belong there"),
        ("f(" + "(" * 17 + "bool" + ")" * 17 + ")", "nested deeper than 16"),
        (f"f({','.join(['bool'] * 257)})", "more than 256 parameters"),
        ("f(" + "x" * 8_192 + ")", "at most 8192 characters"),
    ],
)
def test_what_is_no_signature_is_refused_with_its_reason(written: str, problem: str) -> None:
    with pytest.raises(BadRequest, match=problem):
        read_signature(written)


@given(st.text(alphabet="ab(),[]1; \tuint256tuplefunctionindexed", max_size=40))
def test_no_text_does_more_than_be_refused(written: str) -> None:
    try:
        found = read_signature(written)
    except BadRequest:
        return
    assert read_signature(found.text()).signature() == found.signature()
