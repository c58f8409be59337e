"""A trace: the code from one position on, over jumps whose destination is known, as the text of one
Python function.

The function takes the words that it needs from the stack into local variables, and puts back what
is there when it leaves. Gas is charged for a segment at a time, before it begins. Only the last
opcode of a segment can see gas, or halt for anything else than gas; so a segment that cannot be
paid, like a stack that is too short or too high, is left to the interpreter, which halts where the
specification says.
"""

from laneway.evm.compiled.words import EXPRESSIONS, Word, computed, constant
from laneway.evm.limits import (
    DEAD_END_OPCODES_MAX,
    STACK_WORDS_MAX,
    TRACE_OPCODES_MAX,
    TRACE_WORDS_MAX,
)
from laneway.evm.machine.code import EvmCode
from laneway.evm.machine.instructions import Opcode, OpcodeTable
from laneway.evm.opcodes.hashing import WORD_GAS as HASH_WORD_GAS
from laneway.evm.opcodes.memory import COLD_KEY_GAS

ENDED, INTERPRET = -1, -2
"""What a function returns instead of the next position: the frame ended or waits for a child; the
interpreter goes on."""
KECCAK256, JUMP, JUMPI, JUMPDEST, PUSH0 = 0x20, 0x56, 0x57, 0x5B, 0x5F
DUP1, SWAP1, LOG0 = 0x80, 0x90, 0xA0
NOWHERE = -1
LASTS = frozenset(
    ("RETURNDATACOPY", "SSTORE", "TSTORE", "GAS", "LOG0", "LOG1", "LOG2", "LOG3", "LOG4")
)
"""Opcodes that see gas, or halt for something else: a segment ends with them, and the trace goes
on."""
CALLS = frozenset(("CREATE", "CREATE2", "CALL", "CALLCODE", "DELEGATECALL", "STATICCALL"))
ENDS = frozenset(("STOP", "RETURN", "REVERT", "INVALID", "SELFDESTRUCT"))
FAILS = frozenset(("REVERT", "INVALID"))
ANSWERS = {
    "ADDRESS": "from_bytes(frame.address, 'big')",
    "ORIGIN": "from_bytes(frame.context.origin, 'big')",
    "CALLER": "from_bytes(frame.caller, 'big')",
    "CALLVALUE": "frame.value_wei",
    "CALLDATASIZE": "len(frame.data)",
    "RETURNDATASIZE": "len(frame.returned)",
    "MSIZE": "len(memory)",
}
"""Opcodes that take nothing and answer with what the frame knows."""
FORKS = CALLS | frozenset(("STOP", "RETURN", "SELFDESTRUCT", "JUMPI"))
"""Opcodes after which code may do something else than revert."""


def function_text(code: EvmCode, table: OpcodeTable, begin: int) -> str:
    """The text of the function that runs the code from this position on."""
    return followed(code, table, begin).text()


def followed(code: EvmCode, table: OpcodeTable, begin: int) -> "Trace":
    """The trace from this position on, which takes as many words from the stack as it needs."""
    first = Trace(code, table, begin)
    first.follow()
    again = Trace(code, table, begin, first.taken)
    again.follow()
    return again


