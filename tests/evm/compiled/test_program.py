"""Code and its functions."""

import pytest
from tests.evm.scene import Scene, assemble, pushed

from laneway.evm.compiled import program
from laneway.evm.compiled.program import CompiledCode, run_compiled
from laneway.evm.fork import Fork
from laneway.evm.limits import EAGERLY, TRACE_OPCODE_GAS
from laneway.evm.machine.code import EvmCode
from laneway.evm.machine.frame import CallFrame
from laneway.evm.machine.halts import InvalidOpcode, OutOfGas
from laneway.evm.opcodes.table import opcode_table

CODE = "1 2 ADD 0 MSTORE 32 0 RETURN"
CANCUN, OSAKA = opcode_table(Fork.CANCUN), opcode_table(Fork.OSAKA)


def ran(frame: CallFrame) -> CallFrame:
    frame.code.credit_gas += 10**6
    run_compiled(frame)
    return frame


def test_a_function_is_made_when_it_is_first_reached() -> None:
    frame = ran(Scene().frame(CODE))
    assert frame.output[-1] == 3
    compiled = frame.code.compiled
    assert list(compiled.functions) == [0]
    again = Scene().frame(CODE)
    again.code = frame.code
    made = compiled.functions[0]
    assert ran(again).output == frame.output
    assert compiled.functions == {0: made}


def test_a_frame_goes_on_where_it_was() -> None:
    frame = Scene().frame("1 2 ADD 0 MSTORE 32 0 RETURN")
    frame.pc, frame.stack = 4, [9, 8]
    assert ran(frame).output[-1] == 17


def test_code_is_compiled_for_each_fork() -> None:
    code = EvmCode(assemble("1 CLZ 0 MSTORE 32 0 RETURN"))
    code.compiled = CompiledCode(code, CANCUN)
    frame = Scene().frame()
    frame.code = code
    assert ran(frame).output[-1] == 255
    assert code.compiled.table is OSAKA


def test_code_has_as_much_text_as_it_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "COMPILED_BYTES_MIN", -10_000)
    frame = ran(Scene().frame(CODE))
    assert frame.output[-1] == 3, "the interpreter did it"
    assert frame.code.compiled.functions == {}


def test_a_trace_that_cannot_be_paid_is_the_interpreters() -> None:
    with pytest.raises(InvalidOpcode):
        ran(Scene().frame(b"".join([pushed(b"\1")] * 10) + b"\xfe", gas=31))
    poor = Scene().frame("1 2 ADD STOP", gas=8)
    with pytest.raises(OutOfGas):
        ran(poor)
    assert poor.stack == [1, 2]


def test_a_trace_is_paid_for_in_gas_that_the_code_spent() -> None:
    poor = Scene().frame(CODE)
    run_compiled(poor)
    assert (poor.output[-1], poor.code.compiled.functions) == (3, {}), "the interpreter did it"
    poor.code.credit_gas = 1
    again = Scene().frame(CODE)
    again.code = poor.code
    run_compiled(again)
    assert list(poor.code.compiled.functions) == [0]
    assert poor.code.credit_gas < -8 * TRACE_OPCODE_GAS
    scene = Scene()
    free = scene.frame(CODE, context=scene.context(compiled_after=EAGERLY))
    run_compiled(free)
    assert list(free.code.compiled.functions) == [0]
