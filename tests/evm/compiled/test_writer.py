"""The lines of a function: gas, words, memory and ways out, each against the interpreter."""

from tests.evm.compiled.both import same, text
from tests.evm.compiled.test_texts import CODES

from laneway.evm.compiled import writer
from laneway.evm.compiled.known import Known
from laneway.evm.compiled.words import Word
from laneway.evm.compiled.writer import TraceWriter, checks

STORED = " 0 MSTORE 32 0 RETURN"


def test_an_expression_is_computed_once() -> None:
    assert text("CALLVALUE 7 MUL CALLVALUE 7 MUL ADD" + STORED).count(" * ") == 1
    assert text("GAS GAS ADD" + STORED).count("= gas\n") == 3, "but gas is another one each time"


def test_gas_is_charged_once_for_all_that_nobody_can_see() -> None:
    found = text("1 0 MSTORE CALLVALUE 12 JUMPI 0 MLOAD CALLVALUE ADD" + STORED)
    assert found.count("gas -=") == 2, "at the jump that fails, and at the end"
    same("1 0 MSTORE CALLVALUE 12 JUMPI 0 MLOAD CALLVALUE ADD" + STORED)


def test_memory_is_written_when_somebody_else_looks() -> None:
    for code in CODES:
        same(code)


def test_a_huge_piece_of_memory_is_never_made_before_it_is_paid_for() -> None:
    for place in ("16352", "16353", "0xffffffffff", "0x" + "ff" * 32):
        same(f"1 {place} MSTORE MSIZE" + STORED)
        same(f"{place} 0 LOG0")
        same(f"{place} 0 RETURN")
        same(f"{place} 0 KECCAK256")


def test_what_a_function_leaves_is_on_the_stack() -> None:
    same(
        "CALLVALUE CALLVALUE ISZERO 7 CALLVALUE 11 ADD JUMP INVALID INVALID JUMPDEST ADD ADD"
        + STORED
    )
    made = TraceWriter(Known())
    made._put_back([])
    assert made._lines == []
    made._put_back([Word("x")])
    made._put_back([Word("x"), Word("y", is_flag=True)])
    assert made._lines == ["    stack.append(x)", "    stack += (x, (1 if y else 0))"]


def test_only_what_can_fail_is_checked() -> None:
    assert checks(missing=0, rise=0) == ""
    assert checks(missing=2, rise=-1) == "len(stack) < 2"
    assert checks(missing=1, rise=24) == "len(stack) < 1 or len(stack) > 1000"
    assert writer.SPARE_WORDS > 0
