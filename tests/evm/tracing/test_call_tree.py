"""The tree of calls."""

from typing import Any

from tests.evm.scene import CONTRACT, OTHER, SENDER, Scene, assemble, returns

from laneway.evm.abi.reverts import ERROR_STRING
from laneway.evm.limits import TRACED_STEP_BYTES
from laneway.evm.opcodes.logs import EvmLog
from laneway.evm.opcodes.system import created_address
from laneway.evm.tracing.call_tree import CallNode, CallTreeTracer
from laneway.evm.tracing.run import TracedRun

TO = "0x" + OTHER.hex()


def tree_of(
    code: bytes | str, to: bytes | str = "", *, with_logs: bool = False, **fields: Any
) -> CallNode:
    scene, tracer = Scene(), CallTreeTracer(with_logs=with_logs)
    scene.put(CONTRACT, code, balance_wei=10)
    scene.put(OTHER, to)
    scene.execution.tracer = TracedRun(tracer)
    receipt = scene.transact(**{"gas_limit": 500_000} | fields)
    return tracer.tree(receipt, 500_000)


def test_the_outermost_call_has_the_gas_of_the_transaction() -> None:
    root = tree_of(returns("7"), data=b"\1", value_wei=3)
    assert (root.kind, root.sender, root.to) == ("CALL", SENDER, CONTRACT)
    assert (root.gas, root.gas_used) == (500_000, 21_040)
    assert (root.data, root.value_wei, root.output[-1]) == (b"\1", 3, 7)
    assert (root.error, root.calls, root.logs, root.revert_reason) == ("", [], [], None)


def test_a_call_has_its_own_gas_and_output() -> None:
    (inner,) = tree_of(f"0 0 0 0 2 {TO} 5000 CALL", returns("7")).calls
    assert (inner.kind, inner.sender, inner.to, inner.value_wei) == ("CALL", CONTRACT, OTHER, 2)
    assert (inner.gas, inner.gas_used) == (7_300, 3 + 2 + 6 + 3 + 2)
    assert inner.output == (7).to_bytes(32, "big")


def test_a_reverted_call_says_its_reason_and_a_halted_one_its_error() -> None:
    words = (ERROR_STRING + (32).to_bytes(32, "big") + (2).to_bytes(32, "big") + b"no").hex()
    text = f"0x{words[:64]} 0 MSTORE 0x{words[64:128]} 32 MSTORE 0x{words[128:].ljust(64, '0')} "
    (reverted,) = tree_of(f"0 0 0 0 {TO} GAS STATICCALL", text + "64 MSTORE 70 0 REVERT").calls
    assert (reverted.error, reverted.revert_reason) == ("execution reverted", "no")
    (halted,) = tree_of(f"0 0 0 0 {TO} 500 STATICCALL", "INVALID").calls
    assert (halted.error, halted.gas_used, halted.revert_reason) == ("invalid opcode", 500, None)


def test_a_creation_that_fails_has_no_address() -> None:
    code = "0x{} 0 MSTORE {} {} 0 CREATE"
    good = assemble("1 0 RETURN")
    (made,) = tree_of(code.format(good.hex(), len(good), 32 - len(good))).calls
    assert (made.to, made.output, made.error) == (created_address(CONTRACT, 0), b"\0", "")
    (failed,) = tree_of(code.format("fe", 1, 31)).calls
    assert (failed.kind, failed.to, failed.error) == ("CREATE", None, "invalid opcode")


def test_what_had_no_frame_is_in_the_tree() -> None:
    call, creation = tree_of(f"0 0 0 0 11 {TO} 5000 CALL 0 0 11 CREATE").calls
    assert (call.error, call.gas, call.gas_used, call.to) == (
        *("insufficient balance for transfer", 7_300, 0),
        OTHER,
    )
    assert (creation.error, creation.to) == ("insufficient balance for transfer", None)


def test_what_a_contract_hands_over_at_its_end_is_a_node() -> None:
    (last,) = tree_of(f"{TO} SELFDESTRUCT").calls
    assert (last.kind, last.sender, last.to, last.value_wei) == (
        *("SELFDESTRUCT", CONTRACT, OTHER),
        10,
    )
    assert (last.gas, last.gas_used) == (0, 0)


def test_logs_stand_after_the_calls_before_them_unless_their_frame_failed() -> None:
    calls = f"0 0 0 0 0 {TO} GAS CALL "
    root = tree_of(f"0 0 LOG0 {calls} 1 0 0 LOG1", "0 0 LOG0", with_logs=True)
    first, second = root.logs
    assert first == (0, EvmLog(CONTRACT, (), b""))
    assert second == (1, EvmLog(CONTRACT, ((1).to_bytes(32, "big"),), b""))
    assert root.calls[0].logs == [(0, EvmLog(OTHER, (), b""))]
    failed = tree_of(f"0 0 LOG0 {calls} INVALID", "0 0 LOG0", with_logs=True)
    assert (failed.logs, failed.calls[0].logs) == ([], [])
    assert tree_of("0 0 LOG0").logs == []


def test_no_more_is_kept_than_may_be() -> None:
    scene, tracer = Scene(), CallTreeTracer(bytes_max=TRACED_STEP_BYTES)
    scene.put(CONTRACT, f"0 0 0 0 {TO} GAS STATICCALL " * 2 + "32 0 RETURN")
    scene.execution.tracer = TracedRun(tracer)
    receipt = scene.transact()
    root = tracer.tree(receipt, 1_000_000)
    assert (len(root.calls), root.output, tracer.is_cut) == (1, b"", True)
    assert len(receipt.output) == 32
