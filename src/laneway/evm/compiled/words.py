"""What stands on the stack while code is translated: a number, or the name of a local variable."""

from collections.abc import Callable
from typing import NamedTuple

from laneway.evm.machine.instructions import Opcode
from laneway.evm.opcodes.arithmetic import SIGN_BIT, WORD_MAX


class Word(NamedTuple):
    text: str
    """Python that gives the word, in parentheses unless it is a name or a number."""
    number: int | None = None
    """Its value where it is known."""
    is_flag: bool = False
    """Whether the text gives True or False, which is 1 or 0 where it counts."""

    def as_number(self) -> str:
        return f"(1 if {self.text} else 0)" if self.is_flag else self.text

    def as_condition(self) -> str:
        return self.text

    def negated(self) -> str:
        return f"(not {self.text})"


def constant(number: int) -> Word:
    return Word(str(number), number)


def _binary(pattern: str, *, is_flag: bool = False) -> Callable[[list[Word]], Word]:
    def write(words: list[Word]) -> Word:
        a, b = words
        return Word(pattern.format(a=a.as_number(), b=b.as_number()), is_flag=is_flag)

    return write


def _ternary(pattern: str) -> Callable[[list[Word]], Word]:
    def write(words: list[Word]) -> Word:
        a, b, c = words
        return Word(pattern.format(a=a.as_number(), b=b.as_number(), c=c.as_number()))

    return write


def _iszero(words: list[Word]) -> Word:
    return Word(words[0].negated(), is_flag=True)


def _not(words: list[Word]) -> Word:
    return Word(f"({words[0].as_number()} ^ {WORD_MAX})")


def _shift(plain: str, guarded: str) -> Callable[[list[Word]], Word]:
    """A shift by a known distance needs no comparison."""

    def write(words: list[Word]) -> Word:
        distance, value = words
        if distance.number is not None and distance.number >= 256:
            return constant(0)
        pattern = guarded if distance.number is None else plain
        return Word(pattern.format(a=distance.as_number(), b=value.as_number()))

    return write


EXPRESSIONS: dict[str, Callable[[list[Word]], Word]] = {
    "ADD": _binary(f"(({{a}} + {{b}}) & {WORD_MAX})"),
    "MUL": _binary(f"(({{a}} * {{b}}) & {WORD_MAX})"),
    "SUB": _binary(f"(({{a}} - {{b}}) & {WORD_MAX})"),
    "DIV": _binary("({a} // {b} if {b} else 0)"),
    "MOD": _binary("({a} % {b} if {b} else 0)"),
    "ADDMOD": _ternary("(({a} + {b}) % {c} if {c} else 0)"),
    "MULMOD": _ternary("({a} * {b} % {c} if {c} else 0)"),
    "LT": _binary("({a} < {b})", is_flag=True),
    "GT": _binary("({a} > {b})", is_flag=True),
    "SLT": _binary(f"({{a}} ^ {SIGN_BIT} < {{b}} ^ {SIGN_BIT})", is_flag=True),
    "SGT": _binary(f"({{a}} ^ {SIGN_BIT} > {{b}} ^ {SIGN_BIT})", is_flag=True),
    "EQ": _binary("({a} == {b})", is_flag=True),
    "ISZERO": _iszero,
    "AND": _binary("({a} & {b})"),
    "OR": _binary("({a} | {b})"),
    "XOR": _binary("({a} ^ {b})"),
    "NOT": _not,
    "SHL": _shift(
        f"(({{b}} << {{a}}) & {WORD_MAX})", f"(({{b}} << {{a}}) & {WORD_MAX} if {{a}} < 256 else 0)"
    ),
    "SHR": _shift("({b} >> {a})", "({b} >> {a} if {a} < 256 else 0)"),
}
"""Opcodes that one expression of Python is: the operands in the order in which they are popped."""


def computed(opcode: Opcode, words: list[Word]) -> Word | None:
    """The result of an opcode whose operands are all known; None if they are not."""
    if opcode.plain is None or any(word.number is None for word in words):
        return None
    stack = [word.number for word in reversed(words) if word.number is not None]
    opcode.plain(stack)
    return constant(stack[0])
