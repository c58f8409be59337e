"""Steps as values."""

from typing import Any

from tests.evm.scene import CONTRACT, OTHER, Scene

from laneway.evm.limits import TRACED_STEP_BYTES
from laneway.evm.tracing.run import TracedRun
from laneway.evm.tracing.steps import StepTracer, TracedStep


def steps_of(code: str, *, to: str = "", **options: Any) -> list[TracedStep]:
    scene, tracer = Scene(), StepTracer(**options)
    scene.put(CONTRACT, code, storage={1: 5})
    scene.put(OTHER, to)
    scene.execution.tracer = TracedRun(tracer)
    scene.transact()
    return tracer.steps


def test_a_step_is_the_frame_before_its_opcode() -> None:
    first, second, third, stop = steps_of("7 32 MSTORE")
    assert (first.pc, first.op, first.name, first.gas) == (0, 0x60, "PUSH1", 979_000)
    assert (first.stack, first.depth, first.address) == ((), 1, CONTRACT)
    assert (second.pc, second.stack) == (2, (7,))
    assert (third.stack, third.memory_bytes, third.cost, third.memory) == ((7, 32), 0, 9, None)
    assert (stop.name, stop.pc, stop.memory_bytes, stop.stack) == ("STOP", 5, 64, ())
    assert [one.error for one in (first, stop)] == ["", ""]


def test_steps_of_a_call_stand_between_those_of_its_caller() -> None:
    steps = steps_of(f"0 0 0 0 0x{OTHER.hex()} GAS STATICCALL POP", to="7 0 MSTORE 32 0 RETURN")
    names = [one.name for one in steps]
    assert names[-9:] == [
        *("STATICCALL", "PUSH1", "PUSH0", "MSTORE", "PUSH1", "PUSH0", "RETURN"),
        *("POP", "STOP"),
    ]
    assert [one.depth for one in steps[-9:]] == [1, 2, 2, 2, 2, 2, 2, 1, 1]
    assert steps[-2].returned == (7).to_bytes(32, "big")
    assert steps[-3].returned == b""
    assert steps[-3].address == OTHER


def test_memory_is_copied_if_it_is_asked_for() -> None:
    steps = steps_of("7 0 MSTORE", with_memory=True)
    assert steps[0].memory == b""
    assert steps[-1].memory == (7).to_bytes(32, "big")


def test_a_step_shows_the_slot_that_it_reads_or_writes_and_the_refund() -> None:
    steps = {one.name: one for one in steps_of("1 SLOAD 0 1 SSTORE")}
    assert steps["SLOAD"].slot == (1, 5)
    assert steps["SSTORE"].slot == (1, 0)
    assert (steps["SLOAD"].refund, steps["SSTORE"].refund) == (0, 4_800)
    assert steps["STOP"].slot is None


def test_the_last_step_of_a_frame_that_halts_says_why() -> None:
    steps = steps_of("1 raw:0c")
    assert (steps[-1].name, steps[-1].error) == ("opcode 0xc not defined", "invalid opcode")
    assert steps_of("SLOAD")[-1].slot is None


def test_no_more_is_kept_than_may_be() -> None:
    scene, tracer = Scene(), StepTracer(bytes_max=2 * TRACED_STEP_BYTES + 8)
    scene.put(CONTRACT, "1 2 ADD")
    scene.execution.tracer = TracedRun(tracer)
    assert scene.transact().succeeded
    assert (len(tracer.steps), tracer.is_cut) == (2, True)
    assert not StepTracer().is_cut


def test_memory_and_what_calls_return_count_as_kept() -> None:
    code = "0 0 MSTORE 0 0 3200 0 4 GAS STATICCALL STOP"
    for options in ({"with_memory": True}, {}):
        scene, tracer = Scene(), StepTracer(bytes_max=9 * TRACED_STEP_BYTES + 3_000, **options)
        scene.put(CONTRACT, code)
        scene.execution.tracer = TracedRun(tracer)
        scene.transact()
        assert tracer.is_cut
        assert tracer.steps
