"""0x30s: a frame, its call, and other accounts."""

from typing import Any

import pytest
from tests.evm.scene import CONTRACT, OTHER, SENDER, Scene, gas_of, halt_of, word_of

from laneway.evm.keccak import keccak
from laneway.evm.state.view import StateAccount

OTHER_WORD = "0x" + "ff" * 12 + OTHER.hex()
"""The twelve bytes above an address are passed over."""


def scene() -> Scene:
    found = Scene()
    found.put(OTHER, "1 2 ADD", balance_wei=77)
    return found


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("ADDRESS", int.from_bytes(CONTRACT, "big")),
        ("ORIGIN", int.from_bytes(SENDER, "big")),
        ("CALLER", int.from_bytes(b"\x09" * 20, "big")),
        ("CALLVALUE", 5),
        ("CALLDATASIZE", 33),
        ("0 CALLDATALOAD", int.from_bytes(bytes(range(32)), "big")),
        ("32 CALLDATALOAD", 32 << 248),
        ("0x" + "ff" * 32 + " CALLDATALOAD", 0),
        ("GASPRICE", 8),
        ("RETURNDATASIZE", 0),
        (f"{OTHER_WORD} BALANCE", 77),
        (f"{OTHER_WORD} EXTCODESIZE", 5),
        (f"{OTHER_WORD} EXTCODEHASH", int.from_bytes(keccak(bytes.fromhex("6001600201")), "big")),
        ("0x1234 BALANCE", 0),
        ("0x1234 EXTCODESIZE", 0),
        ("0x1234 EXTCODEHASH", 0),
    ],
)
def test_a_frame_knows_itself_and_others(code: str, word: int) -> None:
    fields: dict[str, Any] = {"caller": b"\x09" * 20, "data": bytes(range(33)), "value_wei": 5}
    assert word_of(code, scene=scene(), **fields) == word


def test_the_hash_of_an_account_without_code_is_that_of_nothing_and_of_an_empty_one_zero() -> None:
    found = scene()
    found.state.accounts[b"\x01" * 20] = StateAccount(balance_wei=1)
    found.state.accounts[b"\x02" * 20] = StateAccount()
    assert word_of("0x" + "01" * 20 + " EXTCODEHASH", scene=found) == int.from_bytes(
        keccak(b""), "big"
    )
    assert word_of("0x" + "02" * 20 + " EXTCODEHASH", scene=found) == 0


def test_the_size_of_code_is_that_of_the_code_that_runs() -> None:
    assert Scene().run("CODESIZE STOP STOP").stack == [3]


@pytest.mark.parametrize(
    ("code", "memory"),
    [
        ("3 31 0 CALLDATACOPY", bytes([31, 32, 0])),
        ("2 0 1 CALLDATACOPY", bytes([0, 0, 1])),
        ("0 0x" + "ff" * 32 + " 0x" + "ff" * 32 + " CALLDATACOPY 1 0 MSTORE8", b"\x01"),
        ("3 0x" + "ff" * 32 + " 0 CALLDATACOPY", bytes(3)),
        ("2 0 0 CODECOPY", bytes.fromhex("6002")),
        (f"3 3 0 {OTHER_WORD} EXTCODECOPY", bytes.fromhex("0201") + b"\0"),
    ],
)
def test_a_range_is_copied_with_zeros_after_its_end(code: str, memory: bytes) -> None:
    frame = scene().run(code, data=bytes(range(33)))
    assert frame.is_good()
    assert bytes(frame.memory[: len(memory)]) == memory


def test_what_a_call_returned_is_copied_and_not_a_byte_more() -> None:
    found = scene()
    found.put(OTHER, "7 0 MSTORE 32 0 RETURN")
    call = f"0 0 0 0 0 0x{OTHER.hex()} 50000 CALL POP "
    frame = found.run(call + "2 30 0 RETURNDATACOPY")
    assert bytes(frame.memory[:2]) == b"\x00\x07"
    for ask in ("1 32 0", "33 0 0", "0 33 0", "2 0x" + "ff" * 32 + " 0"):
        assert halt_of(call + ask + " RETURNDATACOPY", scene=found) == "return data out of bounds"


@pytest.mark.parametrize("opcode", ["BALANCE", "EXTCODESIZE", "EXTCODEHASH"])
def test_an_account_is_dear_once(opcode: str) -> None:
    found = scene()
    assert gas_of(f"{OTHER_WORD} {opcode}", scene=found) == 2_603
    assert gas_of(f"{OTHER_WORD} {opcode}", scene=found) == 103


@pytest.mark.parametrize(("size", "gas"), [(0, 3), (1, 9), (33, 15)])
def test_a_copy_costs_by_the_word(size: int, gas: int) -> None:
    pushes = sum(2 if number == 0 else 3 for number in (size, 0, 0))
    assert gas_of(f"{size} 0 0 CALLDATACOPY") == gas + pushes
