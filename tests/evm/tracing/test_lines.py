"""The two forms in which others read steps."""

from typing import Any

from tests.evm.scene import CONTRACT, OTHER, Scene

from laneway.evm.execution.receipt import EvmReceipt
from laneway.evm.tracing.lines import eip3155, eip3155_end, struct_logs
from laneway.evm.tracing.run import TracedRun
from laneway.evm.tracing.steps import StepTracer, TracedStep


def traced(code: str, **options: Any) -> tuple[list[TracedStep], EvmReceipt]:
    scene, tracer = Scene(), StepTracer(**options)
    scene.put(CONTRACT, code, storage={1: 5})
    scene.put(OTHER, "1 1 SSTORE 7 0 MSTORE 32 0 RETURN")
    scene.execution.tracer = TracedRun(tracer)
    return tracer.steps, scene.transact(gas_limit=100_000)


def test_a_line_is_that_of_eip_3155() -> None:
    lines = list(eip3155(*traced("7 0 MSTORE 32 0 REVERT")))
    assert lines[2] == {
        "pc": 3,
        "op": 0x52,
        "gas": hex(79_000 - 5),
        "gasCost": "0x6",
        "memSize": 0,
        "stack": ["0x7", "0x0"],
        "depth": 1,
        "returnData": "0x",
        "refund": "0x0",
        "opName": "MSTORE",
    }
    word = "0x" + "7".rjust(64, "0")
    assert lines[-1] == {"output": word, "gasUsed": hex(21_016), "pass": False}


def test_a_line_has_memory_and_error_where_there_are_any() -> None:
    lines = list(eip3155(*traced("7 0 MSTORE INVALID", with_memory=True)))
    assert lines[0]["memory"] == "0x"
    assert "error" not in lines[0]
    assert (lines[-2]["memory"], lines[-2]["error"]) == (
        "0x" + "7".rjust(64, "0"),
        "invalid opcode",
    )


def test_the_last_line_has_the_root_if_it_is_named() -> None:
    _, receipt = traced("STOP")
    assert eip3155_end(receipt, b"\1" * 32)["stateRoot"] == "0x" + "01" * 32
    assert "stateRoot" not in eip3155_end(receipt)


def test_struct_logs_are_those_of_go_ethereum() -> None:
    code = f"1 SLOAD 0 0 0 0 0 0x{OTHER.hex()} GAS CALL 9 2 SSTORE 0 1 SSTORE INVALID"
    steps, receipt = traced(code, with_memory=True)
    made = struct_logs(steps, receipt)
    assert (made["gas"], made["failed"], made["returnValue"]) == (100_000, True, "0x")
    logs = made["structLogs"]
    assert logs[0] == {
        "pc": 0,
        "op": "PUSH1",
        "gas": 79_000,
        "gasCost": 3,
        "depth": 1,
        "stack": [],
        "memory": [],
    }
    stored = [log["storage"] for log in logs if "storage" in log]
    key = [f"{number:064x}" for number in range(10)]
    assert stored == [
        {key[1]: key[5]},
        {key[1]: key[1]},
        {key[1]: key[5], key[2]: key[9]},
        {key[1]: key[0], key[2]: key[9]},
    ]
    assert (logs[-1]["error"], logs[-1]["refund"]) == ("invalid opcode", 4_800)
    assert logs[-1]["returnData"] == "0x" + key[7]
    assert [log["memory"] for log in logs if log["depth"] == 2][-1] == [key[7]]


def test_struct_logs_have_no_storage_and_no_memory_if_nobody_wants_them() -> None:
    steps, receipt = traced("1 SLOAD")
    logs = struct_logs(steps, receipt, with_storage=False)["structLogs"]
    assert all("storage" not in log and "memory" not in log for log in logs)
