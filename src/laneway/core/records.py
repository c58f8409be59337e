"""The frame around a machine's values: a decision.

Each machine has three value families of its own: events (what happened), records (what became
true) and effects (what must be done). All are frozen structs tagged by their class name.
"""

from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

Record: TypeAlias = Any
"""A frozen, tagged struct of the lane's own family; its kind encodes it."""

R = TypeVar("R")
E = TypeVar("E")


class Decision(Struct, Generic[R, E], frozen=True):
    """What becomes true, and what must be done once that is durable."""

    records: tuple[R, ...] = ()
    effects: tuple[E, ...] = ()
