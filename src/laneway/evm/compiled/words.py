"""What stands on the stack while code is translated: a number, or the name of a local variable, and
how large it can be."""

from collections.abc import Callable
from typing import NamedTuple

from laneway.evm.machine.instructions import Opcode
from laneway.evm.opcodes.arithmetic import SIGN_BIT, WORD_MAX

WORD_BITS = 256
NOT = "not "


class Word(NamedTuple):
    text: str
    """Python that gives the word: a name, a number, or an expression of these."""
    number: int | None = None
    """Its value where it is known."""
    is_flag: bool = False
    """Whether the text gives True or False, which is 1 or 0 where it counts."""
    bits: int = WORD_BITS
    """It is below 2 to the power of this."""

    def is_simple(self) -> bool:
        return self.number is not None or self.text.isidentifier()

    def as_number(self) -> str:
        return f"(1 if {self.text} else 0)" if self.is_flag else self.text


def constant(number: int) -> Word:
    return Word(str(number), number, bits=number.bit_length())


def flag(text: str) -> Word:
    return Word(text, is_flag=True, bits=1)


def negated(text: str) -> str:
    """The opposite of a condition, in its shortest form."""
    return text.removeprefix(NOT) if text.startswith(NOT) else f"{NOT}{text}"


Written = Callable[[list[Word]], Word]


def _add(words: list[Word]) -> Word:
    a, b = words
    if a.number == 0 or b.number == 0:
        return b if a.number == 0 else a
    return _masked(f"{a.as_number()} + {b.as_number()}", max(a.bits, b.bits) + 1)


def _mul(words: list[Word]) -> Word:
    a, b = words
    return _masked(f"{a.as_number()} * {b.as_number()}", a.bits + b.bits)


def _sub(words: list[Word]) -> Word:
    a, b = words
    return a if b.number == 0 else Word(f"{a.as_number()} - {b.as_number()} & {WORD_MAX}")


def _masked(text: str, bits: int) -> Word:
    """A sum or a product is cut only where it can be too large."""
    return Word(text, bits=bits) if bits <= WORD_BITS else Word(f"{text} & {WORD_MAX}")


def _and(words: list[Word]) -> Word:
    for mask, word in (words, words[::-1]):
        number = mask.number
        if number is not None and not number & (number + 1) and word.bits <= mask.bits:
            return word
    a, b = words
    return Word(f"{a.as_number()} & {b.as_number()}", bits=min(a.bits, b.bits))


def _either(sign: str) -> Written:
    def write(words: list[Word]) -> Word:
        a, b = words
        return Word(f"{a.as_number()} {sign} {b.as_number()}", bits=max(a.bits, b.bits))

    return write


def _not(words: list[Word]) -> Word:
    return Word(f"{words[0].as_number()} ^ {WORD_MAX}")


def _divided(sign: str) -> Written:
    """By zero it is zero."""

    def write(words: list[Word]) -> Word:
        a, b = words
        text = f"{a.as_number()} {sign} {b.as_number()}"
        return Word(text if b.number else f"{text} if {b.as_number()} else 0", bits=a.bits)

    return write


def _modular(sign: str) -> Written:
    def write(words: list[Word]) -> Word:
        a, b, c = (word.as_number() for word in words)
        return Word(f"({a} {sign} {b}) % {c} if {c} else 0", bits=words[2].bits)

    return write


def _compared(sign: str) -> Written:
    def write(words: list[Word]) -> Word:
        a, b = words
        return flag(f"({a.as_number()} {sign} {b.as_number()})")

    return write


def _signed(sign: str) -> Written:
    """Turning the sign bit over keeps the order of signed words."""

    def write(words: list[Word]) -> Word:
        a, b = (
            str(word.number ^ SIGN_BIT)
            if word.number is not None
            else f"{word.as_number()} ^ {SIGN_BIT}"
            for word in words
        )
        return flag(f"({a} {sign} {b})")

    return write


def _iszero(words: list[Word]) -> Word:
    return flag(negated(words[0].text))


def _shl(words: list[Word]) -> Word:
    distance, value = words
    if distance.number is None:
        a, b = distance.as_number(), value.as_number()
        return Word(f"({b} << {a}) & {WORD_MAX} if {a} < 256 else 0")
    if distance.number >= WORD_BITS:
        return constant(0)
    bits = value.bits + distance.number
    text = f"{value.as_number()} << {distance.number}"
    return Word(text, bits=bits) if bits <= WORD_BITS else Word(f"({text}) & {WORD_MAX}")


def _shr(words: list[Word]) -> Word:
    distance, value = words
    if distance.number is None:
        a, b = distance.as_number(), value.as_number()
        return Word(f"{b} >> {a} if {a} < 256 else 0", bits=value.bits)
    if distance.number >= value.bits:
        return constant(0)
    return Word(f"{value.as_number()} >> {distance.number}", bits=value.bits - distance.number)


EXPRESSIONS: dict[str, Written] = {
    "ADD": _add,
    "MUL": _mul,
    "SUB": _sub,
    "DIV": _divided("//"),
    "MOD": _divided("%"),
    "ADDMOD": _modular("+"),
    "MULMOD": _modular("*"),
    "LT": _compared("<"),
    "GT": _compared(">"),
    "SLT": _signed("<"),
    "SGT": _signed(">"),
    "EQ": _compared("=="),
    "ISZERO": _iszero,
    "AND": _and,
    "OR": _either("|"),
    "XOR": _either("^"),
    "NOT": _not,
    "SHL": _shl,
    "SHR": _shr,
}
"""Opcodes that one expression of Python is: the operands in the order in which they are popped."""


def computed(opcode: Opcode, words: list[Word]) -> Word | None:
    """The result of an opcode whose operands are all known; None if they are not."""
    if opcode.plain is None or any(word.number is None for word in words):
        return None
    stack = [word.number for word in reversed(words) if word.number is not None]
    opcode.plain(stack)
    return constant(stack[0])
