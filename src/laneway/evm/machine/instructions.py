"""What an opcode is, and the tables of a fork that the loop reads."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Plain = Callable[[list[int]], None]
"""An opcode that needs the stack alone."""
Framed = Callable[[Any], bool | None]
"""An opcode that is called with its frame: true if the frame ended, or waits for a child."""


class Opcode(NamedTuple):
    name: str
    pops: int
    pushes: int
    gas: int
    """What it costs at least; the rest is charged where it is executed."""
    plain: Plain | None = None
    framed: Framed | None = None
    """Both are None where the loop itself does it: pushes, jumps and moves on the stack."""


class OpcodeTable(NamedTuple):
    """What the loop reads by an opcode's number."""

    known: Mapping[int, Opcode]
    gas: tuple[int, ...]
    plain: tuple[Plain | None, ...]
    framed: tuple[Framed, ...]
    needs: tuple[int, ...]
    """Words that the stack must have."""
    bounds: tuple[int, ...]
    """Words that the stack may have."""
