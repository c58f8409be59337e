"""What a trace knows where it goes on: the stack, the memory and the storage that it has seen, and
what it owes. None of it is true for another way to the same place."""

from typing import NamedTuple

from laneway.evm.compiled.words import Word, negated
from laneway.evm.limits import LINKS_SEARCHED_MAX
from laneway.evm.machine.frame import MEMORY_QUADRATIC_DIVISOR, MEMORY_WORD_GAS, WORD_BYTES

NEAR_WORDS = 24
"""How deep the stack is searched for addresses to return to."""


class Linked(NamedTuple):
    """A list that grows at its head and is shared by all that go on from here."""

    entry: object
    rest: "Linked | None"


def is_in(entry: object, links: Linked | None) -> bool:
    """Among the last ones: what is further away is asked again, or followed once more."""
    for _ in range(LINKS_SEARCHED_MAX):
        if links is None:
            return False
        if links.entry == entry:
            return True
        links = links.rest
    return False


class Known:
    __slots__ = (
        "cells",
        "depth",
        "dirty",
        "facts",
        "gas",
        "has_all_memory",
        "held_bytes",
        "least_bytes",
        "names",
        "opcodes",
        "passed",
        "rise",
        "slots",
        "stack",
        "taken",
        "values",
        "warm",
    )

    def __init__(self) -> None:
        self.stack: list[Word] = []
        self.taken = 0
        """How many words were taken from the frame's stack; the lowest ones of this one are."""
        self.rise = 0
        """How much higher than at the beginning the stack may become, as far as was checked."""
        self.names = 0
        self.opcodes = 0
        self.depth = 0
        """How many functions come before this one."""
        self.gas = 0
        """What is not charged yet. Nothing can be seen of it until something is read from below
        the journal, or another halt can come first."""
        self.least_bytes = 0
        """How long memory is at least, and `has_all_memory` if it is not longer."""
        self.has_all_memory = False
        self.held_bytes = 0
        """How much of it the frame's own memory has, where all is known."""
        self.cells: dict[int, Word] = {}
        """Words of memory by their position; no two overlap."""
        self.dirty: dict[int, None] = {}
        """Which of them the frame's memory does not have yet."""
        self.slots: dict[str, Word] = {}
        """Storage by its key's text."""
        self.warm: dict[str, None] = {}
        """Keys of storage that have been paid for."""
        self.values: dict[str, Word] = {}
        """Expressions that stand in a variable. No variable is ever changed."""
        self.facts: Linked | None = None
        """Conditions that hold."""
        self.passed: Linked | None = None
        """Jump destinations that the way led over."""

    def copy(self) -> "Known":
        made = Known()
        for name in self.__slots__:
            setattr(made, name, getattr(self, name))
        for name in ("stack", "cells", "dirty", "slots", "warm", "values"):
            setattr(made, name, getattr(self, name).copy())
        return made

    # The stack.

    def at(self, depth: int) -> Word:
        """The word this far below the top, which is 1."""
        while len(self.stack) < depth:
            self.stack.insert(0, Word(f"s{self.taken}"))
            self.taken += 1
        return self.stack[-depth]

    def height(self) -> int:
        """Against the beginning of the first function."""
        return len(self.stack) - self.taken

    # Conditions.

    def holds(self, condition: str) -> bool | None:
        """None if that is not known."""
        if is_in(condition, self.facts):
            return True
        return False if is_in(negated(condition), self.facts) else None

    def learn(self, condition: str) -> None:
        self.facts = Linked(condition, self.facts)

    # Memory.

    def grow(self, end: int) -> None:
        """Memory is at least this long now; the rest of it is paid for where all is known."""
        words = (end + WORD_BYTES - 1) // WORD_BYTES
        if self.has_all_memory:
            self.gas += memory_gas(words * WORD_BYTES) - memory_gas(self.least_bytes)
        self.least_bytes = words * WORD_BYTES

    def overlapping(self, at: int) -> list[int]:
        """Other words of memory that share bytes with the one at this position."""
        return [other for other in self.cells if other != at and abs(other - at) < WORD_BYTES]

    def cells_of(self, at: int, size: int) -> list[Word] | None:
        """The words that a range of memory is made of, where all of them are known."""
        places = range(at, at + size, WORD_BYTES)
        if size % WORD_BYTES or not all(place in self.cells for place in places):
            return None
        return [self.cells[place] for place in places]

    # What is handed on.

    def handed_on(self) -> tuple["Known", tuple[str, ...]]:
        """What another function needs to go on from here, and the variables that it must have."""
        words = (*self.stack, *self.cells.values())
        names = dict.fromkeys([word.text for word in words if word.number is None])

        def stays(word: Word) -> bool:
            return word.number is not None or word.text in names

        made = self.copy()
        made.values = {text: word for text, word in self.values.items() if stays(word)}
        made.slots = {key: word for key, word in self.slots.items() if stays(word)}
        made.depth += 1
        return made, tuple(names)

    def weight(self) -> int:
        """How many words it keeps."""
        return len(self.stack) + len(self.cells) + len(self.values) + len(self.slots)


def memory_gas(size: int) -> int:
    words = size // WORD_BYTES
    return MEMORY_WORD_GAS * words + words * words // MEMORY_QUADRATIC_DIVISOR
