"""Functions of traces, each against the interpreter: the same end, gas, memory and state."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.evm.compiled.both import TO, outcome, same, text
from tests.evm.scene import assemble

from laneway.evm.compiled import trace
from laneway.evm.limits import NEVER_COMPILED

STORED = " 0 MSTORE 32 0 RETURN"
LOOP = "5 JUMPDEST 1 SWAP1 SUB DUP1 2 JUMPI 77"
CODES = [
    "STOP",
    "1 2 ADD" + STORED,
    "CALLER 7 MUL 3 SWAP1 SDIV 5 SIGNEXTEND" + STORED,
    "CALLDATASIZE 3 BYTE 4 ADDMOD" + STORED,
    "1 2 3 MULMOD POP CALLVALUE CALLVALUE LT ISZERO ISZERO" + STORED,
    LOOP + STORED,
    LOOP.replace("DUP1 2", "DUP1 DUP1 POP 2") + STORED,
    "33 CALLDATALOAD" + STORED,
    "CALLDATASIZE CALLDATALOAD" + STORED,
    "7 40 MSTORE CALLDATASIZE MLOAD 3 MSTORE8 2 1 0 MCOPY MSIZE" + STORED,
    "CALLVALUE CALLVALUE MSTORE CALLVALUE MLOAD" + STORED,
    "64 0 KECCAK256" + STORED,
    "0 SLOAD 1 SLOAD ADD 5 0 SSTORE 0 SLOAD" + STORED,
    "0 0 SSTORE GAS 0 SSTORE GAS" + STORED,
    "9 1 TSTORE 1 TLOAD" + STORED,
    "7 0 MSTORE 1 2 32 0 LOG2 GAS" + STORED,
    f"32 0 32 0 0 {TO} 50000 CALL RETURNDATASIZE 32 0 0 RETURNDATACOPY" + STORED,
    f"32 0 32 0 99 {TO} 50000 CALL" + STORED,
    f"0 0 0 0 {TO} 50000 DELEGATECALL 1 RETURNDATASIZE 0 RETURNDATACOPY",
    "0x00 0 MSTORE8 1 0 3 CREATE" + STORED,
    "PC ADDRESS ORIGIN CALLER CALLVALUE MSIZE RETURNDATASIZE XOR XOR XOR XOR XOR XOR" + STORED,
    f"{TO} SELFDESTRUCT",
    "0 0 REVERT",
    "INVALID",
    "raw:0c",
    "POP",
    "1 ADD",
    "1 SWAP1",
    "JUMPDEST PUSH0 PUSH0 JUMP",
    "3 JUMP STOP",
    "CALLDATASIZE JUMP",
    "CALLVALUE 3 ADD JUMP INVALID JUMPDEST 4" + STORED,
    "CALLVALUE 4 ADD JUMP INVALID JUMPDEST 4" + STORED,
    "1 200 JUMPI",
    "CALLVALUE 200 JUMPI",
    "MSIZE 200 JUMPI 5" + STORED,
    "MSIZE CALLVALUE JUMPI 5" + STORED,
    "CALLVALUE CALLDATASIZE JUMPI 5" + STORED,
    "CALLVALUE CALLVALUE 8 ADD JUMPI INVALID STOP STOP STOP JUMPDEST 4" + STORED,
    "CALLVALUE ISZERO 9 JUMPI 8" + STORED,
    # Of two ways, the one that reverts at once is left.
    "CALLVALUE 9 JUMPI PUSH0 PUSH0 REVERT STOP STOP JUMPDEST 4" + STORED,
    "CALLVALUE 7 JUMPI PUSH0 PUSH0 REVERT JUMPDEST 4" + STORED,
    "MSIZE 7 JUMPI PUSH0 PUSH0 REVERT JUMPDEST 4" + STORED,
    "CALLVALUE 99 JUMPI PUSH0 PUSH0 REVERT JUMPDEST 4" + STORED,
    # The same where it first prepares a reason, here or elsewhere in the code.
    "CALLVALUE 15 JUMPI 1 0 MSTORE 32 0 REVERT STOP STOP STOP JUMPDEST 4" + STORED,
    "CALLVALUE 9 JUMPI 15 JUMP STOP STOP JUMPDEST 4 POP STOP STOP JUMPDEST 0 0 REVERT",
    "CALLVALUE 9 JUMPI 200 JUMP STOP STOP JUMPDEST 4" + STORED,
    "CALLVALUE 8 JUMPI MSIZE JUMP STOP STOP JUMPDEST 4" + STORED,
    "CALLVALUE 75 JUMPI raw:" + "58" * 70 + " 0 JUMPDEST 4" + STORED,
    # Hashes of ranges whose length is known, or is not.
    "7 0 MSTORE 32 0 KECCAK256 64 40 KECCAK256 XOR" + STORED,
    "0 0xffffffffffff KECCAK256" + STORED,
    "7 0 MSTORE CALLVALUE 1 KECCAK256 CALLVALUE CALLDATASIZE KECCAK256 XOR" + STORED,
    "0xffffffffffffffffffffff 0 KECCAK256" + STORED,
    # A function that is called from two places: where it returns to is known in each.
    "8 4 15 JUMP STOP JUMPDEST" + STORED + " JUMPDEST SWAP1 JUMP",
    "1 JUMPDEST 2 MUL DUP1 CALLDATASIZE GT 2 JUMPI" + STORED,
    # What is known of memory and storage, and what is not any more.
    "CALLVALUE 64 MSTORE 65 MLOAD 65 MLOAD ADD" + STORED,
    "CALLVALUE 64 MSTORE 7 80 MSTORE 64 MLOAD 80 MLOAD ADD" + STORED,
    "7 0 MSTORE 8 32 MSTORE 64 0 KECCAK256 SLOAD" + STORED,
    "CALLVALUE SLOAD CALLVALUE SLOAD ADD 5 CALLVALUE SSTORE CALLVALUE SLOAD ADD" + STORED,
    "5 CALLVALUE SSTORE 6 CALLDATASIZE SSTORE CALLVALUE SLOAD ADD" + STORED,
    "5 3 SSTORE 6 CALLVALUE SSTORE 3 SLOAD ADD" + STORED,
    # A condition that was asked before.
    "CALLVALUE ISZERO 11 JUMPI CALLVALUE 13 JUMPI INVALID STOP STOP JUMPDEST 7" + STORED,
    "CALLVALUE 5 LT 20 JUMPI CALLVALUE 5 LT ISZERO 20 JUMPI INVALID INVALID JUMPDEST" + STORED,
]


@pytest.mark.parametrize("code", CODES)
def test_a_trace_ends_as_the_interpreter_does(code: str) -> None:
    same(code)


@pytest.mark.parametrize("code", CODES)
def test_a_trace_runs_out_of_gas_where_the_interpreter_does(code: str) -> None:
    used = 200_000 - int(str(outcome(assemble(code), NEVER_COMPILED, 200_000)[2]))
    for gas in range(min(used + 1, 400)):
        same(code, gas=gas)
    for less in range(0, 60, 3):
        same(code, gas=max(0, used - less))


@pytest.mark.parametrize("code", ["1 0 SSTORE", "1 0 TSTORE", "0 0 LOG0"])
def test_nothing_is_written_in_a_static_call(code: str) -> None:
    assert same(code, is_static=True)[0] == "write protection"


SNIPPETS = st.sampled_from(
    [word for code in CODES for word in code.split() if not word.startswith("raw")]
)


@given(st.lists(SNIPPETS, max_size=40), st.integers(0, 3_000))
@example(["CALLVALUE"] * 40 + ["POP"] * 41, 3_000)
def test_any_code_ends_as_in_the_interpreter(words: list[str], gas: int) -> None:
    same(" ".join(words), gas=gas)


@given(st.binary(max_size=60), st.integers(0, 40_000))
def test_random_bytes_end_as_in_the_interpreter(code: bytes, gas: int) -> None:
    same(code, gas=gas)


def test_the_text_is_the_same_each_time() -> None:
    assert [text(code) for code in CODES[3:]] == [text(code) for code in CODES[3:]]


def test_a_return_address_that_is_known_is_no_jump_of_python() -> None:
    found = text("8 4 15 JUMP STOP JUMPDEST" + STORED + " JUMPDEST SWAP1 JUMP")
    assert "destinations" not in found
    assert found.count("return") == 2, "the check of its stack, and its end"


def test_a_trace_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "TRACE_OPCODES_MAX", 3)
    assert text("1 POP 2 POP STOP").endswith("return at_0_0(frame, stack, gas)\n")
    same("1 2 ADD 3 ADD" + STORED)
    monkeypatch.setattr(trace, "PATH_FUNCTIONS_MAX", 0)
    assert text("1 POP 2 POP STOP").endswith("stack.append(2)\n    frame.gas = gas\n    return 5\n")
    same("1 2 ADD 3 ADD" + STORED)
    monkeypatch.undo()
    monkeypatch.setattr(trace, "PATH_OPCODES_MAX", 3)
    same(LOOP + STORED)
    monkeypatch.undo()
    monkeypatch.setattr(trace, "TRACE_WORDS_MAX", 4)
    same("1 2 3 4 5 CALLVALUE 200 JUMPI 6 7 ADD POP" + STORED)
    assert len(text("1 2 3 4 5 MSIZE 9 JUMPI 6 MSIZE 9 JUMPI 7 MSIZE 9 JUMPI")) < 1_200


def test_a_loop_ends_the_way_that_it_is_on() -> None:
    found = text(LOOP)
    assert found.count("return 2") == 1
    assert "return 1\n" in text("CALLVALUE JUMPDEST 1 SWAP1 SUB 1 JUMP")


def test_a_function_that_is_called_twice_is_followed_twice() -> None:
    twice = "6 CALLVALUE 20 JUMP JUMPDEST 13 SWAP1 20 JUMP JUMPDEST"
    code = twice + STORED + " JUMPDEST 2 MUL SWAP1 JUMP"
    assert text(code).count("2 * ") == 2
    assert same(code)[3] == (12).to_bytes(32, "big")


def test_a_stack_that_is_too_short_or_too_high_is_left_to_the_interpreter() -> None:
    assert same("POP")[0] == "stack underflow"
    full = "raw:" + "5f" * 1_023
    assert same(full + " ADDRESS STOP")[0] == ""
    assert same(full + " ADDRESS ADDRESS STOP")[0] == "stack limit reached 1024"
