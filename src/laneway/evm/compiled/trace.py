"""A trace: the code from one position on, over jumps whose destination is known, as the text of one
Python function.

The function takes the words that it needs from the stack into local variables, and puts back what
is there when it leaves. Of two ways at a branch it follows one; the other is another function's,
which is handed all that is known by then. What a trace knows it does not ask again: words of memory
that it wrote, storage that it read, conditions that hold.

Gas is charged before something is seen of it: before the state below the journal is asked, where
another halt could come first, and where the trace leaves. All that it did until then would be taken
back. A stack that is too short or too high is left to the interpreter, which halts where the
specification says.
"""

from typing import NamedTuple

from laneway.evm.compiled.known import NEAR_WORDS, Known, Linked, is_in
from laneway.evm.compiled.texts import ANSWERS, RANGES, SPECIAL, OpcodeTexts
from laneway.evm.compiled.words import EXPRESSIONS, Word, computed, constant, negated
from laneway.evm.compiled.writer import SPARE_WORDS, checks
from laneway.evm.limits import (
    DEAD_END_OPCODES_MAX,
    PATH_FUNCTIONS_MAX,
    PATH_OPCODES_MAX,
    TRACE_OPCODES_MAX,
    TRACE_WORDS_MAX,
)
from laneway.evm.machine.code import EvmCode
from laneway.evm.machine.instructions import Opcode, OpcodeTable

ENDED, INTERPRET = -1, -2
"""What a function returns instead of the next position: the frame ended or waits for a child; the
interpreter goes on."""
KECCAK256, JUMP, JUMPI, JUMPDEST, PUSH0 = 0x20, 0x56, 0x57, 0x5B, 0x5F
DUP1, SWAP1, LOG0 = 0x80, 0x90, 0xA0
NOWHERE = -1
CALLS = frozenset(("CREATE", "CREATE2", "CALL", "CALLCODE", "DELEGATECALL", "STATICCALL"))
ENDS = frozenset(("STOP", "RETURN", "REVERT", "INVALID", "SELFDESTRUCT"))
FAILS = frozenset(("REVERT", "INVALID"))
MEMORY = frozenset(
    ("KECCAK256", "LOG0", "LOG1", "LOG2", "LOG3", "LOG4", "MSTORE8", "MCOPY", "CALLDATACOPY")
) | frozenset(("CODECOPY", "EXTCODECOPY", "RETURNDATACOPY"))
"""Opcodes that read, write or lengthen memory as they like, where they have no own text."""
FORKS = CALLS | frozenset(("STOP", "RETURN", "SELFDESTRUCT", "JUMPI"))
"""Opcodes after which code may do something else than revert."""


class TraceExit(NamedTuple):
    """Where a trace is left for another function, which is made when it is first called."""

    name: str
    to: int
    known: Known
    names: tuple[str, ...]
    """The variables that it is handed."""


def function_text(code: EvmCode, table: OpcodeTable, begin: int) -> str:
    """The text of the function that runs the code from this position on."""
    return followed(code, table, entered(begin)).text()


def entered(begin: int) -> TraceExit:
    """A position that is reached with nothing known but what the frame has."""
    return TraceExit(f"at_{begin}", begin, Known(), ())


def followed(code: EvmCode, table: OpcodeTable, start: TraceExit) -> "Trace":
    """The trace from there on, which takes as many words from the stack as it needs."""
    first = Trace(code, table, start, start.known.taken)
    first.follow()
    if first.known.taken == start.known.taken:
        return first
    again = Trace(code, table, start, first.known.taken)
    again.follow()
    return again


