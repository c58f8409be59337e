"""The frame around a machine's values: a decision.

Each machine has three value families of its own: events (what happened), records (what became
true) and effects (what must be done). All are frozen structs tagged by their class name.
"""

from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

from laneway.core.rows import Outbox

Record: TypeAlias = Any
"""A frozen, tagged struct of the lane's own family; its kind encodes it."""

R = TypeVar("R")
E = TypeVar("E")


class Decision(Struct, Generic[R, E], frozen=True):
    """What becomes true, and what must be done once that is durable."""

    records: tuple[R, ...] = ()
    effects: tuple[E, ...] = ()


class PassOn(Struct, frozen=True):
    """An effect of any lane: hand this message to the lane it is for.

    It is in `resume` until a record says that the other lane's `accept` took it; its id is
    deterministic, so handing it over twice makes one intent.
    """

    outbox: Outbox