class Trace:
    """The text of one function, and where it can go from there."""

    def __init__(self, code: EvmCode, table: OpcodeTable, begin: int, taken: int = 0) -> None:
        """`taken`: how many words it takes from the stack at the beginning."""
        self._code = code
        self._table = table
        self._begin = begin
        self._stack = [Word(f"s{at}") for at in reversed(range(taken))]
        self.taken = taken
        self._highest = taken
        self._names = 0
        self._lines: list[str] = []
        self._seen: dict[int, None] = {}
        self._words = 0
        """How many words its ways out put back, all together."""
        self._memory_bytes = 0
        """How much memory there is for sure."""
        self._open(begin)

    def follow(self) -> None:
        pc: int | None = self._begin
        while pc is not None:
            pc = self._step(pc)

    def count(self) -> int:
        """How many opcodes it has."""
        return len(self._seen)

    def text(self) -> str:
        return "\n".join([*self._head(), *self._lines]) + "\n"

    # The parts of a function.

    def _head(self) -> list[str]:
        taken, rise = self.taken, self._highest - self.taken
        checks = [f"len(stack) < {taken}"] * (taken > 0)
        checks += [f"len(stack) > {STACK_WORDS_MAX - rise}"] * (rise > 0)
        lines = [f"def at_{self._begin}(frame, stack):"]
        if checks:
            lines += [
                f"    if {' or '.join(checks)}:",
                f"        frame.pc = {self._begin}",
                f"        return {INTERPRET}",
            ]
        lines += ["    gas = frame.gas", "    memory = frame.memory"]
        if taken:
            names = ", ".join(f"s{at}" for at in reversed(range(taken)))
            lines += [f"    {names}, = stack[-{taken}:]", f"    del stack[-{taken}:]"]
        return lines

    def _open(self, pc: int) -> None:
        """Begin a segment: what it costs is written when it is known."""
        self._segment_pc = pc
        self._segment: list[str] = []
        self._segment_stack = list(self._stack)
        self._gas = 0

    def _close(self) -> None:
        """Write the segment after its price."""
        if self._gas:
            self._lines += [
                f"    gas -= {self._gas}",
                "    if gas < 0:",
                *(f"        {line}" for line in self._put_back(self._segment_stack)),
                f"        frame.gas = gas + {self._gas}",
                f"        frame.pc = {self._segment_pc}",
                f"        return {INTERPRET}",
            ]
        self._lines += self._segment

    def _put_back(self, words: list[Word]) -> list[str]:
        self._words += len(words)
        if not words:
            return []
        if len(words) == 1:
            return [f"stack.append({words[0].as_number()})"]
        return [f"stack += ({', '.join(word.as_number() for word in words)})"]

    def _leave(self, to: str) -> list[str]:
        return [*self._put_back(self._stack), "frame.gas = gas", f"return {to}"]

    def _write(self, *lines: str) -> None:
        self._segment += [f"    {line}" for line in lines]

    # Words.

    def _pop(self) -> Word:
        self._at(1)
        return self._stack.pop()

    def _at(self, depth: int) -> Word:
        """The word this far below the top, which is 1. One that the trace did not take from the
        stack is noted, so that it is followed once more with as many."""
        while len(self._stack) < depth:
            self._stack.insert(0, Word(f"s{self.taken}"))
            self.taken += 1
        return self._stack[-depth]

    def _push(self, word: Word) -> None:
        self._stack.append(word)
        self._highest = max(self._highest, len(self._stack))

    def _named(self, word: Word) -> Word:
        """The same word in a variable, so that it is computed once."""
        name = f"v{self._names}"
        self._names += 1
        self._write(f"{name} = {word.text}")
        return Word(name, is_flag=word.is_flag)

    # Opcodes.

    def _step(self, pc: int) -> int | None:
        """Translate the opcode at a position; the next one, or None at the end of the trace."""
        is_full = len(self._seen) >= TRACE_OPCODES_MAX or self._words >= TRACE_WORDS_MAX
        if pc in self._seen or is_full:
            self._write(*self._leave(str(pc)))
            self._close()
            return None
        self._seen[pc] = None
        op = self._code.padded[pc]
        opcode = self._table.known.get(op)
        if opcode is None or opcode.name in ENDS:
            self._end(pc, op, opcode)
            return None
        self._gas += opcode.gas
        if PUSH0 <= op < LOG0:
            return self._move(pc, op)
        if op == JUMPDEST:
            return pc + 1
        if op in (JUMP, JUMPI):
            return self._jump(pc, op)
        if opcode.name in CALLS:
            self._call(pc, op, opcode)
            return None
        if opcode.plain is not None:
            self._plain(op, opcode)
        else:
            self._framed(pc, op, opcode)
        return pc + 1

    def _move(self, pc: int, op: int) -> int:
        if op < DUP1:
            self._push(constant(self._code.pushes[pc]))
            return pc + 1 + op - PUSH0
        if op < SWAP1:
            self._push(self._at(op - DUP1 + 1))
        else:
            depth = op - SWAP1 + 2
            self._at(depth)
            stack = self._stack
            stack[-1], stack[-depth] = stack[-depth], stack[-1]
        return pc + 1

    def _plain(self, op: int, opcode: Opcode) -> None:
        words = [self._pop() for _ in range(opcode.pops)]
        if not opcode.pushes:
            return
        known = computed(opcode, words)
        if known is not None:
            self._push(known)
        elif opcode.name in EXPRESSIONS:
            self._push(self._named(EXPRESSIONS[opcode.name](words)))
        else:
            numbers = ", ".join(word.as_number() for word in reversed(words))
            self._write(f"few = [{numbers}]", f"plain[{op}](few)")
            self._push(self._named(Word("few[0]")))

    def _framed(self, pc: int, op: int, opcode: Opcode) -> None:
        special = SPECIAL.get(opcode.name)
        if opcode.name in ANSWERS:
            self._push(self._named(Word(ANSWERS[opcode.name])))
        elif opcode.name == "PC":
            self._push(constant(pc))
        elif special is not None and not (op == KECCAK256 and self._at(2).number is None):
            special(self)
        else:
            words = [self._pop() for _ in range(opcode.pops)]
            self._write(
                *self._put_back(words[::-1]),
                "frame.gas = gas",
                f"framed[{op}](frame)",
                "gas = frame.gas",
            )
            if opcode.pushes:
                self._push(self._named(Word("stack.pop()")))
        if opcode.name in LASTS:
            self._close()
            self._open(pc + 1)

    # Opcodes that are worth their own text.

    def _reach(self, at: Word, size: int) -> str:
        """Have memory for a range; the text of its end."""
        known = None if at.number is None else at.number + size
        if known is None:
            end = self._named(Word(f"{at.as_number()} + {size}")).text
        else:
            end = str(known)
            if known <= self._memory_bytes:
                return end
            self._memory_bytes = known
        self._write(
            f"if {end} > len(memory):",
            "    frame.gas = gas",
            f"    frame.extend({at.as_number()}, {size})",
            "    gas = frame.gas",
        )
        return end

    def _mload(self) -> None:
        at = self._pop()
        end = self._reach(at, 32)
        self._push(self._named(Word(f"from_bytes(memory[{at.as_number()}:{end}], 'big')")))

    def _mstore(self) -> None:
        at, value = self._pop(), self._pop()
        end = self._reach(at, 32)
        written = f"({value.as_number()}).to_bytes(32, 'big')"
        if value.number is not None:
            written = repr(value.number.to_bytes(32, "big"))
        self._write(f"memory[{at.as_number()}:{end}] = {written}")

    def _calldataload(self) -> None:
        at = self._pop().as_number()
        self._write(f"few = frame.data[{at}:{at} + 32]")
        self._push(self._named(Word("from_bytes(few, 'big') << 8 * (32 - len(few))")))

    def _keccak(self) -> None:
        """Of a range whose length is known: its price is part of the segment's."""
        at, size = self._pop(), self._pop()
        assert size.number is not None
        self._gas += HASH_WORD_GAS * ((size.number + 31) // 32)
        read = "b''"
        if size.number:
            end = self._reach(at, size.number)
            read = f"memory[{at.as_number()}:{end}]"
        self._push(self._named(Word(f"from_bytes(keccak_256({read}).digest(), 'big')")))

    def _sload(self) -> None:
        key = self._pop().as_number()
        self._write(
            "storage = frame.storage or frame.own_storage()",
            f"if {key} not in storage.warm:",
            f"    frame.context.journal.warm_key(storage, {key})",
            f"    gas -= {COLD_KEY_GAS}",
            "    if gas < 0:",
            "        raise OutOfGas",
        )
        value = self._named(Word(f"storage.now.get({key})"))
        self._write(f"if {value.text} is None:", f"    {value.text} = storage.load({key})")
        self._push(value)

    # The ends of a trace.

    def _end(self, pc: int, op: int, opcode: Opcode | None) -> None:
        self._gas += opcode.gas if opcode is not None else 0
        words = [self._pop() for _ in range(opcode.pops if opcode is not None else 0)]
        self._write(
            *self._put_back(words[::-1]),
            "frame.gas = gas",
            f"frame.pc = {pc + 1}",
            f"framed[{op}](frame)",
            f"return {ENDED}",
        )
        self._close()

    def _call(self, pc: int, op: int, opcode: Opcode) -> None:
        for depth in range(1, opcode.pops + 1):
            self._at(depth)
        self._write(
            *self._put_back(self._stack),
            "frame.gas = gas",
            f"frame.pc = {pc + 1}",
            f"return {ENDED} if framed[{op}](frame) else {pc + 1}",
        )
        self._close()

    def _jump(self, pc: int, op: int) -> int | None:
        to = self._pop()
        condition = self._pop() if op == JUMPI else constant(1)
        if condition.number is not None:
            taken = self._arrival(to) if condition.number else pc + 1
        else:
            taken = self._branch(pc, to, condition)
        if taken is None:
            self._close()
            return None
        if condition.number is None:
            self._close()
            self._open(taken)
        return taken

    def _arrival(self, to: Word) -> int | None:
        """Where a jump that is taken goes on; None if the trace ends with it."""
        if to.number is None:
            self._write(f"if not destinations[{to.as_number()}]:", "    raise InvalidJump")
            self._write(*self._leave(to.as_number()))
            return None
        if not self._code.destinations[to.number]:
            self._write("raise InvalidJump")
            return None
        return to.number

    def _branch(self, pc: int, to: Word, condition: Word) -> int | None:
        """Leave on the way that is less likely, and return the other one."""
        is_known = to.number is not None and self._code.destinations[to.number]
        if is_known and self._reverts(pc + 1):
            self._write(f"if {condition.negated()}:")
            self._write(*(f"    {line}" for line in self._leave(str(pc + 1))))
            return to.number
        self._write(f"if {condition.as_condition()}:")
        if to.number is not None and not self._code.destinations[to.number]:
            self._write("    raise InvalidJump")
            return pc + 1
        if to.number is None:
            self._write(
                f"    if not destinations[{to.as_number()}]:", "        raise InvalidJump"
            )
        self._write(*(f"    {line}" for line in self._leave(to.as_number())))
        return pc + 1

    def _reverts(self, pc: int) -> bool:
        """Whether the code from here on can only fail: of two ways, a trace follows the other."""
        pushed = NOWHERE
        for _ in range(DEAD_END_OPCODES_MAX):
            op = self._code.padded[pc]
            opcode = self._table.known.get(op)
            if opcode is None or opcode.name in FAILS:
                return True
            if opcode.name in FORKS:
                return False
            if op == JUMP:
                if not self._code.destinations[pushed]:
                    return False
                pc, pushed = pushed, NOWHERE
            elif PUSH0 <= op < DUP1:
                pushed = self._code.pushes[pc]
                pc += 1 + op - PUSH0
            else:
                pc, pushed = pc + 1, NOWHERE
        return False


SPECIAL = {
    "MLOAD": Trace._mload,
    "MSTORE": Trace._mstore,
    "CALLDATALOAD": Trace._calldataload,
    "SLOAD": Trace._sload,
    "KECCAK256": Trace._keccak,
}
"""Opcodes that need their frame, and have a text of their own."""