class Trace(OpcodeTexts):
    """The text of one function, and where it can go from there."""

    def __init__(self, code: EvmCode, table: OpcodeTable, start: TraceExit, taken: int) -> None:
        """`taken`: how many words it and those before it take from the stack."""
        super().__init__(start.known.copy())
        self._code = code
        self._table = table
        self._start = start
        self.known.stack[:0] = [Word(f"s{at}") for at in reversed(range(self.known.taken, taken))]
        self.known.taken = taken
        if start.to == 0 and start.known.depth == 0 and code.padded[0] != JUMPDEST:
            # Nothing jumps there, so the frame begins and has no memory.
            self.known.has_all_memory = True
        self._opcodes = 0
        self._words = 0
        """How many words its ways out keep, all together."""
        self.exits: list[TraceExit] = []

    def follow(self) -> None:
        pc: int | None = self._start.to
        while pc is not None:
            pc = self._step(pc)
        if self.highest > self._start.known.rise:
            self.highest += SPARE_WORDS
        for each in self.exits:
            each.known.rise = self.highest

    def count(self) -> int:
        """How many opcodes it has."""
        return self._opcodes

    def weight(self) -> int:
        """How many words its ways out keep."""
        return self._words

    def text(self) -> str:
        return "\n".join([*self._head(), *self._lines]) + "\n"

    def _head(self) -> list[str]:
        start = self._start
        before = start.known.taken
        more = self.known.taken - before
        rise = self.highest + before if self.highest > start.known.rise else 0
        names = "".join(f", {name}" for name in start.names)
        gas = ", gas" if start.known.depth else ""
        lines = [f"def {start.name}(frame, stack{gas}{names}):"]
        wanted = checks(missing=more, rise=rise)
        if wanted and start.known.depth:
            lines += [
                f"    if {wanted}:",
                f"        return {start.name}_left(frame, stack, gas{names})",
            ]
        elif wanted:
            lines += [
                f"    if {wanted}:",
                f"        frame.pc = {start.to}",
                f"        return {INTERPRET}",
            ]
        lines += ["    gas = frame.gas"] * (not start.known.depth) + ["    memory = frame.memory"]
        if more:
            taken = ", ".join(f"s{at}" for at in reversed(range(before, before + more)))
            lines += [f"    {taken}, = stack[-{more}:]", f"    del stack[-{more}:]"]
        return lines

    # Opcodes.

    def _step(self, pc: int) -> int | None:
        """Translate the opcode at a position; the next one, or None at the end of the trace."""
        op = self._code.padded[pc]
        is_full = self._opcodes >= TRACE_OPCODES_MAX or self._words >= TRACE_WORDS_MAX
        if is_full or (op == JUMPDEST and self._is_passed(pc)):
            self._go_on(pc)
            return None
        self._opcodes += 1
        self.known.opcodes += 1
        opcode = self._table.known.get(op)
        if opcode is None or opcode.name in ENDS:
            self._end(op, opcode)
            return None
        self.known.gas += opcode.gas
        if PUSH0 <= op < LOG0:
            return self._move(pc, op)
        if op == JUMPDEST:
            self.known.passed = Linked(self._place(pc), self.known.passed)
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

    def _place(self, pc: int) -> tuple[object, ...]:
        """A position as loops come to it again. A function that is called from elsewhere is at
        another one: it returns to another address."""
        known, destinations = self.known, self._code.destinations
        numbers = [word.number for word in known.stack[-NEAR_WORDS:] if word.number is not None]
        return pc, known.height(), *(number for number in numbers if destinations[number])

    def _is_passed(self, pc: int) -> bool:
        return is_in(self._place(pc), self.known.passed)

    def _move(self, pc: int, op: int) -> int:
        if op < DUP1:
            self._push(constant(self._code.pushes[pc]))
            return pc + 1 + op - PUSH0
        if op < SWAP1:
            self._push(self.known.at(op - DUP1 + 1))
        else:
            depth = op - SWAP1 + 2
            self.known.at(depth)
            stack = self.known.stack
            stack[-1], stack[-depth] = stack[-depth], stack[-1]
        return pc + 1

    def _plain(self, op: int, opcode: Opcode) -> None:
        words = [self._pop() for _ in range(opcode.pops)]
        if not opcode.pushes:
            return
        known = computed(opcode, words)
        if known is not None:
            self._push(known)
            return
        if opcode.name != "ISZERO":
            words = [self._number(word) if word.is_flag else word for word in words]
        if opcode.name in EXPRESSIONS:
            word = EXPRESSIONS[opcode.name](words)
            self._push(word if word.is_flag else self._named(word))
        else:
            numbers = ", ".join(word.text for word in reversed(words))
            self._write(f"few = [{numbers}]", f"plain[{op}](few)")
            self._push(self._fresh(Word("few[0]")))

    def _framed(self, pc: int, op: int, opcode: Opcode) -> None:
        special = SPECIAL.get(opcode.name)
        if opcode.name in ANSWERS:
            self._push(self._named(ANSWERS[opcode.name]))
        elif opcode.name == "PC":
            self._push(constant(pc))
        elif special is not None and self._is_special(opcode):
            special(self, opcode)
        else:
            words = [self._pop() for _ in range(opcode.pops)]
            self._by_function(op, words, touches_memory=opcode.name in MEMORY)
            self._write("gas = frame.gas")
            if opcode.pushes:
                self._push(self._fresh(Word("stack.pop()")))

    def _is_special(self, opcode: Opcode) -> bool:
        """Hashes, logs and answers have a text of their own where they name a known range."""
        if opcode.name not in RANGES:
            return True
        self.known.at(2)
        return all(word.number is not None for word in self.known.stack[-2:])

    def _by_function(self, op: int, words: list[Word], *, touches_memory: bool) -> None:
        """Let the interpreter's function do it."""
        self._charge()
        if touches_memory:
            self._settle_memory()
            self._forget_memory()
        self._put_back(words[::-1])
        self._write("frame.gas = gas", f"framed[{op}](frame)")

    # The ends of a trace.

    def _end(self, op: int, opcode: Opcode | None) -> None:
        words = [self._pop() for _ in range(opcode.pops if opcode is not None else 0)]
        self.known.gas += opcode.gas if opcode is not None else 0
        name = opcode.name if opcode is not None else ""
        if name in RANGES:
            at, size = words[0].number, words[1].number
            if at is not None and size is not None:
                text, is_same = self._read(at, size)
                self._charge()
                self._write(f"frame.output = {text if is_same else f'bytes({text})'}")
                self._write(*(["frame.is_reverted = True"] * (name == "REVERT")))
                self._write("frame.gas = gas", f"return {ENDED}")
                return
        self._by_function(op, words, touches_memory=name in RANGES)
        self._write(f"return {ENDED}")

    def _call(self, pc: int, op: int, opcode: Opcode) -> None:
        self.known.at(opcode.pops)
        self._charge()
        self._settle_memory()
        self._put_back(self.known.stack)
        self._write(
            "frame.gas = gas",
            f"frame.pc = {pc + 1}",
            f"return {ENDED} if framed[{op}](frame) else {pc + 1}",
        )

    def _jump(self, pc: int, op: int) -> int | None:
        to = self._pop()
        if op == JUMP:
            return self._arrival(to)
        condition = self._pop()
        holds = self.known.holds(condition.text)
        if condition.number is not None:
            holds = condition.number != 0
        if holds is None:
            return self._branch(pc, to, condition.text)
        return self._arrival(to) if holds else pc + 1

    def _is_destination(self, to: Word) -> bool:
        return to.number is not None and self._code.destinations[to.number]

    def _arrival(self, to: Word) -> int | None:
        """Where a jump that is taken goes on; None if the trace ends with it."""
        if self._is_destination(to):
            return to.number
        to = self._number(to)
        self._charge()
        if to.number is None:
            self._write(f"if not destinations[{to.text}]:", "    raise InvalidJump")
            self._leave(to.text)
        else:
            self._write("raise InvalidJump")
        return None

    def _branch(self, pc: int, to: Word, condition: str) -> int | None:
        """Leave on the way that is less likely, and return the other one."""
        if self._is_destination(to) and self._reverts(pc + 1):
            self._aside(negated(condition), pc + 1)
            self.known.learn(condition)
            return to.number
        self._aside(condition, to)
        self.known.learn(negated(condition))
        return pc + 1

    def _aside(self, condition: str, to: "int | Word") -> None:
        """The way that is taken if a condition holds."""
        self._write(f"if {condition}:")
        main, has_storage = self.known, self._has_storage
        self.known = main.copy()
        self.known.learn(condition)
        self._indent += 1
        if isinstance(to, Word) and not self._is_destination(to):
            self._arrival(to)
        else:
            number = to.number if isinstance(to, Word) else to
            assert number is not None
            self._go_on(number)
        self._indent -= 1
        main.names = self.known.names
        self.known, self._has_storage = main, has_storage

    def _go_on(self, to: int) -> None:
        """In a function of its own, or by the one that begins there."""
        self._name_flags()
        known = self.known
        is_loop = self._code.padded[to] == JUMPDEST and self._is_passed(to)
        if is_loop or known.depth >= PATH_FUNCTIONS_MAX or known.opcodes >= PATH_OPCODES_MAX:
            self._words += len(known.stack)
            self._leave(str(to))
            return
        handed, names = known.handed_on()
        made = TraceExit(f"{self._start.name}_{len(self.exits)}", to, handed, names)
        self._words += handed.weight()
        self.exits.append(made)
        self._write(f"return {made.name}(frame, stack, gas{''.join(f', {one}' for one in names)})")

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
                if pushed == NOWHERE or not self._code.destinations[pushed]:
                    return False
                pc, pushed = pushed, NOWHERE
            elif PUSH0 <= op < DUP1:
                pushed = self._code.pushes[pc]
                pc += 1 + op - PUSH0
            else:
                pc, pushed = pc + 1, NOWHERE
        return False
