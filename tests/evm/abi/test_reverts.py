"""Laws of reverts: whatever a call returned has a reason in words."""

import sys

import pytest

from laneway.evm.abi.coding import encode
from laneway.evm.abi.interface import read_abi
from laneway.evm.abi.reverts import ERROR_STRING, PANIC, PANICS, builtin_reason, revert_reason

ITEMS = read_abi(["error Poor(address by, uint256 needed)", "error Odd()", "f(string)"])
POOR = ITEMS[0]
ADDRESS = "0x" + "11" * 20


def words(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(32) for number in numbers)


def said(text: bytes) -> bytes:
    padded = text.ljust(-(-len(text) // 32) * 32, b"\0")
    return ERROR_STRING + words(32, len(text)) + padded


def test_the_selectors_are_those_of_their_signatures() -> None:
    error, panic = read_abi(["error Error(string)", "error Panic(uint256)"])
    assert (error.selector(), panic.selector()) == (ERROR_STRING, PANIC)
    assert said(b"no") == ERROR_STRING + encode(error.inputs, ["no"])


def test_a_text_is_the_reason() -> None:
    assert revert_reason(said(b"too poor")).text == "too poor"
    assert revert_reason(said(b"")).text == "an empty reason"
    assert revert_reason(said(b"\xff")).text == "\ufffd"
    assert revert_reason(said(b"x" * 600)).text == "x" * 500 + "…"


def test_a_panic_has_the_meaning_of_its_code() -> None:
    for code, meaning in PANICS.items():
        assert revert_reason(PANIC + words(code)).text == f"Panic(0x{code:02x}): {meaning}"
    assert "does not have" in revert_reason(PANIC + words(0x99)).text


@pytest.mark.parametrize(
    "output",
    [
        PANIC,
        PANIC + words(1, 2),
        ERROR_STRING + words(32),
        ERROR_STRING + words(64, 0, 0),
        ERROR_STRING + words(32, 1),
        ERROR_STRING + words(32, 2**255),
        b"\x08",
        b"",
    ],
)
def test_what_is_not_well_made_is_neither(output: bytes) -> None:
    assert builtin_reason(output) is None


def test_a_contracts_own_error_is_shown_by_its_abi() -> None:
    output = POOR.selector() + encode(POOR.inputs, [b"\x11" * 20, 5])
    found = revert_reason(output, ITEMS)
    assert found.text == f"Poor(by={ADDRESS}, needed=5)"
    assert found.error is not None
    assert found.error.signature == "Poor(address,uint256)"
    assert revert_reason(ITEMS[1].selector(), ITEMS).text == "Odd()"
    assert revert_reason(output).text == f"an error that no ABI here has: 0x{output.hex()}"
    assert "no ABI here" in revert_reason(output[:-1], ITEMS).text


def test_other_bytes_are_shown_as_they_are() -> None:
    assert revert_reason(b"").text == ""
    assert revert_reason(b"\x01\x02").text == "it returned 0x0102"
    assert len(revert_reason(b"\x01" * 5_000).text) < 600


def test_the_compilers_own_reasons_need_no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "eth_abi", None)
    assert revert_reason(said(b"no"), ITEMS).text == "no"
