"""Code and its functions."""

import pytest
from tests.evm.scene import Scene, assemble, pushed

from laneway.evm.compiled import program
from laneway.evm.compiled.program import CompiledCode, run_compiled
from laneway.evm.fork import Fork
from laneway.evm.limits import EAGERLY, TRACE_OPCODE_GAS
from laneway.evm.machine.code import EvmCode
from laneway.evm.machine.frame import CallFrame
from laneway.evm.machine.halts import InvalidOpcode, OutOfGas, StackUnderflow
from laneway.evm.machine.run import run
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


def test_a_trace_that_cannot_be_paid_halts_as_the_interpreter_does() -> None:
    with pytest.raises(InvalidOpcode):
        ran(Scene().frame(b"".join([pushed(b"\1")] * 10) + b"\xfe", gas=31))
    poor = Scene().frame("1 2 ADD STOP", gas=8)
    with pytest.raises(OutOfGas):
        ran(poor)


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


MANY_WAYS = (
    "CALLVALUE 64 MSTORE 5 CALLVALUE ISZERO CALLVALUE ISZERO ISZERO CALLDATASIZE 17 JUMPI STOP STOP"
    " JUMPDEST ADD ADD 64 MLOAD ADD 0 MSTORE MSIZE 0 RETURN"
)


def test_the_other_way_is_compiled_when_it_is_taken() -> None:
    scene = Scene()
    context = scene.context(compiled_after=EAGERLY)
    frame = scene.frame(MANY_WAYS, context=context)
    run_compiled(frame)
    assert frame.output == b"", "the way that stops"
    named = frame.code.compiled._names
    stub = named["at_0_0"]
    assert isinstance(stub, program.WayOut)
    again = scene.frame(context=context, data=b"1", value_wei=3)
    again.code = frame.code
    run_compiled(again)
    assert named["at_0_0"] is not stub
    assert list(frame.code.compiled.functions) == [0]


@pytest.mark.parametrize("value_wei", [0, 3])
def test_without_credit_the_interpreter_goes_on_with_all_that_was_known(value_wei: int) -> None:
    scene = Scene()
    expected = scene.frame(MANY_WAYS, data=b"1", value_wei=value_wei)
    run(expected)
    frame = scene.frame(MANY_WAYS, data=b"1", value_wei=value_wei)
    frame.code.credit_gas = 1
    run_compiled(frame)
    assert list(frame.code.compiled.functions) == [0]
    assert (frame.output, frame.gas) == (expected.output, expected.gas)
    assert frame.memory_gas == expected.memory_gas
    assert frame.output == b"".join(
        word.to_bytes(32, "big") for word in (6 + value_wei, 0, value_wei)
    )


def test_what_is_owed_is_paid_where_the_interpreter_goes_on() -> None:
    poor = Scene().frame(
        "CALLDATASIZE 9 JUMPI STOP STOP STOP STOP STOP JUMPDEST", data=b"1", gas=14
    )
    poor.code.credit_gas = 1
    with pytest.raises(OutOfGas):
        run_compiled(poor)


def test_a_way_that_takes_more_from_the_stack_is_left_if_there_is_not_as_much() -> None:
    code = "CALLDATASIZE 8 JUMPI STOP STOP STOP STOP JUMPDEST POP POP"
    scene = Scene()
    for stack in ([1, 2, 3], [1]):
        context = scene.context(compiled_after=EAGERLY)
        frame = scene.frame(code, data=b"1", context=context)
        frame.stack = list(stack)
        if len(stack) > 1:
            run_compiled(frame)
            assert frame.stack == [1]
        else:
            with pytest.raises(StackUnderflow):
                run_compiled(frame)
