"""The frames around a machine's values: a decision, and what a record touched.

Each machine has three value families of its own: events (what happened), records (what became
true) and effects (what must be done). All are frozen structs tagged by their class name.
"""

from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

from laneway.core.rows import Index, Result, RowKey, RowPut

Record: TypeAlias = Any
"""A frozen, tagged struct of the lane's own family; its kind encodes it."""

R = TypeVar("R")
E = TypeVar("E")


class Decision(Struct, Generic[R, E], frozen=True):
    """What becomes true, and what must be done once that is durable."""

    records: tuple[R, ...] = ()
    effects: tuple[E, ...] = ()


Touch: TypeAlias = RowPut | RowKey | Result | Index
"""A row as it stands now, the key of one that is gone, or a final answer."""

Touched: TypeAlias = tuple[Touch, ...]
