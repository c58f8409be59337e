"""The types of an ABI: what a signature may name, and nothing else.

Fixed-point numbers are refused: no compiler makes them. User-defined types stand in a signature by
the type below them, as the ABI specification of Solidity has it.
"""

import re
from typing import Final

from msgspec import Struct

from laneway.core.errors import BadRequest
from laneway.evm.abi.limits import NESTING_MAX, SHOWN_CHARS_MAX, WORDS_MAX

ALIASES: Final = {"uint": "uint256", "int": "int256"}
SIMPLE: Final = ("address", "bool", "bytes", "string", "function")
TUPLE: Final = "tuple"
NUMBERED: Final = re.compile(r"(u?int|bytes)([1-9][0-9]{0,2})")
SIZE: Final = re.compile(r"\[([1-9][0-9]{0,5})?\]")


class AbiType(Struct, frozen=True):
    """A type of a parameter."""

    base: str
    """As the canonical signature has it, `tuple` for a tuple."""
    parts: tuple["AbiParameter", ...] = ()
    """The members of a tuple."""
    sizes: tuple[int | None, ...] = ()
    """Of an array: how many elements, the innermost first; None is any number."""

    def text(self) -> str:
        """As it stands in a canonical signature."""
        return (joined(self.parts) if self.base == TUPLE else self.base) + self.brackets()

    def brackets(self) -> str:
        return "".join(f"[{'' if size is None else size}]" for size in self.sizes)

    def element(self) -> "AbiType":
        """Of an array: the type of its elements."""
        return AbiType(self.base, self.parts, self.sizes[:-1])

    def words(self) -> int:
        """The 32-byte words that a value of it has at least."""
        count = sum(part.type.words() for part in self.parts) or 1
        for size in self.sizes:
            count = 1 if size is None else count * size
        return count

    def depth(self) -> int:
        inner = max((part.type.depth() for part in self.parts), default=0)
        return inner + len(self.sizes) + (self.base == TUPLE)

    def range(self) -> range:
        """The values of a whole number of this type."""
        is_signed = self.base.startswith("int")
        bits = int(self.base.removeprefix("u").removeprefix("int"))
        return range(-(1 << bits - 1), 1 << bits - 1) if is_signed else range(1 << bits)

    def length(self) -> int | None:
        """How many bytes a `bytesN` has; None for any number."""
        if self.base == "function":
            return 24  # An address and a selector.
        return int(self.base.removeprefix("bytes")) if self.base != "bytes" else None


class AbiParameter(Struct, frozen=True):
    """A parameter of a function, event or error, or a member of a tuple."""

    type: AbiType
    name: str = ""
    indexed: bool = False
    """Of an event: whether it is a topic."""


def joined(parameters: tuple[AbiParameter, ...]) -> str:
    return f"({','.join(one.type.text() for one in parameters)})"


def elementary(name: str) -> str:
    """The canonical name of a type without members and sizes; BadRequest for anything else."""
    name = ALIASES.get(name, name)
    if name in SIMPLE:
        return name
    found = NUMBERED.fullmatch(name)
    if found is not None:
        count = int(found[2])
        is_known = count <= 32 if found[1] == "bytes" else count <= 256 and count % 8 == 0
        if is_known:
            return name
    raise BadRequest("abi", f"{name[:SHOWN_CHARS_MAX]!r} is not a type of the ABI")


def array_sizes(text: str) -> tuple[int | None, ...]:
    """What follows an element's type: `[]`, `[3]` and so on."""
    found = SIZE.findall(text)
    if "".join(f"[{size}]" for size in found) != text:
        raise BadRequest("abi", f"{text[:SHOWN_CHARS_MAX]!r} is not [] or [3]")
    return tuple(int(size) if size else None for size in found)


def checked(kind: AbiType) -> AbiType:
    """The same type; BadRequest if nobody could pass a value of it."""
    if kind.base == TUPLE and not kind.parts:
        raise BadRequest("abi", "a tuple has members")
    if kind.depth() > NESTING_MAX:
        raise BadRequest("abi", f"a type is nested deeper than {NESTING_MAX}")
    if kind.words() > WORDS_MAX:
        raise BadRequest("abi", f"{kind.text()[:SHOWN_CHARS_MAX]!r} has no room in any calldata")
    return kind
