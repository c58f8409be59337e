"""Code with the functions that its traces are compiled to, each when it is first reached."""

from collections.abc import Callable
from typing import Any

from sha3 import keccak_256

from laneway.evm.compiled.known import memory_gas
from laneway.evm.compiled.trace import INTERPRET, TraceExit, entered, followed
from laneway.evm.compiled.words import Word
from laneway.evm.limits import (
    COMPILED_BYTES_MIN,
    COMPILED_BYTES_PER_CODE_BYTE,
    EAGERLY,
    KEPT_WORD_BYTES,
    TEXT_BYTE_GAS,
    TRACE_OPCODE_GAS,
)
from laneway.evm.machine.code import EvmCode
from laneway.evm.machine.context import TransactionContext
from laneway.evm.machine.frame import WORD_BYTES, CallFrame
from laneway.evm.machine.halts import InvalidJump, OutOfGas, WriteInStaticCall
from laneway.evm.machine.instructions import OpcodeTable
from laneway.evm.machine.run import run
from laneway.evm.opcodes.hashing import mapping_key
from laneway.evm.opcodes.logs import EvmLog
from laneway.evm.opcodes.memory import stored

TraceFunction = Callable[..., int]


class CompiledCode:
    __slots__ = ("_bytes_left", "_code", "_names", "functions", "table")

    def __init__(self, code: EvmCode, table: OpcodeTable) -> None:
        self._code = code
        self.table = table
        self.functions: dict[int, TraceFunction] = {}
        """By the position where each begins, with nothing known."""
        self._bytes_left = COMPILED_BYTES_MIN + COMPILED_BYTES_PER_CODE_BYTE * len(code.raw)
        self._names: dict[str, Any] = {
            "OutOfGas": OutOfGas,
            "InvalidJump": InvalidJump,
            "WriteInStaticCall": WriteInStaticCall,
            "EvmLog": EvmLog,
            "from_bytes": int.from_bytes,
            "keccak_256": keccak_256,
            "mapping_key": mapping_key,
            "stored": stored,
            "plain": table.plain,
            "framed": table.framed,
            "destinations": code.destinations,
        }

    def function(self, pc: int, context: TransactionContext) -> TraceFunction | None:
        """None if the code has as much text as it may have, or no credit for more."""
        made = self.made(entered(pc), context)
        if made is not None:
            self.functions[pc] = made
        return made

    def made(self, start: TraceExit, context: TransactionContext) -> TraceFunction | None:
        code = self._code
        is_free = context.compiled_after == EAGERLY
        if self._bytes_left <= 0 or not (is_free or code.credit_gas > 0):
            return None
        trace = followed(code, self.table, start)
        text = trace.text()
        size = len(text) + KEPT_WORD_BYTES * trace.weight()
        self._bytes_left -= size
        code.credit_gas -= TRACE_OPCODE_GAS * trace.count() + TEXT_BYTE_GAS * size
        context.codes.compiled(code, size)
        for each in trace.exits:
            self._names[each.name] = WayOut(self, each)
        if start.known.depth:
            self._names[f"{start.name}_left"] = WayOut(self, start).left
        exec(compile(text, f"<evm code at {start.to}>", "exec"), self._names)
        made: TraceFunction = self._names[start.name]
        return made


class WayOut:
    """Stands for the function that goes on, until it is called and there is credit for it."""

    __slots__ = ("_program", "_way")

    def __init__(self, program: CompiledCode, way: TraceExit) -> None:
        self._program = program
        self._way = way

    def __call__(self, frame: CallFrame, stack: list[int], gas: int, *values: int) -> int:
        function = self._program.made(self._way, frame.context)
        if function is not None:
            return function(frame, stack, gas, *values)
        self._settle(frame, stack, gas, values)
        return self._way.to

    def left(self, frame: CallFrame, stack: list[int], gas: int, *values: int) -> int:
        """Leave the frame to the interpreter."""
        self._settle(frame, stack, gas, values)
        frame.pc = self._way.to
        return INTERPRET

    def _settle(
        self, frame: CallFrame, stack: list[int], gas: int, values: tuple[int, ...]
    ) -> None:
        """Let the frame have all that only the trace knows of it."""
        known = self._way.known
        gas -= known.gas
        if gas < 0:
            raise OutOfGas
        named = dict(zip(self._way.names, values, strict=True))

        def number(word: Word) -> int:
            value = word.number if word.number is not None else named[word.text]
            return int(bool(value)) if word.is_flag else value

        memory = frame.memory
        if known.has_all_memory and known.held_bytes < known.least_bytes:
            memory.extend(bytes(known.least_bytes - known.held_bytes))
            frame.memory_gas = memory_gas(known.least_bytes)
        for at in known.dirty:
            memory[at : at + WORD_BYTES] = number(known.cells[at]).to_bytes(WORD_BYTES, "big")
        stack += [number(word) for word in known.stack]
        frame.gas = gas


def run_compiled(frame: CallFrame) -> None:
    """As `run`, which it leaves the frame to where a trace cannot go on."""
    context = frame.context
    table = context.opcodes
    program = frame.code.compiled
    if program is None or program.table is not table:
        program = frame.code.compiled = CompiledCode(frame.code, table)
    functions, stack, pc = program.functions, frame.stack, frame.pc
    while pc >= 0:
        function = functions.get(pc) or program.function(pc, context)
        if function is None:
            frame.pc = pc
            pc = INTERPRET
        else:
            pc = function(frame, stack)
    if pc == INTERPRET:
        run(frame)
