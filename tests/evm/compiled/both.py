"""Code run by the interpreter and by compiled functions, and what both must end with."""

from typing import Any

from tests.evm.scene import CONTRACT, OTHER, Scene, assemble

from laneway.evm.compiled.trace import function_text
from laneway.evm.fork import Fork
from laneway.evm.limits import EAGERLY, NEVER_COMPILED
from laneway.evm.machine.code import EvmCode
from laneway.evm.machine.frame import CallFrame
from laneway.evm.opcodes.table import opcode_table

TO = "0x" + OTHER.hex()


def outcome(code: bytes, compiled_after: int, gas: int, **fields: Any) -> tuple[object, ...]:
    scene = Scene()
    scene.put(CONTRACT, nonce=1, balance_wei=9, storage={0: 1})
    scene.put(OTHER, "0 CALLDATALOAD 0 MSTORE 32 0 RETURN", balance_wei=5)
    context = scene.context(compiled_after=compiled_after)
    frame = scene.run(code, gas=gas, context=context, data=b"\x05" * 40, value_wei=3, **fields)
    return (*ended(frame), scene.journal.logs, scene.journal.refund, scene.journal.write_set())


def ended(frame: CallFrame) -> tuple[object, ...]:
    reason = frame.halt.reason if frame.halt is not None else ""
    return reason, frame.is_reverted, frame.gas, frame.output, frame.returned


def same(code: str | bytes, *, gas: int = 200_000, **fields: Any) -> tuple[object, ...]:
    """How the interpreter ends, and the functions with it; so too if all memory is returned."""
    raw = assemble(code) if isinstance(code, str) else code
    shown = raw.removesuffix(assemble("32 0 RETURN")) + assemble("MSIZE 0 RETURN")
    assert outcome(shown, EAGERLY, gas, **fields) == outcome(shown, NEVER_COMPILED, gas, **fields)
    interpreted = outcome(raw, NEVER_COMPILED, gas, **fields)
    assert outcome(raw, EAGERLY, gas, **fields) == interpreted
    return interpreted


def text(code: str, begin: int = 0) -> str:
    return function_text(EvmCode(assemble(code)), opcode_table(Fork.OSAKA), begin)
