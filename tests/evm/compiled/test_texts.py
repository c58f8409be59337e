"""Opcodes with a text of their own, each against the interpreter, with all gas and with less."""

import pytest
from tests.evm.compiled.both import same
from tests.evm.scene import CONTRACT, Scene

from laneway.evm.limits import EAGERLY, NEVER_COMPILED

STORED = " 0 MSTORE 32 0 RETURN"
CODES = [
    # Memory that is read as it was written has never been written.
    "CALLVALUE 64 MSTORE 64 MLOAD" + STORED,
    # One that is read otherwise has.
    "CALLVALUE 64 MSTORE 65 MLOAD" + STORED,
    "CALLVALUE 64 MSTORE 7 80 MSTORE 64 MLOAD 80 MLOAD ADD" + STORED,
    "CALLVALUE 64 MSTORE 7 32 MSTORE 33 32 KECCAK256" + STORED,
    "CALLVALUE 64 MSTORE 40 40 RETURN",
    "CALLVALUE 64 MSTORE 64 40 REVERT",
    "CALLVALUE 64 MSTORE 32 64 REVERT",
    "100 CALLVALUE RETURN",
    # What is not written yet is so when somebody else looks.
    "CALLVALUE 64 MSTORE CALLVALUE 70 MSTORE8 64 MLOAD" + STORED,
    "CALLVALUE 64 MSTORE CALLVALUE MLOAD" + STORED,
    "CALLVALUE 64 MSTORE 5 CALLVALUE MSTORE 64 MLOAD" + STORED,
    "CALLVALUE 64 MSTORE 3 0 64 MCOPY 9 64 MSTORE 64 MLOAD" + STORED,
    "CALLVALUE 64 MSTORE 20000 MLOAD" + STORED,
    "CALLVALUE 20000 MSTORE 64 MLOAD" + STORED,
    "0 MLOAD 96 MLOAD ADD" + STORED,
    "32 MLOAD 40 MLOAD ADD 33 MLOAD ADD" + STORED,
    "JUMPDEST CALLVALUE 64 MSTORE 64 MLOAD 32 MLOAD ADD" + STORED,
    "JUMPDEST CALLVALUE 64 MSTORE 12 JUMP INVALID INVALID INVALID JUMPDEST 64 MLOAD" + STORED,
    "7 0 MSTORE 8 32 MSTORE 64 0 KECCAK256" + STORED,
    "7 0 MSTORE CALLVALUE 32 MSTORE 64 0 KECCAK256" + STORED,
    "320 0 KECCAK256" + STORED,
    "320 0 LOG0 0 0 LOG0 1 2 3 4 32 0 LOG4 MSIZE" + STORED,
    "CALLVALUE 0 LOG0 0 CALLVALUE LOG1" + STORED,
    # Flags are numbers where they count.
    "CALLVALUE 5 LT 0 MSTORE 32 0 LOG0 CALLVALUE 5 LT CALLVALUE ADD" + STORED,
    "CALLVALUE 5 LT CALLVALUE 60 JUMPI" + STORED,
    "CALLVALUE ISZERO CALLVALUE 8 JUMPI STOP STOP JUMPDEST" + STORED,
    "CALLVALUE 5 LT 1 CALLVALUE ISZERO CALLDATASIZE 14 JUMPI STOP STOP JUMPDEST ADD ADD" + STORED,
    "7 0 MSTORE 8 32 MSTORE 64 0 KECCAK256 SLOAD" + STORED,
    "CALLVALUE SLOAD CALLVALUE SLOAD ADD 5 CALLVALUE SSTORE CALLVALUE SLOAD ADD" + STORED,
    "5 3 SSTORE 6 CALLVALUE SSTORE 3 SLOAD CALLVALUE SLOAD ADD" + STORED,
    "4 CALLDATALOAD CALLVALUE CALLDATALOAD ADD GAS ADD MSIZE ADD" + STORED,
    "JUMPDEST MSIZE" + STORED,
    "0 SLOAD 1 SLOAD ADD" + STORED,
]


@pytest.mark.parametrize("code", CODES)
def test_memory_and_storage_are_as_the_interpreter_has_them(code: str) -> None:
    same(code)
    used = 200_000 - int(str(same(code)[2]))
    for less in range(0, min(used, 60), 3):
        same(code, gas=used - less)


def test_code_that_cannot_pay_reads_nothing() -> None:
    # 100 for the key that it asks for, and 5 for what came before.
    for gas in (104, 105, 2_104, 2_105):
        same("CALLVALUE SLOAD" + STORED, gas=gas)
        assert read_by(gas, NEVER_COMPILED) == read_by(gas, EAGERLY)
    assert read_by(2_101, EAGERLY) == {}
    assert read_by(2_102, EAGERLY) == {CONTRACT: {3: 0}}


def read_by(gas: int, compiled_after: int) -> dict[bytes, dict[int, int]]:
    scene = Scene()
    scene.put(CONTRACT, nonce=1)
    context = scene.context(compiled_after=compiled_after)
    scene.run("CALLVALUE SLOAD", gas=gas, context=context, value_wei=3)
    return scene.journal.read_set().storage
