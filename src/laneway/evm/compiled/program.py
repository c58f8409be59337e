"""Code with the functions that its traces are compiled to, each when it is first reached."""

from collections.abc import Callable
from typing import Any

from sha3 import keccak_256

from laneway.evm.compiled.trace import INTERPRET, followed
from laneway.evm.limits import (
    COMPILED_BYTES_MIN,
    COMPILED_BYTES_PER_CODE_BYTE,
    EAGERLY,
    TEXT_BYTE_GAS,
    TRACE_OPCODE_GAS,
)
from laneway.evm.machine.code import CodeCache, EvmCode
from laneway.evm.machine.frame import CallFrame
from laneway.evm.machine.halts import InvalidJump, OutOfGas
from laneway.evm.machine.instructions import OpcodeTable
from laneway.evm.machine.run import run

TraceFunction = Callable[[CallFrame, list[int]], int]


class CompiledCode:
    __slots__ = ("_bytes_left", "_code", "_names", "functions", "table")

    def __init__(self, code: EvmCode, table: OpcodeTable) -> None:
        self._code = code
        self.table = table
        self.functions: dict[int, TraceFunction] = {}
        """By the position where each begins."""
        self._bytes_left = COMPILED_BYTES_MIN + COMPILED_BYTES_PER_CODE_BYTE * len(code.raw)
        self._names: dict[str, Any] = {
            "OutOfGas": OutOfGas,
            "InvalidJump": InvalidJump,
            "from_bytes": int.from_bytes,
            "keccak_256": keccak_256,
            "plain": table.plain,
            "framed": table.framed,
            "destinations": code.destinations,
        }

    def function(self, pc: int, *, is_free: bool, cache: CodeCache) -> TraceFunction | None:
        """None if the code has as much text as it may have, or no credit for more."""
        code = self._code
        if self._bytes_left <= 0 or not (is_free or code.credit_gas > 0):
            return None
        trace = followed(code, self.table, pc)
        text = trace.text()
        self._bytes_left -= len(text)
        code.credit_gas -= TRACE_OPCODE_GAS * trace.count() + TEXT_BYTE_GAS * len(text)
        cache.compiled(code, len(text))
        exec(compile(text, f"<evm code at {pc}>", "exec"), self._names)
        made: TraceFunction = self._names.pop(f"at_{pc}")
        self.functions[pc] = made
        return made


def run_compiled(frame: CallFrame) -> None:
    """As `run`, which it leaves the frame to where a trace cannot go on."""
    table = frame.context.opcodes
    program = frame.code.compiled
    if program is None or program.table is not table:
        program = frame.code.compiled = CompiledCode(frame.code, table)
    is_free, cache = frame.context.compiled_after == EAGERLY, frame.context.codes
    functions, stack, pc = program.functions, frame.stack, frame.pc
    while pc >= 0:
        function = functions.get(pc) or program.function(pc, is_free=is_free, cache=cache)
        if function is None:
            frame.pc = pc
            pc = INTERPRET
        else:
            pc = function(frame, stack)
    if pc == INTERPRET:
        run(frame)
