"""The lines of a function: how it charges gas, keeps words in variables, and leaves."""

from laneway.evm.compiled.known import Known, memory_gas
from laneway.evm.compiled.words import Word, constant, flag
from laneway.evm.limits import KNOWN_MEMORY_BYTES_MAX, READ_CELLS_MAX, STACK_WORDS_MAX
from laneway.evm.machine.frame import WORD_BYTES

INDENT = "    "
SPARE_WORDS = 16
"""By how much more than it needs a function checks the stack's height, so that those which go on
from there seldom must."""


class TraceWriter:
    def __init__(self, known: Known) -> None:
        self.known = known
        self.highest = known.rise
        """How much higher than at the beginning the stack becomes."""
        self._lines: list[str] = []
        self._indent = 1
        self._has_storage = False

    def _write(self, *lines: str) -> None:
        self._lines += [INDENT * self._indent + line for line in lines]

    # Words.

    def _pop(self) -> Word:
        self.known.at(1)
        return self.known.stack.pop()

    def _push(self, word: Word) -> None:
        self.known.stack.append(word)
        self.highest = max(self.highest, self.known.height())

    def _named(self, word: Word) -> Word:
        """The same word in a variable, so that it is computed once."""
        if word.is_simple():
            return word
        known = self.known.values.get(word.text)
        if known is None:
            known = self.known.values[word.text] = self._fresh(word)
        return known

    def _fresh(self, word: Word) -> Word:
        """The same for what would be another word a line later."""
        name = f"v{self.known.names}"
        self.known.names += 1
        self._write(f"{name} = {word.text}")
        return word._replace(text=name)

    def _number(self, word: Word) -> Word:
        """The word as a number in a variable, or known."""
        return self._named(Word(word.as_number(), bits=1) if word.is_flag else word)

    def _raw(self, word: Word) -> str:
        """The word as 32 bytes."""
        if word.number is not None:
            return repr(word.number.to_bytes(WORD_BYTES, "big"))
        return self._named(Word(f"{word.text}.to_bytes(32, 'big')")).text

    # Gas.

    def _charge(self) -> None:
        """Pay what is owed: something comes now that must not happen without."""
        if self.known.gas:
            self._write(f"gas -= {self.known.gas}", "if gas < 0:", "    raise OutOfGas")
            self.known.gas = 0

    # Memory.

    def _reach(self, at: Word, size: int) -> str:
        """Have memory for a range; the text of its end."""
        known = self.known
        if at.number is not None:
            end = at.number + size
            if end <= known.least_bytes:
                return str(end)
            if known.has_all_memory and end <= KNOWN_MEMORY_BYTES_MAX:
                known.grow(end)
                return str(end)
        self._settle_memory()
        known.has_all_memory = False
        text = self._named(Word(f"{at.text} + {size}")).text if at.number is None else str(end)
        self._write(
            f"if {text} > len(memory):",
            "    frame.gas = gas",
            f"    frame.extend({at.text}, {size})",
            "    gas = frame.gas",
        )
        if at.number is not None:
            known.grow(end)
        return text

    def _settle_memory(self) -> None:
        """Let the frame's memory have all that is known of it."""
        known = self.known
        if known.has_all_memory and known.held_bytes < known.least_bytes:
            self._write(
                f"memory.extend(bytes({known.least_bytes - known.held_bytes}))",
                f"frame.memory_gas = {memory_gas(known.least_bytes)}",
            )
            known.held_bytes = known.least_bytes
        for at in known.dirty:
            self._write(f"memory[{at}:{at + WORD_BYTES}] = {self._raw(known.cells[at])}")
        known.dirty.clear()

    def _forget_memory(self) -> None:
        """Something wrote to memory, or made it longer, that no trace can follow."""
        self.known.cells.clear()
        self.known.has_all_memory = False

    def _read(self, at: int, size: int) -> tuple[str, bool]:
        """The text of a range's bytes, and whether the text gives the same for ever."""
        if not size:
            return "b''", True
        end = self._reach(constant(at), size)
        cells = self.known.cells_of(at, size) if size <= READ_CELLS_MAX * WORD_BYTES else None
        if cells is not None:
            return " + ".join(self._raw(cell) for cell in cells), True
        self._settle_memory()
        return f"memory[{at}:{end}]", False

    # Ways out.

    def _put_back(self, words: list[Word]) -> None:
        if len(words) == 1:
            self._write(f"stack.append({words[0].as_number()})")
        elif words:
            self._write(f"stack += ({', '.join(word.as_number() for word in words)})")

    def _leave(self, to: str) -> None:
        self._charge()
        self._settle_memory()
        self._put_back(self.known.stack)
        self._write("frame.gas = gas", f"return {to}")

    def _name_flags(self) -> None:
        """Put each flag on the stack into a variable, to hand it on."""
        stack = self.known.stack
        for at, word in enumerate(stack):
            if word.is_flag and not word.is_simple():
                stack[at] = flag(self._fresh(word).text)


def checks(*, missing: int, rise: int) -> str:
    """When a function leaves its frame to the interpreter: the stack is too short or too high.
    `rise` is how much higher it becomes than it is."""
    found = [f"len(stack) < {missing}"] * (missing > 0)
    found += [f"len(stack) > {STACK_WORDS_MAX - rise}"] * (rise > 0)
    return " or ".join(found)
